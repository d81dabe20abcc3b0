//! [`read`]: a file in any of the forms people have, told apart by content and name.

use super::{Data, input::Input, libsvm};
use crate::error::Result;
use std::path::Path;

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

/// The number that LIBSVM text gives the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexBase {
    /// Columns are numbered from 0.
    Zero,
    /// Columns are numbered from 1.
    One,
}

/// How a file is to be read where its content and name do not say it, or say it wrongly.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Number of the first column in LIBSVM text; `None`: 0 if an index 0 occurs anywhere, else 1.
    pub index_base: Option<IndexBase>,
    /// What a repeated index in one row means.
    pub duplicates: Duplicates,
    /// Whether rows whose indices do not ascend are sorted; an error otherwise.
    pub sort: bool,
    /// At least this many columns.
    pub columns: Option<usize>,
    /// Text is cut into pieces of about this size, which are parsed side by side.
    pub slab_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            index_base: None,
            duplicates: Duplicates::Error,
            sort: false,
            columns: None,
            slab_bytes: 2 << 20,
        }
    }
}

/// Reads the data set at `path` (`-` is standard input) on `threads` threads, at least one.
///
/// Values are stored in single precision, each the `f32` nearest to the decimal as written; labels and weights are
/// `f64`. A value that overflows `f32` is an error. `.gz`, `.xz` and `.zst` are told by their content.
///
/// # Errors
/// A file that cannot be read, or whose contents cannot be used: with the line, the value seen, what is accepted.
pub fn read(path: &Path, options: &ReadOptions, threads: usize) -> Result<Data> {
    let input = Input::open(path)?;
    let source = Box::new(libsvm::read(input, options, threads)?);
    Ok(Data { path: path.to_path_buf(), source, weights: None })
}
