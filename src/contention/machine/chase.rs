//! A chase: loads each of which tells where the next one is, so that none can begin before the last has come.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Words of a line of 64 bytes; one word of each line is used.
const WORDS: usize = 8;

/// What follows what in a random cycle of `count`, fewer than 2³².
pub(super) fn cycle(count: usize, seed: u64) -> Vec<u32> {
    let order = shuffled(count, seed);
    let mut next = vec![0; count];
    for (place, &at) in order.iter().enumerate() {
        next[at as usize] = order[(place + 1) % count];
    }
    next
}

fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<u32> = (0..count as u32).collect();
    for place in (1..count).rev() {
        order.swap(place, random.random_range(0..=place));
    }
    order
}

/// Writes a random cycle over the lines of `words` into them: the first word of each line is the index of the first word of
/// the next.
///
/// # Panics
/// If there is not one whole line, or more than 2³² of them.
pub(super) fn lay(words: &mut [u64], seed: u64) {
    let lines = words.len() / WORDS;
    assert!(lines > 0 && u32::try_from(lines).is_ok(), "a chase over {lines} lines");
    let order = shuffled(lines, seed);
    let mut at = order[lines - 1];
    for next in order {
        words[at as usize * WORDS] = u64::from(next) * WORDS as u64;
        at = next;
    }
}

/// Follows `steps` of a chase from word `at`, and says where it came to. The check of the index is not on the way from one
/// load to the next.
#[inline]
pub(super) fn walk(words: &[u64], mut at: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        at = words[at as usize];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chase_goes_through_every_line_once_before_it_comes_back() {
        for lines in [1, 2, 3, 64, 1000] {
            let mut words = vec![0; lines * WORDS];
            lay(&mut words, 5);
            let mut seen = vec![false; lines];
            let mut at = 0;
            for _ in 0..lines {
                assert_eq!(at % WORDS as u64, 0);
                assert!(!std::mem::replace(&mut seen[at as usize / WORDS], true), "twice in {lines}");
                at = walk(&words, at, 1);
            }
            assert!(at == 0 && seen.iter().all(|&seen| seen));
            assert_eq!(walk(&words, 0, lines as u64), 0);
        }
    }

    #[test]
    fn a_cycle_is_one_cycle_and_not_in_order() {
        let next = cycle(128, 1);
        let mut at = 0u32;
        let steps = (1..=128).find(|_| {
            at = next[at as usize];
            at == 0
        });
        assert_eq!(steps, Some(128));
        assert!(next.iter().enumerate().filter(|(i, next)| **next as usize == i + 1).count() < 10);
    }
}
