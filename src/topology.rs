//! The machine as an inert value: packages, NUMA nodes, caches, cores, cpus and distances, copied out of hwloc once
//! and plain from then on. A topology comes from this host, from an hwloc XML file, from an hwloc synthetic string, or
//! from a file that [`Topology::save`] wrote; a bad one of the latter three is an error and never silently this host.

mod assemble;
pub use crate::cpulist;
mod cut;
pub(crate) mod describe;
mod saved;
mod source;
mod xml;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where a topology came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The machine that runs this process.
    Host,
    /// An hwloc XML file.
    Xml(PathBuf),
    /// An hwloc synthetic description, such as `pack:2 [numa] core:4 pu:2`.
    Synthetic(String),
    /// A file that [`Topology::save`] wrote, on whatever machine and from whatever source.
    Saved(PathBuf),
}

/// One schedulable processor, which hwloc calls a PU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The operating system's number.
    pub os: u32,
    /// Index into [`Topology::cores`]; a machine without core objects gets one core a cpu.
    pub core: usize,
    /// Its rank among the cpus of its core, from 0. Rank 1 and up are SMT siblings of rank 0.
    pub smt: u32,
    /// Index into [`Topology::l2s`].
    pub l2: Option<usize>,
    /// Index into [`Topology::l3s`].
    pub l3: Option<usize>,
    /// Package (socket), as a logical index from 0.
    pub package: Option<usize>,
    /// Index into [`Topology::nodes`] of its local NUMA node: where several nodes share these cpus (DRAM and HBM),
    /// the first.
    pub node: Option<usize>,
    /// True if this process may run on it: allowed by the cpuset and, on this host, in the affinity mask at start.
    pub usable: bool,
}

/// One NUMA node, possibly without cpus or without memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The operating system's number.
    pub os: u32,
    /// Local memory in bytes; 0 if it has none; `None` if unknown.
    pub memory_bytes: Option<u64>,
    /// OS numbers of its cpus, ascending; empty for a memory-only node.
    pub cpus: Vec<u32>,
    /// False if the cpuset forbids memory from it.
    pub allowed: bool,
}

/// A cache and the cpus that share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Size in bytes; 0 if unknown.
    pub bytes: u64,
    /// OS numbers of the cpus below it, ascending.
    pub cpus: Vec<u32>,
}

/// A physical core and its cpus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Core {
    /// OS numbers of its cpus, ascending.
    pub cpus: Vec<u32>,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// As the machine names it, if it does.
    pub name: Option<String>,
    /// Its PCI address, such as `0000:81:00.0`.
    pub pci: String,
    /// Index into [`Topology::nodes`] of the node that it hangs on; the first where it hangs on several, `None` where it hangs on
    /// all of several.
    pub node: Option<usize>,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Where it came from.
    pub origin: Origin,
    /// Number of packages; 0 if the topology has no package objects.
    pub packages: usize,
    /// NUMA nodes in hwloc's logical order.
    pub nodes: Vec<Node>,
    /// L3 caches; empty if unknown.
    pub l3s: Vec<Cache>,
    /// L2 caches; empty if unknown.
    pub l2s: Vec<Cache>,
    /// Cores in logical order.
    pub cores: Vec<Core>,
    /// Cpus in logical order (neighbours in the machine are neighbours here).
    pub cpus: Vec<Cpu>,
    /// `distance[i][j]`: the firmware's relative latency from node i to node j (10 is local); `None` if the machine
    /// states none.
    pub distance: Option<Vec<Vec<u64>>>,
    /// GPUs, as far as the PCI bus shows them; none in files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
    /// The cgroup's cpu quota in cpus, if there is one.
    pub quota_cpus: Option<f64>,
    /// True if the kernel moves pages that are not bound to the nodes that use them (automatic NUMA balancing); false in
    /// files of older versions.
    #[serde(default)]
    pub balancing: bool,
    /// True if the nodes were made by cutting one ([`Topology::with_virtual_nodes`]): no traffic between them is remote.
    pub virtual_nodes: bool,
}

impl Topology {
    /// OS numbers of the cpus that may be used, in logical order.
    pub fn usable_cpus(&self) -> Vec<u32> {
        self.cpus.iter().filter(|cpu| cpu.usable).map(|cpu| cpu.os).collect()
    }

    /// The place of an OS node in [`Topology::nodes`].
    pub fn find_node(&self, os: u32) -> Option<usize> {
        self.nodes.iter().position(|node| node.os == os)
    }

    /// True if data can be put on the node: it has memory, as far as is known, and the cpuset allows it.
    pub fn has_memory(&self, node: usize) -> bool {
        self.nodes[node].allowed && self.nodes[node].memory_bytes != Some(0)
    }

    /// How sentences name it: `this machine`, or the file or description it came from.
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::Host => "this machine".into(),
            Origin::Xml(path) | Origin::Saved(path) => path.display().to_string(),
            Origin::Synthetic(text) => format!("`{text}`"),
        }
    }
}
