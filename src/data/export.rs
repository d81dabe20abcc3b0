//! A data set out to a file: the mapped form, LIBSVM text, CSV, or `.npy` with text files beside it.

use super::{Block, Source, mapped};
use crate::{
    error::{Error, Result},
    output::write_whole,
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// What a file is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The mapped binary form ([`mapped`]).
    Mapped,
    /// LIBSVM text, columns numbered from 1.
    Libsvm,
    /// CSV with a header, the label first.
    Csv,
    /// A matrix of f32 in NumPy's format.
    Npy,
}

impl Form {
    /// The form that a file's name asks for by its ending.
    ///
    /// # Errors
    /// Another ending: those that are known are listed.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        match ending.to_ascii_lowercase().as_str() {
            "farrow" => Ok(Form::Mapped),
            "svm" | "libsvm" | "svmlight" | "txt" => Ok(Form::Libsvm),
            "csv" => Ok(Form::Csv),
            "npy" => Ok(Form::Npy),
            _ => Err(Error::unmet(
                format!("{}: the ending `{ending}` names no form of data", path.display()),
                "end the name in .farrow (mapped binary), .svm, .libsvm, .svmlight or .txt (LIBSVM text), .csv or .npy",
            )),
        }
    }
}

/// Writes `source` to `path` as `form`, with the label of every row and, if there are any, its weight. Values are
/// written in the shortest decimals that read back to the same bits. `.npy` has no place for labels: they go to
/// `NAME.labels.txt`, one a line; likewise weights, from all but the mapped form, to `NAME.weights.txt`. `progress` is
/// told how many rows were written. Returns the files that were written, each of them complete.
///
/// # Errors
/// If nothing can be written there, a block of the source cannot be had, or sparse rows are to be CSV or `.npy`.
pub fn write(
    path: &Path,
    form: Form,
    source: &dyn Source,
    labels: &[f64],
    weights: Option<&[f64]>,
    progress: &mut dyn FnMut(usize),
) -> Result<Vec<PathBuf>> {
    if form == Form::Mapped {
        mapped::write(path, source, labels, weights, progress)?;
        return Ok(vec![path.to_path_buf()]);
    }
    if matches!(form, Form::Csv | Form::Npy) && !source.shape().dense {
        let remedy = "write sparse rows as .farrow or .svm";
        return Err(Error::unmet(format!("{}: sparse rows do not go into this form", path.display()), remedy));
    }
    let mut written = vec![path.to_path_buf()];
    // An error of the source passes through the writer's, which only knows of the file.
    let mut failed = None;
    let result = write_whole(path, |out| rows(out, form, source, labels, progress, &mut failed));
    failed.map_or(result, Err)?;
    let mut beside = |name: &str, numbers: &[f64]| {
        let file = path.with_extension(format!("{name}.txt"));
        write_whole(&file, |out| numbers.iter().try_for_each(|number| writeln!(out, "{number}")))?;
        written.push(file);
        Ok::<(), Error>(())
    };
    if form == Form::Npy {
        beside("labels", labels)?;
    }
    if let Some(weights) = weights {
        beside("weights", weights)?;
    }
    Ok(written)
}

/// Writes a vector, one number a line, under a line that says what it is.
///
/// # Errors
/// If nothing can be written there.
pub fn write_vector(path: &Path, comment: &str, numbers: &[f64]) -> Result<()> {
    write_whole(path, |out| {
        writeln!(out, "# {comment}")?;
        numbers.iter().try_for_each(|number| writeln!(out, "{number}"))
    })
}

fn rows(
    out: &mut dyn Write,
    form: Form,
    source: &dyn Source,
    labels: &[f64],
    progress: &mut dyn FnMut(usize),
    failed: &mut Option<Error>,
) -> io::Result<()> {
    let shape = source.shape();
    match form {
        Form::Csv => {
            write!(out, "label")?;
            (1..=shape.columns).try_for_each(|column| write!(out, ",x{column}"))?;
            writeln!(out)?;
        }
        Form::Npy => out.write_all(&npy_header(shape.rows, shape.columns))?,
        Form::Mapped | Form::Libsvm => {}
    }
    let mut rest = labels.iter();
    let mut label = || rest.next().ok_or_else(|| io::Error::other("fewer labels than rows"));
    for k in 0..source.spans().len() {
        let block = source.take(k).map_err(|error| {
            *failed = Some(error);
            io::Error::other("the source failed")
        })?;
        match &block {
            Block::Sparse { starts, columns, values } => {
                for pair in starts.windows(2) {
                    let range = pair[0] as usize..pair[1] as usize;
                    let entries = columns[range.clone()].iter().copied().zip(values[range].iter().copied());
                    libsvm_row(out, *label()?, entries)?;
                }
            }
            Block::Dense { values, .. } if form == Form::Npy => {
                values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))?;
            }
            Block::Dense { columns, values } => {
                for row in values.chunks_exact(*columns) {
                    if form == Form::Csv {
                        write!(out, "{}", label()?)?;
                        row.iter().try_for_each(|value| write!(out, ",{value}"))?;
                        writeln!(out)?;
                    } else {
                        libsvm_row(out, *label()?, (0..).zip(row.iter().copied()))?;
                    }
                }
            }
        }
        progress(source.spans()[k].first_row + source.spans()[k].rows);
    }
    Ok(())
}

fn libsvm_row(out: &mut dyn Write, label: f64, entries: impl Iterator<Item = (u32, f32)>) -> io::Result<()> {
    write!(out, "{label}")?;
    for (column, value) in entries {
        write!(out, " {}:{value}", u64::from(column) + 1)?;
    }
    writeln!(out)
}

/// The header of a matrix of little-endian f32, row after row, padded to a multiple of 64 bytes (NEP 1).
fn npy_header(rows: usize, columns: usize) -> Vec<u8> {
    let mut text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let length = (10 + text.len() + 1).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', length - 11 - text.len()));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}
