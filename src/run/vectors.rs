//! The vectors of a replica, and which of them a slot of what an exchange moves lies in.

use crate::store::Replica;
use std::ops::Range;

/// What a replica consists of.
pub struct Vectors<R> {
    /// The parameters.
    pub x: R,
    /// The companion; of no slots for a method that has none.
    pub beside: R,
    /// Number of parameters.
    pub width: usize,
}

impl<R: Replica> Vectors<R> {
    /// The vectors that the slots from `start` on, `len` of them, lie in, each with its own first slot and number of them.
    pub(super) fn cut(&self, start: usize, len: usize) -> [(&R, usize, usize); 2] {
        let within = self.width.saturating_sub(start).min(len);
        [(&self.x, start.min(self.width), within), (&self.beside, start.saturating_sub(self.width), len - within)]
    }
}

/// The parts of `runs` below `width`, and those from there on, with that as their 0.
pub(super) fn split(
    runs: &[Range<usize>],
    width: usize,
) -> (impl Iterator<Item = Range<usize>> + Clone, impl Iterator<Item = Range<usize>>) {
    let below = runs.iter().map(move |run| run.start.min(width)..run.end.min(width));
    let above = runs.iter().map(move |run| run.start.max(width) - width..run.end.max(width) - width);
    (below, above)
}
