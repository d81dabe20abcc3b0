//! A dense matrix that comes column by column, turned into blocks of rows.

use super::Block;
use crate::os::memory::Pages;

/// Entries of a block.
const BLOCK_ENTRIES: usize = 1 << 20;

/// The entries of a matrix, first column first, in parts of any length.
#[derive(Default)]
pub(super) struct ColumnMajor {
    parts: Vec<Pages<f32>>,
    /// Entry that each part begins with.
    starts: Vec<usize>,
    len: usize,
}

impl ColumnMajor {
    /// The next entries.
    pub(super) fn push(&mut self, part: Pages<f32>) {
        if !part.is_empty() {
            self.starts.push(self.len);
            self.len += part.len();
            self.parts.push(part);
        }
    }

    /// Hands on entries `start..start + count`.
    fn walk(&self, start: usize, count: usize, mut take: impl FnMut(f32)) {
        let mut part = self.starts.partition_point(|first| *first <= start).saturating_sub(1);
        let (mut at, end) = (start, start + count);
        while at < end {
            let first = self.starts[part];
            let values = &self.parts[part][at - first..];
            let values = &values[..values.len().min(end - at)];
            values.iter().for_each(|value| take(*value));
            at += values.len();
            part += 1;
        }
    }
}

/// The rows of `matrix`, `rows` × `columns`, in blocks of about a million entries.
///
/// # Panics
/// If `matrix` has not rows × columns entries.
pub(super) fn to_rows(matrix: &ColumnMajor, rows: usize, columns: usize) -> Vec<Block> {
    assert_eq!(matrix.len, rows * columns);
    let rows_a_block = (BLOCK_ENTRIES / columns.max(1)).max(1);
    let mut blocks = Vec::new();
    for first in (0..rows).step_by(rows_a_block) {
        let count = rows_a_block.min(rows - first);
        let mut values = Pages::zeroed(count * columns);
        for column in 0..columns {
            let mut to = values[column..].iter_mut().step_by(columns);
            matrix.walk(column * rows + first, count, |value| *to.next().expect("as many rows") = value);
        }
        blocks.push(Block::Dense { columns, values });
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_i_j_goes_to_row_i_column_j_however_the_parts_are_cut() {
        let (rows, columns) = (700_001, 3);
        for part in [999, 700_001, 2_100_003] {
            let mut matrix = ColumnMajor::default();
            for first in (0..rows * columns).step_by(part) {
                let end = (first + part).min(rows * columns);
                matrix.push(Pages::copied(&(first..end).map(|k| k as f32).collect::<Vec<_>>()));
            }
            assert_eq!(matrix.len, rows * columns);
            let blocks = to_rows(&matrix, rows, columns);
            assert!(blocks.len() > 1);
            let mut row = 0;
            for block in &blocks {
                let Block::Dense { values, .. } = block else { panic!("a dense matrix gave a sparse block") };
                for values in values.chunks_exact(columns) {
                    let right: Vec<f32> = (0..columns).map(|column| (column * rows + row) as f32).collect();
                    assert_eq!(values, right, "row {row}");
                    row += 1;
                }
            }
            assert_eq!(row, rows);
        }
    }
}
