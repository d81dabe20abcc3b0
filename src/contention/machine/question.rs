//! What can be asked of a machine.

use serde::Serialize;

/// Seconds that a question takes beside its measuring: starting threads, making arrays.
pub(super) const AROUND_S: f64 = 0.002;
/// Seconds that a byte of an array takes to be made.
const BYTE_S: f64 = 0.6e-9;
/// How a line goes from one cpu to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// One stores, the other's load sees it.
    Read,
    /// By compare-exchange on both sides.
    Exchange,
    /// By fetch-and-add on both sides, after both have read it: from a shared state.
    Add,
}

/// What memory is streamed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// Half of it is copied to the other half; both count.
    Copy,
}

/// How writes meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meet {
    /// Fetch-and-add of an integer.
    Count,
    /// Load, add, store.
    Lossy,
    /// Compare-exchange of an f64.
    Lossless,
    /// Under a stripe's lock.
    Locked,
}

/// One question. Cpus and nodes have the system's numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Question {
    /// ns that reading the clock takes.
    Timer,
    /// ns of the clock's smallest step.
    Step,
    /// ns one way between two cpus.
    Transfer {
        /// How the line goes.
        how: How,
        /// The two.
        cpus: (u32, u32),
    },
    /// ns of a load that depends on the one before, on an array so large.
    Latency {
        /// Who loads.
        cpu: u32,
        /// Where the array lies; anywhere for `None`.
        node: Option<u32>,
        /// Bytes of it.
        bytes: u64,
        /// Whether its pages are huge, as far as the kernel grants that.
        huge: bool,
    },
    /// GB/s of all cpus together, each on an array of its own.
    Bandwidth {
        /// What for.
        stream: Stream,
        /// Who.
        cpus: Vec<u32>,
        /// Where.
        node: Option<u32>,
        /// Bytes of all arrays.
        bytes: u64,
    },
    /// ns of a dependent load of the first cpu while the others read with pauses: beside it the GB/s they reach.
    Loaded {
        /// The first loads, the others stream.
        cpus: Vec<u32>,
        /// Turns of a spin loop after each 4 KiB.
        pause: u32,
        /// Whether the load's ns are asked for, or the others' GB/s.
        latency: bool,
        /// Bytes of each array.
        bytes: u64,
    },
    /// ns of an operation of each cpu, on one line that all write.
    Contended {
        /// How they write.
        meet: Meet,
        /// Who.
        cpus: Vec<u32>,
    },
    /// ns of a lossy write of each of two cpus, on slots so far apart.
    Distance {
        /// The two.
        cpus: (u32, u32),
        /// Bytes between the slots.
        bytes: u32,
    },
    /// ns of an update of one slot of each cpu, so many of a hundred of which go to eight slots that all write.
    Update {
        /// How writes meet.
        meet: Meet,
        /// Who.
        cpus: Vec<u32>,
        /// Updates of a hundred to common slots.
        percent: u32,
    },
    /// The share of lossy updates that is gone, for the same: each adds one.
    Lost {
        /// Who.
        cpus: Vec<u32>,
        /// As in [`Question::Update`].
        percent: u32,
    },
    /// ns from one meeting of all at a gate to the next.
    Barrier {
        /// Who.
        cpus: Vec<u32>,
    },
    /// ns that a token takes from a cpu to the next, round a ring.
    Token {
        /// Who, in the order of the ring.
        cpus: Vec<u32>,
    },
    /// ns that 4 KiB written by one cpu take to be read by the other.
    Block {
        /// The two.
        cpus: (u32, u32),
    },
}

impl Question {
    /// The section it belongs to, as [`Only`](super::Only) names it.
    pub fn section(&self) -> &'static str {
        match self {
            Question::Timer | Question::Step => "timer",
            Question::Transfer { .. } => "transfer",
            Question::Latency { .. } => "latency",
            Question::Bandwidth { .. } => "bandwidth",
            Question::Loaded { .. } => "loaded",
            Question::Contended { .. } => "contended",
            Question::Distance { .. } => "false-sharing",
            Question::Update { .. } | Question::Lost { .. } => "update",
            Question::Barrier { .. } | Question::Token { .. } | Question::Block { .. } => "hand-over",
        }
    }

    /// Seconds that it takes beside measuring.
    pub(super) fn around_s(&self) -> f64 {
        let (bytes, threads) = match self {
            Question::Latency { bytes, .. } => (3 * bytes, 1),
            Question::Bandwidth { bytes, cpus, .. } => (*bytes, cpus.len()),
            Question::Loaded { bytes, cpus, .. } => (2 * bytes * cpus.len() as u64, cpus.len()),
            Question::Timer | Question::Step => (0, 0),
            Question::Contended { cpus, .. }
            | Question::Update { cpus, .. }
            | Question::Lost { cpus, .. }
            | Question::Barrier { cpus }
            | Question::Token { cpus } => (0, cpus.len()),
            Question::Transfer { .. } | Question::Distance { .. } | Question::Block { .. } => (0, 2),
        };
        AROUND_S + 1e-4 * threads as f64 + BYTE_S * bytes as f64
    }
}
