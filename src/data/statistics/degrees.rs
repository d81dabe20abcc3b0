//! How many entries rows and columns have.

use super::Rows;
use serde::Serialize;

/// Five numbers for many. Quantiles are of the nearest rank; all are 0 where there is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The least.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// 99 of 100 are not above.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

impl Distribution {
    /// Of these values.
    pub fn of(mut values: Vec<f64>) -> Self {
        if values.is_empty() {
            return Distribution::default();
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len() - 1;
        let rank = |q: f64| values[((q * values.len() as f64).ceil() as usize).saturating_sub(1).min(last)];
        Distribution { min: values[0], median: rank(0.5), mean, p99: rank(0.99), max: values[last] }
    }
}

/// A column in many rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HotColumn {
    /// Which, from 0.
    pub column: usize,
    /// cⱼ.
    pub rows: u64,
    /// cⱼ/n.
    pub share: f64,
}

/// Degrees of rows and columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Degrees {
    /// Entries of a row.
    pub row_degrees: Distribution,
    /// Rows that have a column, columns that no row has among them.
    pub column_degrees: Distribution,
    /// Rows without entries.
    pub empty_rows: usize,
    /// Columns that no row has.
    pub unused_columns: usize,
    /// Ω.
    pub omega: usize,
    /// Δ.
    pub delta: f64,
    /// The columns that most rows have, hottest first; of equals, the first.
    pub hottest: Vec<HotColumn>,
}

/// cⱼ of every column.
pub(super) fn column_counts(rows: &Rows) -> Vec<u64> {
    let shape = rows.shape();
    if shape.dense {
        return vec![shape.rows as u64; shape.columns];
    }
    let mut counts = vec![0; shape.columns];
    rows.iter().flat_map(|line| line.columns.unwrap_or(&[])).for_each(|&j| counts[j as usize] += 1);
    counts
}

/// Degrees of `rows`, and its `hottest` hottest columns. O(nnz + n log n + d log d).
pub fn degrees(rows: &Rows, hottest: usize) -> Degrees {
    let n = rows.shape().rows;
    let lengths: Vec<usize> = rows.iter().map(|line| line.values.len()).collect();
    let counts = column_counts(rows);
    let share = |count: u64| count as f64 / n.max(1) as f64;
    let mut order: Vec<usize> = (0..counts.len()).filter(|&j| counts[j] > 0).collect();
    order.sort_unstable_by_key(|&j| (std::cmp::Reverse(counts[j]), j));
    order.truncate(hottest);
    let hot = |column: usize| HotColumn { column, rows: counts[column], share: share(counts[column]) };
    Degrees {
        empty_rows: lengths.iter().filter(|&&length| length == 0).count(),
        unused_columns: counts.iter().filter(|&&count| count == 0).count(),
        omega: lengths.iter().copied().max().unwrap_or(0),
        delta: share(counts.iter().copied().max().unwrap_or(0)),
        hottest: order.into_iter().map(hot).collect(),
        row_degrees: Distribution::of(lengths.into_iter().map(|length| length as f64).collect()),
        column_degrees: Distribution::of(counts.into_iter().map(|count| count as f64).collect()),
    }
}
