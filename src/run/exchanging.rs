//! The phases in which replicas are drawn together.

use super::{
    Crew, PANICKED, Run,
    moving::{gather, scatter, slots_of},
    share,
};
use crate::{
    data::matrix::Matrix,
    sync::{Slot, touched::WORD},
};
use std::ops::Range;

/// How much larger than what was measured σ′ is, since the next window may be worse.
const MARGIN: f64 = 1.25;

impl<D: Matrix> Run<'_, D> {
    /// All replicas and all private scalars become what is agreed, after window `index`.
    pub(super) fn exchange(&self, crew: &Crew<'_>, epoch: u64, index: usize) {
        crew.phase(
            |worker| {
                self.publish(worker);
                self.mark(worker, epoch, index);
            },
            || (),
        );
        if let Some(groups) = &self.nodes {
            return self.exchange_by_nodes(crew, groups);
        }
        crew.phase(|worker| self.combine(worker), || self.pace_by_overlap());
        crew.phase(
            |worker| {
                self.adopt_moved(worker);
                self.take_constant(worker);
            },
            || (),
        );
    }

    /// Private scalars become their average; what the epoch's evaluation uses.
    pub(super) fn share_constants(&self, crew: &Crew<'_>) {
        crew.phase(|worker| self.publish(worker), || ());
        crew.phase(|worker| self.take_constant(worker), || ());
    }

    /// At the start: what is agreed is what replica 0 holds.
    pub(super) fn agree(&self, crew: &Crew<'_>) {
        let read = |worker: usize| {
            let start = share(self.engine.width(), worker, self.workers()).start;
            self.engine.read(0, start, &mut self.agreed[worker].write().expect(PANICKED));
        };
        crew.phase(read, || ());
        crew.phase(|worker| self.adopt(worker), || ());
    }

    fn publish(&self, worker: usize) {
        if let Some(private) = self.engine.private(worker) {
            self.constants[worker].put(private);
        }
    }

    /// Takes the average of all published scalars.
    pub(super) fn take_constant(&self, worker: usize) {
        self.engine.set_private(worker, self.constant());
    }

    /// The average of the workers' private scalars.
    pub(super) fn constant(&self) -> f64 {
        let sum: f64 = self.constants.iter().map(|constant| constant.read()).sum();
        sum / self.workers() as f64
    }

    /// Combines what moves of the worker's range of all replicas.
    fn combine(&self, worker: usize) {
        let range = share(self.engine.width(), worker, self.workers());
        let mut agreed = self.agreed[worker].write().expect(PANICKED);
        let damping = self.pace_damping.read();
        let mut blocks: Vec<Vec<f64>> = vec![Vec::with_capacity(WORD); self.replicas()];
        let (mut now, mut start) = ([0.0; WORD], [0.0; WORD]);
        // Sums go slot by slot, each replica's for itself: what does not move adds 0, and leaves them to the bit.
        let (mut spread, mut apart, mut together) = (vec![0.0; blocks.len()], vec![0.0; blocks.len()], 0.0);
        let mut moved = 0;
        self.moving.unite(worker);
        self.moving.unions[worker].read().expect(PANICKED).batches(range.clone(), |runs| {
            let len = slots_of(runs);
            for (replica, block) in blocks.iter_mut().enumerate() {
                block.resize(len, 0.0);
                self.engine.gather(replica, runs, block);
            }
            let (now, start) = (&mut now[..len], &mut start[..len]);
            gather(&agreed, range.start, runs, start);
            now.copy_from_slice(start);
            self.task.exchange.combine(now, &blocks, damping);
            // What replicas of 4 bytes cannot keep is not agreed.
            self.engine.round(now);
            scatter(now, range.start, runs, &mut agreed);
            if self.task.exchange.sums() {
                add_distance2(&mut together, now, start);
                apart.iter_mut().zip(&blocks).for_each(|(sum, block)| add_distance2(sum, block, start));
            }
            // How far apart the parameters are; companions do not count.
            let x = self.parameters_of(runs);
            spread.iter_mut().zip(&blocks).for_each(|(sum, block)| add_distance2(sum, &block[..x], &now[..x]));
            moved += len;
        });
        self.moving.count(worker, moved, range.len());
        self.spread[worker].put(spread.iter().sum());
        let overlap = [together, apart.iter().sum()];
        self.overlap[worker].iter().zip(overlap).for_each(|(cell, sum)| cell.put(sum));
    }

    /// Takes for the next window the σ′ that the last one would have needed, and a margin: where the replicas' changes δₖ
    /// add up to ‖Σ δₖ‖² ≤ σ′ Σ ‖δₖ‖² the objective that must ascend cannot fall. For K replicas the right side's factor
    /// is K at most, which only replicas that move alike need.
    fn pace_by_overlap(&self) {
        if !self.task.exchange.sums() {
            return;
        }
        let sum = |which: usize| self.overlap.iter().map(|cell| cell[which].read()).sum::<f64>();
        // A replica itself moved by σ′ times its change.
        let damping = self.pace_damping.read();
        let (together, apart) = (damping * damping * sum(0), sum(1));
        if apart > 0.0 && together.is_finite() {
            let least = self.damping_least.read();
            let most = least.max(self.replicas() as f64);
            self.pace_damping.put((MARGIN * together / apart).clamp(least, most));
        }
    }

    /// Copies what is agreed to the worker's replica: all of it for a core's replica, else the ranges that fall to the
    /// worker's rank.
    pub(super) fn adopt(&self, worker: usize) {
        let (rank, of) = self.task.plan.rank_in_replica(worker);
        for (chunk, agreed) in self.agreed.iter().enumerate().filter(|(chunk, _)| chunk % of == rank) {
            let start = share(self.engine.width(), chunk, self.workers()).start;
            self.engine.write(self.replica_of(worker), start, &agreed.read().expect(PANICKED));
        }
    }

    /// The same of what moved, and takes back the marks of it.
    fn adopt_moved(&self, worker: usize) {
        let (rank, of) = self.task.plan.rank_in_replica(worker);
        let (replica, mut values) = (self.replica_of(worker), [0.0; WORD]);
        for (chunk, agreed) in self.agreed.iter().enumerate().filter(|(chunk, _)| chunk % of == rank) {
            let range = share(self.engine.width(), chunk, self.workers());
            let agreed = agreed.read().expect(PANICKED);
            self.moving.unions[chunk].read().expect(PANICKED).batches(range.clone(), |runs| {
                let values = &mut values[..slots_of(runs)];
                gather(&agreed, range.start, runs, values);
                self.engine.scatter(replica, runs, values);
            });
        }
        // Whoever needs them has united them before this phase.
        self.moving.clear(replica, (rank, of));
    }

    /// How many of the slots from `start` on, `len` of them, are parameters and not a companion's.
    pub(super) fn parameters_among(&self, start: usize, len: usize) -> usize {
        self.task.width().saturating_sub(start).min(len)
    }

    /// The same of the slots of `runs`, which ascend.
    pub(super) fn parameters_of(&self, runs: &[Range<usize>]) -> usize {
        runs.iter().map(|run| self.parameters_among(run.start, run.len())).sum()
    }

    /// Root mean square distance of the replicas from what was agreed at the last exchange.
    pub(super) fn consensus(&self) -> Option<f64> {
        let replicas = self.replicas();
        let sum: f64 = self.spread.iter().map(|spread| spread.read()).sum();
        (replicas > 1).then(|| (sum / replicas as f64).sqrt())
    }
}

/// sum ← sum + Σ (a − b)², term by term.
pub(super) fn add_distance2(sum: &mut f64, a: &[f64], b: &[f64]) {
    *sum = a.iter().zip(b).fold(*sum, |sum, (a, b)| sum + (a - b) * (a - b));
}

pub(super) fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
