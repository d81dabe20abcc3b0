//! Which cpu each worker is given.

use super::{
    location,
    order::{handed_out, usable_cores},
};
use crate::{
    config::{Count, Smt, WorkerOrder, Workers},
    error::{Error, Result},
    topology::{Topology, cpulist},
};
use std::collections::{HashMap, HashSet};

/// The most cpus that Linux knows; more threads than that are a mistyped number.
const WORKERS_MAX: usize = 8192;

/// A cpu (an index into `Topology::cpus`) for each worker. With more workers than cpus they go round.
pub(super) fn chosen(topology: &Topology, workers: &Workers) -> Result<Vec<usize>> {
    if !topology.cpus.iter().any(|cpu| cpu.usable) {
        let what = format!("{} has no usable cpu", topology.name());
        return Err(Error::unmet(what, "loosen the cpuset or the affinity mask, or plan on another --topology"));
    }
    match workers.count {
        Count::On(ref cpus) => listed(topology, cpus, workers),
        Count::At(ref locations) => {
            let chosen = location::chosen(topology, locations)?;
            check_nodes(topology, &chosen, workers)?;
            check_siblings(topology, &chosen, workers.smt)?;
            Ok(chosen)
        }
        Count::Cores => in_order(topology, workers, |there| there.cores),
        Count::Cpus => in_order(topology, workers, |there| there.cpus),
        Count::Exactly(count) => in_order(topology, workers, |_| count),
    }
}

/// What is usable on the nodes that `order` fills.
struct There {
    cores: usize,
    cpus: usize,
}

fn in_order(topology: &Topology, workers: &Workers, count: impl Fn(&There) -> usize) -> Result<Vec<usize>> {
    let order = handed_out(topology, workers)?;
    let handed: HashSet<usize> = order.iter().copied().collect();
    let cores = usable_cores(topology).into_iter().filter(|cpus| cpus.iter().any(|cpu| handed.contains(cpu)));
    let there = cores
        .fold(There { cores: 0, cpus: 0 }, |sum, cpus| There { cores: sum.cores + 1, cpus: sum.cpus + cpus.len() });
    let count = count(&there);
    check_count(count, &there, workers.smt)?;
    Ok((0..count).map(|worker| order[worker % order.len()]).collect())
}

fn check_count(count: usize, there: &There, smt: Smt) -> Result<()> {
    let There { cores, cpus } = there;
    if count == 0 {
        return Err(Error::unmet("workers.count is 0", "ask for at least one worker"));
    }
    if count > WORKERS_MAX {
        let what = format!("workers.count is {count}, and {WORKERS_MAX} is the most that is taken");
        return Err(Error::unmet(what, format!("{cpus} cpus are usable there")));
    }
    if smt == Smt::Never && count > *cores {
        let what = format!(
            "{count} workers with workers.smt = \"never\" need {count} usable cores, and there are {cores}"
        );
        return Err(Error::unmet(what, "ask for fewer workers, or set workers.smt to \"last\""));
    }
    Ok(())
}

/// One worker on each cpu that is named.
fn listed(topology: &Topology, named: &[u32], workers: &Workers) -> Result<Vec<usize>> {
    if named.is_empty() {
        return Err(Error::unmet("workers.cpus is empty", "name at least one cpu, such as 0-3"));
    }
    let places: HashMap<u32, usize> =
        topology.cpus.iter().enumerate().map(|(place, cpu)| (cpu.os, place)).collect();
    let mut seen = HashSet::new();
    let mut chosen = Vec::with_capacity(named.len());
    for &os in named {
        let place = usable(topology, os, places.get(&os).copied())?;
        if !seen.insert(place) {
            return Err(Error::unmet(format!("workers.cpus lists cpu {os} twice"), "list it once"));
        }
        chosen.push(place);
    }
    check_nodes(topology, &chosen, workers)?;
    check_siblings(topology, &chosen, workers.smt)?;
    Ok(chosen)
}

/// The place of an OS cpu, if it has one and is usable.
fn usable(topology: &Topology, os: u32, place: Option<usize>) -> Result<usize> {
    match place {
        None => {
            let all: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.os).collect();
            let what = format!("workers.cpus lists cpu {os}, {} has {}", topology.name(), cpulist::format(&all));
            Err(Error::unmet(what, "name cpus that exist and are online"))
        }
        Some(place) if !topology.cpus[place].usable => {
            let what = format!("workers.cpus lists cpu {os}, which the cpuset or the affinity mask forbids");
            let usable = cpulist::format(&topology.usable_cpus());
            Err(Error::unmet(what, format!("usable are {usable}")))
        }
        Some(place) => Ok(place),
    }
}

/// An `order` that names nodes holds for cpus that are named too: one elsewhere contradicts it.
fn check_nodes(topology: &Topology, chosen: &[usize], workers: &Workers) -> Result<()> {
    if matches!(workers.order, WorkerOrder::Compact | WorkerOrder::Scatter) {
        return Ok(());
    }
    let all = Workers { smt: Smt::Last, ..workers.clone() };
    let allowed: HashSet<usize> = handed_out(topology, &all)?.into_iter().collect();
    match chosen.iter().find(|place| !allowed.contains(place)) {
        None => Ok(()),
        Some(&place) => {
            let os = topology.cpus[place].os;
            let what = format!("the workers are to have cpu {os}, which is on no node that workers.order leaves");
            Err(Error::unmet(what, "leave one of the two out"))
        }
    }
}

/// `smt = "never"` holds for cpus that are named too: two of a core contradict it.
fn check_siblings(topology: &Topology, chosen: &[usize], smt: Smt) -> Result<()> {
    let mut first_on: Vec<Option<u32>> = vec![None; topology.cores.len()];
    for cpu in chosen.iter().map(|&place| &topology.cpus[place]).filter(|_| smt == Smt::Never) {
        if let Some(sibling) = first_on[cpu.core].replace(cpu.os) {
            let what = format!(
                "the workers are to have cpus {sibling} and {}, siblings of one core, with workers.smt = \"never\"",
                cpu.os
            );
            return Err(Error::unmet(what, "name one of them, or set workers.smt to \"last\""));
        }
    }
    Ok(())
}
