//! Following a chase, a load a step and nothing else.
//!
//! Why `unsafe`: with an index in place of an address each step takes a cycle more to scale and add it, a quarter of what the
//! first cache takes (`latency_by_working_set_ns` of 16 KiB: 1.53 ns in place of 1.23 on a Zen 3). The plain twin is in
//! the tests below.
#![allow(unsafe_code)]

use super::{WORDS, shuffled};
use crate::os::memory::Pages;
use std::{ops::DerefMut, ptr};

/// Whoever holds words whose address does not change when he is moved, and always the same ones.
///
/// # Safety
/// Both must hold for as long as it lives.
pub(in super::super) unsafe trait Fixed: DerefMut<Target = [u64]> {}

// SAFETY: the pages are mapped when it is made and stay until it is dropped, wherever the owner goes.
unsafe impl Fixed for Pages<u64> {}
// SAFETY: a borrow names one place for as long as it lasts.
unsafe impl Fixed for &mut [u64] {}

/// Words of which the first of each line holds the address of the first of another, in one random cycle over all lines.
#[derive(Debug)]
pub(in super::super) struct Trail<M>(M);

impl<M: Fixed> Trail<M> {
    /// Lays it over the whole lines of `words`.
    ///
    /// # Panics
    /// If there is not one whole line, or 2³² of them.
    pub(in super::super) fn lay(mut words: M, seed: u64) -> Self {
        let lines = words.len() / WORDS;
        assert!(lines > 0 && u32::try_from(lines).is_ok(), "a chase over {lines} lines");
        let order = shuffled(lines, seed);
        let base = words.as_mut_ptr();
        let address = |line: u32| base.wrapping_add(line as usize * WORDS);
        let mut at = order[lines - 1];
        for next in order {
            words[at as usize * WORDS] = address(next).expose_provenance() as u64;
            at = next;
        }
        Trail(words)
    }

    /// How many lines it has.
    pub(in super::super) fn lines(&self) -> usize {
        self.0.len() / WORDS
    }

    /// Follows it for `steps` from a line, and says to which it came.
    ///
    /// # Panics
    /// If there is no such line.
    #[inline]
    pub(in super::super) fn walk(&self, line: usize, steps: u64) -> usize {
        assert!(line < self.lines(), "line {line} of {}", self.lines());
        let base = self.0.as_ptr();
        let mut at = base.wrapping_add(line * WORDS);
        for _ in 0..steps {
            // SAFETY: `at` is the first word of a line of `self.0`: the given line is one (asserted above), and each such
            // word holds the address of another (written by `lay`, the only way to a trail; nobody else has had the words
            // mutably since, as `M` is private here; and they have not moved, by `Fixed`). It is aligned and was exposed.
            at = ptr::with_exposed_provenance(unsafe { at.read() } as usize);
        }
        (at.addr() - base.addr()) / (8 * WORDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same cycle, followed by indices.
    fn plain(order: &[u32], line: usize, steps: u64) -> usize {
        let place = order.iter().position(|&at| at as usize == line).unwrap();
        order[(place + steps as usize) % order.len()] as usize
    }

    #[test]
    fn a_trail_is_followed_as_its_plain_twin_is() {
        for lines in [1, 2, 3, 64, 1000] {
            let mut words = vec![0; lines * WORDS + 3];
            let order = shuffled(lines, 7);
            let trail = Trail::lay(&mut words[..], 7);
            assert_eq!(trail.lines(), lines);
            for (line, steps) in [(0, 0), (0, 1), (lines / 2, 17), (lines - 1, 4321)] {
                assert_eq!(
                    trail.walk(line, steps),
                    plain(&order, line, steps),
                    "{lines} lines, {steps} from {line}"
                );
            }
        }
    }

    #[test]
    fn a_trail_goes_through_every_line_once_before_it_comes_back() {
        let trail = Trail::lay(Pages::zeroed(500 * WORDS), 5);
        let mut seen = vec![false; trail.lines()];
        let mut at = 0;
        for _ in 0..trail.lines() {
            assert!(!std::mem::replace(&mut seen[at], true), "twice");
            at = trail.walk(at, 1);
        }
        assert!(at == 0 && seen.iter().all(|&seen| seen));
    }

    #[test]
    #[should_panic(expected = "line 4 of 4")]
    fn a_line_that_is_not_there_is_refused() {
        Trail::lay(Pages::zeroed(4 * WORDS), 5).walk(4, 1);
    }
}
