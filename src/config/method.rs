//! `[step]`, `[order]`, `[stop]` and `[run]`: how it is minimised, and when that ends. What `[method]` can be is the list in
//! [`method`](crate::method).

use serde::Serialize;

/// `[step]`: the length of a step of the methods that take one.
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
    /// γ′/(τ + ½) for a given τ.
    FixedDelay {
        /// γ′; `None` for h/L.
        initial: Option<f64>,
        /// τ: no update is to be delayed by more.
        delay: u64,
    },
    /// α times the room that the steps since an update's read have left of γ′.
    Adaptive1 {
        /// γ′; `None` for h/L.
        initial: Option<f64>,
        /// α in (0, 1).
        alpha: f64,
    },
    /// γ′/(τₖ + 1) where there is so much room, else nothing.
    Adaptive2 {
        /// γ′; `None` for h/L.
        initial: Option<f64>,
    },
    /// γ′/(τₖ + 1): can diverge.
    NaiveDelay {
        /// γ′; `None` for h/L.
        initial: Option<f64>,
    },
}

impl StepKind {
    /// `half` where none is given.
    pub const HALF: f64 = 1.0;
    /// `factor` of `decay` where none is given.
    pub const DECAY_FACTOR: f64 = 0.9;
    /// `factor` of `backoff` where none is given: the β that makes Niu et al.'s bound on the updates, which grows as
    /// log(2/β)/(1 − β), least.
    pub const BACKOFF_FACTOR: f64 = 0.37;
    /// `epochs` of `backoff` where none is given.
    pub const BACKOFF_EPOCHS: f64 = 1.0;
    /// `alpha` of `adaptive1` where none is given.
    pub const ALPHA: f64 = 0.9;
    /// The longest delay that a key takes: what the rules by delay remember.
    pub const DELAY_MAX: u64 = 65_535;

    /// Its name in configs and flags.
    pub fn name(&self) -> &'static str {
        match self {
            StepKind::Constant { .. } => "constant",
            StepKind::Diminishing { .. } => "diminishing",
            StepKind::Decay { .. } => "decay",
            StepKind::Backoff { .. } => "backoff",
            StepKind::FixedDelay { .. } => "fixed-delay",
            StepKind::Adaptive1 { .. } => "adaptive1",
            StepKind::Adaptive2 { .. } => "adaptive2",
            StepKind::NaiveDelay { .. } => "naive-delay",
        }
    }

    /// The same with γ₀ or γ′ set.
    pub fn with_initial(mut self, first: f64) -> Self {
        match &mut self {
            StepKind::Constant { initial }
            | StepKind::Diminishing { initial, .. }
            | StepKind::Decay { initial, .. }
            | StepKind::Backoff { initial, .. }
            | StepKind::FixedDelay { initial, .. }
            | StepKind::Adaptive1 { initial, .. }
            | StepKind::Adaptive2 { initial }
            | StepKind::NaiveDelay { initial } => *initial = Some(first),
        }
        self
    }

    /// γ₀ or γ′ as set, if it was.
    pub fn initial(&self) -> Option<f64> {
        match *self {
            StepKind::Constant { initial }
            | StepKind::Diminishing { initial, .. }
            | StepKind::Decay { initial, .. }
            | StepKind::Backoff { initial, .. }
            | StepKind::FixedDelay { initial, .. }
            | StepKind::Adaptive1 { initial, .. }
            | StepKind::Adaptive2 { initial }
            | StepKind::NaiveDelay { initial } => initial,
        }
    }

    /// Whether each step depends on the measured delay of its update.
    pub fn is_by_delay(&self) -> bool {
        matches!(self, StepKind::Adaptive1 { .. } | StepKind::Adaptive2 { .. } | StepKind::NaiveDelay { .. })
    }

    /// Whether its first length, where none is given, is h/L and not searched for.
    pub fn is_by_smoothness(&self) -> bool {
        self.is_by_delay() || matches!(self, StepKind::FixedDelay { .. })
    }
}

/// `[order]`: which row next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OrderKind {
    /// Single rows where the data fit a cache, else buckets of [`OrderKind::BUCKET_ROWS`].
    Auto,
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

impl OrderKind {
    /// Rows a bucket where none are given: 29 ms a pass of the RCV1-like set, against 108 for rows shuffled singly and 24
    /// in file order.
    pub const BUCKET_ROWS: usize = 32;
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
    /// Epochs from one evaluation to the next; `None` where the target, if there is one, is not expected to be met sooner.
    pub evaluate_every: Option<u64>,
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
