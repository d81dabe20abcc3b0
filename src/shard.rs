//! Data where the plan wants them: rows cut into one part a worker, each copied and touched first by its worker; or
//! columns, cut likewise, for the methods that go by columns.

use crate::{
    data::{
        Block, BlockSpan, Source,
        matrix::{Dense, Matrix, Piece, Sparse},
    },
    error::Result,
    objective::{Frame, Glm},
    os::memory::Pages,
    sync::SharedF64,
};
use std::ops::Range;

/// One worker's lines.
#[derive(Debug)]
pub struct Part<D> {
    /// The lines.
    pub matrix: D,
    /// ‖line‖², weighted by row when going by columns.
    pub norms2: Vec<f64>,
    /// Global index of the first line.
    pub first: usize,
    /// The method's state: one slot a line.
    pub state: Box<[SharedF64]>,
    /// Labels by row; empty when going by columns.
    pub labels: Vec<f64>,
    /// Weights by row; `None` for 1.
    pub weights: Option<Vec<f64>>,
}

/// All parts, and what belongs to all rows.
#[derive(Debug)]
pub struct Shards<D> {
    /// One a worker, in order.
    pub parts: Vec<Part<D>>,
    /// Whether a line is a column.
    pub by_columns: bool,
    /// Labels of all rows.
    pub labels: Vec<f64>,
    /// Weights of all rows; `None` for 1.
    pub weights: Option<Vec<f64>>,
}

impl<D: Matrix> Shards<D> {
    /// Part `index` as a problem.
    #[inline(always)]
    pub fn glm<'a>(&'a self, index: usize, frame: &'a Frame) -> Glm<'a, D> {
        let part = &self.parts[index];
        let (labels, weights) = if self.by_columns {
            (&self.labels, self.weights.as_deref())
        } else {
            (&part.labels, part.weights.as_deref())
        };
        Glm { matrix: &part.matrix, labels, weights, norms2: &part.norms2, first: part.first, frame }
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> u64 {
        self.parts.iter().map(|part| part.matrix.nonzeros()).sum()
    }
}

/// Which rows each worker takes, in order, balanced by entries (a row counts 4 on top), and the blocks that more than one
/// of them needs.
#[derive(Debug)]
pub struct Deal {
    bounds: Vec<usize>,
    common: Vec<(usize, Block)>,
}

impl Deal {
    /// Deals the rows of `source` to `workers` workers. Takes the blocks that are cut, at most one a worker.
    ///
    /// # Errors
    /// A damaged block.
    pub fn new(source: &dyn Source, workers: usize) -> Result<Self> {
        let spans = source.spans();
        let cost = |span: &BlockSpan| u128::from(span.nonzeros) + 4 * span.rows as u128;
        let total: u128 = spans.iter().map(cost).sum();
        let (mut block, mut before) = (0, 0);
        let (mut bounds, mut common) = (vec![0], Vec::new());
        for worker in 1..workers {
            let goal = total * worker as u128 / workers as u128;
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
        for (index, span) in spans.iter().enumerate() {
            if bounds.iter().any(|&bound| span.first_row < bound && bound < span.first_row + span.rows) {
                common.push((index, source.take(index)?));
            }
        }
        Ok(Deal { bounds, common })
    }

    /// Worker `worker`'s rows.
    pub fn rows(&self, worker: usize) -> Range<usize> {
        self.bounds[worker]..self.bounds[worker + 1]
    }

    /// Blocks that worker `worker` needs, as (block, rows of it, the block if it is a common one).
    fn blocks<'a>(&'a self, spans: &[BlockSpan], worker: usize) -> Vec<(usize, Range<usize>, Option<&'a Block>)> {
        let own = self.rows(worker);
        let of = |(index, span): (usize, &BlockSpan)| {
            let start = own.start.max(span.first_row);
            let end = own.end.min(span.first_row + span.rows);
            let common = self.common.iter().find(|(other, _)| *other == index).map(|(_, block)| block);
            (start < end).then(|| (index, start - span.first_row..end - span.first_row, common))
        };
        spans.iter().enumerate().filter_map(of).collect()
    }
}

/// `workers` contiguous ranges of items with about equal sums of `cost`, covering all.
fn balanced(cost: &[u64], workers: usize) -> Vec<Range<usize>> {
    let total: u128 = cost.iter().map(|&c| u128::from(c)).sum();
    let mut bounds = vec![0];
    let (mut item, mut sum) = (0, 0u128);
    for worker in 1..workers {
        let goal = total * worker as u128 / workers as u128;
        // An item belongs to the side on which more than half of it lies.
        while item < cost.len() && sum + u128::from(cost[item]) / 2 < goal {
            sum += u128::from(cost[item]);
            item += 1;
        }
        bounds.push(item);
    }
    bounds.push(cost.len());
    bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Worker `worker`'s rows, copied by the calling thread; with `ones`, one more column that holds 1.
///
/// # Errors
/// A damaged block.
pub fn rows<D: Matrix>(
    source: &dyn Source,
    deal: &Deal,
    worker: usize,
    ones: bool,
    labels: &[f64],
    weights: Option<&[f64]>,
) -> Result<Part<D>> {
    let (range, blocks) = (deal.rows(worker), deal.blocks(source.spans(), worker));
    let entries = |(index, rows, common): &(usize, Range<usize>, Option<&Block>)| match common {
        Some(block) => Piece::nonzeros(block, rows),
        None => source.spans()[*index].nonzeros,
    };
    let nonzeros = blocks.iter().map(entries).sum();
    let pieces = blocks.into_iter().map(|(index, rows, common)| match common {
        Some(block) => Ok(Piece::of(block, rows)),
        None => source.take(index).map(Piece::whole),
    });
    let matrix = D::gather(pieces, range.len(), nonzeros, source.shape().columns, ones)?;
    Ok(Part {
        norms2: Vec::new(),
        first: range.start,
        state: Box::default(),
        labels: labels[range.clone()].to_vec(),
        weights: weights.map(|weights| weights[range].to_vec()),
        matrix,
    })
}

impl<D: Matrix> Part<D> {
    /// Computes norms and makes the state, zeros, on the calling thread. `weights` are those of all rows when going by
    /// columns.
    pub fn settle(&mut self, by_columns: bool, weights: Option<&[f64]>) {
        let weigh = |i: usize| match (by_columns, weights) {
            (true, Some(weights)) => self.matrix.row(i).entries().map(|(k, a)| weights[k] * a * a).sum(),
            _ => self.matrix.row(i).norm2(),
        };
        self.norms2 = (0..self.matrix.rows()).map(weigh).collect();
        self.state = (0..self.matrix.rows()).map(|_| SharedF64::new(0.0)).collect();
    }
}

/// All blocks of a source in memory, to be cut by columns.
#[derive(Debug)]
pub struct Blocks {
    blocks: Vec<(usize, Block)>,
    rows: usize,
    columns: usize,
}

impl Blocks {
    /// The blocks taken by each worker, in order.
    pub fn new(taken: Vec<Vec<(usize, Block)>>, rows: usize, columns: usize) -> Self {
        Blocks { blocks: taken.into_iter().flatten().collect(), rows, columns }
    }

    /// Entries in each column of the blocks whose index is `worker` modulo `workers`.
    pub fn count(&self, worker: usize, workers: usize) -> Vec<u64> {
        let mut counts = vec![0; self.columns];
        for (_, block) in self.blocks.iter().skip(worker).step_by(workers) {
            match block {
                Block::Sparse { columns, .. } => columns.iter().for_each(|&column| counts[column as usize] += 1),
                Block::Dense { .. } => counts.iter_mut().for_each(|count| *count += block.rows() as u64),
            }
        }
        counts
    }

    /// Which columns each worker takes, balanced by entries.
    pub fn deal(&self, counts: &[u64], workers: usize) -> Vec<Range<usize>> {
        balanced(&counts.iter().map(|count| count + 4).collect::<Vec<_>>(), workers)
    }

    /// Columns `range`, copied by the calling thread; with `ones`, a column of ones after them.
    pub fn sparse(&self, range: Range<usize>, counts: &[u64], ones: bool) -> Sparse {
        let mut starts: Pages<u64> = Pages::zeroed(range.len() + 1 + usize::from(ones));
        for (k, column) in range.clone().enumerate() {
            starts[k + 1] = starts[k] + counts[column];
        }
        if ones {
            starts[range.len() + 1] = starts[range.len()] + self.rows as u64;
        }
        let entries = *starts.last().expect("one more than the columns") as usize;
        let (mut rows, mut values) = (Pages::<u32>::zeroed(entries), Pages::<f32>::zeroed(entries));
        let mut next: Vec<u64> = starts[..range.len()].to_vec();
        for (first, block) in &self.blocks {
            let Block::Sparse { starts: from, columns, values: all } = block else {
                unreachable!("a sparse source yields sparse blocks");
            };
            for (i, pair) in from.windows(2).enumerate() {
                let (start, end) = (pair[0] as usize, pair[1] as usize);
                // Columns ascend within a row: the range is one run of it.
                let skip = columns[start..end].partition_point(|&column| (column as usize) < range.start);
                for k in start + skip..end {
                    let column = columns[k] as usize;
                    if column >= range.end {
                        break;
                    }
                    let slot = &mut next[column - range.start];
                    rows[*slot as usize] = (first + i) as u32;
                    values[*slot as usize] = all[k];
                    *slot += 1;
                }
            }
        }
        if ones {
            let start = entries - self.rows;
            rows[start..].iter_mut().zip(0..).for_each(|(row, i)| *row = i);
            values[start..].fill(1.0);
        }
        Sparse::new(starts, rows, values, self.rows)
    }

    /// As [`Blocks::sparse`] for dense data.
    pub fn dense(&self, range: Range<usize>, ones: bool) -> Dense {
        let lines = range.len() + usize::from(ones);
        let mut values = Pages::zeroed(lines * self.rows);
        for (first, block) in &self.blocks {
            let Block::Dense { columns, values: all } = block else {
                unreachable!("a dense source yields dense blocks");
            };
            for (i, row) in all.chunks_exact((*columns).max(1)).enumerate() {
                for (k, &value) in row[range.clone()].iter().enumerate() {
                    values[k * self.rows + first + i] = value;
                }
            }
        }
        values[range.len() * self.rows..].fill(1.0);
        Dense::new(values, lines, self.rows)
    }
}

/// Takes every block whose index is `worker` modulo `workers`, with its first row.
///
/// # Errors
/// A damaged block.
pub fn take(source: &dyn Source, worker: usize, workers: usize) -> Result<Vec<(usize, Block)>> {
    let mine = (worker..source.spans().len()).step_by(workers);
    mine.map(|index| Ok((source.spans()[index].first_row, source.take(index)?))).collect()
}

/// Sums worker results coordinate by coordinate.
pub fn total(parts: Vec<Vec<u64>>) -> Vec<u64> {
    let mut sum = Vec::new();
    for part in parts {
        sum.resize(part.len().max(sum.len()), 0);
        sum.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_ranges_cover_everything_in_order() {
        for cost in [vec![], vec![5], vec![1; 10], vec![100, 1, 1, 1, 100], vec![0, 0, 0]] {
            for workers in 1..6 {
                let ranges = balanced(&cost, workers);
                assert_eq!(ranges.len(), workers);
                assert_eq!(ranges.concat_len(), cost.len());
            }
        }
        assert_eq!(balanced(&[1; 10], 2), [0..5, 5..10]);
    }

    trait ConcatLen {
        fn concat_len(&self) -> usize;
    }

    impl ConcatLen for Vec<Range<usize>> {
        fn concat_len(&self) -> usize {
            let mut at = 0;
            for range in self {
                assert_eq!(range.start, at);
                at = range.end;
            }
            at
        }
    }
}
