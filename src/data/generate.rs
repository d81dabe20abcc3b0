//! Synthetic problems with a known answer: sparse rows whose columns have a power-law popularity and a chosen conflict,
//! dense rows with a chosen condition number, labels from a linear rule with noise; and matrices of a chosen rank of which
//! some entries are seen.
//!
//! Margins are zᵢ = aᵢᵀx* + c with x* scaled so that aᵢᵀx* has standard deviation 1 over the rows. Labels are zᵢ + s·ε
//! for regression, ε standard normal, and the sign of zᵢ + s·ε for classification, ε standard logistic: then
//! P(bᵢ = 1) = 1/(1 + e^(−zᵢ/s)), so that x*/s, c/s is the true logistic model.
//!
//! A seed gives the same data to the bit on every machine and with any number of threads: every row has random numbers
//! of its own (`data/stream.rs`), all logarithms and cosines come from the crate `libm` and not from the system, and sums
//! over rows are taken in row order.

use super::{Block, Data, memory::InMemory, room};
use crate::error::{Error, Result};
use serde::Serialize;
use std::path::Path;

mod dense;
mod factors;
mod hot;
mod labels;
mod pieces;
mod popularity;
mod sparse;

/// What labels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// −1 and 1.
    Classification,
    /// Real numbers.
    Regression,
}

/// c in zᵢ = aᵢᵀx* + c.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intercept {
    /// This.
    Fixed(f64),
    /// −median(aᵢᵀx*): as many rows above zero as below.
    Balanced,
}

/// How labels follow from rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// What labels are.
    pub task: Task,
    /// s ≥ 0, in units of the standard deviation of aᵢᵀx*.
    pub noise: f64,
    /// c.
    pub intercept: Intercept,
    /// Fraction of the columns with x*ⱼ ≠ 0, in (0, 1]. At least one column is chosen.
    pub support: f64,
}

impl Default for Rule {
    fn default() -> Self {
        Rule { task: Task::Classification, noise: 0.1, intercept: Intercept::Fixed(0.0), support: 1.0 }
    }
}

/// What the entries of sparse rows hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Standard normal numbers.
    Normal,
    /// 1.
    Ones,
    /// (1 + ln t) ln(1 + n/f): t times the column was drawn for the row, f rows hold it.
    TfIdf,
}

/// A sparse problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SparseSpec {
    /// n ≥ 1.
    pub rows: usize,
    /// d ≥ 1.
    pub columns: usize,
    /// Mean number of entries of a row, before hot columns.
    pub nonzeros_per_row: f64,
    /// σ ≥ 0 of the logarithm of a row's number of entries; 0: all rows have the same number.
    pub spread: f64,
    /// p ≥ 0: the k-th most popular column (from 0) is drawn in proportion to 1/(k + shift)^p. Which column is the
    /// k-th is shuffled.
    pub power: f64,
    /// shift > 0.
    pub shift: f64,
    /// P(two random rows share a column), brought about by `hot_columns` columns, each in every row with the same
    /// probability, beside the entries that the popularity gives; `None`: as the popularity gives it.
    pub conflict: Option<f64>,
    /// How many columns bring the conflict about, ≥ 1.
    pub hot_columns: usize,
    /// κ ≥ 1: columns are scaled so that their second moments (the diagonal of AᵀA/n) go geometrically from 1 to 1/κ
    /// in a shuffled order; the condition number of AᵀA/n is then at least κ.
    pub condition: Option<f64>,
    /// What entries hold.
    pub values: Values,
    /// Whether each row is scaled to ‖a‖ = 1.
    pub unit_rows: bool,
    /// How labels follow.
    pub rule: Rule,
    /// Seed of everything.
    pub seed: u64,
}

impl Default for SparseSpec {
    fn default() -> Self {
        SparseSpec {
            rows: 10_000,
            columns: 1000,
            nonzeros_per_row: 20.0,
            spread: 0.0,
            power: 0.0,
            shift: 1.0,
            conflict: None,
            hot_columns: 1,
            condition: None,
            values: Values::Normal,
            unit_rows: false,
            rule: Rule::default(),
            seed: 1,
        }
    }
}

impl SparseSpec {
    /// 200,000 documents of 47,236 words, about 75 words each: the shape of RCV1. Word popularity is a shifted power
    /// law, values are tf-idf in rows of norm 1, a twentieth of the words decides the class.
    pub fn rcv1_like(seed: u64) -> Self {
        let rule = Rule { noise: 1.0 / 6.0, intercept: Intercept::Balanced, support: 0.05, ..Rule::default() };
        SparseSpec {
            rows: 200_000,
            columns: 47_236,
            nonzeros_per_row: 75.0,
            spread: 0.55,
            power: 1.02,
            shift: 12.0,
            values: Values::TfIdf,
            unit_rows: true,
            rule,
            seed,
            ..SparseSpec::default()
        }
    }

    /// The problem, made on `threads` threads.
    ///
    /// # Errors
    /// A setting out of its range, or a conflict below what the popularity alone gives.
    pub fn generate(&self, threads: usize) -> Result<Generated> {
        sparse::generate(self, threads.max(1))
    }
}

/// A dense problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DenseSpec {
    /// n ≥ 1.
    pub rows: usize,
    /// d ≥ 1.
    pub columns: usize,
    /// κ ≥ 1: the eigenvalues of AᵀA/n go geometrically from 1 to 1/κ (n ≥ d; made in n d² steps). `None`: entries are
    /// independent standard normal numbers.
    pub condition: Option<f64>,
    /// How labels follow.
    pub rule: Rule,
    /// Seed of everything.
    pub seed: u64,
}

impl Default for DenseSpec {
    fn default() -> Self {
        DenseSpec { rows: 10_000, columns: 100, condition: None, rule: Rule::default(), seed: 1 }
    }
}

impl DenseSpec {
    /// The problem, made on `threads` threads.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn generate(&self, threads: usize) -> Result<Generated> {
        dense::generate(self, threads.max(1))
    }
}

/// A matrix of known rank of which some entries are seen: aᵢⱼ = uᵢᵀvⱼ + s·ε, uᵢ and vⱼ of independent normal numbers such that
/// uᵢᵀvⱼ has standard deviation 1. Labels are 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorSpec {
    /// Which entries are seen; of its rule, the noise s. What these entries hold and the other labels are replaced.
    pub places: SparseSpec,
    /// k, from 1 to 65536.
    pub rank: usize,
}

impl FactorSpec {
    /// The problem, made on `threads` threads.
    ///
    /// # Errors
    /// As [`SparseSpec::generate`], and a rank out of its range.
    pub fn generate(&self, threads: usize) -> Result<Generated> {
        factors::generate(self, threads.max(1))
    }
}

/// A problem and its answer.
#[derive(Debug)]
pub struct Generated {
    /// The rows, in order.
    pub blocks: Vec<Block>,
    /// The label of every row.
    pub labels: Vec<f64>,
    /// x*, one a column; or uᵢ of each row, then vⱼ of each column.
    pub truth: Vec<f64>,
    /// c.
    pub intercept: f64,
    /// d.
    pub columns: usize,
}

impl Generated {
    /// The problem as a data set in memory, whose blocks are each given away once.
    pub fn into_data(self) -> Data {
        let path = Path::new("(generated)");
        let source = InMemory::new(path, self.blocks, self.labels, 0, self.columns);
        Data { path: path.to_path_buf(), source: Box::new(source), weights: None }
    }
}

/// An error unless `met`.
fn require(met: bool, what: impl Into<String>, remedy: &str) -> Result<()> {
    if met { Ok(()) } else { Err(Error::unmet(what, remedy)) }
}

/// Refuses more `bytes` for `what` than may be taken.
fn require_room(bytes: f64, what: &str) -> Result<()> {
    room::fits(bytes, what).map_err(|refusal| Error::unmet(refusal, "ask for less"))
}

/// Checks what both kinds have.
fn check(rows: usize, columns: usize, condition: Option<f64>, rule: &Rule) -> Result<()> {
    require(rows >= 1, format!("{rows} rows"), "ask for at least one row")?;
    let fits = (1..=1 << 32).contains(&columns);
    require(fits, format!("{columns} columns"), "ask for 1 to 4294967296 columns")?;
    let Rule { noise, support, .. } = *rule;
    require(noise.is_finite() && noise >= 0.0, format!("noise {noise}"), "noise is a number from 0 on")?;
    require(support > 0.0 && support <= 1.0, format!("support {support}"), "support is a fraction in (0, 1]")?;
    if let Intercept::Fixed(c) = rule.intercept {
        require(c.is_finite(), format!("intercept {c}"), "the intercept is a finite number")?;
    }
    let kappa = condition.unwrap_or(1.0);
    // Beyond this the smallest column scale is lost in single precision.
    let sane = (1.0..=1e12).contains(&kappa);
    require(sane, format!("condition number {kappa}"), "the condition number is a number from 1 to 1e12")
}
