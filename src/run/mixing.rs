//! Replicas that gossip: the steps between their windows, and the average of all that is judged and saved instead of
//! any of them.
//!
//! At the end of an epoch with an evaluation each worker lays its part of its replica aside, on its own node, and the
//! replicas become the average of all, what is on its way included; afterwards, unless the run ends, each gets its own
//! back. So judging changes nothing, whatever it is judged by; model and checkpoint are the average, and a run that
//! goes on from a checkpoint starts every replica there, with weight 1 and nothing on its way.

use super::{Crew, PANICKED, Run, Verdict, engine::Engine, exchanging::distance2, share};
use crate::{
    data::matrix::Matrix,
    exchange::gossip::{Gossip, Replicas},
    os::{
        clock::Stopwatch,
        memory::{Asking, Pages, Residency},
    },
    sync::{Gate, SharedF64, Slot},
};
use crossbeam_utils::CachePadded;
use std::sync::RwLock;

/// What a run has for a gossip.
pub(super) struct Mixing {
    gossip: Box<dyn Gossip>,
    /// Each worker's part of its replica while the average is judged.
    aside: Vec<RwLock<Pages<f64>>>,
    /// Seconds that each worker spent at steps.
    seconds: Vec<CachePadded<SharedF64>>,
}

impl Mixing {
    /// For a task whose exchange gossips, of replicas with `width` slots.
    pub(super) fn new<D: Matrix>(task: &super::Task<'_, D>, width: usize) -> Option<Self> {
        let plan = task.plan;
        let sites = plan.replicas.iter().map(|replica| plan.site(&replica.home)).collect();
        let gossip = task.exchange.gossip(width, sites, task.seed)?;
        let part = |worker| {
            let (rank, of) = plan.rank_in_replica(worker);
            RwLock::new(Pages::placed(share(width, rank, of).len(), &plan.site_of_worker(worker)))
        };
        let workers = 0..plan.workers.len();
        let seconds = workers.clone().map(|_| CachePadded::new(SharedF64::new(0.0))).collect();
        Some(Mixing { gossip, aside: workers.map(part).collect(), seconds })
    }
}

/// A run's replicas as its gossip sees them.
struct Held<'r, D: Matrix> {
    engine: &'r dyn Engine<D>,
    count: usize,
    width: usize,
    parameters: usize,
}

impl<D: Matrix> Replicas for Held<'_, D> {
    fn count(&self) -> usize {
        self.count
    }

    fn width(&self) -> usize {
        self.width
    }

    fn companions(&self) -> usize {
        self.parameters
    }

    fn read(&self, replica: usize, start: usize, out: &mut [f64]) {
        self.engine.read(replica, start, out);
    }

    fn add(&self, replica: usize, start: usize, delta: &[f64]) {
        self.engine.add(replica, start, delta);
    }
}

impl<D: Matrix> Run<'_, D> {
    fn held(&self) -> Held<'_, D> {
        Held {
            engine: self.engine,
            count: self.replicas(),
            width: self.engine.width(),
            parameters: self.task.width(),
        }
    }

    /// At the start, when all replicas are alike.
    pub(super) fn begin_gossip(&self, crew: &Crew<'_>) {
        let Some(mixing) = &self.mixing else { return };
        let begin = |worker: usize| {
            let aside = mixing.aside[worker].read().expect(PANICKED);
            // Where pages cannot be taken now, the first write does it.
            let _ = aside.populate(0..aside.len());
            if self.task.plan.rank_in_replica(worker).0 == 0 {
                mixing.gossip.begin(&self.held(), self.replica_of(worker));
            }
        };
        crew.phase(begin, || ());
    }

    /// Whether a step of the gossip falls to `worker` after its window `index` of `epoch`: its replica's workers take
    /// turns, so that a replica takes one step for one window of each.
    pub(super) fn steps_after(&self, worker: usize, epoch: u64, index: usize) -> bool {
        let (rank, of) = self.task.plan.rank_in_replica(worker);
        let turn = (epoch as usize).wrapping_mul(self.windows_most).wrapping_add(index);
        self.mixing.is_some() && turn % of == rank
    }

    /// The step of the worker's replica; false where it must be asked for again.
    pub(super) fn try_step(&self, worker: usize) -> bool {
        let mixing = self.mixing.as_ref().expect("replicas that gossip");
        mixing.gossip.step(&self.held(), self.replica_of(worker))
    }

    /// The step that falls to `worker` after its window, if one does, waited for until it may be made or the run must
    /// end.
    pub(super) fn step_after(&self, gate: &Gate, worker: usize, epoch: u64, index: usize) {
        if !self.steps_after(worker, epoch, index) {
            return;
        }
        let clock = Stopwatch::start();
        gate.wait_until(|| self.try_step(worker) || self.poll());
        let seconds = &self.mixing.as_ref().expect("replicas that gossip").seconds[worker];
        seconds.put(seconds.read() + clock.seconds());
    }

    /// Seconds of `worker` at steps of a gossip.
    pub(super) fn step_seconds(&self, worker: usize) -> f64 {
        self.mixing.as_ref().map_or(0.0, |mixing| mixing.seconds[worker].read())
    }

    /// Lays the replicas aside and puts their average in their place.
    pub(super) fn lay_aside(&self, crew: &Crew<'_>) {
        let Some(mixing) = &self.mixing else { return };
        let keep = |worker: usize| {
            let start = self.part_start(worker);
            self.engine.read(self.replica_of(worker), start, &mut mixing.aside[worker].write().expect(PANICKED));
        };
        crew.phase(keep, || ());
        crew.phase(|worker| self.average(mixing, worker), || ());
        crew.phase(|worker| self.adopt(worker), || ());
        crew.phase(|worker| self.project(worker), || ());
    }

    /// Gives each replica back what it had, unless the run ends.
    pub(super) fn take_up(&self, crew: &Crew<'_>) {
        let Some(mixing) = &self.mixing else { return };
        if let Verdict::Stop(_) = self.ledger.lock().expect(PANICKED).verdict {
            return;
        }
        let restore = |worker: usize| {
            let start = self.part_start(worker);
            self.engine.write(self.replica_of(worker), start, &mixing.aside[worker].read().expect(PANICKED));
        };
        crew.phase(restore, || ());
    }

    fn part_start(&self, worker: usize) -> usize {
        let (rank, of) = self.task.plan.rank_in_replica(worker);
        share(self.engine.width(), rank, of).start
    }

    /// The worker's range of the average, and how far the replicas are from it there.
    fn average(&self, mixing: &Mixing, worker: usize) {
        let start = share(self.engine.width(), worker, self.workers()).start;
        let mut agreed = self.agreed[worker].write().expect(PANICKED);
        let weight = mixing.gossip.sum(&self.held(), start, &mut agreed);
        agreed.iter_mut().for_each(|value| *value /= weight);
        let mut one = vec![0.0; agreed.len()];
        let spread = (0..self.replicas()).map(|replica| {
            self.engine.read(replica, start, &mut one);
            let x = self.parameters_among(start, one.len());
            distance2(&one[..x], &agreed[..x])
        });
        self.spread[worker].put(spread.sum());
    }

    /// Where the arrays of a gossip lie that are with `replica`.
    pub(super) fn residency_of_messages(&self, replica: usize, asking: Asking) -> Option<Residency> {
        self.mixing.as_ref().map(|mixing| mixing.gossip.residency(replica, asking))
    }

    /// Where what `worker` lays aside lies.
    pub(super) fn residency_of_aside(&self, worker: usize, asking: Asking) -> Residency {
        let aside = |mixing: &Mixing| mixing.aside[worker].read().expect(PANICKED).settle(asking);
        self.mixing.as_ref().map(aside).unwrap_or_default()
    }
}
