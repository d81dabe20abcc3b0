//! A number on a line of its own: what the probes of [`contention`](crate::contention) hand from cpu to cpu.

use super::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;

/// One number, alone on its cache line and on that which a prefetcher would bring with it.
#[derive(Debug, Default)]
pub struct Line(CachePadded<AtomicU64>);

impl Line {
    /// A line that holds `value`.
    pub fn new(value: u64) -> Self {
        Line(CachePadded::new(AtomicU64::new(value)))
    }

    /// The number. The `Acquire` pairs with the `Release` of whoever put it there: what he wrote before is visible.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Puts a number, which publishes what was written before.
    #[inline(always)]
    pub fn put(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    /// Puts `next` if `seen` is there, by one compare-exchange; false if it was not. On x86 a refused exchange takes the
    /// line for itself as well.
    #[inline(always)]
    pub fn swap_if(&self, seen: u64, next: u64) -> bool {
        self.0.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Adds and returns what was there before. Adding 0 reads the line and takes it for itself.
    #[inline(always)]
    pub fn add(&self, value: u64) -> u64 {
        self.0.fetch_add(value, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_prefetched_pair_of_lines_to_itself() {
        assert!(size_of::<Line>() >= 128 && align_of::<Line>() >= 128);
    }

    #[test]
    fn a_swap_puts_only_over_what_it_expects() {
        let line = Line::new(3);
        assert!(!line.swap_if(2, 9) && line.read() == 3);
        assert!(line.swap_if(3, 9) && line.add(1) == 9 && line.read() == 10);
    }
}
