//! Entries as lines: each worker's rows, taken apart.

use super::{Deal, Part};
use crate::{
    data::{
        Source,
        matrix::{Matrix, Pairs},
    },
    error::Result,
    os::memory::{Apart, Pages, Site},
    placement::Plan,
};

/// The entries of worker `worker`'s rows, copied by the calling thread to `site`: of each a line of rank `rank`, its value as
/// the label, and the weight of its row. Numbered from 0; see [`number`].
///
/// # Errors
/// A damaged block.
pub fn pairs(
    source: &dyn Source,
    deal: &Deal,
    worker: usize,
    weights: Option<&[f64]>,
    rank: usize,
    site: &Site,
) -> Result<Part<Pairs>> {
    let shape = source.shape();
    let (entries, pieces) = deal.pieces(source, worker);
    let lines = entries as usize;
    let mut matrix = Pairs::placed(lines, rank, shape.rows, shape.columns, site);
    let mut values: Pages<f64> = Pages::placed(lines, site);
    let mut heavy: Option<Pages<f64>> = weights.map(|_| Pages::placed(lines, site));
    let (mut row, mut line) = (deal.rows(worker).start, 0);
    for piece in pieces {
        let piece = piece?;
        for within in piece.rows.clone() {
            piece.block().each(within, |column, value| {
                matrix.put(line, row, column);
                values[line] = f64::from(value);
                if let (Some(heavy), Some(weights)) = (&mut heavy, weights) {
                    heavy[line] = weights[row];
                }
                line += 1;
            });
            row += 1;
        }
    }
    Ok(Part::new(matrix, 0, values, heavy))
}

/// Numbers the lines of `parts`, one a worker of `plan`, through: those of each shard from 0 on where each has all the data.
pub fn number(plan: &Plan, parts: &mut [Apart<Part<Pairs>>]) {
    let mut first = 0;
    for (worker, part) in parts.iter_mut().enumerate() {
        let begins = plan.replicated && plan.rank_in_shard(worker).0 == 0;
        first = if begins { 0 } else { first };
        part.first = first;
        first += part.matrix.rows();
    }
}
