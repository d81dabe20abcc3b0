//! Settings: the TOML as written (`file.rs`), and [`Setup`], the same checked and typed. A key or a value whose part
//! is not built is refused as unknown, never ignored.

use crate::{loss::Loss, prox::Prox};
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
    /// `merge`.
    pub merge: MergeKind,
    /// `cell`.
    pub cell: CellKind,
}

/// `--class-weight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// 1 for both classes.
    None,
    /// n / (2 × the number of rows of the class).
    Balanced,
}

/// `--normalize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalize {
    /// Leave the data as they are.
    None,
    /// Scale every row to Euclidean norm 1; the model remembers it and predicts accordingly.
    Rows,
    /// Scale every column to root mean square 1 while solving; coefficients are reported in the input's scale.
    Columns,
}

/// `[problem]`: F(x) = (1/Σw) Σ wᵢ φ(aᵢᵀx, bᵢ) + λ₁‖x‖₁ + (λ₂/2)‖x‖² + an indicator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// φ.
    pub loss: Loss,
    /// λ₁ ≥ 0.
    pub l1: f64,
    /// λ₂ ≥ 0, or `1/n`.
    pub l2: L2,
    /// The constraint set: whole space, a box, or the non-negative orthant.
    pub constraint: Constraint,
    /// Whether an unpenalised constant is fitted.
    pub intercept: bool,
    /// Weights by class.
    pub class_weight: ClassWeight,
    /// Scaling of the data.
    pub normalize: Normalize,
}

/// λ₂ as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum L2 {
    /// A number.
    Value(f64),
    /// 1/n, n the number of rows.
    OneOverN,
}

/// The set that the coefficients are kept in (`--prox box:LO:HI`, `--prox non-negative`; `none` otherwise).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constraint {
    /// No constraint.
    None,
    /// Every coefficient in [lo, hi], lo ≤ 0 ≤ hi.
    Box {
        /// Lower bound.
        lo: f64,
        /// Upper bound.
        hi: f64,
    },
    /// Every coefficient ≥ 0.
    NonNegative,
}

impl Problem {
    /// The regulariser as a prox on one coordinate, λ₂ resolved for `rows` rows.
    pub fn prox(&self, rows: usize) -> Prox {
        let (lo, hi) = match self.constraint {
            Constraint::None => (f64::NEG_INFINITY, f64::INFINITY),
            Constraint::Box { lo, hi } => (lo, hi),
            Constraint::NonNegative => (0.0, f64::INFINITY),
        };
        let l2 = match self.l2 {
            L2::Value(value) => value,
            L2::OneOverN => 1.0 / rows as f64,
        };
        Prox { l1: self.l1, l2, lo, hi }
    }
}

/// `[method]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MethodKind {
    /// Picks by problem and says why.
    Auto,
    /// Hogwild!, proximal SGD.
    Hogwild,
    /// Stochastic dual coordinate ascent.
    Dual {
        /// Penalise the intercept as one more column of ones (the dual has no free constant).
        penalize_intercept: bool,
    },
    /// Proximal coordinate descent by columns.
    Bcd,
}

/// `[step]`: the length of a step of `hogwild`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum StepKind {
    /// γ.
    Constant {
        /// γ₀; `None` asks for the short search.
        initial: Option<f64>,
    },
    /// γ₀/(1 + e/half) at e epochs done, continuous in e (e counts fractions).
    Diminishing {
        /// γ₀; `None` asks for the short search.
        initial: Option<f64>,
        /// Epochs after which γ has halved.
        half: f64,
    },
    /// γ₀ ρᵉ at the e-th epoch.
    Decay {
        /// γ₀; `None` asks for the short search.
        initial: Option<f64>,
        /// ρ in (0, 1].
        factor: f64,
    },
    /// Niu et al.'s back-off: γ is cut by `factor` at the end of each phase, and a phase is 1/factor times as long as
    /// the one before.
    Backoff {
        /// γ₀; `None` asks for the short search.
        initial: Option<f64>,
        /// Cut in (0, 1).
        factor: f64,
        /// Length of the first phase in epochs.
        epochs: f64,
    },
}

/// `[order]`: which row next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OrderKind {
    /// Runs of `rows` consecutive rows, the runs shuffled every epoch.
    Buckets {
        /// Rows a bucket, at least 1.
        rows: usize,
    },
    /// Single rows, shuffled every epoch.
    Rows,
    /// As they stand in the file.
    File,
}

/// `[exchange]`: how replicas are drawn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExchangeKind {
    /// All replicas become their average.
    Average {
        /// Updates of one worker between two exchanges; `None` is once an epoch.
        every: Option<usize>,
    },
    /// All replicas become their common start plus the sum of their changes.
    Sum {
        /// Updates of one worker between two exchanges; `None` is once an epoch.
        every: Option<usize>,
    },
}

/// `[stop]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stop {
    /// Relative certificate to stop at.
    pub target: Option<f64>,
    /// Objective to stop at.
    pub target_objective: Option<f64>,
    /// Epochs to stop after.
    pub max_epochs: u64,
    /// Seconds of solving and evaluating to stop after.
    pub max_seconds: Option<f64>,
}

/// `[run] runner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// Real threads.
    Threads,
    /// One thread, the workers' reads and writes interleaved in an order drawn from the seed.
    Interleaved,
}

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
    /// `[method]`.
    pub method: MethodKind,
    /// `[step]`; `None` is the method's own choice.
    pub step: Option<StepKind>,
    /// `[order]`.
    pub order: OrderKind,
    /// `[exchange]`; `None` is the method's own choice.
    pub exchange: Option<ExchangeKind>,
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
            },
            virtual_nodes: 0,
            workers: Workers { count: Count::Cores, order: WorkerOrder::Compact, smt: Smt::Last, pin: Pin::Cpu },
            parameters: Parameters { replicas: None, merge: MergeKind::Lossy, cell: CellKind::F64 },
            method: MethodKind::Auto,
            step: None,
            order: OrderKind::Buckets { rows: 32 },
            exchange: None,
            stop: Stop { target: Some(1e-4), target_objective: None, max_epochs: 200, max_seconds: None },
            runner: Runner::Threads,
            seed: 1,
        }
    }
}
