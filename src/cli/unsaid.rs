//! The flags that say of a `.npy` model what it does not say itself.

use farrow::{
    error::{Error, Result},
    loss::Loss,
    model::{Model, Unsaid, is_npy},
};
use std::path::Path;

/// A command that loads a model flattens these into its own.
#[derive(clap::Args)]
#[command(next_help_heading = "Models in .npy form, which hold weights only")]
pub(super) struct UnsaidArgs {
    /// The loss it was fitted with
    #[arg(long, value_name = "LOSS")]
    loss: Option<String>,
    /// δ of the huber loss
    #[arg(long, value_name = "DELTA", requires = "loss", allow_negative_numbers = true)]
    huber_delta: Option<f64>,
    /// Its last value is the intercept
    #[arg(long, requires = "loss")]
    model_intercept: bool,
    /// It was fitted with --rank, and its first N rows are of U
    #[arg(long, value_name = "N", requires = "loss", conflicts_with_all = ["model_intercept", "model_normalized"])]
    model_rows: Option<usize>,
    /// It was fitted with --normalize rows
    #[arg(long, requires = "loss")]
    model_normalized: bool,
    /// The labels of class −1 and +1
    #[arg(
        long,
        value_name = "LABEL",
        requires = "loss",
        num_args = 2,
        default_values = ["-1", "1"],
        allow_negative_numbers = true
    )]
    classes: Vec<f64>,
}

impl UnsaidArgs {
    /// Loads the model at `path`.
    pub(super) fn load(&self, path: &Path) -> Result<Model> {
        let Some(name) = &self.loss else { return Model::load(path, None) };
        let refused = |what: String, remedy: String| Error::Setting { origin: "--loss".into(), what, remedy };
        if !is_npy(path) {
            let what = format!("{} says itself with which loss it was fitted", path.display());
            return Err(refused(what, "--loss is for models whose name ends in .npy; leave it out".into()));
        }
        let delta = self.huber_delta.unwrap_or(1.0);
        let loss = Loss::named(name, delta)
            .ok_or_else(|| refused(format!("{name:?} is no loss"), format!("known: {}", Loss::NAMES.join(", "))))?;
        if self.huber_delta.is_some() && !(matches!(loss, Loss::Huber { .. }) && delta > 0.0 && delta.is_finite()) {
            let what = format!("--huber-delta {delta} with --loss {name}");
            return Err(refused(what, "the delta is a number > 0, and goes with --loss huber alone".into()));
        }
        let labels = loss.is_classification().then(|| [self.classes[0], self.classes[1]]);
        let unsaid = Unsaid {
            loss,
            labels,
            normalize_rows: self.model_normalized,
            intercept: self.model_intercept,
            rows: self.model_rows,
        };
        Model::load(path, Some(&unsaid))
    }
}
