//! One block of rows, copied out of the file and checked on the copy: offsets that ascend, columns in range and
//! strictly ascending within a row, values that are finite.

use super::{
    Block, BlockSpan, Shape,
    header::{DAMAGED, Kind},
    sections::Sections,
};
use crate::{
    error::{Error, Result},
    os::memory::Pages,
};
use std::path::Path;

/// The block at `span`, whose first entry is `entry`, copied; its part of the file is let go of.
pub(super) fn copy(sections: &Sections, shape: Shape, span: BlockSpan, entry: u64) -> Result<Block> {
    sections.still_whole()?;
    let entries = entry..entry + span.nonzeros;
    let values = Pages::copied(sections.read::<f32>(Kind::Values, Some(entries.clone()))?);
    sections.release(Kind::Values, entries.clone());
    let block = if shape.dense {
        Block::Dense { columns: shape.columns, values }
    } else {
        let rows = span.first_row as u64..(span.first_row + span.rows) as u64 + 1;
        let starts = sections.read::<u64>(Kind::Starts, Some(rows.clone()))?;
        // Wrapping: a start below the first shows up as a huge one, which `check` refuses.
        let starts = starts.iter().map(|start| start.wrapping_sub(entry)).collect();
        sections.release(Kind::Starts, rows);
        let columns = Pages::copied(sections.read::<u32>(Kind::Columns, Some(entries.clone()))?);
        sections.release(Kind::Columns, entries);
        Block::Sparse { starts, columns, values }
    };
    check(sections.path(), &block, span.first_row, shape.columns)?;
    Ok(block)
}

/// Checks a block of a data set with `columns` columns that begins at row `first_row`.
pub(super) fn check(path: &Path, block: &Block, first_row: usize, columns: usize) -> Result<()> {
    let fault = |what: String| Err(Error::data(path, None, what, DAMAGED));
    match block {
        Block::Dense { columns: width, values } => {
            if *width != columns || values.len() % width.max(&1) != 0 {
                return fault(format!("a block of {} values in rows of {width}, not {columns}", values.len()));
            }
            match values.iter().position(|value| !value.is_finite()) {
                None => Ok(()),
                Some(at) => {
                    let (row, column) = (first_row + at / columns, at % columns);
                    fault(format!("row {row} (from 0) has {} in column {column}; values are finite", values[at]))
                }
            }
        }
        Block::Sparse { starts, columns: indices, values } => {
            let ends = (starts.first().copied(), starts.last().copied());
            if ends != (Some(0), Some(indices.len() as u64)) || indices.len() != values.len() {
                return fault(format!(
                    "the rows from {first_row} (from 0) do not cover the {} entries of their block",
                    indices.len()
                ));
            }
            for (i, pair) in starts.windows(2).enumerate() {
                let row = first_row + i;
                if pair[0] > pair[1] || pair[1] > indices.len() as u64 {
                    return fault(format!("row {row} (from 0) ends before it starts"));
                }
                let range = pair[0] as usize..pair[1] as usize;
                if let Some(what) = row_fault(&indices[range.clone()], &values[range], columns) {
                    return fault(format!("row {row} (from 0) {what}"));
                }
            }
            Ok(())
        }
    }
}

fn row_fault(indices: &[u32], values: &[f32], columns: usize) -> Option<String> {
    // Ascending, so the last is the largest.
    if let Some(pair) = indices.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Some(format!("has column {} before column {}; columns ascend strictly", pair[0], pair[1]));
    }
    if let Some(last) = indices.last().filter(|&&last| last as usize >= columns) {
        return Some(format!("has column {last} (from 0) of {columns}"));
    }
    let at = values.iter().position(|value| !value.is_finite())?;
    Some(format!("has {} in column {}; values are finite", values[at], indices[at]))
}

/// Checks that labels are finite.
pub(super) fn check_labels(path: &Path, labels: &[f64]) -> Result<()> {
    match labels.iter().position(|label| !label.is_finite()) {
        None => Ok(()),
        Some(row) => {
            let what = format!("row {row} (from 0) has label {}; labels are finite", labels[row]);
            Err(Error::data(path, None, what, DAMAGED))
        }
    }
}

/// Checks that weights are finite and above 0.
pub(super) fn check_weights(path: &Path, weights: &[f64]) -> Result<()> {
    match weights.iter().position(|weight| !(weight.is_finite() && *weight > 0.0)) {
        None => Ok(()),
        Some(row) => {
            let what = format!("row {row} (from 0) has weight {}; weights are finite and above 0", weights[row]);
            Err(Error::data(path, None, what, DAMAGED))
        }
    }
}
