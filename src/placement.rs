//! Who runs where and what lives where: [`plan`] resolves the settings against a topology. It is pure: it reads its
//! arguments and nothing else, so any plan can be made for any saved machine.

pub mod location;

use serde::Serialize;

/// How a figure was got. Every figure that reaches a person carries one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// On this host.
    Measured,
    /// On virtual nodes: no traffic between them is remote.
    Virtual,
    /// By a machine model.
    Simulated,
}

/// One worker: a thread that writes updates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerPlan {
    /// OS cpu numbers it may run on: one for `pin = "cpu"`, a node's for `"node"`, all usable for `"none"`.
    pub cpus: Vec<u32>,
    /// Whether its thread is bound to `cpus`.
    pub pinned: bool,
    /// Index into `Topology::cores` of the cpu it was given.
    pub core: usize,
    /// Index into `Topology::l3s`.
    pub l3: Option<usize>,
    /// Index into `Topology::nodes`.
    pub node: Option<usize>,
    /// Index into [`Plan::replicas`].
    pub replica: usize,
    /// Index into [`Plan::shards`].
    pub shard: usize,
}

/// One replica of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplicaPlan {
    /// The node where it lives (an index into `Topology::nodes`).
    pub node: Option<usize>,
    /// The workers that write it, ascending.
    pub workers: Vec<usize>,
}

/// One shard of the data: a run of rows proportional to the number of its workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShardPlan {
    /// The node where it lives.
    pub node: Option<usize>,
    /// The workers that read it, ascending and contiguous.
    pub workers: Vec<usize>,
}

/// A complete placement. Plan, seed and data determine an interleaved run to the bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Measured, or virtual where the nodes are.
    pub label: Label,
    /// Every worker, in order of its number.
    pub workers: Vec<WorkerPlan>,
    /// Every replica of the parameters; one for `replicas = "machine"`.
    pub replicas: Vec<ReplicaPlan>,
    /// Every shard of the data: one a node that has workers.
    pub shards: Vec<ShardPlan>,
    /// How the replicas were grouped.
    pub granularity: crate::config::Granularity,
    /// What a person should know before running it.
    pub warnings: Vec<String>,
}
