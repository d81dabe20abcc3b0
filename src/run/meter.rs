//! Delays by a sampled clock: how many updates of its replica the other workers write between the start and the end of one
//! of a worker's own, looked up for one update in many.
//!
//! Each worker publishes how many updates it has written, on a line of its own; whoever samples reads the lines of the other
//! workers of the replica before its update and after it, and the difference is the delay. That is the definition by tickets
//! ([`gauge`](super::gauge)) less what other workers had begun and not finished, without a line that all write. An update is sampled
//! once in 32 times as many as workers share the replica, so that reading W lines W times costs each of them a thirty-second of a
//! transfer an update. The loop of [`threads`](super::threads) goes through its lines in stretches, of which a sampled one is a stretch
//! of its own: what it pays for an update is the store that publishes it, watched or not.

use crate::{data::matrix::Row, placement::Plan, sync::Progress, trace::DelayTally};
use crossbeam_utils::CachePadded;

/// Updates between two samples, for each worker of the replica.
const EVERY: u32 = 32;

/// The workers' counts; of no workers where delays are not watched.
pub(super) struct Meter {
    written: Vec<CachePadded<Progress>>,
}

/// One worker's samples, for a window.
pub(super) struct Sampler<'a> {
    /// The counts of the other workers of the replica, each with whether it is on another node.
    others: Vec<(&'a Progress, bool)>,
    own: &'a Progress,
    every: u32,
    left: u32,
    before: Option<[u64; 2]>,
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
        Some(Box::new(Sampler { others, own, every, left, before: None }))
    }
}

/// Whether two workers are known to be on different nodes.
pub(super) fn far(plan: &Plan, one: usize, other: usize) -> bool {
    let node = |worker: usize| plan.workers[worker].node;
    node(one).zip(node(other)).is_some_and(|(one, other)| one != other)
}

impl<'a> Sampler<'a> {
    /// Where this worker publishes how many updates it has written.
    pub(super) fn own(&self) -> &'a Progress {
        self.own
    }

    /// Of the next `count` updates, how many make a stretch: one if it is sampled, which begins now, else those before that one.
    #[inline]
    pub(super) fn stretch(&mut self, count: usize) -> usize {
        if self.left == 1 {
            self.before = Some(self.look());
            return 1;
        }
        count.min(self.left as usize - 1)
    }

    /// A stretch of `count` updates is written and published; `row` has the slots of the last.
    #[inline]
    pub(super) fn written(&mut self, count: usize, tally: Option<&mut DelayTally>, row: Row<'_>) {
        let Some(before) = self.before.take() else {
            self.left -= count as u32;
            return;
        };
        self.left = self.every;
        let after = self.look();
        let [near, far] = [0, 1].map(|k| after[k] - before[k]);
        if let Some(tally) = tally {
            tally.count(near, far, row.slots());
        }
    }

    /// What the others have written, those on this node and those on others.
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
        let mut tally = DelayTally::new(64);
        let nothing = Row::Dense(&[]);
        let other = |sampler: &mut Sampler<'_>| {
            sampler.stretch(1);
            sampler.own().publish(sampler.own().read() + 1);
            sampler.written(1, None, nothing);
        };
        // Worker 0 samples its 128th update: meanwhile its neighbour writes once, and those of the other node three times.
        let (first, rest) = samplers.split_at_mut(1);
        let stretch = first[0].stretch(1000);
        assert_eq!(stretch, 127);
        first[0].written(stretch, Some(&mut tally), nothing);
        assert_eq!(first[0].stretch(1000), 1);
        [0, 1, 1, 2].iter().for_each(|&k| other(&mut rest[k]));
        let row = SparseRow::new(&[0, 63], &[1.0, 1.0], 64);
        first[0].written(1, Some(&mut tally), Row::Sparse(row));
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
