//! The order in which usable cpus are handed to workers: `order` over nodes and L3 groups, `smt` within cores.

use crate::{
    config::{Smt, WorkerOrder, Workers},
    error::{Error, Result},
    topology::{Topology, cpulist},
};
use std::collections::BTreeMap;

/// Cpus (indices into `Topology::cpus`) that workers take one after another, with the node and L3 they are in.
struct Unit {
    node: Option<usize>,
    l3: Option<usize>,
    cpus: Vec<usize>,
}

/// Every usable cpu that `order` and `smt` leave, each once, in the order they are handed out.
pub(super) fn handed_out(topology: &Topology, workers: &Workers) -> Result<Vec<usize>> {
    let cores = usable_cores(topology);
    let nodes = nodes_in_order(topology, &workers.order)?;
    let mut order = Vec::new();
    for pass in passes(topology, cores, workers.smt) {
        let queues: Vec<Vec<Unit>> = by_key(pass, |unit| nodes.iter().position(|&node| node == unit.node));
        let queues = queues.into_iter().map(|units| match workers.order {
            WorkerOrder::Scatter => dealt(by_key(units, |unit| Some(unit.l3)).into_iter().map(flat).collect()),
            _ => flat(units),
        });
        match workers.order {
            WorkerOrder::Scatter => order.extend(dealt(queues.collect())),
            _ => order.extend(queues.flatten()),
        }
    }
    Ok(order)
}

/// The usable cpus of each core that has any, in logical order.
pub(super) fn usable_cores(topology: &Topology) -> Vec<Vec<usize>> {
    let mut cores = vec![Vec::new(); topology.cores.len()];
    for (place, cpu) in topology.cpus.iter().enumerate().filter(|(_, cpu)| cpu.usable) {
        cores[cpu.core].push(place);
    }
    cores.retain(|cpus| !cpus.is_empty());
    for cpus in &mut cores {
        cpus.sort_by_key(|&place| topology.cpus[place].smt);
    }
    cores
}

/// What is handed out before what: the first cpus of all cores before their siblings, unless siblings come first.
fn passes(topology: &Topology, cores: Vec<Vec<usize>>, smt: Smt) -> Vec<Vec<Unit>> {
    let unit = |cpus: Vec<usize>| {
        let first = &topology.cpus[cpus[0]];
        Unit { node: first.node, l3: first.l3, cpus }
    };
    let rank = |rank: usize| cores.iter().filter_map(|cpus| cpus.get(rank)).map(|&cpu| unit(vec![cpu])).collect();
    match smt {
        Smt::Never => vec![rank(0)],
        Smt::Last => (0..cores.iter().map(Vec::len).max().unwrap_or(0)).map(rank).collect(),
        Smt::First => vec![cores.into_iter().map(unit).collect()],
    }
}

/// The nodes to fill, first to last; `None` stands for the cpus without a node.
fn nodes_in_order(topology: &Topology, order: &WorkerOrder) -> Result<Vec<Option<usize>>> {
    match order {
        WorkerOrder::Compact | WorkerOrder::Scatter => {
            Ok((0..topology.nodes.len()).map(Some).chain(std::iter::once(None)).collect())
        }
        WorkerOrder::NodesExcept(left_out) => {
            let mut nodes: Vec<usize> = (0..topology.nodes.len()).collect();
            for &os in left_out {
                let node = existing_node(topology, os)?;
                nodes.retain(|kept| *kept != node);
            }
            let nodes: Vec<_> = nodes.into_iter().map(Some).collect();
            if topology.cpus.iter().any(|cpu| cpu.usable && cpu.node.is_some() && nodes.contains(&cpu.node)) {
                return Ok(nodes);
            }
            let what =
                format!("workers.order leaves out nodes {} and no usable cpu is left", cpulist::format(left_out));
            Err(Error::unmet(what, "leave out fewer nodes"))
        }
        WorkerOrder::Nodes(named) => {
            if named.is_empty() {
                return Err(Error::unmet("workers.order names no node", "name one, such as node:0"));
            }
            let mut nodes = Vec::new();
            for &os in named {
                let node = usable_node(topology, os)?;
                if nodes.contains(&Some(node)) {
                    return Err(Error::unmet(format!("workers.order names node {os} twice"), "name it once"));
                }
                nodes.push(Some(node));
            }
            Ok(nodes)
        }
    }
}

/// The node with this OS number.
fn existing_node(topology: &Topology, os: u32) -> Result<usize> {
    topology.find_node(os).ok_or_else(|| {
        let numbers: Vec<u32> = topology.nodes.iter().map(|node| node.os).collect();
        let have = cpulist::format(&numbers);
        let what = format!("workers.order names node {os}, {} has {have}", topology.name());
        Error::unmet(what, "name one of those")
    })
}

/// The node with this OS number, if workers can run on it.
fn usable_node(topology: &Topology, os: u32) -> Result<usize> {
    let node = existing_node(topology, os)?;
    let local = |cpu: &&crate::topology::Cpu| cpu.usable && cpu.node == Some(node);
    if topology.cpus.iter().any(|cpu| local(&cpu)) {
        return Ok(node);
    }
    let listed = &topology.nodes[node].cpus;
    let beside = topology.cpus.iter().find(|cpu| cpu.usable && listed.contains(&cpu.os)).and_then(|cpu| cpu.node);
    let what = match beside {
        Some(other) => format!("whose cpus count as those of node {}", topology.nodes[other].os),
        None if listed.is_empty() => "which has no cpu".into(),
        None => format!("none of whose cpus {} is usable", cpulist::format(listed)),
    };
    let mut workable: Vec<u32> = topology
        .cpus
        .iter()
        .filter(|cpu| cpu.usable)
        .filter_map(|cpu| cpu.node)
        .map(|node| topology.nodes[node].os)
        .collect();
    workable.dedup();
    let remedy = format!("workers can be put on nodes {}", cpulist::format(&workable));
    Err(Error::unmet(format!("workers.order names node {os}, {what}"), remedy))
}

/// Groups by a key in ascending order of it, each in the order it came; what has no key is left out.
fn by_key<K: Ord>(units: Vec<Unit>, key: impl Fn(&Unit) -> Option<K>) -> Vec<Vec<Unit>> {
    let mut groups: BTreeMap<K, Vec<Unit>> = BTreeMap::new();
    for unit in units {
        if let Some(key) = key(&unit) {
            groups.entry(key).or_default().push(unit);
        }
    }
    groups.into_values().collect()
}

fn flat(units: Vec<Unit>) -> Vec<usize> {
    units.into_iter().flat_map(|unit| unit.cpus).collect()
}

/// One from each queue in turn until all are empty.
fn dealt(queues: Vec<Vec<usize>>) -> Vec<usize> {
    let longest = queues.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|i| queues.iter().filter_map(move |queue| queue.get(i).copied())).collect()
}
