//! [`read`]: a file in any of the forms people have, told apart by content and name.

use super::{
    Data, Shape, Source, delimited, format::Format, input::Input, libsvm, mapped::Mapped, matrix_market, npy,
    overlay::Overlay, per_row,
};
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

/// Reads the data set at `path` (`-` is standard input) on `threads` threads, at least one.
///
/// LIBSVM and SVMlight text, CSV, Matrix Market and `.npy` are told apart by content, name and first line;
/// `.gz`, `.xz` and `.zst` by content. Values are stored in single precision, each the `f32` nearest to the decimal as
/// written; labels and weights are `f64`. A value that overflows `f32` is an error, and so are NaN and infinities.
/// Text is not held whole: reading needs the memory of the rows and a few pieces of text a thread.
///
/// # Errors
/// A file that cannot be read, or whose contents cannot be used: with the line, the value seen, what is accepted.
pub fn read(path: &Path, options: &ReadOptions, threads: usize) -> Result<Data> {
    read_input(Input::open(path)?, options, threads)
}

/// Reads a data set from any stream of bytes, compressed or not; `name` stands for its path in messages, and its
/// ending says the form where the content does not.
///
/// # Errors
/// As [`read`].
pub fn read_from(
    stream: impl std::io::Read + Send + 'static,
    name: &Path,
    options: &ReadOptions,
    threads: usize,
) -> Result<Data> {
    read_input(Input::from_reader(name, Box::new(stream))?, options, threads)
}

fn read_input(input: Input, options: &ReadOptions, threads: usize) -> Result<Data> {
    let path = input.path().to_path_buf();
    if input.head().is_empty() {
        return Err(Error::data(&path, None, "the file is empty", "give at least one row"));
    }
    let format = options.format.map_or_else(|| Format::detect(input.head(), &path), Ok)?;
    let source = match format {
        Format::Libsvm => libsvm::read(input, options, threads)?,
        Format::Csv => delimited::read(input, options, threads)?,
        Format::MatrixMarket => matrix_market::read(input, options, threads)?,
        Format::Npy => npy::read(input, options, threads)?,
        Format::Mapped => return map(&input, options, threads),
    };
    let weights = per_row::weights(options, source.shape().rows, threads)?;
    Ok(Data { path, source: Box::new(source), weights })
}

/// Opens the mapped binary form, with labels and weights from files of their own in place of its own.
fn map(input: &Input, options: &ReadOptions, threads: usize) -> Result<Data> {
    let path = input.path();
    if !input.is_plain_file() {
        let remedy =
            "the mapped binary form is opened in place: decompress it, or save it to a file, and name that";
        return Err(Error::data(path, None, "the mapped binary form, not in a plain file", remedy));
    }
    let mapped = Mapped::open(path)?;
    let Shape { rows, columns, dense, .. } = mapped.shape();
    let wanted = options.columns.unwrap_or(0);
    if dense && wanted > columns {
        let what = format!("{columns} columns where {wanted} are wanted");
        return Err(Error::data(path, None, what, "dense data must have all columns"));
    }
    let labels = per_row::labels(options, rows, threads)?;
    let weights = per_row::weights(options, rows, threads)?;
    let weights = weights.map_or_else(|| mapped.weights(), |weights| Ok(Some(weights)))?;
    let source: Box<dyn Source> = match labels {
        None if wanted <= columns => Box::new(mapped),
        labels => Box::new(Overlay::new(mapped, labels, wanted)),
    };
    Ok(Data { path: path.to_path_buf(), source, weights })
}
