//! What a run leaves behind: samples, why it stopped, and who is told.

use crate::{
    data::Shape,
    placement::{
        actual::Actual,
        costs::{Costs, Room},
    },
};
use serde::{Deserialize, Deserializer, Serialize};

mod delays;
mod reader;
mod record;
mod seen;
mod steps;
mod writer;

pub use delays::{BLOCKS, DelaySummary, DelayTally, Delays};
pub use reader::{Recorded, read};
pub use record::{DataFacts, Footer, Header, MachineFacts, WorkerWaits};
pub use seen::{Audited, HotLine, Lost, Seen, SlotOf};
pub use steps::{StepLog, StepTaken};
pub use writer::TraceWriter;

/// One point of the trace, taken at an epoch's end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Epochs done (n terms visited each).
    pub epoch: f64,
    /// Updates written so far, all workers.
    pub updates: u64,
    /// Seconds of solving so far, evaluation excluded.
    pub seconds_solve: f64,
    /// Seconds of evaluating so far.
    pub seconds_evaluate: f64,
    /// F(x).
    #[serde(deserialize_with = "null_is_nan")]
    pub objective: f64,
    /// P − D, where there is a dual.
    pub gap: Option<f64>,
    /// The relative certificate: gap/max(|P|, 1e-300), or the prox-gradient step's norm over its value at 0.
    #[serde(deserialize_with = "null_is_nan")]
    pub certificate: f64,
    /// Nonzero coefficients.
    pub support: u64,
    /// The step's length at this point, for methods that have one.
    pub step: Option<f64>,
    /// Euclidean distance between replicas before the last exchange, root mean square; `None` for one replica.
    pub consensus: Option<f64>,
    /// Where the store can come to differ from the method's state (lossy writes of several workers, parameters of 4 bytes): the
    /// distance between the two before it was made again, over the length of what the state says.
    pub drift: Option<f64>,
}

/// Which certificate a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CertificateKind {
    /// Duality gap.
    Gap,
    /// Norm of the prox-gradient step.
    ProxGradient,
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The relative certificate reached `--target`.
    Target,
    /// The objective reached `--target-objective`.
    Objective,
    /// `--max-epochs`.
    MaxEpochs,
    /// `--max-seconds`.
    MaxSeconds,
    /// NaN, infinity or growth.
    Diverged,
    /// The GPU failed, and the cpu was not to go on in its place.
    DeviceFailed,
    /// SIGINT or SIGTERM.
    Interrupted,
}

/// Told of every sample, between epochs, by the worker that was last to get there, while the others wait. May
/// ask the run to stop.
pub trait Observer: Send {
    /// What the run will take of each node's memory, before it takes it or is refused.
    ///
    /// # Errors
    /// Whatever keeps the observer from recording it; the run ends and reports it.
    fn costs(&mut self, costs: &Costs, room: &Room) -> crate::error::Result<()> {
        let _ = (costs, room);
        Ok(())
    }

    /// The data are placed, the workers stand where they will run, and the first update is still to come. May ask that it
    /// never does.
    ///
    /// # Errors
    /// Whatever keeps the observer from recording it; the run ends and reports it.
    fn begun(&mut self, begun: &Begun<'_>) -> crate::error::Result<Continue> {
        let _ = begun;
        Ok(Continue::Yes)
    }

    /// Whether [`Observer::steps`] is to be told of every step; asked once, before the run begins. Delays are then measured,
    /// which costs every update some writes to lines that the workers of a replica share.
    fn wants_steps(&self) -> bool {
        false
    }

    /// The steps of an epoch, by replica in the order of their updates. Called at its end, before it is evaluated.
    ///
    /// # Errors
    /// Whatever keeps the observer from recording them; the run stops and reports it.
    fn steps(&mut self, steps: &[StepTaken]) -> crate::error::Result<()> {
        let _ = steps;
        Ok(())
    }

    /// A sample was taken. `state` gives the model and the method's state at this point, for a checkpoint.
    ///
    /// # Errors
    /// Whatever keeps the observer from recording it; the run stops and reports it.
    fn sample(&mut self, sample: &Sample, state: &dyn Snapshot) -> crate::error::Result<Continue>;
}

/// Lets a run go on and records nothing; the [`Outcome`](crate::solve::Outcome) has the samples anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn sample(&mut self, _: &Sample, _: &dyn Snapshot) -> crate::error::Result<Continue> {
        Ok(Continue::Yes)
    }
}

/// What a run is, once it is about to begin.
#[derive(Clone, Debug, Serialize)]
pub struct Begun<'a> {
    /// The method's name.
    pub method: &'static str,
    /// Why this method.
    pub why: &'a str,
    /// The size of the data.
    #[serde(skip)]
    pub shape: Shape,
    /// Where threads and pages are.
    #[serde(flatten)]
    pub actual: &'a Actual,
    /// What a person should know before the result.
    pub warnings: &'a [String],
}

/// JSON has no NaN and no infinity; they are written as null.
fn null_is_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// Go on.
    Yes,
    /// Stop with [`StopReason::Interrupted`].
    Stop,
}

/// The state of a run at a sample, copied out on demand.
pub trait Snapshot {
    /// The coefficients in the scale of the input, and the intercept.
    fn model(&self) -> crate::model::Model;
    /// What [`crate::checkpoint::Checkpoint`] needs to go on from here.
    fn checkpoint(&self) -> crate::checkpoint::Checkpoint;
}
