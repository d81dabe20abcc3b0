//! Who runs where and what lives where: [`plan`] resolves the settings against a topology. It is pure: it reads its
//! arguments and nothing else, so any plan can be made for any saved machine.
//!
//! Three steps, a file each: which cpus (`cpus.rs`, on the order that `order.rs` hands them out in), who shares a
//! replica and a shard (`groups.rs`), and what a person should know before running it (`warnings.rs`).

pub mod actual;
pub mod costs;
mod cpus;
mod describe;
mod feeder;
mod groups;
mod homes;
pub mod location;
mod order;
pub mod team;
mod warnings;

pub use feeder::Feeder;
pub use groups::default_granularity;

use crate::{
    config::{DataMemory, Granularity, GraphKind, HugePages, Pin, Setup},
    error::{Error, Result},
    os::memory::{Home, Site},
    topology::Topology,
};
use homes::Homes;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How a figure was got. Every figure that reaches a person carries one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Where what it alone writes lies: its order of rows, its sums, its counters.
    pub home: Home,
}

/// One replica of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplicaPlan {
    /// The node where it lives (an index into `Topology::nodes`).
    pub node: Option<usize>,
    /// The workers that write it, ascending.
    pub workers: Vec<usize>,
    /// Where its pages are to lie.
    pub home: Home,
}

/// One shard of the data: a run of rows proportional to the number of its workers; or all rows, where the data are
/// replicated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShardPlan {
    /// The node where it lives.
    pub node: Option<usize>,
    /// The workers that read it, ascending and contiguous.
    pub workers: Vec<usize>,
    /// Where the pages of its rows, and of what the method keeps for each of them, are to lie.
    pub home: Home,
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
    /// How far the replicas' nodes are apart, as the firmware states it (10 is one node); empty unless the exchange's graph
    /// asks for it and the machine says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distance: Vec<Vec<u64>>,
    /// The worker that feeds a GPU, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feeder: Option<Feeder>,
    /// How the replicas were grouped.
    pub granularity: Granularity,
    /// Whether every shard holds all rows.
    pub replicated: bool,
    /// Whether large arrays ask for huge pages.
    pub huge_pages: bool,
    /// What a person should know before running it.
    pub warnings: Vec<String>,
}

/// Resolves `[workers]`, `[parameters]` and `[data]` of the settings against a machine.
///
/// Workers of one node have consecutive numbers, and so have those of one L3 group within it: a shard is a run of
/// workers. A list of cpus keeps its order within each node.
///
/// Virtual nodes are part of the machine: cut it first ([`Topology::with_virtual_nodes`]).
///
/// # Errors
/// [`Error::Unmet`] if the machine has no usable cpu, if a cpu or node that is named does not exist or is not usable,
/// if there are fewer cores than workers with `smt = "never"`, or if `setup.virtual_nodes` asks for a cut that
/// `topology` does not have. The message names the value and what the machine has.
pub fn plan(topology: &Topology, setup: &Setup) -> Result<Plan> {
    check_virtual_nodes(topology, setup.virtual_nodes)?;
    let mut chosen = cpus::chosen(topology, &setup.workers)?;
    let feeding = feeder::choose(topology, setup, &mut chosen)?;
    groups::number(topology, &mut chosen);
    let mut warnings = Vec::new();
    let feeder = feeding.map(|(place, feeder)| Feeder {
        worker: chosen.iter().rposition(|&other| other == place).expect("one of the chosen"),
        ..feeder
    });
    warnings
        .extend(feeder.iter().flat_map(|feeder| feeder::warnings(topology, setup, feeder, chosen[feeder.worker])));
    let mut parameters = setup.parameters.clone();
    if feeder.is_some() && parameters.replicas.is_none() {
        // The GPU's updates meet those of the others in one vector: that is what its delay is for.
        parameters.replicas = Some(Granularity::Node);
    }
    let mut grouped = groups::group(topology, &chosen, &parameters, &mut warnings);
    let homes = Homes::new(topology, setup, &chosen)?;
    grouped.replicas.iter_mut().for_each(|replica| replica.home = homes.of_replica(replica));
    grouped.shards.iter_mut().for_each(|shard| shard.home = homes.of_shard(shard));
    warnings::add(topology, setup, &chosen, &grouped, &mut warnings);
    warnings.extend(warnings::balancing(topology, &grouped.replicas, &grouped.shards));
    warnings.extend(homes.warning(&grouped.shards));
    let worker = |(number, &place): (usize, &usize)| {
        let cpu = &topology.cpus[place];
        WorkerPlan {
            cpus: bound_to(topology, setup.workers.pin, place),
            pinned: setup.workers.pin != Pin::None,
            core: cpu.core,
            l3: cpu.l3,
            node: cpu.node,
            replica: grouped.replica_of[number],
            shard: grouped.shard_of[number],
            home: homes.of_worker(number),
        }
    };
    Ok(Plan {
        label: if topology.virtual_nodes { Label::Virtual } else { Label::Measured },
        workers: chosen.iter().enumerate().map(worker).collect(),
        feeder,
        granularity: grouped.granularity,
        distance: distance(topology, setup, &grouped.replicas),
        replicas: grouped.replicas,
        shards: grouped.shards,
        replicated: setup.data.memory == DataMemory::Replicate,
        huge_pages: setup.data.huge_pages == HugePages::Transparent,
        warnings,
    })
}

impl Plan {
    /// A worker's place among those that write its replica, and their number.
    pub fn rank_in_replica(&self, worker: usize) -> (usize, usize) {
        rank_in(&self.replicas[self.workers[worker].replica].workers, worker)
    }

    /// A worker's place among those that share its rows, and their number.
    pub fn rank_in_shard(&self, worker: usize) -> (usize, usize) {
        rank_in(&self.shards[self.workers[worker].shard].workers, worker)
    }

    /// How an array that is to lie at `home` asks for its memory.
    pub fn site(&self, home: &Home) -> Site {
        Site { home: home.clone(), huge_pages: self.huge_pages }
    }

    /// In equal runs, one a worker, each where that worker's own arrays lie.
    pub fn in_runs(&self) -> Home {
        let node = |worker: &WorkerPlan| match worker.home {
            Home::Node(node) => Some(node),
            _ => None,
        };
        self.workers.iter().map(node).collect::<Option<_>>().map_or(Home::FirstTouch, Home::Runs)
    }

    /// Where what worker `worker` alone writes is to lie.
    pub fn site_of_worker(&self, worker: usize) -> Site {
        self.site(&self.workers[worker].home)
    }

    /// How often the data are in memory.
    pub fn copies(&self) -> usize {
        if self.replicated { self.shards.len() } else { 1 }
    }

    /// Which of the [`Plan::copies`] of the data shard `shard` works on.
    pub fn copy_of(&self, shard: usize) -> usize {
        if self.replicated { shard } else { 0 }
    }

    /// The workers, from the first on, that have all rows between them, each once.
    pub fn once(&self) -> Range<usize> {
        0..if self.replicated { self.shards[0].workers.len() } else { self.workers.len() }
    }
}

/// The part of `len` items that falls to `rank` of `of`: consecutive, and as equal as can be.
pub fn share(len: usize, rank: usize, of: usize) -> Range<usize> {
    let bound = |rank: usize| (len as u128 * rank as u128 / of as u128) as usize;
    bound(rank)..bound(rank + 1)
}

/// `virtual_nodes` is carried out on the topology; a plan on one that was not cut would ignore the setting.
fn check_virtual_nodes(topology: &Topology, asked: usize) -> Result<()> {
    let cut = if topology.virtual_nodes { topology.nodes.len() } else { 1 };
    if asked > 1 && cut != asked {
        let what = format!("topology.virtual_nodes is {asked}, and {} is not cut into {asked}", topology.name());
        return Err(Error::unmet(what, "cut the topology before planning on it"));
    }
    Ok(())
}

/// The OS cpus a worker may run on that was given the cpu at `place`.
fn bound_to(topology: &Topology, pin: Pin, place: usize) -> Vec<u32> {
    let given = &topology.cpus[place];
    let usable = topology.cpus.iter().filter(|cpu| cpu.usable);
    let mut cpus: Vec<u32> = match pin {
        Pin::Cpu => return vec![given.os],
        Pin::Node => usable.filter(|cpu| cpu.node == given.node).map(|cpu| cpu.os).collect(),
        Pin::None => usable.map(|cpu| cpu.os).collect(),
    };
    cpus.sort_unstable();
    cpus
}

/// Distances between replicas, for the graph that goes by them.
fn distance(topology: &Topology, setup: &Setup, replicas: &[ReplicaPlan]) -> Vec<Vec<u64>> {
    let asked = setup.exchange.and_then(|exchange| exchange.graph()) == Some(GraphKind::Hardware);
    let Some(rows) = topology.distance.as_ref().filter(|_| asked) else { return Vec::new() };
    let nodes: Option<Vec<usize>> = replicas.iter().map(|replica| replica.node).collect();
    let nodes = nodes.unwrap_or_default();
    nodes.iter().map(|&from| nodes.iter().map(|&to| rows[from][to]).collect()).collect()
}

fn rank_in(workers: &[usize], worker: usize) -> (usize, usize) {
    let rank = workers.iter().position(|&other| other == worker).expect("a plan lists its workers");
    (rank, workers.len())
}
