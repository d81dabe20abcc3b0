//! A chase: loads each of which tells where the next one is, so that none can begin before the last has come.

mod kernel;

pub(super) use kernel::{Fixed, Trail};

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

#[cfg(test)]
mod tests {
    use super::*;

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
