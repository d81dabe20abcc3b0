//! Data: a [`Source`] yields blocks of rows, from a text file parsed on all workers or from the mapped binary form;
//! `shard.rs` copies them to where the plan wants them. Checked once, read-only from then on.

pub mod matrix;

use crate::{error::Result, os::memory::Pages};
use serde::Serialize;
use std::{collections::BTreeMap, path::PathBuf};

mod delimited;
pub mod export;
mod format;
pub mod generate;
mod input;
mod libsvm;
pub mod mapped;
mod matrix_market;
mod memory;
mod npy;
mod number;
mod options;
mod overlay;
mod per_row;
mod ranges;
mod reading;
mod repeated;
mod room;
mod slabs;
pub mod statistics;
mod stream;
mod turn;

pub use format::Format;
pub use memory::{InMemory, from_dense, from_rows};
use options::DUPLICATES;
pub use options::{Duplicates, IndexBase, LabelColumn, ReadOptions};
pub use reading::{read, read_from};
pub use repeated::Repeated;

/// The size of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// n.
    pub rows: usize,
    /// d.
    pub columns: usize,
    /// Stored entries; n × d for dense data.
    pub nonzeros: u64,
    /// Whether rows are stored densely.
    pub dense: bool,
}

/// Consecutive rows.
#[derive(Debug)]
pub enum Block {
    /// Row i is entries `starts[i]..starts[i + 1]`, columns strictly ascending.
    Sparse {
        /// Rows + 1 offsets, the first 0.
        starts: Vec<u64>,
        /// Column of each entry, from 0.
        columns: Pages<u32>,
        /// Value of each entry.
        values: Pages<f32>,
    },
    /// Rows one after the other, `columns` values each.
    Dense {
        /// d.
        columns: usize,
        /// rows × d values.
        values: Pages<f32>,
    },
}

impl Block {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Block::Sparse { starts, .. } => starts.len() - 1,
            Block::Dense { columns, values } => values.len().checked_div(*columns).unwrap_or(0),
        }
    }

    /// Calls `f` with the column and the value of each stored entry of row `row`, in order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn each(&self, row: usize, mut f: impl FnMut(usize, f32)) {
        match self {
            Block::Sparse { starts, columns, values } => {
                let range = starts[row] as usize..starts[row + 1] as usize;
                let entries = columns[range.clone()].iter().zip(&values[range]);
                entries.for_each(|(&column, &value)| f(column as usize, value));
            }
            Block::Dense { columns, values } => {
                let entries = values[row * columns..(row + 1) * columns].iter().enumerate();
                entries.for_each(|(column, &value)| f(column, value));
            }
        }
    }
}

/// Where one block lies in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSpan {
    /// Its first row.
    pub first_row: usize,
    /// Its number of rows.
    pub rows: usize,
    /// Its number of entries.
    pub nonzeros: u64,
}

/// A data set that can be copied out block by block, by many threads at once.
pub trait Source: Send + Sync {
    /// n, d and the number of entries.
    fn shape(&self) -> Shape;
    /// The blocks in row order, covering all rows.
    fn spans(&self) -> &[BlockSpan];
    /// Block `index`, checked. A parsed source gives each block away once, so that memory is freed as it is copied.
    ///
    /// # Errors
    /// A block whose checksum or bounds are wrong, named.
    fn take(&self, index: usize) -> Result<Block>;
    /// The label of every row, as in the file.
    ///
    /// # Errors
    /// As [`Source::take`].
    fn labels(&self) -> Result<Vec<f64>>;
    /// Bytes of memory that blocks not taken yet hold, on each node by the system's number, as far as a few pages of each
    /// tell; empty for a source that reads blocks when they are taken.
    fn held_bytes(&self) -> BTreeMap<u32, u64> {
        BTreeMap::new()
    }
}

/// A named data set with optional weights.
pub struct Data {
    /// The file, `-` for standard input.
    pub path: PathBuf,
    /// The rows.
    pub source: Box<dyn Source>,
    /// Weight of every row, > 0; `None` for 1.
    pub weights: Option<Vec<f64>>,
}
