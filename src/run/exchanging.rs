//! The phases in which replicas are drawn together.

use super::{Crew, PANICKED, Run, share};
use crate::{data::matrix::Matrix, sync::Slot};

/// How much larger than what was measured σ′ is, since the next window may be worse.
const MARGIN: f64 = 1.25;
/// Coordinates combined at a time: K + 1 blocks of them stay in L1 for K up to 7, in L2 beyond.
const BLOCK: usize = 512;

impl<D: Matrix> Run<'_, D> {
    /// All replicas and all private scalars become what is agreed.
    pub(super) fn exchange(&self, crew: &Crew<'_>) {
        crew.phase(|worker| self.publish(worker), || ());
        if let Some(groups) = &self.nodes {
            return self.exchange_by_nodes(crew, groups);
        }
        crew.phase(|worker| self.combine(worker), || self.pace_by_overlap());
        crew.phase(
            |worker| {
                self.adopt(worker);
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

    /// Combines the worker's range of all replicas.
    fn combine(&self, worker: usize) {
        let range = share(self.engine.width(), worker, self.workers());
        let mut agreed = self.agreed[worker].write().expect(PANICKED);
        let damping = self.pace_damping.read();
        let mut blocks: Vec<Vec<f64>> = vec![Vec::with_capacity(BLOCK); self.replicas()];
        let (mut spread, mut start) = (0.0, Vec::with_capacity(BLOCK));
        let mut overlap = [0.0; 2];
        for (k, agreed) in agreed.chunks_mut(BLOCK).enumerate() {
            for (replica, block) in blocks.iter_mut().enumerate() {
                block.resize(agreed.len(), 0.0);
                self.engine.read(replica, range.start + k * BLOCK, block);
            }
            start.clear();
            start.extend_from_slice(agreed);
            self.task.exchange.combine(agreed, &blocks, damping);
            if self.task.exchange.sums() {
                overlap[0] += distance2(agreed, &start);
                overlap[1] += blocks.iter().map(|block| distance2(block, &start)).sum::<f64>();
            }
            // How far apart the parameters are; companions do not count.
            let x = self.parameters_among(range.start + k * BLOCK, agreed.len());
            spread += blocks.iter().map(|block| distance2(&block[..x], &agreed[..x])).sum::<f64>();
        }
        self.spread[worker].put(spread);
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

    /// How many of the slots from `start` on, `len` of them, are parameters and not a companion's.
    pub(super) fn parameters_among(&self, start: usize, len: usize) -> usize {
        self.task.width().saturating_sub(start).min(len)
    }

    /// Root mean square distance of the replicas from what was agreed at the last exchange.
    pub(super) fn consensus(&self) -> Option<f64> {
        let replicas = self.replicas();
        let sum: f64 = self.spread.iter().map(|spread| spread.read()).sum();
        (replicas > 1).then(|| (sum / replicas as f64).sqrt())
    }
}

pub(super) fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
