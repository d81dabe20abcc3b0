//! [`read`]: a file in any of the forms people have, told apart by content and name.

use super::{
    Data, ReadOptions, Shape, Source, delimited, format::Format, input::Input, libsvm, mapped::Mapped,
    matrix_market, npy, overlay::Overlay, per_row,
};
use crate::error::{Error, Result};
use std::path::Path;

/// Reads the data set at `path` (`-` is standard input) on `threads` threads, at least one.
///
/// LIBSVM and SVMlight text, CSV, Matrix Market and `.npy` are told apart by content, name and first line;
/// `.gz`, `.bz2`, `.xz` and `.zst` by content. Values are stored in single precision, each the `f32` nearest to the decimal as
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
    options.fit(format, &path)?;
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
    if dense {
        options.check_width(columns, path)?;
    }
    let wanted = options.columns.unwrap_or(0);
    let labels = per_row::labels(options, rows, threads)?;
    let weights = per_row::weights(options, rows, threads)?;
    let weights = weights.map_or_else(|| mapped.weights(), |weights| Ok(Some(weights)))?;
    let source: Box<dyn Source> = match labels {
        None if wanted <= columns => Box::new(mapped),
        labels => Box::new(Overlay::new(mapped, labels, wanted)),
    };
    Ok(Data { path: path.to_path_buf(), source, weights })
}
