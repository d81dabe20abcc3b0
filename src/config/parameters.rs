//! `[parameters]`: where the parameters live, and how two writes meet.

use super::memory::{Layout, ParameterMemory};
use serde::Serialize;

/// One replica of the parameters for each of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// The whole machine: the master vector of Hogwild!.
    Machine,
    /// A NUMA node.
    Node,
    /// An L3 group.
    L3,
    /// A worker; its replica is plain memory.
    Core,
}

/// How two writes to one parameter meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MergeKind {
    /// Relaxed load, add, relaxed store: a write may be lost.
    Lossy,
    /// Compare-exchange: every write lands.
    Lossless,
    /// Striped locks held from an update's read to its write.
    Locked,
    /// Plain writes, each update's under one lock of the replica, its reads under the same lock shared: what an update read
    /// is one state of the vector that existed.
    Consistent,
}

/// The type of a stored parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// 8 bytes.
    F64,
    /// 4 bytes.
    F32,
}

/// `[parameters]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameters {
    /// `replicas`; `None` leaves it to the plan.
    pub replicas: Option<Granularity>,
    /// `memory`.
    pub memory: ParameterMemory,
    /// `merge`.
    pub merge: MergeKind,
    /// `cell`.
    pub cell: CellKind,
    /// `layout`.
    pub layout: Layout,
}
