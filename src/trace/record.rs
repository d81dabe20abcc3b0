//! What stands around the samples of a recorded run: who ran what where, and how it ended.

use super::{CertificateKind, DelaySummary, StopReason};
use crate::{
    config::Setup,
    os::host::{Host, Usage},
    placement::{Label, Plan, actual::Array, team::Standing},
    topology::{Origin, Topology},
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The first line of a trace: all that was known before the first update.
#[derive(Clone, Debug, Serialize)]
pub struct Header<'a> {
    /// The version of farrow.
    pub farrow: &'a str,
    /// Seconds since 1970 when it began.
    pub started_unix_s: f64,
    /// How the figures of this trace were got.
    pub label: Label,
    /// The machine's name, kernel, processor and load, and the commit the program was built from.
    pub host: &'a Host,
    /// The machine's size.
    pub topology: MachineFacts,
    /// The data's name and size.
    pub data: DataFacts,
    /// Every setting.
    pub config: &'a Setup,
    /// The seed of everything drawn at random.
    pub seed: u64,
    /// The plan as requested; what became of it is the line after this one.
    pub plan: &'a Plan,
}

/// Which data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFacts {
    /// The file, `-` for standard input.
    pub path: String,
    /// Rows.
    pub n: usize,
    /// Columns.
    pub d: usize,
    /// Stored entries; n × d for dense data.
    pub nnz: u64,
}

impl DataFacts {
    /// The name and size of a data set.
    pub fn new(path: &Path, shape: crate::data::Shape) -> Self {
        DataFacts { path: path.display().to_string(), n: shape.rows, d: shape.columns, nnz: shape.nonzeros }
    }
}

/// A machine in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineFacts {
    /// Where the topology came from.
    pub origin: Origin,
    /// Packages.
    pub packages: usize,
    /// NUMA nodes.
    pub nodes: usize,
    /// Whether they were made by cutting one.
    pub virtual_nodes: bool,
    /// L3 caches.
    pub l3s: usize,
    /// Cores.
    pub cores: usize,
    /// Cpus.
    pub cpus: usize,
    /// Cpus that this process may run on.
    pub cpus_usable: usize,
    /// The cgroup's quota, in cpus.
    pub quota_cpus: Option<f64>,
}

impl From<&Topology> for MachineFacts {
    fn from(topology: &Topology) -> Self {
        MachineFacts {
            origin: topology.origin.clone(),
            packages: topology.packages,
            nodes: topology.nodes.len(),
            virtual_nodes: topology.virtual_nodes,
            l3s: topology.l3s.len(),
            cores: topology.cores.len(),
            cpus: topology.cpus.len(),
            cpus_usable: topology.cpus.iter().filter(|cpu| cpu.usable).count(),
            quota_cpus: topology.quota_cpus,
        }
    }
}

/// What one worker waited for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorkerWaits {
    /// Seconds at the gate where workers meet, the serial work of the last to arrive included.
    pub gate_seconds: f64,
    /// Stripes of a locked merge that another update held.
    pub stripes: u64,
    /// Times that a lock of the replica was not to be had at once, under a consistent merge or where delays are measured; a
    /// trace of an older version has no such key.
    pub locks: u64,
    /// Seconds at exchanges where replicas do not meet.
    pub exchange_seconds: f64,
}

/// The last line of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Footer<'a> {
    /// Why the run stopped.
    pub stop: StopReason,
    /// The method's name.
    pub method: &'a str,
    /// Why this method.
    pub why: &'a str,
    /// Which certificate its samples have.
    pub certificate: CertificateKind,
    /// Nonzeros of the data worked on a second of solving, all workers.
    pub nonzeros_per_s: f64,
    /// For every worker, the cpus asked for and the cpus granted.
    pub plan_actual: &'a [Standing],
    /// For every kind of array and home, where its pages are; a trace of an older version has no such key.
    pub plan_memory: Vec<Array>,
    /// What each worker waited for; a trace of an older version has no such key.
    pub waits: Vec<WorkerWaits>,
    /// How long updates were delayed, where that was measured; a trace of an older version has no such key.
    pub delays: Option<&'a DelaySummary>,
    /// What a person should know.
    pub warnings: &'a [String],
    /// Memory and cpu time of the process.
    pub usage: Usage,
}
