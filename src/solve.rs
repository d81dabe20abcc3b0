//! What a run leads to.

use crate::{
    checkpoint::Checkpoint,
    data::Shape,
    model::Model,
    os::affinity::Binding,
    placement::Label,
    trace::{CertificateKind, Sample, StopReason},
};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The fitted model, in the scale of the input.
    pub model: Model,
    /// Every sample, in order.
    pub samples: Vec<Sample>,
    /// Why it stopped.
    pub stop: StopReason,
    /// Which certificate it has.
    pub certificate: CertificateKind,
    /// F(x).
    pub objective: f64,
    /// P − D, where there is a dual.
    pub gap: Option<f64>,
    /// (P − D)/max(|P|, 1e-300), where there is a dual.
    pub gap_relative: Option<f64>,
    /// The relative certificate, of either kind.
    pub certificate_value: f64,
    /// Epochs done.
    pub epochs: f64,
    /// Updates written.
    pub updates: u64,
    /// Where the time went.
    pub seconds: Seconds,
    /// Nonzeros worked on a second of solving, all workers.
    pub nonzeros_per_s: f64,
    /// The method's name.
    pub method: &'static str,
    /// Why this method.
    pub why: String,
    /// The size of the data.
    pub shape: Shape,
    /// How the figures were got.
    pub label: Label,
    /// For every worker, the cpus asked for and the cpus granted.
    pub placed: Vec<Binding>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// The state at the end, to go on from.
    pub checkpoint: Checkpoint,
}

/// Where the time of a run went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Reading the data.
    pub load: f64,
    /// Cutting them into shards and copying those to where they live.
    pub place: f64,
    /// Solving, without evaluation.
    pub solve: f64,
    /// Evaluating objective and certificate.
    pub evaluate: f64,
}
