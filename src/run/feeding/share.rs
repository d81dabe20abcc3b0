//! How much of its shard a GPU takes: what is set, or what lets it and the cpus end an epoch together.

use super::{Feeder, Feeding};
use crate::{
    data::matrix::Matrix,
    order::{Bucket, Order, Slice},
    run::{PANICKED, Run},
    sync::Slot,
};

/// What it takes at least, and leaves at least: with nothing to do nobody's speed would be known.
const LEAST: f64 = 0.01;

/// What the workers of the feeder's shard had done by the last look.
pub(super) struct Pace {
    workers: Vec<usize>,
    seen: Vec<(u64, f64)>,
}

impl Pace {
    pub(super) fn new(workers: Vec<usize>) -> Self {
        Pace { seen: vec![(0, 0.0); workers.len()], workers }
    }

    /// The part of the lines with which `feeder` ends together with the others, who go on as fast as they did since the last look:
    /// its lines a second over those of all. `None` where somebody did nothing, or no time passed. `done` has each worker's lines and
    /// seconds.
    fn even_end(&mut self, feeder: usize, done: impl Fn(usize) -> (u64, f64)) -> Option<f64> {
        let (mut own, mut all) = (0.0, 0.0);
        let mut known = true;
        for (&worker, seen) in self.workers.iter().zip(&mut self.seen) {
            let (lines, seconds) = done(worker);
            let speed = (lines - seen.0) as f64 / (seconds - seen.1);
            *seen = (lines, seconds);
            known &= speed.is_finite() && speed > 0.0;
            all += speed;
            own += if worker == feeder { speed } else { 0.0 };
        }
        known.then(|| (own / all).clamp(LEAST, 1.0 - LEAST))
    }
}

impl<D: Matrix> Run<'_, D> {
    /// The buckets of `worker` in `epoch`.
    pub(in crate::run) fn dealt<'o>(&self, order: &'o mut Order, worker: usize, epoch: u64) -> &'o [Bucket] {
        order.epoch(epoch, self.slice(worker))
    }

    /// The part of its shard that is a worker's, where a GPU takes another than the rest.
    fn slice(&self, worker: usize) -> Option<Slice> {
        let (feed, Feeding { worker: feeder, .. }) = (self.feed.as_ref()?, self.task.feeding?);
        let plan = self.task.plan;
        if plan.workers[worker].shard != plan.workers[*feeder].shard {
            return None;
        }
        let ((rank, of), (last, _)) = (plan.rank_in_shard(worker), plan.rank_in_shard(*feeder));
        let others = of.checked_sub(1).filter(|&others| others > 0)?;
        let left = 1.0 - feed.share.read();
        let bound = |rank: usize| left * rank as f64 / others as f64;
        Some(match worker == *feeder {
            true => Slice { from: bound(others), to: 1.0 },
            false => {
                let rank = rank - usize::from(last < rank);
                Slice { from: bound(rank), to: bound(rank + 1) }
            }
        })
    }

    /// An epoch is over: what the GPU takes in the next, where that is not set and seconds are measured.
    pub(in crate::run) fn share_lines(&self) {
        let (Some(feed), Some(feeding)) = (&self.feed, self.task.feeding) else { return };
        if feeding.share.is_some() {
            return;
        }
        let done = |worker: usize| (self.engine.updates(worker), self.busy_seconds[worker].read());
        if let Some(share) = feed.pace.lock().expect(PANICKED).even_end(feeding.worker, done) {
            // Half of the way: an epoch may have been disturbed.
            feed.share.put(0.5 * (feed.share.read() + share));
        }
    }
}

impl Feeding<'_> {
    /// The seat's part of it, for the worker that feeds; takes the device.
    pub(in crate::run) fn seat(&self, worker: usize, width: usize) -> Option<Feeder> {
        if worker != self.worker {
            return None;
        }
        let device = self.device.lock().expect(PANICKED).take().expect("a worker sits down once");
        Some(Feeder::new(device, self.firsts.clone(), self.rows, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gpu_takes_what_its_speed_is_of_all() {
        let mut pace = Pace::new(vec![3, 4, 5]);
        // 100, 100 and 200 lines a second.
        let done = |worker: usize| if worker == 5 { (400, 2.0) } else { (300, 3.0) };
        assert_eq!(pace.even_end(5, done), Some(0.5));
        // Since then: 100, 100 and 800.
        let later = |worker: usize| if worker == 5 { (1200, 3.0) } else { (400, 4.0) };
        assert_eq!(pace.even_end(5, later), Some(0.8));
        assert_eq!(pace.even_end(5, later), None, "nobody did anything");
        let slow = |worker: usize| if worker == 5 { (1201, 103.0) } else { (100_000, 5.0) };
        assert_eq!(pace.even_end(5, slow), Some(LEAST));
    }
}
