//! The text form of a model. A header of named lines, then one line a coefficient that is not zero:
//!
//! ```text
//! farrow model 1
//! loss logistic
//! labels 0 1
//! normalize none
//! intercept -0.25
//! columns 123
//! nonzeros 2
//! # column (from 0) and weight
//! 3 0.5
//! 17 -1.25e-7
//! ```
//!
//! A bilinear model has the first line `farrow model 2`, and a line `factors K N` before `columns`: uᵢ of row i of N has the
//! numbers iK to iK + K − 1, and vⱼ of column j those from (N + j)K on; each line after `nonzeros` is a number and a weight.
//!
//! `loss huber` is followed by its δ; `labels` (the input's labels that became −1 and +1) is there for
//! classification. Blank lines and lines that begin with `#` say nothing. Numbers are the shortest that read back to
//! the same bits. The count of nonzeros tells a file that was cut short.

use super::{Factors, Model};
use crate::{
    error::{Error, Result},
    loss::Loss,
};
use std::{
    io::{self, Write},
    path::Path,
    str::FromStr,
};

mod header;

use header::Header;

const FIRST_LINE: &str = "farrow model 1";
const BILINEAR: &str = "farrow model 2";
const FAMILY: &str = "farrow model ";

pub(super) fn write(out: &mut dyn Write, model: &Model) -> io::Result<()> {
    writeln!(out, "{}", if model.factors.is_some() { BILINEAR } else { FIRST_LINE })?;
    match model.loss {
        Loss::Huber { delta } => writeln!(out, "loss huber {delta:?}")?,
        loss => writeln!(out, "loss {}", loss.name())?,
    }
    if let Some([negative, positive]) = model.labels {
        writeln!(out, "labels {negative:?} {positive:?}")?;
    }
    writeln!(out, "normalize {}", if model.normalize_rows { "rows" } else { "none" })?;
    writeln!(out, "intercept {:?}", model.intercept)?;
    let columns = match model.factors {
        Some(Factors { rank, rows }) => {
            writeln!(out, "factors {rank} {rows}")?;
            model.weights.len() / rank - rows
        }
        None => model.weights.len(),
    };
    writeln!(out, "columns {columns}")?;
    // By bits: −0 is written too, so that a model reads back to the bit.
    let stored = || model.weights.iter().enumerate().filter(|(_, weight)| weight.to_bits() != 0);
    writeln!(out, "nonzeros {}", stored().count())?;
    let numbered = if model.factors.is_some() { "number" } else { "column" };
    writeln!(out, "# {numbered} (from 0) and weight")?;
    for (column, weight) in stored() {
        writeln!(out, "{column} {weight:?}")?;
    }
    Ok(())
}

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Model> {
    let text = std::str::from_utf8(bytes).map_err(|_| not_a_model(path))?;
    let mut lines = Lines { path, number: 0, rest: text.lines() };
    let bilinear = match lines.next_said() {
        Some(FIRST_LINE) => false,
        Some(BILINEAR) => true,
        Some(other) if other.starts_with(FAMILY) => {
            return Err(lines.error(
                format!("{other:?} is a form of model that this program does not know"),
                format!("it reads `{FIRST_LINE}` and `{BILINEAR}`; fit the model again, or use the version of farrow that wrote it"),
            ));
        }
        _ => return Err(not_a_model(path)),
    };
    let header = Header::read(&mut lines, bilinear)?;
    let mut weights = vec![0.0; header.weights];
    let mut last = None;
    for _ in 0..header.nonzeros {
        let (column, weight) = coefficient(&mut lines, header.weights, header.nonzeros)?;
        if last.is_some_and(|last| column <= last) {
            return Err(
                lines.error(format!("column {column} is not after the one before"), "list columns ascending")
            );
        }
        last = Some(column);
        weights[column] = weight;
    }
    if let Some(line) = lines.next_said() {
        let what = format!("{line:?} follows the {} coefficients that the header announces", header.nonzeros);
        return Err(lines.error(what, "make `nonzeros` the number of lines that follow the header"));
    }
    let Header { loss, labels, normalize_rows, intercept, factors, .. } = header;
    Ok(Model { loss, labels, normalize_rows, intercept, factors, weights })
}

fn not_a_model(path: &Path) -> Error {
    Error::data(
        path,
        Some(1),
        "not a model",
        format!(
            "the first line of a model is `{FIRST_LINE}`, or `solver_type` and a name for LIBLINEAR's; \
             `farrow solve --model FILE` writes one"
        ),
    )
}

struct Lines<'a> {
    path: &'a Path,
    number: u64,
    rest: std::str::Lines<'a>,
}

impl<'a> Lines<'a> {
    /// The next line that says something.
    fn next_said(&mut self) -> Option<&'a str> {
        loop {
            let line = self.rest.next()?.trim();
            self.number += 1;
            if !line.is_empty() && !line.starts_with('#') {
                return Some(line);
            }
        }
    }

    fn error(&self, what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::data(self.path, Some(self.number), what, remedy)
    }

    fn number<T: FromStr>(&self, word: &str, name: &str, accepted: &str) -> Result<T> {
        word.parse().map_err(|_| self.error(format!("{name} is {word:?}"), format!("{name} takes {accepted}")))
    }

    fn finite(&self, word: &str, name: &str) -> Result<f64> {
        let value: f64 = self.number(word, name, "a finite number")?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.error(format!("{name} is {word:?}"), format!("{name} takes a finite number")))
        }
    }
}

fn cut_short(lines: &Lines<'_>, what: &str) -> Error {
    lines.error(format!("the model is cut short: {what}"), "fit it again, or copy the file again")
}

fn coefficient(lines: &mut Lines<'_>, columns: usize, nonzeros: usize) -> Result<(usize, f64)> {
    let line = lines.next_said().ok_or_else(|| {
        cut_short(lines, &format!("it has fewer than the {nonzeros} coefficients that its header announces"))
    })?;
    let mut words = line.split_whitespace();
    let (Some(column), Some(weight), None) = (words.next(), words.next(), words.next()) else {
        return Err(lines.error(
            format!("{line:?} is not a column and a weight"),
            "a line is a column (from 0), a space, and a number",
        ));
    };
    let column: usize = lines.number(column, "a column", "a whole number from 0")?;
    if column >= columns {
        return Err(lines.error(
            format!("column {column} of a model with {columns} columns"),
            format!("columns are 0 to {}", columns.saturating_sub(1)),
        ));
    }
    Ok((column, lines.finite(weight, "a weight")?))
}
