//! A model's weights as NumPy's `.npy`: one vector of floats, the intercept last if the model has one. NumPy's format
//! is described in `numpy.lib.format`; read are versions 1 to 3, little-endian `f4` and `f8`, with all but one axis of
//! length 1 (scikit-learn's `coef_` is 1 × d); written is version 1, `<f8`. A bilinear model is a matrix of k columns, U
//! above V.

use super::{Factors, Model, Unsaid};
use crate::error::{Error, Result};
use std::{
    io::{self, Write},
    path::Path,
};

const MAGIC: &[u8] = b"\x93NUMPY";

pub(super) fn has_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

pub(super) fn write(out: &mut dyn Write, model: &Model, intercept: bool) -> io::Result<()> {
    let shape = match model.factors {
        Some(Factors { rank, .. }) => format!("{}, {rank}", model.weights.len() / rank),
        None => format!("{},", model.weights.len() + usize::from(intercept)),
    };
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take 10 bytes; the values start at a multiple of 64, after a newline.
    let padding = (64 - (10 + header.len() + 1) % 64) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for weight in model.weights.iter().chain(intercept.then_some(&model.intercept)) {
        out.write_all(&weight.to_le_bytes())?;
    }
    Ok(())
}

pub(super) fn read(path: &Path, bytes: &[u8], unsaid: &Unsaid) -> Result<Model> {
    let (axes, mut weights) = values(path, bytes)?;
    let factors = match unsaid.rows {
        Some(rows) => Some(factors(path, &axes, rows)?),
        None => vector(path, &axes).map(|()| None)?,
    };
    if let Some(bad) = weights.iter().position(|weight| !weight.is_finite()) {
        return Err(Error::data(
            path,
            None,
            format!("value {bad} is {}", weights[bad]),
            "weights are finite numbers",
        ));
    }
    let mut intercept = 0.0;
    if unsaid.intercept {
        intercept = weights.pop().ok_or_else(|| {
            Error::data(path, None, "no value for the intercept", "the last value is the intercept")
        })?;
    }
    let Unsaid { loss, labels, normalize_rows, .. } = unsaid.clone();
    Ok(Model { loss, labels, normalize_rows, intercept, factors, weights })
}

fn refusal(path: &Path, what: String) -> Error {
    Error::data(
        path,
        None,
        what,
        "a model is one .npy vector of f8 or f4, little-endian; numpy.save(FILE, weights.astype('<f8')) writes it; one \
         with a rank is a matrix, U above V, and --model-rows says how many rows U has",
    )
}

/// Refuses a matrix where a vector is meant.
fn vector(path: &Path, axes: &[usize]) -> Result<()> {
    if axes.iter().filter(|axis| **axis != 1).count() > 1 {
        return Err(refusal(path, format!("the .npy shape is {axes:?}, a matrix")));
    }
    Ok(())
}

/// How a matrix with `rows` rows of U is cut.
fn factors(path: &Path, axes: &[usize], rows: usize) -> Result<Factors> {
    match *axes {
        [all, rank] if rank > 0 && rows <= all => Ok(Factors { rank, rows }),
        _ => Err(refusal(path, format!("the .npy shape is {axes:?}, and not {rows} rows of U above those of V"))),
    }
}

/// The length of each axis, and the values in order.
fn values(path: &Path, bytes: &[u8]) -> Result<(Vec<usize>, Vec<f64>)> {
    let error = |what: String| refusal(path, what);
    let (header, values) = split(bytes).ok_or_else(|| error("the .npy header is cut short".into()))?;
    let descr = field(header, "descr").unwrap_or_default();
    let shape = field(header, "shape").unwrap_or_default();
    let axes: Vec<usize> = shape
        .trim_matches(['(', ')', ' '])
        .split(',')
        .map(str::trim)
        .filter(|axis| !axis.is_empty())
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| error(format!("the .npy shape is {shape:?}")))?;
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(*axis));
    let width = match descr.trim_matches(['\'', '"']) {
        "<f8" => 8,
        "<f4" => 4,
        other => return Err(error(format!("the .npy type is {other:?}"))),
    };
    if count.and_then(|count| count.checked_mul(width)) != Some(values.len()) {
        return Err(error(format!(
            "{} bytes of values for a shape of {shape} with {width} bytes each",
            values.len()
        )));
    }
    let values = match width {
        8 => values.chunks_exact(8).map(|cell| f64::from_le_bytes(cell.try_into().expect("8 bytes"))).collect(),
        _ => values
            .chunks_exact(4)
            .map(|cell| f32::from_le_bytes(cell.try_into().expect("4 bytes")).into())
            .collect(),
    };
    Ok((axes, values))
}

/// The header's text and the bytes after it.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let version = *bytes.get(6)?;
    let (length, start): (usize, usize) = if version == 1 {
        (u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?) as usize, 10)
    } else {
        (u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?) as usize, 12)
    };
    let end = start.checked_add(length)?;
    Some((std::str::from_utf8(bytes.get(start..end)?).ok()?, bytes.get(end..)?))
}

/// The value of `name` in a header such as `{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }`.
fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{name}':"))?;
    let rest = rest.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(&rest[..end])
}
