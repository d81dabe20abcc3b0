//! The average of all replicas, by nodes: what `allreduce` does where a node has several.
//!
//! Four phases, between which all workers meet: each node's workers sum its replicas, a part of the coordinates each;
//! all workers average the nodes' sums, a range each; each node's workers copy the result to where their sum was; and
//! each replica takes it from there. Traffic of K replicas of d on M nodes with W workers, a worker: 8Kd/W read on its
//! node; 8Md/W read, most of it from other nodes; 8Md/W more of that, and 8Kd/W on its node again.

use super::{Crew, PANICKED, Run, exchanging::distance2, share};
use crate::{data::matrix::Matrix, os::memory::Pages, placement::Plan, sync::Slot};
use std::sync::RwLock;

/// Which replicas and workers share a node.
pub(super) struct Groups {
    groups: Vec<Group>,
    /// Each worker's group.
    of: Vec<usize>,
    /// Each worker's part of its group's sum.
    sums: Vec<RwLock<Pages<f64>>>,
}

struct Group {
    replicas: Vec<usize>,
    workers: Vec<usize>,
}

impl Groups {
    /// Of `plan`, for replicas of `width` coordinates; `None` where no node has several replicas, or there is one node.
    pub(super) fn new(plan: &Plan, width: usize) -> Option<Self> {
        let mut nodes: Vec<Option<usize>> = plan.replicas.iter().map(|replica| replica.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.len() == 1 || nodes.len() == plan.replicas.len() {
            return None;
        }
        let group = |&node: &Option<usize>| {
            let on = |replica: &usize| plan.replicas[*replica].node == node;
            let replicas: Vec<usize> = (0..plan.replicas.len()).filter(on).collect();
            let workers = replicas.iter().flat_map(|&replica| plan.replicas[replica].workers.clone()).collect();
            Group { replicas, workers }
        };
        let groups: Vec<Group> = nodes.iter().map(group).collect();
        let mut of = vec![0; plan.workers.len()];
        let mut parts = vec![0; plan.workers.len()];
        for (number, group) in groups.iter().enumerate() {
            for (rank, &worker) in group.workers.iter().enumerate() {
                of[worker] = number;
                parts[worker] = share(width, rank, group.workers.len()).len();
            }
        }
        let sum = |(worker, &len)| RwLock::new(Pages::placed(len, &plan.site_of_worker(worker)));
        Some(Groups { groups, of, sums: parts.iter().enumerate().map(sum).collect() })
    }
}

impl Group {
    /// Calls `each` with every worker of the group and the part of `range` that is in its sum: where it begins in
    /// `range`, and in the sum.
    fn parts(&self, width: usize, range: std::ops::Range<usize>, mut each: impl FnMut(usize, usize, usize, usize)) {
        for (rank, &worker) in self.workers.iter().enumerate() {
            let part = share(width, rank, self.workers.len());
            let (start, end) = (part.start.max(range.start), part.end.min(range.end));
            if start < end {
                each(worker, start - range.start, start - part.start, end - start);
            }
        }
    }
}

impl<D: Matrix> Run<'_, D> {
    /// All replicas become their average; `spread` is how far each was from it.
    pub(super) fn exchange_by_nodes(&self, crew: &Crew<'_>, groups: &Groups) {
        crew.phase(|worker| self.sum_on_node(groups, worker), || ());
        crew.phase(|worker| self.average_nodes(groups, worker), || ());
        crew.phase(|worker| self.copy_to_node(groups, worker), || ());
        crew.phase(|worker| self.take_from_node(groups, worker), || ());
    }

    fn node_range(&self, groups: &Groups, worker: usize) -> std::ops::Range<usize> {
        let workers = &groups.groups[groups.of[worker]].workers;
        let rank = workers.iter().position(|&other| other == worker).expect("a group lists its workers");
        share(self.engine.width(), rank, workers.len())
    }

    fn sum_on_node(&self, groups: &Groups, worker: usize) {
        let start = self.node_range(groups, worker).start;
        let mut sum = groups.sums[worker].write().expect(PANICKED);
        let mut one = vec![0.0; sum.len()];
        sum.fill(0.0);
        for &replica in &groups.groups[groups.of[worker]].replicas {
            self.engine.read(replica, start, &mut one);
            sum.iter_mut().zip(&one).for_each(|(sum, value)| *sum += value);
        }
    }

    fn average_nodes(&self, groups: &Groups, worker: usize) {
        let (width, range) = (self.engine.width(), share(self.engine.width(), worker, self.workers()));
        let scale = 1.0 / self.replicas() as f64;
        let mut agreed = self.agreed[worker].write().expect(PANICKED);
        agreed.fill(0.0);
        for group in &groups.groups {
            group.parts(width, range.clone(), |other, at, from, len| {
                let sum = groups.sums[other].read().expect(PANICKED);
                let agreed = agreed[at..at + len].iter_mut();
                agreed.zip(&sum[from..from + len]).for_each(|(agreed, sum)| *agreed += scale * sum);
            });
        }
    }

    fn copy_to_node(&self, groups: &Groups, worker: usize) {
        let (width, range) = (self.engine.width(), self.node_range(groups, worker));
        let mut sum = groups.sums[worker].write().expect(PANICKED);
        for other in 0..self.workers() {
            let chunk = share(width, other, self.workers());
            let (start, end) = (chunk.start.max(range.start), chunk.end.min(range.end));
            if start < end {
                let agreed = self.agreed[other].read().expect(PANICKED);
                sum[start - range.start..end - range.start]
                    .copy_from_slice(&agreed[start - chunk.start..end - chunk.start]);
            }
        }
    }

    fn take_from_node(&self, groups: &Groups, worker: usize) {
        let width = self.engine.width();
        let (rank, of) = self.task.plan.rank_in_replica(worker);
        let (range, replica) = (share(width, rank, of), self.replica_of(worker));
        let mut before = vec![0.0; range.len()];
        self.engine.read(replica, range.start, &mut before);
        let mut spread = 0.0;
        groups.groups[groups.of[worker]].parts(width, range.clone(), |other, at, from, len| {
            let sum = groups.sums[other].read().expect(PANICKED);
            self.engine.write(replica, range.start + at, &sum[from..from + len]);
            let x = self.parameters_among(range.start + at, len);
            spread += distance2(&before[at..at + x], &sum[from..from + x]);
        });
        self.spread[worker].put(spread);
        self.take_constant(worker);
    }
}
