//! The phases in which replicas are drawn together.

use super::{Crew, PANICKED, Run, share};
use crate::{data::matrix::Matrix, method::Method, store::Replica, sync::Slot};

/// Coordinates combined at a time: K + 1 blocks of them stay in L1 for K up to 7, in L2 beyond.
const BLOCK: usize = 512;

impl<D: Matrix, R: Replica, M: Method> Run<'_, D, R, M> {
    /// All replicas and all private scalars become what is agreed.
    pub(super) fn exchange(&self, crew: &Crew<'_>) {
        crew.phase(|worker| self.publish(worker), || ());
        crew.phase(|worker| self.combine(worker), || ());
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
            let start = share(self.task.width(), worker, self.workers()).start;
            self.task.replicas[0].read(start, &mut self.agreed[worker].write().expect(PANICKED));
        };
        crew.phase(read, || ());
        crew.phase(|worker| self.adopt(worker), || ());
    }

    fn publish(&self, worker: usize) {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let local = &mut seat.as_mut().expect("seated").hands.local;
        if let Some(&mut private) = M::private(local) {
            self.constants[worker].put(private);
        }
    }

    /// Takes the average of all published scalars.
    fn take_constant(&self, worker: usize) {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        if let Some(private) = M::private(&mut seat.as_mut().expect("seated").hands.local) {
            *private = self.constant();
        }
    }

    /// The average of the workers' private scalars.
    pub(super) fn constant(&self) -> f64 {
        let sum: f64 = self.constants.iter().map(|constant| constant.read()).sum();
        sum / self.workers() as f64
    }

    /// Combines the worker's range of all replicas.
    fn combine(&self, worker: usize) {
        let range = share(self.task.width(), worker, self.workers());
        let mut agreed = self.agreed[worker].write().expect(PANICKED);
        let damping = self.pace_damping.read();
        let mut blocks: Vec<Vec<f64>> = self.task.replicas.iter().map(|_| Vec::with_capacity(BLOCK)).collect();
        let mut spread = 0.0;
        for (k, agreed) in agreed.chunks_mut(BLOCK).enumerate() {
            for (block, replica) in blocks.iter_mut().zip(self.task.replicas) {
                block.resize(agreed.len(), 0.0);
                replica.read(range.start + k * BLOCK, block);
            }
            self.task.exchange.combine(agreed, &blocks, damping);
            let distance =
                |block: &Vec<f64>| block.iter().zip(&*agreed).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            spread += blocks.iter().map(distance).sum::<f64>();
        }
        self.spread[worker].put(spread);
    }

    /// Copies what is agreed to the worker's replica: all of it for a core's replica, else the ranges that fall to the
    /// worker's rank.
    pub(super) fn adopt(&self, worker: usize) {
        let replica = &self.task.replicas[self.task.plan.workers[worker].replica];
        let seat = self.seats[worker].lock().expect(PANICKED);
        let (rank, of) = seat.as_ref().expect("seated").hands.rank;
        for (chunk, agreed) in self.agreed.iter().enumerate().filter(|(chunk, _)| chunk % of == rank) {
            let start = share(self.task.width(), chunk, self.workers()).start;
            replica.write(start, &agreed.read().expect(PANICKED));
        }
    }

    /// Root mean square distance of the replicas from what was agreed at the last exchange.
    pub(super) fn consensus(&self) -> Option<f64> {
        let replicas = self.task.replicas.len();
        let sum: f64 = self.spread.iter().map(|spread| spread.read()).sum();
        (replicas > 1).then(|| (sum / replicas as f64).sqrt())
    }
}
