//! `[workers]`: how many threads write updates, and where they run.

use super::location::Location;
use serde::Serialize;

/// How many workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// One a usable core.
    Cores,
    /// One a usable cpu.
    Cpus,
    /// This many.
    Exactly(usize),
    /// One on each of these OS cpus, in this order.
    On(Vec<u32>),
    /// One on each core (or each cpu, where a location ends in `pu`) that these name, in this order.
    At(Vec<Location>),
}

/// In which order cpus are handed to workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerOrder {
    /// Fill a node before the next.
    Compact,
    /// Deal round robin over the nodes (and over L3 groups within a node).
    Scatter,
    /// Fill these nodes (OS numbers) in this order, and no others.
    Nodes(Vec<u32>),
    /// Fill every node but these (OS numbers), in logical order: `node:!0`, and `node:all`.
    NodesExcept(Vec<u32>),
}

/// When SMT siblings of a core that already has a worker are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Smt {
    /// Never.
    Never,
    /// After every core has one worker.
    Last,
    /// A core's siblings before the next core.
    First,
}

/// What a worker's thread is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pin {
    /// Its cpu.
    Cpu,
    /// The usable cpus of its node.
    Node,
    /// Nothing.
    None,
}

/// `[workers]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Workers {
    /// `count` or `cpus` or `locations`.
    pub count: Count,
    /// `order`.
    pub order: WorkerOrder,
    /// `smt`.
    pub smt: Smt,
    /// `pin`.
    pub pin: Pin,
}
