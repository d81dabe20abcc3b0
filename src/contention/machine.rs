//! The machine's price list, measured.
//!
//! 1. [`survey()`] chooses, for a topology and a number of seconds, which [`Question`]s are asked, of which cpus and
//!    nodes, and for how long. It is a pure function: what it left out for want of time it says.
//! 2. [`measure`] asks them all in turn, pass after pass, of an [`Instrument`], so that a disturbance of some seconds
//!    spoils one pass of many figures and not all passes of one. Those that were disturbed are asked again while there
//!    is time.
//! 3. [`HostInstrument`] is the instrument of this host. A probe is a file: threads bound to their cpus meet at a start
//!    line, warm up, and each times itself; the first samples are dropped.
//!
//! No wait lasts for ever: each has a limit after which the question has no answer, and a reason.

mod alpha;
mod bandwidth;
mod chase;
mod contended;
mod crew;
mod gather;
mod handover;
mod host;
mod kinds;
mod latency;
mod loaded;
mod measure;
mod places;
mod pool;
mod rounds;
mod share;
mod sharing;
mod sizes;
mod survey;
mod timer;
mod topics;
mod transfer;
mod update;
mod window;

pub use crew::Patience;
pub use host::HostInstrument;
pub use kinds::{Only, Section};
pub use measure::{Answer, Instrument, Progress, Silent, measure};
pub use places::{View, Worker};
pub use sizes::Sizes;
pub use survey::{Survey, survey};

use crate::machine::{
    Contended, DramLatency, FalseSharing, Handover, Loaded, NodeStream, Relation, Threads, Transfer, Update,
    WorkingSet,
};
use serde::Serialize;
use std::fmt;

/// One thing to find out. Who is asked is in the [`Item`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// What a reading of the clock costs, and its least step.
    Timer,
    /// How long a line takes from the first cpu to the second.
    Transfer(Transfer),
    /// How long a load takes from a working set of so many bytes.
    WorkingSet(WorkingSet, u64),
    /// How long a load takes from the memory of node `memory`, by a cpu of `node`.
    NodeLatency {
        /// From how much memory, in which pages.
        of: DramLatency,
        /// Node of the cpu.
        node: u32,
        /// Node of the memory.
        memory: u32,
    },
    /// How fast the cpus of `node` go through memory of node `memory`.
    NodeStream {
        /// What they do, over how much.
        of: NodeStream,
        /// Node of the cpus.
        node: u32,
        /// Node of the memory.
        memory: u32,
    },
    /// How fast so many cpus of a node go through its memory of so many bytes.
    Threads(Threads, u64),
    /// How long a load takes, from a chase of as many bytes as the first number, while the other cpus read arrays of as
    /// many bytes as the second, pausing for `spins` after every 4 KiB.
    Loaded {
        /// Where.
        of: Loaded,
        /// Spins of a pause.
        spins: u32,
        /// Bytes of the chase, and of the arrays.
        bytes: (u64, u64),
    },
    /// What an operation costs on the line that all use.
    Contended(Contended),
    /// What an addition costs to two that write so many bytes apart.
    FalseSharing(FalseSharing, u32),
    /// What an update costs, and which share is lost.
    Update(Update),
    /// What a hand-over costs.
    Handover(Handover),
    /// What a write to a vector that all groups write costs, beside a read of one's own.
    Alpha(Relation),
}

/// A question to some cpus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// What is asked.
    pub question: Question,
    /// The system's numbers of the cpus: the first is the first worker's.
    pub cpus: Vec<u32>,
    /// Seconds of a pass that go to starting threads and filling arrays.
    pub setup_s: f64,
    /// Seconds of a pass that are measured.
    pub measure_s: f64,
}

impl Item {
    /// Seconds that a pass takes.
    pub fn seconds(&self) -> f64 {
        self.setup_s + self.measure_s
    }

    /// Whether its figure is about lines that pass from cpu to cpu.
    pub fn passes_lines(&self) -> bool {
        let kinds = [Section::Transfer, Section::Line, Section::Handover, Section::Alpha];
        self.cpus.len() > 1 && kinds.contains(&self.question.section())
    }
}

impl Question {
    /// The section of the survey that asks it.
    pub fn section(&self) -> Section {
        match self {
            Question::Timer => Section::Timer,
            Question::Transfer(_) => Section::Transfer,
            Question::WorkingSet(..) | Question::NodeLatency { .. } => Section::Latency,
            Question::NodeStream { .. } | Question::Threads(..) => Section::Bandwidth,
            Question::Loaded { .. } => Section::Loaded,
            Question::Contended(_) => Section::Line,
            Question::FalseSharing(..) => Section::Sharing,
            Question::Update(_) => Section::Update,
            Question::Handover(_) => Section::Handover,
            Question::Alpha(_) => Section::Alpha,
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Timer => write!(f, "timer"),
            Question::Transfer(of) => write!(f, "transfer, {}, {}", of.operation, of.state),
            Question::WorkingSet(of, bytes) => {
                write!(f, "latency of {} KiB in {} pages", bytes >> 10, of.pages)
            }
            Question::NodeLatency { node, memory, .. } => write!(f, "latency, node {node} to memory {memory}"),
            Question::NodeStream { of, node, memory } => {
                write!(f, "bandwidth, {}, node {node} and memory {memory}", of.stream)
            }
            Question::Threads(of, _) => write!(f, "bandwidth, {}, by threads of node {}", of.stream, of.node),
            Question::Loaded { of, spins, .. } => {
                write!(f, "loaded latency of node {}, pauses of {spins}", of.node)
            }
            Question::Contended(of) => write!(f, "contended line, {of}"),
            Question::FalseSharing(of, bytes) => write!(f, "false sharing, {}, {bytes} bytes apart", of.relation),
            Question::Update(of) => write!(f, "update, {}, {} % conflict", of.merge, of.conflict_percent),
            Question::Handover(of) => write!(f, "hand-over, {of}"),
            Question::Alpha(of) => write!(f, "alpha, {of}"),
        }
    }
}
