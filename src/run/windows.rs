//! An epoch in windows, between which replicas are drawn together.

use super::{Crew, Run, share};
use crate::{data::matrix::Matrix, method::Pace, order::Bucket, sync::Slot};
use std::ops::Range;

impl<D: Matrix> Run<'_, D> {
    /// Windows of this epoch. Where many lines rest the updates are few, and so are the exchanges that are due.
    pub(super) fn windows(&self) -> usize {
        ((self.windows_most as f64 * self.visited.read()).ceil() as usize).clamp(1, self.windows_most)
    }

    /// An epoch's updates, and the exchanges between them. Where replicas gossip all windows go at once, and the runner makes
    /// a step of the gossip after each.
    pub(super) fn visit(&self, crew: &Crew<'_>, epoch: u64, windows: impl Fn(Range<usize>)) {
        if self.mixing.is_some() {
            return self.audited(crew, || windows(0..self.windows()));
        }
        for index in 0..self.windows() {
            self.audited(crew, || windows(index..index + 1));
            if self.replicas() > 1 {
                self.exchange(crew, epoch, index);
            }
        }
    }

    /// Whether a worker goes through a window of its lines, or once more if it did. Where workers go on by themselves there
    /// are as many turns as make up the epochs until all meet, for whoever comes.
    pub(super) fn goes_in(&self, again: bool) -> bool {
        if self.free { self.passes.take() } else { !again }
    }

    /// γ and σ′ after `done` of `of` buckets of epoch `epoch`.
    pub(super) fn pace(&self, epoch: u64, done: usize, of: usize) -> Pace {
        let at = epoch as f64 + done as f64 / of.max(1) as f64;
        let damping = self.pace_damping.read();
        Pace {
            step: self.task.step.map_or(0.0, |step| step.length(at)),
            damping,
            amplify: self.task.exchange.amplify(damping),
        }
    }

    /// Buckets `index` of the run's windows within `buckets`.
    pub(super) fn window_of<'b>(&self, buckets: &'b [Bucket], index: usize) -> (usize, &'b [Bucket]) {
        let range = share(buckets.len(), index, self.windows());
        (range.start, &buckets[range])
    }
}
