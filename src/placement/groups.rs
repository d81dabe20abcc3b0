//! Who shares a replica of the parameters and who a shard of the data, and on which node each lives.

use super::{ReplicaPlan, ShardPlan};
use crate::{
    config::{Granularity, MergeKind, Parameters},
    os::memory::Home,
    topology::Topology,
};
use std::{cmp::Reverse, collections::BTreeMap};

/// Up to this many workers on one node have a replica each by default.
const CORE_REPLICAS_MAX: usize = 8;

/// Replicas and shards, and which of them each worker has. Homes are filled in afterwards (`homes.rs`).
pub(super) struct Grouped {
    pub(super) granularity: Granularity,
    pub(super) replicas: Vec<ReplicaPlan>,
    pub(super) shards: Vec<ShardPlan>,
    pub(super) replica_of: Vec<usize>,
    pub(super) shard_of: Vec<usize>,
}

/// The granularity of the replicas where `parameters.replicas` is not set: one a worker for up to 8 workers on one
/// node, else one a node.
///
/// A worker's own replica is plain memory: its updates vectorise and share no line with anybody, and averaging up to 8
/// of them costs little. With more workers the average of so many, each of which has seen a small part of the data,
/// loses more than sharing costs; and a replica shared beyond its node has every write cross the machine. A merge other
/// than lossy asks for replicas that are shared.
pub fn default_granularity(workers: usize, nodes: usize, merge: MergeKind) -> Granularity {
    let alone = workers <= CORE_REPLICAS_MAX && nodes <= 1 && merge == MergeKind::Lossy;
    if alone { Granularity::Core } else { Granularity::Node }
}

/// Orders the workers' cpus so that those of a node, and within it those of an L3 group, follow each other, nodes and
/// groups in the order in which they first occur.
pub(super) fn number(topology: &Topology, chosen: &mut [usize]) {
    let mut nodes = BTreeMap::new();
    let mut l3s = BTreeMap::new();
    for (i, &place) in chosen.iter().enumerate() {
        let cpu = &topology.cpus[place];
        nodes.entry(cpu.node).or_insert(i);
        l3s.entry((cpu.node, cpu.l3)).or_insert(i);
    }
    chosen.sort_by_key(|&place| {
        let cpu = &topology.cpus[place];
        (nodes[&cpu.node], l3s[&(cpu.node, cpu.l3)])
    });
}

pub(super) fn group(
    topology: &Topology,
    chosen: &[usize],
    asked: &Parameters,
    warnings: &mut Vec<String>,
) -> Grouped {
    let node_of = |&place: &usize| topology.cpus[place].node;
    let (shard_of, shards) = by_key(chosen.iter().map(node_of));
    let asked = asked.replicas.unwrap_or_else(|| default_granularity(chosen.len(), shards.len(), asked.merge));
    let granularity = granted(topology, chosen, asked, warnings);
    let (replica_of, replicas) = match granularity {
        Granularity::Machine => by_key(chosen.iter().map(|_| 0)),
        Granularity::Node => (shard_of.clone(), shards.clone()),
        Granularity::L3 => by_key(chosen.iter().map(|&place| topology.cpus[place].l3)),
        Granularity::Core => by_key(0..chosen.len()),
    };
    let lives = |workers: &[usize]| home(topology, most_common(workers.iter().map(|&i| node_of(&chosen[i]))));
    Grouped {
        granularity,
        replicas: replicas
            .into_iter()
            .map(|workers| ReplicaPlan { node: lives(&workers), workers, home: Home::FirstTouch })
            .collect(),
        shards: shards
            .into_iter()
            .map(|workers| ShardPlan { node: lives(&workers), workers, home: Home::FirstTouch })
            .collect(),
        replica_of,
        shard_of,
    }
}

/// L3 replicas need every worker's L3.
fn granted(topology: &Topology, chosen: &[usize], asked: Granularity, warnings: &mut Vec<String>) -> Granularity {
    let unknown = chosen.iter().filter(|&&place| topology.cpus[place].l3.is_none()).count();
    if asked != Granularity::L3 || unknown == 0 {
        return asked;
    }
    let of = if topology.l3s.is_empty() {
        format!("{} states no L3 cache", topology.name())
    } else {
        format!("{} states no L3 cache for {unknown} of {} workers", topology.name(), chosen.len())
    };
    warnings
        .push(format!("parameters.replicas = \"l3\" was asked for, and {of}: there is one replica a node instead"));
    Granularity::Node
}

/// Numbers the distinct keys in order of first occurrence: the number of each element's, and the elements of each.
fn by_key<K: Ord>(keys: impl Iterator<Item = K>) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut number_of = BTreeMap::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut numbers = Vec::new();
    for (element, key) in keys.enumerate() {
        let number = *number_of.entry(key).or_insert(members.len());
        if number == members.len() {
            members.push(Vec::new());
        }
        members[number].push(element);
        numbers.push(number);
    }
    (numbers, members)
}

/// The key that occurs most often, the smallest of those that tie.
fn most_common(keys: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_insert(0usize) += 1;
    }
    // Ties go to the smallest: `min_by_key` keeps the first.
    counts.into_iter().min_by_key(|&(_, count)| Reverse(count)).and_then(|(key, _)| key)
}

/// Where data of workers on `node` live: there if it has memory, else on the nearest node that has, by distance and
/// then by number. `None` if no node has memory that may be used.
pub(super) fn home(topology: &Topology, node: Option<usize>) -> Option<usize> {
    if node.is_some_and(|node| topology.has_memory(node)) {
        return node;
    }
    let with_memory = (0..topology.nodes.len()).filter(|&other| topology.has_memory(other));
    // Without a node or without distances all are equally far, as far as is known.
    let distance = |other: usize| topology.distance.as_ref().zip(node).map_or(0, |(rows, node)| rows[node][other]);
    with_memory.min_by_key(|&other| (distance(other), other))
}
