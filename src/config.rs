//! Settings. [`Settings`] is what was written, in a TOML file, in `--set section.key=value` and in flags, each with its
//! origin; [`Settings::check`] makes a [`Setup`] of it, typed and free of contradictions. A key or a value whose part is
//! not built is refused as unknown, never ignored.
//!
//! Later entries override earlier ones. A file, and the flags after it, are two layers: where a later layer makes a
//! choice (another `step.kind`, `workers.count` instead of `workers.cpus`), the keys of the earlier one that belong to
//! what was chosen before are overridden with it. Within one layer they are a contradiction, and refused.

use crate::loss::Loss;
use serde::Serialize;

mod check;
mod conflict;
mod entry;
mod exchange;
pub(crate) mod gradients;
mod injection;
pub mod keyed;
mod keys;
mod location;
mod memory;
mod method;
mod nodes;
mod parameters;
mod problem;
pub(crate) mod rank;
mod settings;
mod workers;
mod write;

pub use crate::exchange::Kind as ExchangeKind;
pub use crate::method::Kind as MethodKind;
pub use exchange::{Every, GraphKind, MessageFaults, Moves};
pub use gradients::{Gradients, On as GradientsOn, Values as GradientsValues};
pub use injection::{DelayKind, Injection, Straggler};
pub use location::{Kind, Location, Selection, Step};
pub use memory::{DataMemory, DataPlacement, HugePages, Layout, ParameterMemory};
pub use method::{OrderKind, Runner, StepKind, Stop};
pub use parameters::{CellKind, Granularity, MergeKind, Parameters};
pub use problem::{ClassWeight, Constraint, L2, Normalize, Problem};
pub use settings::Settings;
pub use workers::{Count, Pin, Smt, WorkerOrder, Workers};

/// Every setting, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setup {
    /// `[problem]`.
    pub problem: Problem,
    /// `[topology] virtual_nodes`; 0 leaves the nodes as they are.
    pub virtual_nodes: usize,
    /// `[workers]`.
    pub workers: Workers,
    /// `[parameters]`.
    pub parameters: Parameters,
    /// `[data]`.
    pub data: DataPlacement,
    /// `[method]`.
    pub method: MethodKind,
    /// `[step]`; `None` is the method's own choice.
    pub step: Option<StepKind>,
    /// `[order]`.
    pub order: OrderKind,
    /// `[exchange]`; `None` is the method's own choice.
    pub exchange: Option<ExchangeKind>,
    /// `[exchange] moves`.
    pub moves: Moves,
    /// `[gradients]`.
    pub gradients: Gradients,
    /// `[injection]`.
    pub injection: Injection,
    /// `[stop]`.
    pub stop: Stop,
    /// `[run] runner`.
    pub runner: Runner,
    /// `[run] seed`.
    pub seed: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            problem: Problem {
                loss: Loss::Logistic,
                l1: 0.0,
                l2: L2::OneOverN,
                constraint: Constraint::None,
                intercept: false,
                class_weight: ClassWeight::None,
                normalize: Normalize::None,
                rank: None,
            },
            virtual_nodes: 0,
            workers: Workers { count: Count::Cores, order: WorkerOrder::Compact, smt: Smt::Last, pin: Pin::Cpu },
            parameters: Parameters {
                replicas: None,
                memory: ParameterMemory::Local,
                merge: MergeKind::Lossy,
                cell: CellKind::F64,
                layout: Layout::Plain,
            },
            data: DataPlacement { memory: DataMemory::Shard, huge_pages: HugePages::Transparent },
            method: MethodKind::Auto,
            step: None,
            order: OrderKind::Auto,
            exchange: None,
            moves: Moves::Auto,
            gradients: Gradients::cpu(),
            injection: Injection::none(),
            stop: Stop {
                target: Some(1e-4),
                target_objective: None,
                max_epochs: 10_000,
                max_seconds: None,
                evaluate_every: None,
            },
            runner: Runner::Threads,
            seed: 1,
        }
    }
}
