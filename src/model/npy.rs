//! A model's weights as NumPy's `.npy`: one vector of floats, the intercept last if the model has one. NumPy's format
//! is described in `numpy.lib.format`; read are versions 1 to 3, little-endian `f4` and `f8`, with all but one axis of
//! length 1 (scikit-learn's `coef_` is 1 × d); written is version 1, `<f8`.

use super::{Model, Unsaid};
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
    let values = model.weights.len() + usize::from(intercept);
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({values},), }}");
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
    let mut weights = vector(path, bytes)?;
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
    Ok(Model { loss, labels, normalize_rows, intercept, weights })
}

fn vector(path: &Path, bytes: &[u8]) -> Result<Vec<f64>> {
    let error = |what: String| {
        Error::data(
            path,
            None,
            what,
            "a model is one .npy vector of f8 or f4, little-endian; numpy.save(FILE, weights.astype('<f8')) writes it",
        )
    };
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
    if axes.iter().filter(|axis| **axis != 1).count() > 1 {
        return Err(error(format!("the .npy shape is {shape}, a matrix")));
    }
    let count = axes.iter().product::<usize>();
    let width = match descr.trim_matches(['\'', '"']) {
        "<f8" => 8,
        "<f4" => 4,
        other => return Err(error(format!("the .npy type is {other:?}"))),
    };
    if count.checked_mul(width) != Some(values.len()) {
        return Err(error(format!(
            "{} bytes of values for a shape of {shape} with {width} bytes each",
            values.len()
        )));
    }
    Ok(match width {
        8 => values.chunks_exact(8).map(|cell| f64::from_le_bytes(cell.try_into().expect("8 bytes"))).collect(),
        _ => values
            .chunks_exact(4)
            .map(|cell| f32::from_le_bytes(cell.try_into().expect("4 bytes")).into())
            .collect(),
    })
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
