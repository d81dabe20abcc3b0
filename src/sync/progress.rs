//! How far a worker is, for others to look at.

use super::{AtomicU64, Relaxed};

/// A number that one worker alone writes, and others read now and then. A store costs its worker nothing as long as nobody
/// looks; whoever looks takes the line away once.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// From now on it is `count`.
    #[inline(always)]
    pub fn publish(&self, count: u64) {
        self.0.store(count, Relaxed);
    }

    /// What was published last, as far as it got here.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
