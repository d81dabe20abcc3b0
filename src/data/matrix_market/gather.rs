//! Entries in any order → blocks of rows: count the entries of every row, give each row its place, drop each entry
//! into its row, sort the rows that need it.

use super::Part;
use crate::{
    data::{Block, Duplicates},
    error::{Error, Result},
    os::memory::Pages,
};
use std::path::Path;

/// A block ends with the row that reaches this many entries, or has this many rows.
const BLOCK_ENTRIES: u64 = 1 << 20;

/// The `rows` rows that `parts` make up. Entries that stand twice are treated as `duplicates` says.
///
/// # Errors
/// An entry that stands twice, if that is an error; more rows than memory.
pub(super) fn rows(parts: Vec<Part>, rows: usize, duplicates: Duplicates, path: &Path) -> Result<Vec<Block>> {
    let mut next: Vec<u64> = Vec::new();
    next.try_reserve_exact(rows + 1).map_err(|_| {
        let what = format!("{rows} rows are more than memory holds");
        Error::data(path, None, what, "is the size line right?")
    })?;
    next.resize(rows + 1, 0);
    for part in &parts {
        part.rows.iter().for_each(|row| next[*row as usize + 1] += 1);
    }
    (0..rows).for_each(|row| next[row + 1] += next[row]);
    let mut blocks = cut(&next);
    let first_entries: Vec<u64> = blocks.iter().map(|block| next[block.first_row]).collect();
    let block_of = |entry: u64| first_entries.partition_point(|first| *first <= entry) - 1;
    for part in parts {
        for (k, row) in part.rows.iter().enumerate() {
            let entry = next[*row as usize];
            next[*row as usize] += 1;
            let number = block_of(entry);
            let at = (entry - first_entries[number]) as usize;
            blocks[number].columns[at] = part.columns[k];
            blocks[number].values[at] = part.values[k];
        }
    }
    blocks.into_iter().map(|block| block.finish(duplicates, path)).collect()
}

/// A block being filled.
struct Gathered {
    first_row: usize,
    starts: Vec<u64>,
    columns: Pages<u32>,
    values: Pages<f32>,
}

/// Empty blocks for the rows that begin at `starts[..n]`, the last of which ends at `starts[n]`.
fn cut(starts: &[u64]) -> Vec<Gathered> {
    let rows = starts.len() - 1;
    let (mut blocks, mut first) = (Vec::new(), 0);
    while first < rows {
        let mut end = first + 1;
        while end < rows && starts[end] - starts[first] < BLOCK_ENTRIES && end - first < BLOCK_ENTRIES as usize {
            end += 1;
        }
        // A block of nothing shares its first entry with the next; the search for an entry's block finds the last.
        let entries = (starts[end] - starts[first]) as usize;
        let starts = starts[first..=end].iter().map(|start| start - starts[first]).collect();
        let (columns, values) = (Pages::zeroed(entries), Pages::zeroed(entries));
        blocks.push(Gathered { first_row: first, starts, columns, values });
        first = end;
    }
    blocks
}

impl Gathered {
    fn finish(mut self, duplicates: Duplicates, path: &Path) -> Result<Block> {
        let mut order: Vec<(u32, f32)> = Vec::new();
        let (mut kept, mut start) = (0, 0);
        for row in 0..self.starts.len() - 1 {
            let (first, end) = (start, self.starts[row + 1] as usize);
            start = end;
            order.clear();
            order.extend(self.columns[first..end].iter().copied().zip(self.values[first..end].iter().copied()));
            if !order.is_sorted_by(|a, b| a.0 < b.0) {
                order.sort_by_key(|entry| entry.0);
                self.merge(row, &mut order, duplicates, path)?;
            }
            for &(column, value) in &order {
                self.columns[kept] = column;
                self.values[kept] = value;
                kept += 1;
            }
            self.starts[row + 1] = kept as u64;
        }
        let (columns, values) = if kept == self.columns.len() {
            (self.columns, self.values)
        } else {
            (Pages::copied(&self.columns[..kept]), Pages::copied(&self.values[..kept]))
        };
        Ok(Block::Sparse { starts: self.starts, columns, values })
    }

    /// Merges neighbours of the same column.
    fn merge(&self, row: usize, order: &mut Vec<(u32, f32)>, duplicates: Duplicates, path: &Path) -> Result<()> {
        let mut twice = None;
        order.dedup_by(|later, first| {
            if later.0 != first.0 {
                return false;
            }
            twice.get_or_insert(first.0);
            match duplicates {
                Duplicates::Sum => first.1 += later.1,
                Duplicates::Last | Duplicates::Error => first.1 = later.1,
            }
            true
        });
        let place = |column: u32| format!("row {}, column {}", self.first_row + row + 1, u64::from(column) + 1);
        if let Some(column) = twice.filter(|_| duplicates == Duplicates::Error) {
            let what = format!("the entry at {} (from 1) stands twice", place(column));
            return Err(Error::data(path, None, what, super::super::DUPLICATES));
        }
        if let Some((column, _)) = order.iter().find(|entry| !entry.1.is_finite()) {
            let what = format!("the values at {} (from 1) add up to more than 3.4e38", place(*column));
            return Err(Error::data(path, None, what, "scale the data"));
        }
        Ok(())
    }
}
