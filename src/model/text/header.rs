//! The named lines at the head of a model's text form.

use super::{Lines, cut_short};
use crate::{
    error::{Error, Result},
    loss::Loss,
    model::Factors,
};
use std::{path::Path, str::FromStr};

const HEADER: [&str; 7] = ["loss", "labels", "normalize", "intercept", "factors", "columns", "nonzeros"];
/// 2³² columns are the most that data can have, and a file is not believed beyond it.
const COLUMNS_MAX: usize = u32::MAX as usize + 1;

/// All that stands before the coefficients.
pub(super) struct Header {
    pub(super) loss: Loss,
    pub(super) labels: Option<[f64; 2]>,
    pub(super) normalize_rows: bool,
    pub(super) intercept: f64,
    pub(super) factors: Option<Factors>,
    /// Number of coefficients, zeros and all.
    pub(super) weights: usize,
    pub(super) nonzeros: usize,
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

    fn factors(&self) -> Result<Factors> {
        let words: Vec<Option<usize>> = self.words.iter().map(|word| word.parse().ok()).collect();
        match words[..] {
            [Some(rank @ 1..), Some(rows)] => Ok(Factors { rank, rows }),
            _ => Err(self.error("factors takes two whole numbers, the rank from 1 on and the number of rows")),
        }
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
    pub(super) fn read<'a>(lines: &mut Lines<'a>, bilinear: bool) -> Result<Self> {
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
        let [loss, labels, normalize, intercept, factors, columns, nonzeros] = found;
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
        if factors.is_some() != bilinear {
            let what = if bilinear { "a bilinear model without `factors`" } else { "`factors` in a linear model" };
            return Err(
                lines.error(what, "`farrow model 2` has a line `factors RANK ROWS`, `farrow model 1` has none")
            );
        }
        let factors = factors.map(|said| said.factors()).transpose()?;
        let said = need(columns, "columns")?;
        let columns: usize = said.one("one whole number")?;
        let weights = match factors {
            Some(Factors { rank, rows }) => columns.checked_add(rows).and_then(|blocks| blocks.checked_mul(rank)),
            None => Some(columns),
        };
        let Some(weights) = weights.filter(|weights| *weights <= COLUMNS_MAX) else {
            let what = if bilinear { "rank times rows and columns is" } else { "columns takes" };
            return Err(said.error(format!("{what} at most {COLUMNS_MAX}")));
        };
        let said = need(nonzeros, "nonzeros")?;
        let nonzeros: usize = said.one("one whole number")?;
        if nonzeros > weights {
            let of = if bilinear { "coefficients" } else { "columns" };
            return Err(said.error(format!("nonzeros takes at most the number of {of}, {weights}")));
        }
        Ok(Header { loss, labels, normalize_rows, intercept, factors, weights, nonzeros })
    }
}
