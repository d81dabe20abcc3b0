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
//! `loss huber` is followed by its δ; `labels` (the input's labels that became −1 and +1) is there for
//! classification. Blank lines and lines that begin with `#` say nothing. Numbers are the shortest that read back to
//! the same bits. The count of nonzeros tells a file that was cut short.

use super::Model;
use crate::{
    error::{Error, Result},
    loss::Loss,
};
use std::{
    io::{self, Write},
    path::Path,
    str::FromStr,
};

const FIRST_LINE: &str = "farrow model 1";
const FAMILY: &str = "farrow model ";
const HEADER: [&str; 6] = ["loss", "labels", "normalize", "intercept", "columns", "nonzeros"];
/// 2³² columns are the most that data can have, and a file is not believed beyond it.
const COLUMNS_MAX: usize = u32::MAX as usize + 1;

pub(super) fn write(out: &mut dyn Write, model: &Model) -> io::Result<()> {
    writeln!(out, "{FIRST_LINE}")?;
    match model.loss {
        Loss::Huber { delta } => writeln!(out, "loss huber {delta:?}")?,
        loss => writeln!(out, "loss {}", loss.name())?,
    }
    if let Some([negative, positive]) = model.labels {
        writeln!(out, "labels {negative:?} {positive:?}")?;
    }
    writeln!(out, "normalize {}", if model.normalize_rows { "rows" } else { "none" })?;
    writeln!(out, "intercept {:?}", model.intercept)?;
    writeln!(out, "columns {}", model.weights.len())?;
    // By bits: −0 is written too, so that a model reads back to the bit.
    let stored = || model.weights.iter().enumerate().filter(|(_, weight)| weight.to_bits() != 0);
    writeln!(out, "nonzeros {}", stored().count())?;
    writeln!(out, "# column (from 0) and weight")?;
    for (column, weight) in stored() {
        writeln!(out, "{column} {weight:?}")?;
    }
    Ok(())
}

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Model> {
    let text = std::str::from_utf8(bytes).map_err(|_| not_a_model(path))?;
    let mut lines = Lines { path, number: 0, rest: text.lines() };
    match lines.next_said() {
        Some(FIRST_LINE) => {}
        Some(other) if other.starts_with(FAMILY) => {
            return Err(lines.error(
                format!("{other:?} is a form of model that this program does not know"),
                format!("it reads `{FIRST_LINE}`; fit the model again, or use the version of farrow that wrote it"),
            ));
        }
        _ => return Err(not_a_model(path)),
    }
    let header = Header::read(&mut lines)?;
    let mut weights = vec![0.0; header.columns];
    let mut last = None;
    for _ in 0..header.nonzeros {
        let (column, weight) = coefficient(&mut lines, header.columns, header.nonzeros)?;
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
    let Header { loss, labels, normalize_rows, intercept, .. } = header;
    Ok(Model { loss, labels, normalize_rows, intercept, weights })
}

fn not_a_model(path: &Path) -> Error {
    Error::data(
        path,
        Some(1),
        "not a model",
        format!("the first line of a model is `{FIRST_LINE}`; `farrow solve --model FILE` writes one"),
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

struct Header {
    loss: Loss,
    labels: Option<[f64; 2]>,
    normalize_rows: bool,
    intercept: f64,
    columns: usize,
    nonzeros: usize,
}

/// A line of the header, by what follows its name.
struct Said<'a> {
    path: &'a Path,
    line: u64,
    name: &'static str,
    words: Vec<&'a str>,
}

impl Said<'_> {
    fn error(&self, accepted: impl Into<String>) -> Error {
        Error::data(self.path, Some(self.line), format!("{} is {:?}", self.name, self.words.join(" ")), accepted)
    }

    fn one<T: FromStr>(&self, accepted: &str) -> Result<T> {
        match self.words[..] {
            [word] => word.parse().ok(),
            _ => None,
        }
        .ok_or_else(|| self.error(format!("{} takes {accepted}", self.name)))
    }

    fn loss(&self) -> Result<Loss> {
        let loss = match self.words[..] {
            ["huber", delta] => delta
                .parse()
                .ok()
                .filter(|delta: &f64| *delta > 0.0 && delta.is_finite())
                .map(|delta| Loss::Huber { delta }),
            ["huber"] => None,
            [name] => Loss::named(name, 1.0),
            _ => None,
        };
        loss.ok_or_else(|| {
            self.error(format!("known: {}; huber is followed by its delta > 0", Loss::NAMES.join(", ")))
        })
    }

    fn labels(&self) -> Result<[f64; 2]> {
        let labels: Vec<f64> = self
            .words
            .iter()
            .filter_map(|word| word.parse().ok())
            .filter(|label: &f64| label.is_finite())
            .collect();
        match labels[..] {
            [negative, positive] if self.words.len() == 2 => Ok([negative, positive]),
            _ => Err(self.error("labels takes two numbers, the label of class −1 and that of +1")),
        }
    }
}

impl Header {
    /// The header ends with `nonzeros`; the other lines stand in any order, each once.
    fn read<'a>(lines: &mut Lines<'a>) -> Result<Self> {
        let mut found: [Option<Said<'a>>; HEADER.len()] = Default::default();
        while found[HEADER.len() - 1].is_none() {
            let line =
                lines.next_said().ok_or_else(|| cut_short(lines, "its header does not end with `nonzeros`"))?;
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            let place = HEADER.iter().position(|known| *known == name).ok_or_else(|| {
                lines.error(
                    format!("{name:?} is not a line of a model's header"),
                    format!("known: {}", HEADER.join(", ")),
                )
            })?;
            if found[place].is_some() {
                return Err(lines.error(format!("`{name}` is said twice"), "say it once"));
            }
            found[place] =
                Some(Said { path: lines.path, line: lines.number, name: HEADER[place], words: words.collect() });
        }
        let [loss, labels, normalize, intercept, columns, nonzeros] = found;
        let need = |said: Option<Said<'a>>, name| {
            said.ok_or_else(|| lines.error(format!("the header does not say `{name}`"), "every model says it"))
        };
        let loss = need(loss, "loss")?.loss()?;
        let labels = labels.map(|said| said.labels()).transpose()?;
        if labels.is_some() != loss.is_classification() {
            let what = format!("loss {} {} labels", loss.name(), if labels.is_some() { "with" } else { "without" });
            let remedy = "classification losses (logistic, hinge, squared-hinge) need `labels NEGATIVE POSITIVE`; others have none";
            return Err(lines.error(what, remedy));
        }
        let normalize = need(normalize, "normalize")?;
        let normalize_rows = match normalize.words[..] {
            ["rows"] => true,
            ["none"] => false,
            _ => return Err(normalize.error("normalize takes none or rows")),
        };
        let said = need(intercept, "intercept")?;
        let intercept = said.one("one finite number").and_then(|value: f64| {
            if value.is_finite() { Ok(value) } else { Err(said.error("intercept takes one finite number")) }
        })?;
        let said = need(columns, "columns")?;
        let columns: usize = said.one("one whole number")?;
        if columns > COLUMNS_MAX {
            return Err(said.error(format!("columns takes at most {COLUMNS_MAX}")));
        }
        let said = need(nonzeros, "nonzeros")?;
        let nonzeros: usize = said.one("one whole number")?;
        if nonzeros > columns {
            return Err(said.error(format!("nonzeros takes at most the number of columns, {columns}")));
        }
        Ok(Header { loss, labels, normalize_rows, intercept, columns, nonzeros })
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
