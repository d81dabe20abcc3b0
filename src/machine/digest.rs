//! What a price list says of the machine, the clock and its own sureness.

use super::Figure;
use crate::topology::Topology;
use serde::{Deserialize, Serialize};

/// What the topology, saved beside it, has in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digest {
    /// Cpus that may be used, in the topology's order.
    pub cpus: Vec<u32>,
    /// Cpus of the machine, usable or not.
    pub cpus_of_machine: usize,
    /// Nodes in the topology's order, and their usable cpus.
    pub nodes: Vec<Group>,
    /// L3 caches in the topology's order, by index, and their usable cpus.
    pub l3s: Vec<Group>,
    /// Cores with a usable cpu.
    pub cores: usize,
    /// The largest L3 in bytes, or the largest L2 where no L3 is known; 0 if neither is.
    pub last_cache_bytes: u64,
    /// The firmware's relative distance of nodes, if it states one.
    pub distance: Option<Vec<Vec<u64>>>,
}

/// A node or a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// A node's number with the system, a cache's index.
    pub number: u32,
    /// Its usable cpus in the topology's order.
    pub cpus: Vec<u32>,
}

impl Digest {
    /// Of a topology.
    pub fn of(topology: &Topology) -> Self {
        let usable = |pick: &dyn Fn(&crate::topology::Cpu) -> bool| -> Vec<u32> {
            topology.cpus.iter().filter(|cpu| cpu.usable && pick(cpu)).map(|cpu| cpu.os).collect()
        };
        let nodes = topology.nodes.iter().enumerate();
        let largest = |caches: &[crate::topology::Cache]| caches.iter().map(|cache| cache.bytes).max().unwrap_or(0);
        let mut cores: Vec<usize> = topology.cpus.iter().filter(|cpu| cpu.usable).map(|cpu| cpu.core).collect();
        cores.sort_unstable();
        cores.dedup();
        Digest {
            cpus: usable(&|_| true),
            cpus_of_machine: topology.cpus.len(),
            nodes: nodes
                .map(|(i, node)| Group { number: node.os, cpus: usable(&|cpu| cpu.node == Some(i)) })
                .collect(),
            l3s: (0..topology.l3s.len())
                .map(|i| Group { number: i as u32, cpus: usable(&|cpu| cpu.l3 == Some(i)) })
                .collect(),
            cores: cores.len(),
            last_cache_bytes: match largest(&topology.l3s) {
                0 => largest(&topology.l2s),
                bytes => bytes,
            },
            distance: topology.distance.clone(),
        }
    }
}

/// The clock that everything is timed by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timer {
    /// One reading of it, in ns: subtracted once for each reading within a timed interval. `None` only if time ran out.
    pub overhead_ns: Option<Figure>,
    /// The least step above 0 between two readings, in ns.
    pub resolution_ns: Option<Figure>,
}

/// How far repeats lie apart: every figure was measured in passes over all figures, one pass after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Figures that have at least two passes.
    pub figures: u32,
    /// Half of them spread less than this share of their median between passes.
    pub spread_median: f64,
    /// Nine in ten of them do.
    pub spread_p90: f64,
    /// Half of those about lines that pass from cpu to cpu do; 0 if there is none of them.
    #[serde(default)]
    pub spread_between_cpus: f64,
    /// Questions asked, each pass counted.
    pub asked: u32,
    /// Of those, disturbed: time was stolen or workers lost their cpu meanwhile.
    pub disturbed: u32,
    /// Disturbed ones asked once more.
    pub retried: u32,
    /// Questions not asked in a pass because the time was used up.
    pub skipped: u32,
}

impl Noise {
    /// True if half of the figures repeat within a tenth, nine in ten within three tenths, and few were disturbed.
    pub fn quiet(&self) -> bool {
        self.spread_median <= 0.1 && self.spread_p90 <= 0.3 && self.disturbed * 10 <= self.asked
    }

    /// True if the way between two cpus seems to change: prices of siblings of a core and of two cores are three to five times
    /// apart, and what else disturbs a pass is asked again, and moves few of these medians by half.
    pub fn cpus_move(&self) -> bool {
        self.spread_between_cpus > 0.5
    }
}
