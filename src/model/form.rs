//! The forms of a model's file.

use super::{is_npy, liblinear};
use crate::loss::Loss;
use std::path::Path;

/// How a model is written; which form a file has is told by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text that says everything.
    Text,
    /// NumPy's `.npy`: the weights alone.
    Npy,
    /// The file of LIBLINEAR's `train`.
    Liblinear,
}

impl Form {
    /// [`Form::Npy`] if the name of `path` ends in `.npy`, else [`Form::Text`].
    pub fn of(path: &Path) -> Self {
        if is_npy(path) { Form::Npy } else { Form::Text }
    }

    /// Why this form cannot hold a model of this loss, with these labels, fitted to rows of norm 1 or not, and `bilinear` or
    /// not; `None` if it can.
    pub fn misfit(
        self,
        loss: Loss,
        labels: Option<[f64; 2]>,
        normalize_rows: bool,
        bilinear: bool,
    ) -> Option<String> {
        match self {
            Form::Liblinear if bilinear => {
                Some("it has one weight a column, and a model with a rank has U and V".into())
            }
            Form::Text | Form::Npy => None,
            Form::Liblinear => liblinear::misfit(loss, labels, normalize_rows),
        }
    }

    /// Its name in messages.
    pub(super) fn described(self) -> &'static str {
        match self {
            Form::Text => "the text form",
            Form::Npy => "the .npy form",
            Form::Liblinear => "LIBLINEAR's form",
        }
    }
}
