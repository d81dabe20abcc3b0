//! The files that a run reads and writes besides the data, and the form of the model's.

use clap::ValueEnum;
use farrow::{
    config::{Normalize, Setup},
    data::Data,
    error::{Error, Result},
    model::Form,
};
use std::path::{Path, PathBuf};

/// What is read and written besides the data.
#[derive(clap::Args)]
#[command(next_help_heading = "Files")]
pub(super) struct FileArgs {
    /// Write every sample as it is taken, as JSON lines; with --resume, after what the file holds
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Write every update's number, step and measured delay, as CSV: k, gamma_k, tau_k, worker, replica, epoch
    #[arg(long, value_name = "FILE")]
    pub(super) log_steps: Option<PathBuf>,
    /// Write the model, as .npy if the name ends so, else as text that says what it is
    #[arg(long, value_name = "FILE")]
    pub(super) model: Option<PathBuf>,
    /// Form of the model's file, whatever its name
    #[arg(long, value_enum, value_name = "FORM", requires = "model")]
    model_format: Option<ModelFormat>,
    /// Keep a checkpoint, to --resume from
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Age of the checkpoint at most; it is written at an epoch's end
    #[arg(long, value_name = "SECONDS", default_value = "60", requires = "checkpoint", value_parser = seconds, allow_negative_numbers = true)]
    pub(super) checkpoint_every: f64,
    /// Go on from a checkpoint of the same data, problem and method
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,
    /// Start from a model's coefficients
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    pub(super) warm_start: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModelFormat {
    /// Text that says everything
    Text,
    /// NumPy's .npy, the weights alone
    Npy,
    /// LIBLINEAR's, for its `predict`: two classes or squared loss
    Liblinear,
}

impl FileArgs {
    /// The form of the file at `path`.
    pub(super) fn form(&self, path: &Path) -> Form {
        match self.model_format {
            None => Form::of(path),
            Some(ModelFormat::Text) => Form::Text,
            Some(ModelFormat::Npy) => Form::Npy,
            Some(ModelFormat::Liblinear) => Form::Liblinear,
        }
    }

    /// # Errors
    /// A model that the form asked for could not hold, found before any work is done.
    pub(super) fn check_form(&self, setup: &Setup, labels: Option<[f64; 2]>) -> Result<()> {
        let Some(path) = &self.model else { return Ok(()) };
        let normalize_rows = setup.problem.normalize == Normalize::Rows;
        match self.form(path).misfit(setup.problem.loss, labels, normalize_rows, setup.problem.rank.is_some()) {
            None => Ok(()),
            Some(what) => Err(Error::Setting {
                origin: "--model-format".into(),
                what,
                remedy: "use --model-format text, which says everything".into(),
            }),
        }
    }

    /// The same, for the labels of `data`.
    ///
    /// # Errors
    /// As [`FileArgs::check_form`], and as [`Source::labels`](farrow::data::Source::labels).
    pub(super) fn check_labels(&self, setup: &Setup, data: &Data) -> Result<()> {
        if self.model_format.is_none() || !setup.problem.loss.is_classification() {
            return Ok(());
        }
        let labels = data.source.labels()?;
        let other = labels.iter().find(|label| **label != labels[0]).unwrap_or(&labels[0]);
        self.check_form(setup, Some([labels[0], *other]))
    }
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    let value = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    value.ok_or_else(|| "it is a number of seconds, 0 (every sample) or more".into())
}
