//! What this machine asks for memory traffic: the **price list** that `farrow contention machine` measures and
//! [`PriceList::save`] keeps. With the topology beside it, it is the machine file that a simulator reads.
//!
//! A price list is an inert value. It has two forms of table, [`Matrix`] and [`Curve`], and each field's name ends in
//! the unit of its figures. Nothing is left out in silence: a cell that has no [`Figure`] has the number of a reason
//! in its table's `reasons`, and a table that is not there at all has a line in [`PriceList::missing`].

mod digest;
mod figure;
mod key;
mod saved;
mod table;

pub(crate) use table::TO_ITSELF;

pub use digest::{Digest, Group, Noise, Timer};
pub use figure::Figure;
pub(crate) use figure::quantile_or_0;
pub use key::{
    Contended, DramLatency, FalseSharing, Handover, Loaded, NodeStream, Operation, PageSize, Relation, State,
    Stream, Threads, Transfer, Update, UpdateMerge, WorkingSet,
};
pub use table::{Cell, Curve, Matrix, Missing, Point};

use crate::{
    os::{disturbance::Disturbance, host::Host},
    placement::Label,
};
use serde::{Deserialize, Serialize};

/// The form's version; [`PriceList::read`] takes this one alone.
pub const VERSION: u32 = 1;

/// The measured prices of one machine. Cpus and nodes have the system's numbers, in the topology's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    /// [`VERSION`].
    pub version: u32,
    /// How every figure was got.
    pub label: Label,
    /// When it was finished, in seconds since 1970.
    pub unix_time_s: f64,
    /// The machine's name, kernel and processor.
    pub host: Host,
    /// What there is of cpus, nodes and caches.
    pub machine: Digest,
    /// The cpus in the order in which workers were added: n workers ran on the first n.
    pub worker_cpus: Vec<u32>,
    /// Seconds that were allowed.
    pub budget_s: f64,
    /// Seconds that it took.
    pub seconds: f64,
    /// What was cut to fit the seconds, a sentence each.
    pub left_out: Vec<String>,
    /// What else the machine did meanwhile.
    pub disturbance: Disturbance,
    /// How far repeats lie apart.
    pub noise: Noise,
    /// The clock: what reading it costs (subtracted where an interval is short) and the least step seen.
    pub timer: Timer,
    /// One-way hand-over of a line from the cpu of the row to the cpu of the column. A round trip is halved, so that the
    /// two directions are one figure.
    pub transfer_ns: Vec<Matrix<Transfer>>,
    /// Dependent load from a working set, by its bytes.
    pub latency_by_working_set_ns: Vec<Curve<WorkingSet>>,
    /// Dependent load from memory: rows are nodes of cpus, columns nodes of memory.
    pub latency_by_node_ns: Vec<Matrix<DramLatency>>,
    /// 10⁹ bytes a second, all cores of the row's node together, memory on the column's node. A copy counts what it reads
    /// and what it writes; what a write reads before (read for ownership) is counted nowhere.
    pub bandwidth_by_node_gb_per_s: Vec<Matrix<NodeStream>>,
    /// The same by the number of threads, memory on the cpus' own node.
    pub bandwidth_by_threads_gb_per_s: Vec<Curve<Threads>>,
    /// Dependent load while other cpus of the node read as fast as a pause lets them, by the spins of that pause between
    /// 4 KiB; point for point beside [`PriceList::loaded_bandwidth_gb_per_s`].
    pub loaded_latency_ns: Vec<Curve<Loaded>>,
    /// What the other cpus read meanwhile, all together.
    pub loaded_bandwidth_gb_per_s: Vec<Curve<Loaded>>,
    /// One operation on the one line that all workers use, as a worker sees it, by workers.
    pub contended_line_ns: Vec<Curve<Contended>>,
    /// One addition to a worker's own cell, by the bytes between it and the other worker's.
    pub false_sharing_ns: Vec<Curve<FalseSharing>>,
    /// One update of one coordinate, as a worker sees it, by workers.
    pub update_ns: Vec<Curve<Update>>,
    /// Share of the updates that were lost, of known mass (each adds 1), by workers.
    pub update_lost_share: Vec<Curve<Update>>,
    /// One crossing of a barrier, or one hand-over from a worker to the next, by workers.
    pub handover_ns: Vec<Curve<Handover>>,
    /// Writing a coordinate that a worker of every one of so many groups writes (nodes, or the first two cores where there
    /// is one node), by groups.
    pub alpha_write_ns: Vec<Curve<Relation>>,
    /// Reading one of a worker's own vector of that size.
    pub alpha_read_ns: Vec<Curve<Relation>>,
    /// DimmWitted's α = write of what all groups write / read of what one alone has (Zhang and Ré, VLDB 2014, §3.2, whose
    /// machines had 4 to 12).
    pub alpha: Vec<Curve<Relation>>,
    /// Tables that are not there, and why.
    pub missing: Vec<Missing>,
}
