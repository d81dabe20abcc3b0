//! The price list of a machine: what is asked ([`survey`](survey()), a pure value that fits a stated time on any topology), how it is
//! gone through ([`measure`]), and the probes that answer ([`Probes`]).
//!
//! What a sample is: threads bound to their cpus start together at a line on which they spin; each does the operation in batches
//! and times its own batches; a sample is a batch's time by its operations. The first batch, which finds cold caches, is dropped.
//! All questions are gone through once before any is asked again, so that what disturbs the machine for some seconds spoils
//! one pass of some prices and not all of one price; prices are medians over the passes, which are also held against each
//! other. What was disturbed while it was measured (a thread of ours lost its cpu) is measured again while there is time.

mod bandwidth;
mod collect;
mod crew;
mod hand_over;
mod latency;
mod lines;
mod probes;
mod question;
mod survey;
mod updates;

pub use collect::measure;
pub use probes::Probes;
pub use question::{How, Meet, Question, Stream};
pub use survey::{Item, Only, Survey, survey};

/// What answers questions: the machine, or in tests a model with a clock of its own.
pub trait Instrument {
    /// Samples of the question, taken for about `seconds`, in the unit of its prices.
    ///
    /// # Errors
    /// Why there are none.
    fn ask(&mut self, question: &Question, seconds: f64) -> Result<Vec<f64>, String>;
    /// Seconds since it was made.
    fn seconds(&self) -> f64;
    /// How often threads of this process have lost their cpu to another so far.
    fn disturbances(&self) -> u64;
}
