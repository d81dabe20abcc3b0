//! What a model says of rows.

use super::Model;
use crate::{
    data::{Block, Shape, Source},
    error::Result,
    loss::Loss,
};

/// Margins of all rows of a data set, and what the model could not take into account.
#[derive(Clone, Debug, PartialEq)]
pub struct Margins {
    /// z of every row, or with [`Model::factors`] of every stored entry, row by row.
    pub values: Vec<f64>,
    /// Where data and model have different columns.
    pub strangers: Strangers,
}

/// Columns that only one of data and model has. Either way they count as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strangers {
    /// Columns of the data beyond the model's last: unseen in training.
    pub columns_unseen: usize,
    /// Entries in those columns.
    pub entries_unseen: u64,
    /// Rows with such an entry.
    pub rows_unseen: u64,
    /// Columns of the model beyond the data's last.
    pub columns_missing: usize,
}

impl Strangers {
    /// What a person should know of it, if anything.
    pub fn warning(&self) -> Option<String> {
        if self.entries_unseen > 0 && self.columns_unseen == 0 {
            return Some(format!(
                "{} entries lie in {} rows that the model has not seen in training; they count as zero",
                self.entries_unseen, self.rows_unseen
            ));
        }
        if self.entries_unseen > 0 {
            return Some(format!(
                "{} entries in {} rows lie in {} columns that the model has not seen in training; they count as zero",
                self.entries_unseen, self.rows_unseen, self.columns_unseen
            ));
        }
        (self.columns_missing > 0)
            .then(|| format!("the data lack the model's last {} columns; they count as zero", self.columns_missing))
    }
}

impl Model {
    /// z = aᵀx + c for a row with `values` in `columns` (from 0). Columns that the model does not have count as zero.
    /// With [`Model::normalize_rows`] it is (a/‖a‖)ᵀx + c, ‖a‖ over all of the row, as in training; an empty row has
    /// z = c.
    ///
    /// # Panics
    /// If the two slices differ in length.
    pub fn margin(&self, columns: &[u32], values: &[f32]) -> f64 {
        assert_eq!(columns.len(), values.len(), "a row has one value a column");
        let weight = |column: &u32| self.weights.get(*column as usize).copied().unwrap_or(0.0);
        let dot = columns.iter().zip(values).map(|(column, value)| weight(column) * f64::from(*value)).sum();
        self.finish(dot, values)
    }

    /// As [`Model::margin`], for a dense row.
    pub fn margin_dense(&self, values: &[f32]) -> f64 {
        let dot = self.weights.iter().zip(values).map(|(weight, value)| weight * f64::from(*value)).sum();
        self.finish(dot, values)
    }

    fn finish(&self, dot: f64, values: &[f32]) -> f64 {
        if !self.normalize_rows {
            return dot + self.intercept;
        }
        let norm = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        if norm > 0.0 { dot / norm + self.intercept } else { self.intercept }
    }

    /// The label at margin z: for classification the input's label of +1 where z > 0 and of −1 else, for regression z.
    pub fn label(&self, z: f64) -> f64 {
        match self.labels {
            Some([negative, positive]) => {
                if z > 0.0 {
                    positive
                } else {
                    negative
                }
            }
            None => z,
        }
    }

    /// P(+1) = 1/(1 + e^(−z)); `None` unless the loss is logistic, since the others' margins are no log-odds.
    pub fn probability(&self, z: f64) -> Option<f64> {
        (self.loss == Loss::Logistic).then(|| 1.0 / (1.0 + (-z).exp()))
    }

    /// The label b ∈ {−1, +1} of an input label, or the label itself for regression; `None` for a label that the model
    /// was not fitted on.
    pub fn target(&self, label: f64) -> Option<f64> {
        match self.labels {
            Some([negative, _]) if label == negative => Some(-1.0),
            Some([_, positive]) if label == positive => Some(1.0),
            Some(_) => None,
            None => Some(label),
        }
    }

    /// The margin of every row of `source`, block by block; with [`Model::factors`] of every stored entry.
    ///
    /// # Errors
    /// As [`Source::take`].
    pub fn margins(&self, source: &dyn Source) -> Result<Margins> {
        if let Some(factors) = self.factors {
            return Ok(self.completed(factors, source)?.margins);
        }
        let Shape { rows, columns, .. } = source.shape();
        let d = self.weights.len();
        let mut strangers = Strangers {
            columns_unseen: columns.saturating_sub(d),
            columns_missing: d.saturating_sub(columns),
            ..Strangers::default()
        };
        let mut margins = Vec::with_capacity(rows);
        for index in 0..source.spans().len() {
            self.margins_of(&source.take(index)?, &mut margins, &mut strangers);
        }
        Ok(Margins { values: margins, strangers })
    }

    fn margins_of(&self, block: &Block, margins: &mut Vec<f64>, strangers: &mut Strangers) {
        let d = self.weights.len();
        let mut unseen = |entries: usize| {
            strangers.entries_unseen += entries as u64;
            strangers.rows_unseen += u64::from(entries > 0);
        };
        match block {
            Block::Sparse { starts, columns, values } => {
                for ends in starts.windows(2) {
                    let row = ends[0] as usize..ends[1] as usize;
                    let columns = &columns[row.clone()];
                    // Columns ascend, so those that the model lacks are the last.
                    unseen(columns.len() - columns.partition_point(|column| (*column as usize) < d));
                    margins.push(self.margin(columns, &values[row]));
                }
            }
            Block::Dense { columns, values } => {
                for row in 0..block.rows() {
                    let row = &values[row * columns..(row + 1) * columns];
                    unseen(row.iter().skip(d).filter(|value| **value != 0.0).count());
                    margins.push(self.margin_dense(row));
                }
            }
        }
    }
}
