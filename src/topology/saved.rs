//! A topology as a file. It is JSON of the value itself and not hwloc's XML, because a topology that was cut into
//! virtual nodes, narrowed by an affinity mask, or built by hand has no XML, and what is planned on the file must be
//! what was planned on the value. `farrow topology --json` prints the same.

use super::{Cache, Origin, Topology, cpulist, source::error};
use crate::error::{Error, Result};
use std::{collections::HashSet, fs, path::Path};

impl Topology {
    /// The value as JSON, which [`Topology::named`] reads from a file.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("a topology is made of strings and finite numbers");
        text.push('\n');
        text
    }

    /// Writes [`Topology::to_json`] to a file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        fs::write(path, self.to_json()).map_err(|source| Error::io("write", path, source))
    }
}

/// Reads what [`Topology::save`] wrote, and checks it: a person may have edited it.
pub(super) fn parse(path: &Path, contents: &[u8]) -> Result<Topology> {
    let bad = |what| error(&path.display().to_string(), what, "write it anew with farrow topology --save FILE");
    let mut topology: Topology = serde_json::from_slice(contents)
        .map_err(|error| bad(format!("it is JSON but no topology saved by farrow: {error}")))?;
    check(&topology).map_err(bad)?;
    topology.origin = Origin::Saved(path.into());
    Ok(topology)
}

/// Whether every number that stands for a thing has that thing.
fn check(topology: &Topology) -> std::result::Result<(), String> {
    let cpus: HashSet<u32> = topology.cpus.iter().map(|cpu| cpu.os).collect();
    let nodes: HashSet<u32> = topology.nodes.iter().map(|node| node.os).collect();
    if cpus.is_empty() {
        return Err("it has no cpu".into());
    }
    if cpus.len() < topology.cpus.len() || nodes.len() < topology.nodes.len() {
        return Err("it lists a cpu or a node twice".into());
    }
    if let Some(cpu) = cpus.iter().find(|&&cpu| cpu > cpulist::LARGEST) {
        return Err(format!("cpu {cpu} is above {}, the largest number taken", cpulist::LARGEST));
    }
    let lists = topology.nodes.iter().map(|node| ("node", &node.cpus));
    let lists = lists.chain(topology.cores.iter().map(|core| ("core", &core.cpus)));
    let caches = |caches: &'static str, of: &'_ Cache| (caches, of.cpus.clone());
    let owned =
        topology.l2s.iter().map(|l2| caches("L2", l2)).chain(topology.l3s.iter().map(|l3| caches("L3", l3)));
    for (kind, list) in lists.map(|(kind, list)| (kind, list.clone())).chain(owned) {
        if let Some(cpu) = list.iter().find(|cpu| !cpus.contains(cpu)) {
            return Err(format!("a {kind} lists cpu {cpu}, which is not among the cpus"));
        }
    }
    check_places(topology)?;
    if let Some(gpu) = topology.gpus.iter().find(|gpu| gpu.node.is_some_and(|node| node >= topology.nodes.len())) {
        return Err(format!("GPU {} is on a node that is not there", gpu.pci));
    }
    check_distance(topology)?;
    match topology.quota_cpus {
        Some(quota) if !(quota > 0.0 && quota.is_finite()) => Err(format!("a quota of {quota} cpus is none")),
        _ => Ok(()),
    }
}

fn check_places(topology: &Topology) -> std::result::Result<(), String> {
    for cpu in &topology.cpus {
        let outside = |index: Option<usize>, count: usize| index.is_some_and(|index| index >= count);
        let wrong = [
            ("node", outside(cpu.node, topology.nodes.len())),
            ("L2", outside(cpu.l2, topology.l2s.len())),
            ("L3", outside(cpu.l3, topology.l3s.len())),
            ("package", outside(cpu.package, topology.packages)),
            ("core", topology.cores.get(cpu.core).is_none_or(|core| !core.cpus.contains(&cpu.os))),
        ];
        if let Some((kind, _)) = wrong.iter().find(|(_, wrong)| *wrong) {
            return Err(format!("cpu {} is in a {kind} that it does not list", cpu.os));
        }
    }
    Ok(())
}

fn check_distance(topology: &Topology) -> std::result::Result<(), String> {
    let nodes = topology.nodes.len();
    match &topology.distance {
        Some(rows) if rows.len() != nodes || rows.iter().any(|row| row.len() != nodes) => {
            Err(format!("its distances are no square of its {nodes} nodes"))
        }
        _ => Ok(()),
    }
}
