//! [`InMemory`]: rows that were read from text, or given by the caller, as a [`Source`] that hands each block out once.

use super::{Block, BlockSpan, Data, Shape, Source};
use crate::{
    error::{Error, Result},
    os::memory::{Home, Pages, Site, Zeroed},
};
use ndarray::ArrayView2;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Entries of a block that is made from rows in memory.
const BLOCK_ENTRIES: usize = 1 << 20;

/// Rows held in memory. Each block is given away by the first [`Source::take`] of it, so that the memory is freed as
/// the rows are copied to where the plan wants them.
pub struct InMemory {
    path: PathBuf,
    shape: Shape,
    spans: Vec<BlockSpan>,
    blocks: Vec<Mutex<Option<Block>>>,
    labels: Vec<f64>,
    /// Subtracted from every column when a block is taken: 1 where columns were numbered from 1.
    base: u32,
}

impl InMemory {
    /// Of blocks in row order whose columns are numbered from `base`, and at least `columns` columns.
    pub(super) fn new(path: &Path, blocks: Vec<Block>, labels: Vec<f64>, base: u32, columns: usize) -> Self {
        let mut spans = Vec::with_capacity(blocks.len());
        let mut shape = Shape { rows: 0, columns, nonzeros: 0, dense: false };
        for block in &blocks {
            let nonzeros = match block {
                Block::Sparse { columns, .. } => columns.len() as u64,
                Block::Dense { values, .. } => values.len() as u64,
            };
            shape.dense |= matches!(block, Block::Dense { .. });
            spans.push(BlockSpan { first_row: shape.rows, rows: block.rows(), nonzeros });
            shape.rows += block.rows();
            shape.nonzeros += nonzeros;
        }
        let blocks = blocks.into_iter().map(|block| Mutex::new(Some(block))).collect();
        InMemory { path: path.to_path_buf(), shape, spans, blocks, labels, base }
    }
}

impl Source for InMemory {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn spans(&self) -> &[BlockSpan] {
        &self.spans
    }

    fn take(&self, index: usize) -> Result<Block> {
        let taken = self.blocks[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut block = taken.ok_or_else(|| {
            let what = format!("block {index} of the rows in memory was already taken");
            Error::data(&self.path, None, what, "each block is given away once; read the data again")
        })?;
        if let (Block::Sparse { columns, .. }, 1..) = (&mut block, self.base) {
            columns.iter_mut().for_each(|column| *column -= self.base);
        }
        Ok(block)
    }

    fn labels(&self) -> Result<Vec<f64>> {
        Ok(self.labels.clone())
    }

    fn held_bytes(&self) -> BTreeMap<u32, u64> {
        let mut held = BTreeMap::new();
        for block in &self.blocks {
            match &*block.lock().unwrap_or_else(PoisonError::into_inner) {
                Some(Block::Sparse { columns, values, .. }) => {
                    lying(columns, &mut held);
                    lying(values, &mut held);
                }
                Some(Block::Dense { values, .. }) => lying(values, &mut held),
                None => {}
            }
        }
        held
    }
}

/// Adds where the array lies, by 16 of its pages.
fn lying<T>(array: &Pages<T>, held: &mut BTreeMap<u32, u64>) {
    let (found, size) = (array.record(16), size_of_val(&array[..]) as u64);
    if found.not_told.is_some() {
        // Where the kernel does not say, it places nothing either: only the sum counts.
        *held.entry(0).or_default() += size;
    }
    for (&node, &bytes) in &found.bytes_by_node {
        *held.entry(node).or_default() += size * bytes / found.bytes_placed().max(1);
    }
}

/// A data set from sparse rows: `rows[i]` lists (column from 0, value) in strictly ascending order of columns,
/// `labels[i]` is its label, and there are `columns` columns or as many as the rows need if that is more.
///
/// # Errors
/// No rows, another number of labels than of rows, columns that are not strictly ascending, a value or label that is
/// not finite: named by row.
///
/// ```
/// let rows = [vec![(0, 1.0), (2, 0.5)], vec![], vec![(1, -2.0)]];
/// let data = farrow::data::from_rows(&rows, &[1.0, -1.0, 1.0], 3)?;
/// assert_eq!(data.source.shape().nonzeros, 3);
/// # Ok::<(), farrow::error::Error>(())
/// ```
pub fn from_rows<R: AsRef<[(u32, f32)]>>(rows: &[R], labels: &[f64], columns: usize) -> Result<Data> {
    check_labels(rows.len(), labels)?;
    let mut blocks = Vec::new();
    let mut builder = SparseBuilder::default();
    let mut columns = columns;
    for (i, row) in rows.iter().enumerate() {
        let row = row.as_ref();
        for (k, &(column, value)) in row.iter().enumerate() {
            if k > 0 && column <= row[k - 1].0 {
                let what = format!("row {i} has column {column} after column {}", row[k - 1].0);
                return Err(fault(what, "sort each row by column and merge repeated columns"));
            }
            check_value(i, column as usize, value)?;
            builder.push(column, value);
        }
        columns = columns.max(row.last().map_or(0, |last| last.0 as usize + 1));
        builder.end_row();
        if builder.is_full() {
            blocks.push(builder.finish(false));
        }
    }
    if builder.rows() > 0 {
        blocks.push(builder.finish(false));
    }
    Ok(in_memory(blocks, labels, columns))
}

/// A data set from a dense matrix, one row a term, and the label of every row.
///
/// # Errors
/// No rows, no columns, another number of labels than of rows, a value or label that is not finite.
pub fn from_dense(matrix: ArrayView2<'_, f32>, labels: &[f64]) -> Result<Data> {
    check_labels(matrix.nrows(), labels)?;
    let columns = matrix.ncols();
    if columns == 0 {
        return Err(fault("a matrix without columns".into(), "give at least one column"));
    }
    for ((row, column), value) in matrix.indexed_iter() {
        check_value(row, column, *value)?;
    }
    let rows_a_block = (BLOCK_ENTRIES / columns).max(1);
    let blocks = matrix.axis_chunks_iter(ndarray::Axis(0), rows_a_block).map(|rows| {
        let mut values = Pages::zeroed(rows.len());
        values.iter_mut().zip(rows.iter()).for_each(|(to, from)| *to = *from);
        Block::Dense { columns, values }
    });
    Ok(in_memory(blocks.collect(), labels, columns))
}

fn in_memory(blocks: Vec<Block>, labels: &[f64], columns: usize) -> Data {
    let path = Path::new(NAME);
    Data {
        path: path.to_path_buf(),
        source: Box::new(InMemory::new(path, blocks, labels.to_vec(), 0, columns)),
        weights: None,
    }
}

/// What data that came from no file are called in messages.
const NAME: &str = "(memory)";

fn fault(what: String, remedy: &str) -> Error {
    Error::data(Path::new(NAME), None, what, remedy)
}

fn check_labels(rows: usize, labels: &[f64]) -> Result<()> {
    if rows == 0 {
        return Err(fault("no rows".into(), "give at least one row"));
    }
    if labels.len() != rows {
        return Err(fault(format!("{} labels for {rows} rows", labels.len()), "give one label a row"));
    }
    match labels.iter().position(|label| !label.is_finite()) {
        Some(i) => Err(fault(format!("the label of row {i} is {}", labels[i]), "labels are finite numbers")),
        None => Ok(()),
    }
}

fn check_value(row: usize, column: usize, value: f32) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(fault(format!("row {row} has {value} in column {column}"), "values are finite numbers"))
}

/// Sparse rows being gathered: scratch that grows, copied into pages of the exact size when a block is full.
#[derive(Default)]
pub(super) struct SparseBuilder {
    /// Ends of the rows.
    ends: Vec<u64>,
    /// Column and value of each entry, together so that an entry is one push.
    pub(super) entries: Vec<(u32, f32)>,
}

impl SparseBuilder {
    /// One more entry of the row at hand.
    #[inline]
    pub(super) fn push(&mut self, column: u32, value: f32) {
        self.entries.push((column, value));
    }

    /// The row at hand is complete.
    pub(super) fn end_row(&mut self) {
        self.ends.push(self.entries.len() as u64);
    }

    /// Where the row at hand begins.
    pub(super) fn row_start(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Whether the row at hand has entries.
    pub(super) fn has_row_begun(&self) -> bool {
        self.entries.len() > self.row_start()
    }

    /// Complete rows.
    pub(super) fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is enough for a block.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= BLOCK_ENTRIES
    }

    /// Forgets all, keeps the room.
    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.entries.clear();
    }

    /// The block, and an empty builder; with `huge`, in huge pages as far as it fills them.
    pub(super) fn finish(&mut self, huge: bool) -> Block {
        let mut starts = Vec::with_capacity(self.ends.len() + 1);
        starts.push(0);
        starts.extend_from_slice(&self.ends);
        let (mut columns, mut values) = (pages(self.entries.len(), huge), pages(self.entries.len(), huge));
        for ((column, value), entry) in columns.iter_mut().zip(values.iter_mut()).zip(&self.entries) {
            (*column, *value) = *entry;
        }
        self.clear();
        Block::Sparse { starts, columns, values }
    }
}

/// Pages for `len` values of 4 bytes: huge ones if they are wanted and it has any, else without a word to the kernel.
fn pages<T: Zeroed>(len: usize, huge: bool) -> Pages<T> {
    const HUGE_BYTES: usize = 2 << 20;
    if huge && len * size_of::<T>() >= HUGE_BYTES {
        Pages::placed(len, &Site::at(Home::FirstTouch))
    } else {
        Pages::zeroed(len)
    }
}
