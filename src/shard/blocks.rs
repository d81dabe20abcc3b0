//! All blocks of a source in memory at once: to be cut by columns, to be counted before they are copied, or to be copied
//! more than once.

use crate::{
    data::{
        Block, Source,
        matrix::{Dense, Sparse},
    },
    error::Result,
    os::memory::{Pages, Site},
};
use std::ops::Range;

/// All blocks of a source in memory.
#[derive(Debug)]
pub struct Blocks {
    /// The index and the first row of each, by worker that took it.
    blocks: Vec<(usize, usize, Block)>,
    rows: usize,
    columns: usize,
}

impl Blocks {
    /// The blocks taken by each worker, in order.
    pub fn new(taken: Vec<Vec<(usize, usize, Block)>>, rows: usize, columns: usize) -> Self {
        Blocks { blocks: taken.into_iter().flatten().collect(), rows, columns }
    }

    /// The blocks with their indices, ascending.
    pub(super) fn into_indexed(self) -> Vec<(usize, Block)> {
        let mut blocks: Vec<_> = self.blocks.into_iter().map(|(index, _, block)| (index, block)).collect();
        blocks.sort_by_key(|&(index, _)| index);
        blocks
    }

    /// Entries in each column of every `workers`-th block from the `worker`-th on.
    pub fn count(&self, worker: usize, workers: usize) -> Vec<u64> {
        let mut counts = vec![0; self.columns];
        for (_, _, block) in self.blocks.iter().skip(worker).step_by(workers) {
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

    /// Columns `range`, copied by the calling thread to `site`; with `ones`, a column of ones after them.
    pub fn sparse(&self, range: Range<usize>, counts: &[u64], ones: bool, site: &Site) -> Sparse {
        let mut starts: Pages<u64> = Pages::placed(range.len() + 1 + usize::from(ones), site);
        for (k, column) in range.clone().enumerate() {
            starts[k + 1] = starts[k] + counts[column];
        }
        if ones {
            starts[range.len() + 1] = starts[range.len()] + self.rows as u64;
        }
        let entries = *starts.last().expect("one more than the columns") as usize;
        let (mut rows, mut values) = (Pages::<u32>::placed(entries, site), Pages::<f32>::placed(entries, site));
        let mut next: Vec<u64> = starts[..range.len()].to_vec();
        for (_, first, block) in &self.blocks {
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
    pub fn dense(&self, range: Range<usize>, ones: bool, site: &Site) -> Dense {
        let lines = range.len() + usize::from(ones);
        let mut values = Pages::placed(lines * self.rows, site);
        for (_, first, block) in &self.blocks {
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

/// Takes every block whose index is `worker` modulo `workers`, with its index and its first row.
///
/// # Errors
/// A damaged block.
pub fn take(source: &dyn Source, worker: usize, workers: usize) -> Result<Vec<(usize, usize, Block)>> {
    let mine = (worker..source.spans().len()).step_by(workers);
    mine.map(|index| Ok((index, source.spans()[index].first_row, source.take(index)?))).collect()
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
