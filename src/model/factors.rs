//! What a bilinear model says of the stored entries of a matrix.

use super::{Margins, Model, Strangers};
use crate::{
    data::{Shape, Source},
    error::Result,
};
use serde::Serialize;

/// The shape of the weights of a bilinear model: k numbers uᵢ for each of n rows, then k numbers vⱼ for each column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Factors {
    /// k ≥ 1.
    pub rank: usize,
    /// n.
    pub rows: usize,
}

impl Factors {
    /// Number of columns of a model of `weights` weights.
    pub fn columns(&self, weights: usize) -> usize {
        (weights / self.rank).saturating_sub(self.rows)
    }
}

/// What a model says of the stored entries, row by row.
pub(super) struct Completed {
    /// uᵢᵀvⱼ of each.
    pub(super) margins: Margins,
    /// aᵢⱼ of each.
    pub(super) values: Vec<f64>,
    /// How many each row has.
    pub(super) lengths: Vec<usize>,
}

impl Model {
    /// z = uᵢᵀvⱼ of a model with [`Model::factors`] for row `row` and column `column`, both from 0; `None` for a row or a
    /// column that it does not have, and for a linear model.
    pub fn entry(&self, row: usize, column: usize) -> Option<f64> {
        let Factors { rank, rows } = self.factors?;
        let block = |number: usize| self.weights.get(number.checked_mul(rank)?..)?.get(..rank);
        let (left, right) = (block(row).filter(|_| row < rows)?, block(rows.checked_add(column)?)?);
        Some(left.iter().zip(right).map(|(u, v)| u * v).sum())
    }

    /// All stored entries of `source` beside what the model says of them: 0 where it has no such row or column.
    ///
    /// # Errors
    /// As [`Source::take`].
    pub(super) fn completed(&self, factors: Factors, source: &dyn Source) -> Result<Completed> {
        let Shape { columns, nonzeros, .. } = source.shape();
        let columns_unseen = columns.saturating_sub(factors.columns(self.weights.len()));
        let mut strangers = Strangers { columns_unseen, ..Strangers::default() };
        let mut margins = Vec::with_capacity(nonzeros as usize);
        let (mut values, mut lengths) = (Vec::with_capacity(nonzeros as usize), Vec::new());
        for index in 0..source.spans().len() {
            let block = source.take(index)?;
            for within in 0..block.rows() {
                let (row, before, mut unseen) = (lengths.len(), values.len(), 0);
                block.each(within, |column, value| {
                    let margin = self.entry(row, column);
                    unseen += u64::from(margin.is_none());
                    margins.push(margin.unwrap_or(0.0));
                    values.push(f64::from(value));
                });
                strangers.entries_unseen += unseen;
                strangers.rows_unseen += u64::from(unseen > 0);
                lengths.push(values.len() - before);
            }
        }
        Ok(Completed { margins: Margins { values: margins, strangers }, values, lengths })
    }
}
