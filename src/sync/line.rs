//! One cache line that threads hand to each other: what the probes of the machine's prices are made of.

use super::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;

/// A number on a line of its own, and on a pair of lines of its own where hardware fetches in pairs.
#[derive(Debug, Default)]
pub struct Line(CachePadded<AtomicU64>);

impl Line {
    /// The number. `Acquire`: pairs with the `Release` of whoever put it, so that what was written before the line was handed over
    /// is seen after.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Puts `value`. See [`Line::read`].
    #[inline(always)]
    pub fn put(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    /// Puts `next` if it is `now`, by compare-exchange; whether it was.
    #[inline(always)]
    pub fn exchange(&self, now: u64, next: u64) -> bool {
        self.0.compare_exchange(now, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Adds one, by fetch-and-add; what it was.
    #[inline(always)]
    pub fn add(&self) -> u64 {
        self.0.fetch_add(1, Ordering::AcqRel)
    }
}
