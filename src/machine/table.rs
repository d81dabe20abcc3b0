//! The two forms of table: a matrix over cpus or nodes, and a curve.

use super::Figure;
use serde::{Deserialize, Serialize};

/// The reason on the diagonal of a matrix of cpus, which is no gap.
pub(crate) const TO_ITSELF: &str = "a cpu hands nothing to itself";

/// A figure, or the number of the reason in the table's `reasons` why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// What was measured.
    Figure(Figure),
    /// Index into `reasons`.
    Missing(usize),
}

impl Cell {
    /// The figure, if there is one.
    pub fn figure(&self) -> Option<&Figure> {
        match self {
            Cell::Figure(figure) => Some(figure),
            Cell::Missing(_) => None,
        }
    }

    /// The figure's median, if there is one.
    pub fn median(&self) -> Option<f64> {
        self.figure().map(|figure| figure.median)
    }
}

/// A table that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// The field of the price list.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// Figures by row and column. Rows and columns are named by the system's numbers of cpus or of nodes, in the
/// topology's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix<K> {
    /// What sets this one apart from others of its field.
    pub of: K,
    /// Numbers of the rows.
    pub rows: Vec<u32>,
    /// Numbers of the columns.
    pub columns: Vec<u32>,
    /// Row by row.
    pub cells: Vec<Vec<Cell>>,
    /// Why cells are missing, each reason once.
    pub reasons: Vec<String>,
}

impl<K> Matrix<K> {
    /// A matrix without a figure yet, each cell missing for `reason`.
    pub fn missing(of: K, rows: Vec<u32>, columns: Vec<u32>, reason: &str) -> Self {
        let cells = vec![vec![Cell::Missing(0); columns.len()]; rows.len()];
        Matrix { of, rows, columns, cells, reasons: vec![reason.into()] }
    }

    /// The figure between two numbers, or why there is none.
    ///
    /// # Errors
    /// The reason.
    pub fn get(&self, row: u32, column: u32) -> Result<&Figure, &str> {
        let place = |numbers: &[u32], number| numbers.iter().position(|&other| other == number);
        match place(&self.rows, row).zip(place(&self.columns, column)) {
            Some((row, column)) => told(&self.cells[row][column], &self.reasons),
            None => Err("it was not among those chosen to be measured"),
        }
    }

    /// Puts what was found at a place by index.
    pub(crate) fn put(&mut self, row: usize, column: usize, found: Result<Figure, String>) {
        self.cells[row][column] = cell(found, &mut self.reasons);
    }

    /// All cells.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().flatten()
    }
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Where, in what the curve's `by` says.
    pub at: f64,
    /// What was found there.
    pub value: Cell,
}

/// Figures by a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve<K> {
    /// What sets this one apart from others of its field.
    pub of: K,
    /// What `at` counts: `bytes`, `workers`, `threads`, `spins`, `groups`.
    pub by: String,
    /// Ascending.
    pub points: Vec<Point>,
    /// Why points are missing, each reason once.
    pub reasons: Vec<String>,
}

impl<K> Curve<K> {
    /// A curve without points.
    pub fn new(of: K, by: &str) -> Self {
        Curve { of, by: by.into(), points: Vec::new(), reasons: Vec::new() }
    }

    /// The figure at a point, or why there is none.
    ///
    /// # Errors
    /// The reason.
    pub fn get(&self, at: f64) -> Result<&Figure, &str> {
        match self.points.iter().find(|point| point.at == at) {
            Some(point) => told(&point.value, &self.reasons),
            None => Err("it was not among those chosen to be measured"),
        }
    }

    /// Puts what was found at a point, in its place by `at`.
    pub(crate) fn put(&mut self, at: f64, found: Result<Figure, String>) {
        let value = cell(found, &mut self.reasons);
        let place = self.points.partition_point(|point| point.at < at);
        self.points.insert(place, Point { at, value });
    }

    /// Points that have a figure, as (at, median).
    pub fn medians(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().filter_map(|point| Some((point.at, point.value.median()?)))
    }
}

fn told<'a>(cell: &'a Cell, reasons: &'a [String]) -> Result<&'a Figure, &'a str> {
    match cell {
        Cell::Figure(figure) => Ok(figure),
        Cell::Missing(reason) => Err(reasons.get(*reason).map_or("no reason was kept", String::as_str)),
    }
}

fn cell(found: Result<Figure, String>, reasons: &mut Vec<String>) -> Cell {
    match found {
        Ok(figure) => Cell::Figure(figure),
        Err(reason) => Cell::Missing(reasons.iter().position(|other| *other == reason).unwrap_or_else(|| {
            reasons.push(reason);
            reasons.len() - 1
        })),
    }
}
