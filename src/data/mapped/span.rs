//! How rows are cut into blocks: of about 256 Ki entries, larger where that would make too many of them.

use super::{BlockSpan, Shape, header::DAMAGED};
use crate::error::{Error, Result};
use std::path::Path;

/// Entries of a block, unless the data are so large that this would make too many blocks.
const ENTRIES: u64 = 1 << 18;
/// Rows of a block at most, likewise: rows may be empty.
const ROWS: u64 = 1 << 16;
/// At three blocks or less for each of these, `SPANS_MAX` is kept.
const PARTS: u64 = 1 << 14;

/// The most entries and rows in a block that has more than one row.
fn limits(shape: Shape) -> (u64, u64) {
    (ENTRIES.max(shape.nonzeros / PARTS), ROWS.max(shape.rows as u64 / PARTS))
}

/// Blocks of whole dense rows.
pub(super) fn dense(shape: Shape) -> Vec<BlockSpan> {
    let rows_a_block = (limits(shape).0 as usize / shape.columns.max(1)).max(1);
    let starts = (0..shape.rows).step_by(rows_a_block);
    let span = |first_row: usize| {
        let rows = rows_a_block.min(shape.rows - first_row);
        BlockSpan { first_row, rows, nonzeros: rows as u64 * shape.columns as u64 }
    };
    starts.map(span).collect()
}

/// Cuts sparse rows into blocks as they come by.
#[derive(Debug)]
pub(super) struct Cutter {
    limits: (u64, u64),
    begins: Vec<[u64; 2]>,
    rows: u64,
    entries: u64,
}

impl Cutter {
    pub(super) fn new(shape: Shape) -> Self {
        Cutter { limits: limits(shape), begins: Vec::new(), rows: 0, entries: 0 }
    }

    /// The next row has `entries` entries.
    pub(super) fn row(&mut self, entries: u64) {
        let full = match self.begins.last() {
            None => true,
            Some(&[row, entry]) => {
                self.rows - row >= self.limits.1 || self.entries + entries - entry > self.limits.0
            }
        };
        if full {
            self.begins.push([self.rows, self.entries]);
        }
        self.rows += 1;
        self.entries += entries;
    }

    /// First row and first entry of every block.
    pub(super) fn finish(self) -> Vec<[u64; 2]> {
        self.begins
    }
}

/// The spans of a list of blocks, checked against the shape.
pub(super) fn decode(path: &Path, shape: Shape, begins: &[[u64; 2]]) -> Result<Vec<BlockSpan>> {
    let end = [shape.rows as u64, shape.nonzeros];
    let first = begins.first().copied().unwrap_or(end);
    let limits = limits(shape);
    let mut spans = Vec::with_capacity(begins.len());
    for (k, &[row, entry]) in begins.iter().enumerate() {
        let next = begins.get(k + 1).copied().unwrap_or(end);
        let (rows, entries) = (next[0].checked_sub(row), next[1].checked_sub(entry));
        match (rows, entries) {
            (Some(1), Some(nonzeros)) if nonzeros <= shape.columns as u64 => {
                spans.push(BlockSpan { first_row: row as usize, rows: 1, nonzeros });
            }
            (Some(rows), Some(nonzeros)) if rows >= 1 && rows <= limits.1 && nonzeros <= limits.0 => {
                spans.push(BlockSpan { first_row: row as usize, rows: rows as usize, nonzeros });
            }
            _ => {
                let what =
                    format!("block {k} of the list of blocks goes from row {row}, entry {entry} to {next:?}");
                return Err(Error::data(path, None, what, DAMAGED));
            }
        }
    }
    if first != [0, 0] && first != end || first == end && end != [0, 0] {
        let what = format!("the list of blocks begins at row {}, entry {}", first[0], first[1]);
        return Err(Error::data(path, None, what, DAMAGED));
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_rows_never_outnumber_the_limit() {
        // Rows of just over half the limit make the most blocks: one each.
        let row = ENTRIES / 2 + 1;
        for rows in [10, 70_000_u64] {
            let shape = Shape { rows: rows as usize, columns: 1 << 20, nonzeros: rows * row, dense: false };
            let mut cutter = Cutter::new(shape);
            (0..rows).for_each(|_| cutter.row(row));
            let begins = cutter.finish();
            assert!(begins.len() as u64 <= super::super::header::SPANS_MAX);
            let spans = decode(Path::new("x"), shape, &begins).unwrap();
            assert_eq!(spans.iter().map(|span| span.nonzeros).sum::<u64>(), shape.nonzeros);
            assert_eq!(spans.iter().map(|span| span.rows).sum::<usize>(), shape.rows);
        }
    }
}
