//! Which rows each worker has, and the copying of them by that worker.

use super::{Blocks, Part};
use crate::{
    data::{
        Block, BlockSpan, Source,
        matrix::{Piece, Rows},
    },
    error::Result,
    layout::Slots,
    os::memory::{Pages, Site},
    placement::Plan,
};
use std::ops::Range;

/// Which rows each worker takes, balanced by entries (a row counts 4 on top), and the blocks that are in memory already,
/// because more than one worker needs them.
#[derive(Debug)]
pub struct Deal {
    ranges: Vec<Range<usize>>,
    /// In order of their indices.
    common: Vec<(usize, Block)>,
}

impl Deal {
    /// Deals the rows of `source` to the workers of `plan` in order; where the data are replicated, all rows to the
    /// workers of each shard. Takes the blocks that are cut, at most one a worker.
    ///
    /// # Errors
    /// A damaged block.
    pub fn new(source: &dyn Source, plan: &Plan) -> Result<Self> {
        let ranges = ranges(source, plan);
        let mut common = Vec::new();
        for (index, span) in source.spans().iter().enumerate() {
            let rows = span.first_row..span.first_row + span.rows;
            if ranges.iter().any(|range| rows.start < range.start && range.start < rows.end) {
                common.push((index, source.take(index)?));
            }
        }
        Ok(Deal { ranges, common })
    }

    /// The same with all blocks of the source in memory.
    pub fn held(source: &dyn Source, plan: &Plan, blocks: Blocks) -> Self {
        Deal { ranges: ranges(source, plan), common: blocks.into_indexed() }
    }

    /// Which rows each worker of `plan` takes.
    pub fn ranges(source: &dyn Source, plan: &Plan) -> Vec<Range<usize>> {
        ranges(source, plan)
    }

    /// Worker `worker`'s rows.
    pub fn rows(&self, worker: usize) -> Range<usize> {
        self.ranges[worker].clone()
    }

    /// Blocks that worker `worker` needs, as (block, rows of it, the block if it is in memory).
    fn blocks<'a>(&'a self, spans: &[BlockSpan], worker: usize) -> Vec<(usize, Range<usize>, Option<&'a Block>)> {
        let own = self.rows(worker);
        let of = |(index, span): (usize, &BlockSpan)| {
            let start = own.start.max(span.first_row);
            let end = own.end.min(span.first_row + span.rows);
            let common = self.common.binary_search_by_key(&index, |(other, _)| *other).ok();
            let common = common.map(|place| &self.common[place].1);
            (start < end).then(|| (index, start - span.first_row..end - span.first_row, common))
        };
        spans.iter().enumerate().filter_map(of).collect()
    }

    /// Worker `worker`'s rows, block by block, and their number of entries.
    pub(super) fn pieces<'a>(
        &'a self,
        source: &'a dyn Source,
        worker: usize,
    ) -> (u64, impl Iterator<Item = Result<Piece<'a>>>) {
        let blocks = self.blocks(source.spans(), worker);
        let entries = |(index, rows, common): &(usize, Range<usize>, Option<&Block>)| match common {
            Some(block) => Piece::nonzeros(block, rows),
            None => source.spans()[*index].nonzeros,
        };
        let nonzeros = blocks.iter().map(entries).sum();
        let pieces = blocks.into_iter().map(move |(index, rows, common)| match common {
            Some(block) => Ok(Piece::of(block, rows)),
            None => source.take(index).map(Piece::whole),
        });
        (nonzeros, pieces)
    }
}

/// Each worker's rows.
fn ranges(source: &dyn Source, plan: &Plan) -> Vec<Range<usize>> {
    if !plan.replicated {
        return cut(source, plan.workers.len());
    }
    plan.shards.iter().flat_map(|shard| cut(source, shard.workers.len())).collect()
}

/// All rows in `parts` consecutive ranges.
fn cut(source: &dyn Source, parts: usize) -> Vec<Range<usize>> {
    let spans = source.spans();
    let cost = |span: &BlockSpan| u128::from(span.nonzeros) + 4 * span.rows as u128;
    let total: u128 = spans.iter().map(cost).sum();
    let (mut block, mut before) = (0, 0);
    let mut bounds = vec![0];
    for part in 1..parts {
        let goal = total * part as u128 / parts as u128;
        while block < spans.len() && before + cost(&spans[block]) <= goal {
            before += cost(&spans[block]);
            block += 1;
        }
        // Within a block rows are taken to cost alike.
        bounds.push(spans.get(block).map_or(source.shape().rows, |span| {
            span.first_row + ((goal - before) * span.rows as u128 / cost(span).max(1)) as usize
        }));
    }
    bounds.push(source.shape().rows);
    bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Labels and weights of all rows.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'a> {
    /// bᵢ.
    pub labels: &'a [f64],
    /// wᵢ; `None` for 1.
    pub weights: Option<&'a [f64]>,
}

/// Worker `worker`'s rows, copied by the calling thread to `site`, their columns in `slots`.
///
/// # Errors
/// A damaged block.
pub fn rows<D: Rows>(
    source: &dyn Source,
    deal: &Deal,
    worker: usize,
    slots: &Slots,
    marks: Marks<'_>,
    site: &Site,
) -> Result<Part<D>> {
    let range = deal.rows(worker);
    let (nonzeros, pieces) = deal.pieces(source, worker);
    let matrix = D::gather(pieces, range.len(), nonzeros, slots, site)?;
    let labels = Pages::copied_to(&marks.labels[range.clone()], site);
    let weights = marks.weights.map(|weights| Pages::copied_to(&weights[range.clone()], site));
    Ok(Part::new(matrix, range.start, labels, weights))
}
