//! All that a run needs to go on where it was.

use crate::trace::Sample;

/// A run's state at a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What must be the same for it to be taken up: a digest of data shape, problem and method (see `solve`).
    pub identity: String,
    /// x (or the state from which the method recomputes it), in the scale it is solved in, the intercept last if any.
    pub parameters: Vec<f64>,
    /// The method's own state: dual variables for `dual`, empty for `hogwild` and `bcd`.
    pub state: Vec<f64>,
    /// Epochs done.
    pub epoch: u64,
    /// The step's first length, where a search found it.
    pub step_initial: Option<f64>,
    /// The last sample.
    pub last: Option<Sample>,
}
