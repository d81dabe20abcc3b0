//! One number a row from a file of its own: labels and weights, as text with one number a line or as a `.npy` vector.

use super::{
    ReadOptions,
    input::Input,
    npy,
    number::field,
    slabs::{self, Fault},
};
use crate::error::{Error, Result};
use memchr::memchr;
use std::path::Path;

const SLAB_BYTES: usize = 1 << 20;

/// The labels from the file that `options` name, one for each of `rows` rows; `None` if they name none.
///
/// # Errors
/// A file that cannot be read, a line that is not one finite number, another count than `rows`.
pub(super) fn labels(options: &ReadOptions, rows: usize, threads: usize) -> Result<Option<Vec<f64>>> {
    options.labels.as_deref().map(|file| numbers(file, rows, threads, "label")).transpose()
}

/// The same for data at `path` that have no labels of their own.
///
/// # Errors
/// As [`labels`], and no file where data without labels are not accepted.
pub(super) fn labels_needed(
    options: &ReadOptions,
    path: &Path,
    rows: usize,
    threads: usize,
) -> Result<Option<Vec<f64>>> {
    let labels = labels(options, rows, threads)?;
    if labels.is_none() && !options.unlabelled {
        return Err(Error::data(path, None, "no labels", "`--labels FILE` gives them, one a row, as text or .npy"));
    }
    Ok(labels)
}

/// The labels of rows that have none.
pub(super) fn unlabelled(rows: usize) -> Vec<f64> {
    vec![f64::NAN; rows]
}

/// The weights from the file that `options` name, one > 0 for each of `rows` rows; `None` if they name none.
///
/// # Errors
/// As [`labels`], and a weight that is not positive.
pub(super) fn weights(options: &ReadOptions, rows: usize, threads: usize) -> Result<Option<Vec<f64>>> {
    let Some(path) = options.weights.as_deref() else { return Ok(None) };
    let weights = numbers(path, rows, threads, "weight")?;
    match weights.iter().position(|weight| *weight <= 0.0) {
        None => Ok(Some(weights)),
        Some(row) => {
            let what = format!("weight {} of row {} (rows from 1)", weights[row], row + 1);
            Err(Error::data(
                path,
                None,
                what,
                "weights are greater than 0; leave rows of no weight out of the data",
            ))
        }
    }
}

fn numbers(path: &Path, rows: usize, threads: usize, name: &'static str) -> Result<Vec<f64>> {
    let input = Input::open(path)?;
    let numbers = if npy::is_npy(input.head()) {
        npy::vector(input)?
    } else {
        let parse = |_: &mut (), text: &[u8], end: usize| slab(&text[..end], name);
        slabs::parse(input, slabs::at_line_end, SLAB_BYTES, threads, 0, || (), parse)?.concat()
    };
    if numbers.len() != rows {
        let what = format!("{} {name}s for {rows} rows of data", numbers.len());
        return Err(Error::data(path, None, what, format!("give one {name} a row, one a line")));
    }
    Ok(numbers)
}

fn slab(mut text: &[u8], name: &str) -> std::result::Result<(u64, Vec<f64>), Fault> {
    let (mut lines, mut numbers) = (0, Vec::new());
    while !text.is_empty() {
        let end = memchr(b'\n', text).unwrap_or(text.len());
        let line = text[..end].trim_ascii();
        text = &text[(end + 1).min(text.len())..];
        lines += 1;
        if line.is_empty() || line[0] == b'#' {
            continue;
        }
        match field(line).map(|(number, digits)| number.f64(digits, 0)) {
            Some(number) if number.is_finite() => numbers.push(number),
            _ => {
                let what =
                    format!("the {name} `{}` is not one finite number", line[..line.len().min(40)].escape_ascii());
                return Err(Fault { line: Some(lines), what, remedy: format!("one {name} a line") });
            }
        }
    }
    Ok((lines, numbers))
}
