//! A number that several workers add to.

use super::{AtomicU64, Ordering};

/// Counts what has been done.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// One more is done. The `Release` publishes what this worker wrote before; those who add after it go on with the same
    /// release sequence.
    #[inline(always)]
    pub fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// How many are done. The `Acquire` pairs with the `Release` of each of them: their writes are visible.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
