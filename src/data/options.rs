//! [`ReadOptions`]: what a file's content and name do not say.

use super::format::Format;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// What a repeated index in one row means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// An error.
    #[default]
    Error,
    /// Their values are added.
    Sum,
    /// The last one counts.
    Last,
}

/// What mends a repeated index.
pub(super) const DUPLICATES: &str =
    "an entry stands once in a row; `--duplicates sum` or `--duplicates last` merges them";

/// The number that LIBSVM text gives the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexBase {
    /// Columns are numbered from 0.
    Zero,
    /// Columns are numbered from 1.
    One,
}

/// Which column of a CSV file is the label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelColumn {
    /// None of them: labels come from a file of their own, or there are none.
    None,
    /// By number, from 0 as XGBoost and LightGBM count; negative numbers count from the end, −1 is the last.
    Number(i64),
    /// By its name in the header.
    Name(String),
}

/// How a file is to be read where its content and name do not say it, or say it wrongly.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The form; `None`: told by content, name and first line.
    pub format: Option<Format>,
    /// Number of the first column in LIBSVM text; `None`: 0 if an index 0 occurs anywhere, else 1.
    pub index_base: Option<IndexBase>,
    /// The label's column in CSV; `None`: the first, as XGBoost and LightGBM take it, or none of them where `labels`
    /// is given.
    pub label_column: Option<LabelColumn>,
    /// Whether the first line of CSV names the columns; `None`: it does if one of its cells is a word.
    pub header: Option<bool>,
    /// A file with the labels, one a row: text or `.npy`. Needed for Matrix Market and `.npy`; replaces the labels of
    /// the others.
    pub labels: Option<PathBuf>,
    /// A file with the weights, one > 0 a row: text or `.npy`.
    pub weights: Option<PathBuf>,
    /// What a repeated index in one row means.
    pub duplicates: Duplicates,
    /// Whether rows of LIBSVM text whose indices do not ascend are sorted; an error otherwise.
    pub sort: bool,
    /// At least this many columns; columns that do not occur are empty. Dense data must have them.
    pub columns: Option<usize>,
    /// Whether data without labels are accepted, as for a prediction; their labels are then NaN.
    pub unlabelled: bool,
    /// Text is cut into pieces of about this size, which are parsed side by side.
    pub slab_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            index_base: None,
            label_column: None,
            header: None,
            labels: None,
            weights: None,
            duplicates: Duplicates::Error,
            sort: false,
            columns: None,
            unlabelled: false,
            slab_bytes: 2 << 20,
        }
    }
}

impl ReadOptions {
    /// Whether every option set has a meaning for `format`.
    ///
    /// # Errors
    /// One that has none: it is named, and never passed over.
    pub(super) fn fit(&self, format: Format, path: &Path) -> Result<()> {
        let repeated = self.duplicates != Duplicates::Error;
        let uses: [(&str, bool, &[Format]); 5] = [
            ("--index-base", self.index_base.is_some(), &[Format::Libsvm]),
            ("--sort", self.sort, &[Format::Libsvm]),
            ("--duplicates", repeated, &[Format::Libsvm, Format::MatrixMarket]),
            ("--label-column", self.label_column.is_some(), &[Format::Csv]),
            ("--header, --no-header", self.header.is_some(), &[Format::Csv]),
        ];
        match uses.into_iter().find(|(_, set, formats)| *set && !formats.contains(&format)) {
            None => Ok(()),
            Some((flag, _, formats)) => {
                let names: Vec<_> = formats.iter().map(|format| format.name()).collect();
                Err(Error::Setting {
                    origin: flag.into(),
                    what: format!("{} is read as {}, where this means nothing", path.display(), format.name()),
                    remedy: format!(
                        "it is for {}; drop it, or say what the file is with `--format`",
                        names.join(" and ")
                    ),
                })
            }
        }
    }

    /// Whether dense data of `columns` columns have all that are asked for.
    ///
    /// # Errors
    /// They have not.
    pub(super) fn check_width(&self, columns: usize, path: &Path) -> Result<()> {
        match self.columns.filter(|wanted| *wanted > columns) {
            None => Ok(()),
            Some(wanted) => {
                let what = format!("{columns} columns of values where {wanted} are wanted");
                Err(Error::data(path, None, what, "dense data must have all columns (in CSV see `--label-column`)"))
            }
        }
    }
}
