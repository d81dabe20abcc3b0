//! hwloc's objects → a [`Topology`]: who belongs to whom, by cpus alone, so that a machine without packages, cores or
//! caches in its description comes out as well.

use super::{Cache, Core, Cpu, Gpu, Node, Origin, Topology, cpulist};
use crate::os::hwloc::{Card, Group, NumaNode, Objects};
use std::collections::{BTreeSet, HashMap, HashSet};

/// # Errors
/// In words, if there is no cpu, or one without a number of its own.
pub(super) fn assemble(origin: Origin, objects: Objects) -> Result<Topology, String> {
    if objects.cpus.is_empty() {
        return Err("it has no cpu".into());
    }
    let mut seen = HashSet::new();
    if let Some(cpu) = objects.cpus.iter().find(|&&cpu| cpu > cpulist::LARGEST || !seen.insert(cpu)) {
        // hwloc gives a cpu without a number the largest there is.
        return Err(format!("its cpu numbered {cpu} occurs twice, or is above {}", cpulist::LARGEST));
    }
    let (cores, core_of) = cores(&objects);
    let l2_of = owners(&objects.l2s);
    let l3_of = owners(&objects.l3s);
    let package_of = owners(&objects.packages);
    let nodes = nodes(&objects);
    let node_of = local_nodes(&nodes);
    let gpus = objects.cards.iter().map(|card| gpu(card, &node_of)).collect();
    let cpu = |&os: &u32| {
        let core = core_of[&os];
        Cpu {
            os,
            core,
            smt: cores[core].cpus.iter().take_while(|&&sibling| sibling != os).count() as u32,
            l2: l2_of.get(&os).copied(),
            l3: l3_of.get(&os).copied(),
            package: package_of.get(&os).copied(),
            node: node_of.get(&os).copied(),
            usable: objects.allowed_cpus.binary_search(&os).is_ok(),
        }
    };
    Ok(Topology {
        origin,
        packages: objects.packages.len(),
        cpus: objects.cpus.iter().map(cpu).collect(),
        nodes,
        l3s: caches(objects.l3s),
        l2s: caches(objects.l2s),
        cores,
        distance: objects.distance,
        gpus,
        quota_cpus: None,
        balancing: false,
        virtual_nodes: false,
    })
}

/// Core objects in the order of their first cpu; a cpu outside all of them is a core of its own.
fn cores(objects: &Objects) -> (Vec<Core>, HashMap<u32, usize>) {
    let stated = owners(&objects.cores);
    let mut cores: Vec<Core> = Vec::new();
    let mut place_of_stated = HashMap::new();
    let mut core_of = HashMap::new();
    for &os in &objects.cpus {
        let mut found = || {
            cores.push(Core { cpus: Vec::new() });
            cores.len() - 1
        };
        let core = match stated.get(&os) {
            Some(core) => *place_of_stated.entry(*core).or_insert_with(found),
            None => found(),
        };
        cores[core].cpus.push(os);
        core_of.insert(os, core);
    }
    for core in &mut cores {
        core.cpus.sort_unstable();
    }
    (cores, core_of)
}

/// For each cpu, the group that has it.
fn owners(groups: &[Group]) -> HashMap<u32, usize> {
    groups.iter().enumerate().flat_map(|(i, group)| group.cpus.iter().map(move |&cpu| (cpu, i))).collect()
}

fn caches(groups: Vec<Group>) -> Vec<Cache> {
    groups.into_iter().map(|group| Cache { bytes: group.bytes, cpus: group.cpus }).collect()
}

fn nodes(objects: &Objects) -> Vec<Node> {
    // hwloc writes 0 bytes for none and for unknown: where no node has any, nothing is known.
    let known = objects.nodes.iter().any(|node| node.bytes > 0);
    let node = |node: &NumaNode| Node {
        os: node.os,
        memory_bytes: known.then_some(node.bytes),
        cpus: node.cpus.clone(),
        allowed: objects.allowed_nodes.binary_search(&node.os).is_ok(),
    };
    objects.nodes.iter().map(node).collect()
}

/// The local node of each cpu: of the nodes that have it the one with the fewest cpus, one with memory before one
/// without, the first in logical order.
fn local_nodes(nodes: &[Node]) -> HashMap<u32, usize> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&i| (nodes[i].cpus.len(), nodes[i].memory_bytes == Some(0)));
    let mut local = HashMap::new();
    for i in order {
        for &cpu in &nodes[i].cpus {
            local.entry(cpu).or_insert(i);
        }
    }
    local
}

/// What hangs on all nodes that have cpus hangs on none in particular, unless there is one.
fn gpu(card: &Card, node_of: &HashMap<u32, usize>) -> Gpu {
    let near: BTreeSet<usize> = card.cpus.iter().filter_map(|cpu| node_of.get(cpu).copied()).collect();
    let all: BTreeSet<usize> = node_of.values().copied().collect();
    let node = near.first().copied().filter(|_| near.len() < all.len() || all.len() == 1);
    Gpu { name: card.name.clone(), pci: card.pci.clone(), node }
}
