//! A fitted model: coefficients in the scale of the input and what is needed to predict with them.

use crate::{
    error::{Error, Result},
    loss::Loss,
    output,
};
use std::path::Path;

mod evaluation;
mod factors;
mod form;
pub mod judge;
mod liblinear;
mod npy;
mod predict;
mod text;

pub use evaluation::Evaluation;
pub use factors::Factors;
pub use form::Form;
pub use predict::{Margins, Strangers};

/// z = aᵀx + c for a row a; the label is by loss. With [`Model::factors`], z = uᵢᵀvⱼ for row i and column j.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The loss it was fitted with.
    pub loss: Loss,
    /// For classification, the input's labels that became −1 and +1.
    pub labels: Option<[f64; 2]>,
    /// Whether a row is scaled to norm 1 before it is multiplied.
    pub normalize_rows: bool,
    /// c.
    pub intercept: f64,
    /// For a bilinear model, how the weights are cut; `None` for a linear one.
    pub factors: Option<Factors>,
    /// x, one a column; for a bilinear model uᵢ of each row, then vⱼ of each column.
    pub weights: Vec<f64>,
}

/// What a `.npy` file leaves unsaid about its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsaid {
    /// [`Model::loss`].
    pub loss: Loss,
    /// [`Model::labels`].
    pub labels: Option<[f64; 2]>,
    /// [`Model::normalize_rows`].
    pub normalize_rows: bool,
    /// Whether the last value is the intercept.
    pub intercept: bool,
    /// For a bilinear model, how many rows of the vector's matrix are of U; `None` for a linear one.
    pub rows: Option<usize>,
}

impl Model {
    /// Writes the model to `path`, whole or not at all, in the form that [`Form::of`] its name.
    ///
    /// # Errors
    /// As [`Model::save_as`].
    pub fn save(&self, path: &Path, keep_intercept: bool) -> Result<()> {
        self.save_as(path, Form::of(path), keep_intercept)
    }

    /// Writes the model to `path`, whole or not at all, in the form `form`.
    ///
    /// The text form says everything and reads back to the same bits. The `.npy` form is one vector of 8-byte floats:
    /// the weights, then the intercept if it is not zero or if `keep_intercept`; or of a bilinear model a matrix of k columns,
    /// U above V. Loss and labels are not in it, nor how many rows U has.
    /// LIBLINEAR's form says all but the solver: its `predict` reads it and gives the labels that [`Model::label`] gives.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Data`] if a weight is not finite or the form cannot hold the model.
    pub fn save_as(&self, path: &Path, form: Form, keep_intercept: bool) -> Result<()> {
        if !self.intercept.is_finite() || !self.weights.iter().all(|weight| weight.is_finite()) {
            return Err(Error::data(
                path,
                None,
                "not written: the model has weights that are not finite, since the run diverged",
                "shorten the step with --set step.initial=NUMBER, or use --set parameters.merge=lossless",
            ));
        }
        if let Some(why) = form.misfit(self.loss, self.labels, self.normalize_rows, self.factors.is_some()) {
            let what = format!("not written: {} cannot hold this model: {why}", form.described());
            return Err(Error::data(path, None, what, "write it in the text form, which says everything"));
        }
        let intercept = keep_intercept || self.intercept != 0.0;
        output::write_whole(path, |out| match form {
            Form::Text => text::write(out, self),
            Form::Npy => npy::write(out, self, intercept),
            Form::Liblinear => liblinear::write(out, self, intercept),
        })
    }

    /// Reads a model, its form told by its content: a `.npy` vector, with `unsaid` for what it does not say, or LIBLINEAR's
    /// form or the text form, which need nothing said.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] with the line for contents that are not a model, and for a `.npy` file without
    /// `unsaid`.
    pub fn load(path: &Path, unsaid: Option<&Unsaid>) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::io("read", path, source))?;
        match (npy::has_magic(&bytes), unsaid) {
            (false, _) if liblinear::is_liblinear(&bytes) => liblinear::read(path, &bytes),
            (false, _) => text::read(path, &bytes),
            (true, Some(unsaid)) => npy::read(path, &bytes, unsaid),
            (true, None) => Err(Error::data(
                path,
                None,
                "a .npy file holds weights only and does not say with which loss they were fitted",
                "name it with --loss (and --model-intercept if the last value is the intercept, or --model-rows N if its first N \
                 rows are the U of a model with a rank)",
            )),
        }
    }

    /// Number of coefficients that are not zero.
    pub fn support(&self) -> u64 {
        self.weights.iter().filter(|weight| **weight != 0.0).count() as u64
    }
}

/// True if the name of `path` ends in `.npy`.
pub fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
}
