//! Everything that stays as it is during a run.

use super::{Feeding, Ledgers};
use crate::{
    config::{Injection, OrderKind},
    data::{Shape, matrix::Matrix},
    exchange::Exchange,
    method::Form,
    objective::{Frame, Linear},
    placement::{Plan, team::Standing},
    shard::Shards,
    step::Step,
    trace::CertificateKind,
};

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Relative certificate.
    pub target: Option<f64>,
    /// Objective.
    pub objective: Option<f64>,
    /// Epochs, counted from the run's first start.
    pub epochs: u64,
    /// Seconds of solving and evaluating, of this process.
    pub seconds: Option<f64>,
    /// Epochs between evaluations; `None` for as many as the target allows.
    pub evaluate_every: Option<u64>,
}

/// What a run is, in words.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The method's name.
    pub method: &'static str,
    /// Why this method.
    pub why: &'a str,
    /// The size of the data.
    pub shape: Shape,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// How many pages of each array the kernel is asked for, at most.
    pub pages_max: usize,
}

/// How delays are told of that no step rule asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delaying {
    /// They are not.
    Unwatched,
    /// By a sampled clock ([`meter`](super)): for updates on threads that go by one line each.
    Sampled,
    /// By numbers, as for a step rule; in an audited run all updates are slow anyway.
    Numbered,
}

/// Everything that stays as it is during a run.
pub struct Task<'a, D> {
    /// The data.
    pub shards: &'a Shards<D>,
    /// The problem.
    pub frame: &'a Frame,
    /// What store and state mean.
    pub form: Form,
    /// Who runs where, and what lives where.
    pub plan: &'a Plan,
    /// Where the workers' threads were found to stand.
    pub standings: &'a [Standing],
    /// What to tell the observer before the first update.
    pub facts: Facts<'a>,
    /// Which line next.
    pub order: OrderKind,
    /// How replicas are drawn together.
    pub exchange: Exchange,
    /// The step rule, for methods that have one.
    pub step: Option<Step>,
    /// The worker that feeds a GPU, if one does.
    pub feeding: Option<&'a Feeding<'a>>,
    /// Delays and stragglers to be met.
    pub injection: &'a Injection,
    /// Whether the reads of an update are to see one state of the vector.
    pub consistent: bool,
    /// Whether an update holds stripes from its read to its write.
    pub holds: bool,
    /// The seed of everything random.
    pub seed: u64,
    /// When to stop.
    pub limits: Limits,
    /// Gap or prox-gradient.
    pub certificate: CertificateKind,
    /// Whether the store may differ from what the state says, so that it must be rebuilt before it is judged: lossy
    /// writes of several workers, or parameters of 4 bytes.
    pub drifts: bool,
    /// What each column was multiplied with; empty for nothing.
    pub column_scale: &'a [f64],
    /// What to tell of the model: labels and row normalisation.
    pub template: &'a crate::model::Model,
    /// Where every worker's private constant starts.
    pub constant: f64,
    /// What a checkpoint must match.
    pub identity: &'a str,
    /// Whether delays are told of in a run that need not number its updates for itself.
    pub watches: Delaying,
    /// The books of an audited run.
    pub ledgers: Option<&'a Ledgers>,
    /// Asked now and then: whether to stop.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl<D: Matrix> Task<'_, D> {
    /// Number of parameters in the store.
    pub(super) fn width(&self) -> usize {
        match self.form {
            Form::Columns => self.frame.rows,
            Form::Primal | Form::Dual => self.frame.slots.width(),
        }
    }

    /// F(0).
    pub(super) fn objective_at_zero(&self) -> f64 {
        let label = |part: usize| {
            let glm = self.shards.glm(part, self.frame);
            (0..glm.labels.len())
                .map(move |k| glm.weight(k) * self.frame.loss.value(0.0, glm.label(k)))
                .sum::<f64>()
        };
        let parts = if self.form == Form::Columns { 0..1 } else { self.shards.once.clone() };
        parts.map(label).sum::<f64>() / self.frame.total_weight
    }
}
