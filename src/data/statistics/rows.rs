//! All rows of a source in memory, to be gone over many times.

use crate::{
    data::{Block, Shape, Source},
    error::Result,
};

/// The rows of a data set, as its blocks hold them.
#[derive(Debug)]
pub struct Rows {
    shape: Shape,
    blocks: Vec<Block>,
    /// First row of each block.
    first: Vec<usize>,
}

/// One row: its columns (`None`: all) and their values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) columns: Option<&'a [u32]>,
    pub(super) values: &'a [f32],
}

impl Rows {
    /// Takes all blocks of `source`.
    ///
    /// # Errors
    /// A block that cannot be had.
    pub fn take(source: &dyn Source) -> Result<Self> {
        let first = source.spans().iter().map(|span| span.first_row).collect();
        let blocks: Result<Vec<Block>> = (0..source.spans().len()).map(|k| source.take(k)).collect();
        Ok(Rows { shape: source.shape(), blocks: blocks?, first })
    }

    /// n, d and the number of entries.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Row `i`.
    pub(super) fn line(&self, i: usize) -> Line<'_> {
        let k = self.first.partition_point(|&first| first <= i) - 1;
        line(&self.blocks[k], i - self.first[k])
    }

    /// All rows in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Line<'_>> {
        self.blocks.iter().flat_map(|block| (0..block.rows()).map(move |i| line(block, i)))
    }
}

fn line(block: &Block, i: usize) -> Line<'_> {
    match block {
        Block::Sparse { starts, columns, values } => {
            let range = starts[i] as usize..starts[i + 1] as usize;
            Line { columns: Some(&columns[range.clone()]), values: &values[range] }
        }
        Block::Dense { columns, values } => Line { columns: None, values: &values[i * columns..(i + 1) * columns] },
    }
}

impl Line<'_> {
    /// ‖a‖².
    pub(super) fn norm2(&self) -> f64 {
        self.values.iter().map(|&value| f64::from(value) * f64::from(value)).sum()
    }

    /// (column, value) of each entry.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let columns = self.columns;
        let name = move |k: usize| columns.map_or(k, |columns| columns[k] as usize);
        self.values.iter().enumerate().map(move |(k, &value)| (name(k), f64::from(value)))
    }

    /// aᵀv.
    pub(super) fn dot(&self, v: &[f64]) -> f64 {
        self.entries().map(|(j, value)| value * v[j]).sum()
    }

    /// out += scale · a.
    pub(super) fn add_to(&self, out: &mut [f64], scale: f64) {
        self.entries().for_each(|(j, value)| out[j] += scale * value);
    }
}
