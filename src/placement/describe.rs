//! A plan as text for people.

use super::{Feeder, Label, Plan, WorkerPlan};
use crate::{
    config::Granularity,
    os::memory::Home,
    topology::{
        Topology, cpulist,
        describe::{or_dash, table},
    },
};
use std::ops::Range;

/// Up to this many workers have a row each; more are shown in runs, and the text says so.
const ROWS_MAX: usize = 64;

impl Plan {
    /// Worker → cpu → core → L3 → node, replica → node, shard → node, and the warnings. `topology` is the one that the
    /// plan was made on. Cpus and nodes have the system's numbers; cores, L3 groups, workers, replicas and shards are
    /// counted from 0.
    pub fn describe(&self, topology: &Topology) -> String {
        let mut parts = vec![self.summary(topology), self.worker_table(topology)];
        if self.workers.len() > ROWS_MAX {
            parts.push(format!(
                "{} workers are shown in runs of one L3 group and node; JSON lists each",
                self.workers.len()
            ));
        }
        parts.push(self.home_table(topology));
        parts.extend(self.feeder.as_ref().map(Feeder::describe));
        let warnings: Vec<String> = self.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
        if !warnings.is_empty() {
            parts.push(warnings.join("\n"));
        }
        parts.join("\n\n")
    }

    fn summary(&self, topology: &Topology) -> String {
        let each = match self.granularity {
            Granularity::Machine => "for the machine",
            Granularity::Node => "a node",
            Granularity::L3 => "an L3 group",
            Granularity::Core => "a worker",
        };
        let label = match self.label {
            Label::Measured => "",
            Label::Virtual => " (virtual nodes)",
            Label::Simulated => " (simulated)",
        };
        format!(
            "on {}{label}: workers {}, replicas {} (one {each}), shards {}",
            topology.name(),
            self.workers.len(),
            self.replicas.len(),
            self.shards.len()
        )
    }

    fn worker_table(&self, topology: &Topology) -> String {
        let rows = self.runs().into_iter().map(|run| {
            let workers = &self.workers[run.clone()];
            let cpus: Vec<u32> = workers.iter().flat_map(|worker| worker.cpus.iter().copied()).collect();
            let list = |each: fn(&WorkerPlan) -> usize| {
                cpulist::format(&workers.iter().map(|worker| each(worker) as u32).collect::<Vec<_>>())
            };
            vec![
                cpulist::format(&run.map(|worker| worker as u32).collect::<Vec<_>>()),
                cpulist::format(&cpus),
                if workers[0].pinned { "yes" } else { "no" }.into(),
                list(|worker| worker.core),
                or_dash(workers[0].l3),
                or_dash(workers[0].node.map(|node| topology.nodes[node].os)),
                list(|worker| worker.replica),
                list(|worker| worker.shard),
            ]
        });
        table(&["worker", "cpu", "pinned", "core", "L3", "node", "replica", "shard"], rows)
    }

    /// Each worker by itself, or where they are many, runs of those alike.
    fn runs(&self) -> Vec<Range<usize>> {
        if self.workers.len() <= ROWS_MAX {
            return (0..self.workers.len()).map(|worker| worker..worker + 1).collect();
        }
        let alike = |a: &WorkerPlan, b: &WorkerPlan| (a.l3, a.node, a.shard) == (b.l3, b.node, b.shard);
        let mut start = 0;
        let runs = self.workers.chunk_by(alike).map(|run| {
            start += run.len();
            start - run.len()..start
        });
        runs.collect()
    }

    /// Where replicas and shards live. Replicas that are alike in a row of more than 64 share a line.
    fn home_table(&self, topology: &Topology) -> String {
        let node = |node: Option<usize>| or_dash(node.map(|node| topology.nodes[node].os));
        let numbers = |range: &[usize]| cpulist::format(&range.iter().map(|&i| i as u32).collect::<Vec<_>>());
        let replicas: Vec<(Option<usize>, &Home, &[usize])> =
            self.replicas.iter().map(|replica| (replica.node, &replica.home, &replica.workers[..])).collect();
        let shards = self.shards.iter().map(|shard| (shard.node, &shard.home, &shard.workers[..])).collect();
        let mut rows = Vec::new();
        for (kind, homes) in [("replica", replicas), ("shard", shards)] {
            let together = homes.len() > ROWS_MAX;
            let mut first = 0;
            for run in homes.chunk_by(|a, b| together && (a.0, a.1) == (b.0, b.1)) {
                let named: Vec<usize> = (first..first + run.len()).collect();
                let workers: Vec<usize> = run.iter().flat_map(|(_, _, workers)| workers.iter().copied()).collect();
                rows.push(vec![
                    format!("{kind} {}", numbers(&named)),
                    node(run[0].0),
                    run[0].1.to_string(),
                    numbers(&workers),
                ]);
                first += run.len();
            }
        }
        table(&["what", "node", "memory", "workers"], rows)
    }
}
