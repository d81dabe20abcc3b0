//! Where a run starts, and the fitted model and how it was come by.

use super::Gpu;
use crate::{
    checkpoint::Checkpoint,
    data::Shape,
    error::Result,
    gpu::{Opened, Options, Terms},
    model::Model,
    placement::{Label, actual::Actual},
    run::{Exchanged, Waits},
    trace::{CertificateKind, DelaySummary, Sample, Seen, StopReason},
};

/// Makes a device that has the terms given.
pub type Opener<'a> = &'a (dyn Fn(Terms, &Options) -> Result<Opened> + Sync);

/// Where a run starts, and who may stop it.
#[derive(Default)]
pub struct Start<'a> {
    /// A model to start from.
    pub warm: Option<Model>,
    /// A run to go on with; takes precedence over `warm`.
    pub resume: Option<Checkpoint>,
    /// Asked now and then by every worker, and at every epoch's end: whether to stop at the next sample.
    pub interrupted: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// What to look at of the memory, beside the solving.
    pub watching: Watching,
    /// What opens the device of a GPU worker; `None` for [`gpu::open`](crate::gpu::open). Not asked under the interleaved runner.
    pub device: Option<Opener<'a>>,
    /// How many pages of each array the kernel is asked for when all is placed; `None` for a share of them.
    pub pages_max: Option<usize>,
}

/// What to look at of the memory, beside the solving; see [`Outcome::seen`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// Delays, of every method that makes updates: sampled where each is one line on threads, else by numbering all.
    pub delays: bool,
    /// All reads and writes, with who wrote before and what was lost ([`store::audit`](crate::store::audit)): several times as
    /// slow, so such a run is not timed.
    pub audit: bool,
}

/// Seconds by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Reading the data, told by who read them.
    pub load: f64,
    /// Copying the data and making the parameters where the plan wants them.
    pub place: f64,
    /// Updates and exchanges, the search for a step included.
    pub solve: f64,
    /// Objectives and certificates.
    pub evaluate: f64,
}

/// A fitted model and how it was come by.
#[derive(Debug)]
pub struct Outcome {
    /// The model, in the scale of the input.
    pub model: Model,
    /// One sample an epoch.
    pub samples: Vec<Sample>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What kind of certificate it has.
    pub certificate: CertificateKind,
    /// F(x).
    pub objective: f64,
    /// P − D.
    pub gap: Option<f64>,
    /// (P − D)/max(|P|, 1e-300).
    pub gap_relative: Option<f64>,
    /// The relative certificate, of whichever kind.
    pub certificate_value: f64,
    /// Epochs done, earlier processes of a resumed run included.
    pub epochs: f64,
    /// Updates written, likewise.
    pub updates: u64,
    /// Where the time went.
    pub seconds: Seconds,
    /// Entries of the data visited a second of solving, all workers together.
    pub nonzeros_per_s: f64,
    /// The method.
    pub method: &'static str,
    /// Whether it goes by whole passes and makes no updates.
    pub passes: bool,
    /// Why this method.
    pub why: String,
    /// The data's size.
    pub shape: Shape,
    /// How the figures were got.
    pub label: Label,
    /// Where threads and pages were when the run began.
    pub placed: Actual,
    /// What a person should know: the plan's warnings, then those of the run.
    pub warnings: Vec<String>,
    /// The state at the end, for `--checkpoint`.
    pub checkpoint: Checkpoint,
    /// What each worker waited for.
    pub waits: Vec<Waits>,
    /// What exchanges moved, where replicas met.
    pub exchanged: Option<Exchanged>,
    /// How long updates were delayed, where that was measured: by a step rule that needs it, under injection, or for a log of
    /// steps.
    pub delays: Option<DelaySummary>,
    /// The GPU worker and what it did, where there was one.
    pub gpu: Option<Gpu>,
    /// What was seen of the memory, as far as [`Start::watching`] asked.
    pub seen: Seen,
    /// γ₀, where the method has a step.
    pub step_initial: Option<f64>,
}
