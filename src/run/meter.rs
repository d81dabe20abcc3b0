//! Delays by a sampled clock: how many updates of its replica the other workers write between the start and the end of one
//! of a worker's own, looked up for one update in many.
//!
//! Each worker publishes how many updates it has written, on a line of its own; whoever samples reads the lines of the other
//! workers of the replica before its update and after it, and the difference is the delay. That is the definition by tickets
//! ([`gauge`](super::gauge)) less what other workers had begun and not finished, without a line that all write. An update is sampled
//! once in 128 times as many as workers share the replica, so that reading W lines twice costs each of them a sixty-fourth of a
//! transfer an update, and taking the line of its own away as much: at once in 32, two workers on rows of 12 entries were 8 %
//! slower. The loop of [`threads`](super::threads) goes through its lines in stretches: where nothing is watched, all that are
//! due are one, and watched, each is its own, so that there is one loop for both and the first pays nothing for the second.

use crate::{data::matrix::Row, placement::Plan, sync::Progress, trace::DelayTally};
use crossbeam_utils::CachePadded;

/// Updates between two samples, for each worker of the replica.
const EVERY: u32 = 128;

/// The workers' counts; of no workers where delays are not watched.
pub(super) struct Meter {
    written: Vec<CachePadded<Progress>>,
}

/// One worker's samples, for a window.
pub(super) struct Sampler<'a> {
    /// The counts of the other workers of the replica, each with whether it is on another node.
    others: Vec<(&'a Progress, bool)>,
    own: &'a Progress,
    updates: u64,
    every: u32,
    left: u32,
    before: [u64; 2],
}

impl Meter {
    /// For the workers of `plan`, if delays are watched.
    pub(super) fn new(plan: &Plan, watched: bool) -> Self {
        let count = if watched { plan.workers.len() } else { 0 };
        Meter { written: (0..count).map(|_| CachePadded::default()).collect() }
    }

    /// For `worker`, which has written `updates`; `None` where nothing is watched. Allocates, once a window.
    pub(super) fn sampler<'a>(&'a self, plan: &Plan, worker: usize, updates: u64) -> Option<Box<Sampler<'a>>> {
        let own = self.written.get(worker)?;
        let peers = &plan.replicas[plan.workers[worker].replica].workers;
        let others = peers.iter().filter(|&&peer| peer != worker);
        let others = others.map(|&peer| (&*self.written[peer], far(plan, worker, peer))).collect();
        let every = EVERY * u32::try_from(peers.len()).unwrap_or(u32::MAX / EVERY);
        // As if the windows before were one with this. Workers do not sample in step.
        let left = every - ((updates + 7 * worker as u64) % u64::from(every)) as u32;
        Some(Box::new(Sampler { others, own, updates, every, left, before: [0; 2] }))
    }
}

/// Whether two workers are known to be on different nodes.
pub(super) fn far(plan: &Plan, one: usize, other: usize) -> bool {
    let node = |worker: usize| plan.workers[worker].node;
    node(one).zip(node(other)).is_some_and(|(one, other)| one != other)
}

impl Sampler<'_> {
    /// An update begins.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.before = self.look();
        }
    }

    /// It is written, in the slots of `row`.
    #[inline(always)]
    pub(super) fn end<'r>(&mut self, tally: &mut Option<Box<DelayTally>>, row: impl FnOnce() -> Row<'r>) {
        self.updates += 1;
        self.own.publish(self.updates);
        if self.left == 0 {
            self.left = self.every;
            self.count(tally.as_deref_mut(), row());
        }
    }

    #[inline(never)]
    fn count(&self, tally: Option<&mut DelayTally>, row: Row<'_>) {
        let after = self.look();
        let [near, far] = [0, 1].map(|k| after[k] - self.before[k]);
        if let Some(tally) = tally {
            tally.count(near, far, row.slots());
        }
    }

    /// What the others have written, those on this node and those on others.
    #[inline(never)]
    fn look(&self) -> [u64; 2] {
        let mut sums = [0; 2];
        self.others.iter().for_each(|(count, far)| sums[usize::from(*far)] += count.read());
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Setup, data::matrix::SparseRow, placement::plan, topology::Topology, trace::Delays};

    #[test]
    fn a_sample_is_what_the_others_of_the_replica_wrote_meanwhile() {
        let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").expect("a topology");
        let mut setup = Setup::default();
        setup.parameters.replicas = Some(crate::config::Granularity::Machine);
        let plan = plan(&topology, &setup).expect("a plan");
        let meter = Meter::new(&plan, true);
        let mut samplers: Vec<_> = (0..4).map(|worker| meter.sampler(&plan, worker, 0).expect("watched")).collect();
        let mut tally = Some(Box::new(DelayTally::new(64)));
        let nothing = Row::Dense(&[]);
        let mut untold = None;
        let mut other = |sampler: &mut Sampler<'_>| {
            sampler.begin();
            sampler.end(&mut untold, || nothing);
        };
        // Worker 0 samples its 512th update: meanwhile its neighbour writes once, and those of the other node three times.
        let (first, rest) = samplers.split_at_mut(1);
        (1..512).for_each(|_| other(&mut first[0]));
        first[0].begin();
        [0, 1, 1, 2].iter().for_each(|&k| other(&mut rest[k]));
        let row = SparseRow::new(&[0, 63], &[1.0, 1.0], 64);
        first[0].end(&mut tally, || Row::Sparse(row));
        let tally = tally.expect("told");
        let summary = |delays: &Delays| delays.summary("sampled").map(|summary| (summary.updates, summary.max));
        assert_eq!(summary(&tally.all), Some((1, 4)));
        assert_eq!(summary(&tally.far), Some((1, 3)));
        let blocks: Vec<_> = tally.blocks.iter().map(|block| summary(block).is_some()).collect();
        assert_eq!(blocks.iter().filter(|touched| **touched).count(), 2);
        assert!(blocks[0] && blocks[blocks.len() - 1]);
    }

    #[test]
    fn nothing_is_looked_at_where_nothing_is_watched() {
        let topology = Topology::from_synthetic("core:2 pu:1").expect("a topology");
        let plan = plan(&topology, &Setup::default()).expect("a plan");
        let meter = Meter::new(&plan, false);
        assert!(meter.sampler(&plan, 0, 0).is_none());
    }
}
