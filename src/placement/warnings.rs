//! What a person should know before running a plan: where people go wrong.

use super::{
    ReplicaPlan, ShardPlan,
    groups::{Grouped, home},
};
use crate::{
    config::{Granularity, MergeKind, Setup},
    os::memory::Home,
    topology::{Topology, cpulist},
};
use std::collections::BTreeSet;

pub(super) fn add(topology: &Topology, setup: &Setup, chosen: &[usize], grouped: &Grouped, to: &mut Vec<String>) {
    to.extend(more_workers_than_cpus(topology, chosen));
    to.extend(siblings_while_cores_are_free(topology, chosen));
    to.extend(quota(topology, chosen.len()));
    to.extend(not_usable(topology));
    to.extend(half_cores(topology));
    to.extend(no_memory(topology, chosen));
    to.extend(no_node(topology, chosen));
    to.extend(l3_across_nodes(topology, chosen, grouped));
    to.extend(exchange_of_one(setup, grouped));
    to.extend(merge_of_one(setup, grouped));
    to.extend(cut(topology));
}

/// What the kernel may move while a run uses it.
pub(super) fn balancing(topology: &Topology, replicas: &[ReplicaPlan], shards: &[ShardPlan]) -> Option<String> {
    let free = |home: &Home| *home == Home::FirstTouch;
    let parameters = replicas.iter().any(|replica| free(&replica.home)).then_some("parameters");
    let data = shards.iter().any(|shard| free(&shard.home)).then_some("data");
    let free: Vec<&str> = [data, parameters].into_iter().flatten().collect();
    let nodes = (0..topology.nodes.len()).filter(|&node| topology.has_memory(node)).count();
    (topology.balancing && nodes > 1 && !free.is_empty()).then(|| {
        format!(
            "automatic NUMA balancing is on, and the kernel moves pages that are not bound, here those of the {}: bind them \
             (memory other than first-touch, workers that are pinned), or switch it off (sysctl kernel.numa_balancing=0)",
            free.join(" and ")
        )
    })
}

fn more_workers_than_cpus(topology: &Topology, chosen: &[usize]) -> Option<String> {
    let distinct: BTreeSet<usize> = chosen.iter().copied().collect();
    (distinct.len() < chosen.len()).then(|| {
        format!(
            "{} workers share {} cpus ({} has {} usable): workers wait for each other's turn; ask for fewer",
            chosen.len(),
            distinct.len(),
            topology.name(),
            topology.usable_cpus().len()
        )
    })
}

fn siblings_while_cores_are_free(topology: &Topology, chosen: &[usize]) -> Option<String> {
    let mut used: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); topology.cores.len()];
    for &place in chosen {
        used[topology.cpus[place].core].insert(topology.cpus[place].os);
    }
    let shared: Vec<&BTreeSet<u32>> = used.iter().filter(|cpus| cpus.len() > 1).collect();
    let free: BTreeSet<usize> = topology.cpus.iter().filter(|cpu| cpu.usable).map(|cpu| cpu.core).collect();
    let free = free.into_iter().filter(|&core| used[core].is_empty()).count();
    let example = cpulist::format(&shared.first()?.iter().copied().collect::<Vec<_>>());
    (free > 0).then(|| {
        format!(
            "SMT siblings share {} cores (cpus {example}) while {free} usable cores have no worker; \
             workers.smt = \"last\" takes cores first",
            shared.len()
        )
    })
}

fn quota(topology: &Topology, workers: usize) -> Option<String> {
    let quota = topology.quota_cpus.filter(|&quota| quota < workers as f64)?;
    Some(format!(
        "the control group's quota is {quota} cpus and there are {workers} workers: the kernel stops them for part of \
         every period; ask for {} at most, or raise the quota",
        (quota.floor() as usize).max(1)
    ))
}

fn not_usable(topology: &Topology) -> Option<String> {
    let usable = topology.usable_cpus();
    (usable.len() < topology.cpus.len()).then(|| {
        format!(
            "the cpuset or the affinity mask leaves {} of {} cpus: {}",
            usable.len(),
            topology.cpus.len(),
            cpulist::format(&usable)
        )
    })
}

fn half_cores(topology: &Topology) -> Option<String> {
    let usable: BTreeSet<u32> = topology.usable_cpus().into_iter().collect();
    let half = |cpus: &&Vec<u32>| {
        let count = cpus.iter().filter(|cpu| usable.contains(cpu)).count();
        count > 0 && count < cpus.len()
    };
    let halves: Vec<&Vec<u32>> = topology.cores.iter().map(|core| &core.cpus).filter(half).collect();
    let first = cpulist::format(halves.first()?);
    Some(format!(
        "the cpuset or the affinity mask cuts through {} cores (the first has cpus {first}): others may run on their \
         remaining SMT siblings",
        halves.len()
    ))
}

/// One warning for each node that has workers and no memory.
fn no_memory(topology: &Topology, chosen: &[usize]) -> Vec<String> {
    let nodes: BTreeSet<usize> = chosen.iter().filter_map(|&place| topology.cpus[place].node).collect();
    let warn = |node: usize| {
        let os = topology.nodes[node].os;
        // The kernel does not list a node without memory among those allowed.
        let none = topology.nodes[node].memory_bytes == Some(0);
        let why = if none { "has no memory" } else { "has no memory that the cpuset allows" };
        match home(topology, Some(node)) {
            Some(other) => {
                let far = topology.distance.as_ref().map(|rows| format!(", at distance {}", rows[node][other]));
                format!(
                    "node {os} has workers and {why}: what they use lives on node {}{}",
                    topology.nodes[other].os,
                    far.unwrap_or_default()
                )
            }
            None => format!(
                "node {os} has workers and {why}, and no other node has: the kernel decides what lives where"
            ),
        }
    };
    nodes.into_iter().filter(|&node| !topology.has_memory(node)).map(warn).collect()
}

fn no_node(topology: &Topology, chosen: &[usize]) -> Option<String> {
    let lost: Vec<u32> = chosen
        .iter()
        .map(|&place| &topology.cpus[place])
        .filter(|cpu| cpu.node.is_none())
        .map(|cpu| cpu.os)
        .collect();
    if lost.is_empty() {
        return None;
    }
    let lives = match home(topology, None) {
        Some(node) => format!("what they use lives on node {}", topology.nodes[node].os),
        None => "the kernel decides what lives where".into(),
    };
    Some(format!("cpus {} have workers and belong to no node: {lives}", cpulist::format(&lost)))
}

fn l3_across_nodes(topology: &Topology, chosen: &[usize], grouped: &Grouped) -> Option<String> {
    let nodes = |workers: &[usize]| -> BTreeSet<Option<usize>> {
        workers.iter().map(|&worker| topology.cpus[chosen[worker]].node).collect()
    };
    let across = grouped.replicas.iter().filter(|replica| nodes(&replica.workers).len() > 1).count();
    (grouped.granularity == Granularity::L3 && across > 0).then(|| {
        format!("{across} L3 groups have workers on several nodes: each replica lives on the node of most of its workers")
    })
}

fn exchange_of_one(setup: &Setup, grouped: &Grouped) -> Option<String> {
    (setup.exchange.is_some() && grouped.replicas.len() == 1).then(|| {
        "exchange.kind has no effect: there is one replica of the parameters, and nothing to draw together"
            .to_string()
    })
}

fn merge_of_one(setup: &Setup, grouped: &Grouped) -> Option<String> {
    let alone = grouped.replicas.iter().all(|replica| replica.workers.len() == 1);
    (setup.parameters.merge != MergeKind::Lossy && alone).then(|| {
        "parameters.merge has no effect: every replica of the parameters has one worker, and no two writes meet; \
         parameters.replicas = \"machine\" makes them share one"
            .to_string()
    })
}

fn cut(topology: &Topology) -> Option<String> {
    topology.virtual_nodes.then(|| {
        format!("the {} nodes are virtual, cut from one: no traffic between them is remote", topology.nodes.len())
    })
}
