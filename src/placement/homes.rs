//! On which nodes the pages of replicas, shards and each worker's own arrays lie.

use super::{ReplicaPlan, ShardPlan, groups::home};
use crate::{
    config::{DataMemory, ParameterMemory, Pin, Setup},
    error::{Error, Result},
    os::memory::Home,
    topology::{Topology, cpulist},
};
use std::collections::BTreeSet;

/// What decides where pages lie.
pub(super) struct Homes<'a> {
    topology: &'a Topology,
    setup: &'a Setup,
    /// For every worker, the node (an index) on which lies what it keeps for itself, if that is known.
    near: Vec<Option<usize>>,
    /// Whether threads have a node: virtual ones are not the kernel's, and a worker that is not bound may run anywhere.
    fixed: bool,
}

impl<'a> Homes<'a> {
    /// For workers on the cpus at the places `chosen`.
    ///
    /// # Errors
    /// [`Error::Unmet`] if a setting names a node that does not exist, or has no memory that may be used.
    pub(super) fn new(topology: &'a Topology, setup: &'a Setup, chosen: &[usize]) -> Result<Self> {
        let named =
            [("parameters.memory", setup.parameters.memory.node()), ("data.memory", setup.data.memory.node())];
        for (key, node) in named {
            node.map_or(Ok(()), |node| check_node(topology, key, node))?;
        }
        let near = chosen.iter().map(|&place| home(topology, topology.cpus[place].node)).collect();
        let fixed = !topology.virtual_nodes && setup.workers.pin != Pin::None;
        Ok(Homes { topology, setup, near, fixed })
    }

    /// What worker `worker` alone writes.
    pub(super) fn of_worker(&self, worker: usize) -> Home {
        self.on(self.near[worker])
    }

    pub(super) fn of_replica(&self, replica: &ReplicaPlan) -> Home {
        match self.setup.parameters.memory {
            ParameterMemory::Local => self.on(replica.node),
            ParameterMemory::Interleave => self.in_turn(),
            ParameterMemory::Sharded => self.in_runs(&replica.workers),
            ParameterMemory::Node(node) => self.named(node),
            ParameterMemory::FirstTouch => Home::FirstTouch,
        }
    }

    pub(super) fn of_shard(&self, shard: &ShardPlan) -> Home {
        match self.setup.data.memory {
            DataMemory::Shard | DataMemory::Replicate => self.on(shard.node),
            DataMemory::Interleave => self.in_turn(),
            DataMemory::Node(node) => self.named(node),
            DataMemory::FirstTouch => Home::FirstTouch,
        }
    }

    /// A setting that has no effect with so few nodes.
    pub(super) fn warning(&self, shards: &[ShardPlan]) -> Option<String> {
        let alone = shards.len() == 1 && self.setup.data.memory == DataMemory::Replicate;
        alone.then(|| "data.memory = \"replicate\" has no effect: all workers are on one node".to_string())
    }

    fn os(&self, node: usize) -> u32 {
        self.topology.nodes[node].os
    }

    fn on(&self, node: Option<usize>) -> Home {
        node.filter(|_| self.fixed).map_or(Home::FirstTouch, |node| Home::Node(self.os(node)))
    }

    fn named(&self, node: u32) -> Home {
        if self.topology.virtual_nodes { Home::FirstTouch } else { Home::Node(node) }
    }

    /// Over the nodes on which what the workers use would lie.
    fn in_turn(&self) -> Home {
        let nodes: BTreeSet<u32> = self.near.iter().flatten().map(|&node| self.os(node)).collect();
        match nodes.len() {
            0 => Home::FirstTouch,
            _ if self.topology.virtual_nodes => Home::FirstTouch,
            _ => Home::Interleave(nodes.into_iter().collect()),
        }
    }

    fn in_runs(&self, workers: &[usize]) -> Home {
        let nodes: Option<Vec<u32>> = workers.iter().map(|&worker| Some(self.os(self.near[worker]?))).collect();
        nodes.filter(|_| self.fixed).map_or(Home::FirstTouch, Home::Runs)
    }
}

fn check_node(topology: &Topology, key: &str, node: u32) -> Result<()> {
    let found = topology.find_node(node);
    if found.is_some_and(|found| topology.has_memory(found)) {
        return Ok(());
    }
    let usable: Vec<u32> =
        (0..topology.nodes.len()).filter(|&i| topology.has_memory(i)).map(|i| topology.nodes[i].os).collect();
    let why = match found {
        None => "does not exist",
        Some(found) if topology.nodes[found].memory_bytes == Some(0) => "has no memory",
        Some(_) => "has no memory that the cpuset allows",
    };
    Err(Error::unmet(
        format!("{key} is \"node:{node}\", and node {node} of {} {why}", topology.name()),
        format!("its nodes with memory to use: {}", cpulist::format(&usable)),
    ))
}
