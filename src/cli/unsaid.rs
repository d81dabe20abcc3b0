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
    #[arg(long, value_name = "DELTA", default_value = "1", allow_negative_numbers = true)]
    huber_delta: f64,
    /// Its last value is the intercept
    #[arg(long, requires = "loss")]
    model_intercept: bool,
    /// It was fitted with --normalize rows
    #[arg(long, requires = "loss")]
    model_normalized: bool,
    /// The labels of class −1 and +1
    #[arg(long, value_name = "LABEL", num_args = 2, default_values = ["-1", "1"], allow_negative_numbers = true)]
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
        let loss =
            Loss::named(name, self.huber_delta).filter(|_| self.huber_delta > 0.0 && self.huber_delta.is_finite());
        let loss = loss.ok_or_else(|| {
            let what = format!("{name:?} with --huber-delta {} is no loss", self.huber_delta);
            refused(what, format!("known: {}; the delta is a number > 0", Loss::NAMES.join(", ")))
        })?;
        let labels = loss.is_classification().then(|| [self.classes[0], self.classes[1]]);
        let unsaid =
            Unsaid { loss, labels, normalize_rows: self.model_normalized, intercept: self.model_intercept };
        Model::load(path, Some(&unsaid))
    }
}
