//! Rows in memory: what the kernels read. A [`Row`] knows a bound of its columns, checked once when its matrix was
//! made, so that a kernel compares one number a row and not one an entry.

mod kernel;
mod pairs;

pub use kernel::prefetch;
pub use pairs::{Pair, Pairs};

use super::Block;
use crate::{
    error::Result,
    layout::Slots,
    os::memory::{Pages, Residency, Site},
};
use std::ops::Range;

/// One line: how a term's margin z changes with each parameter, ∂z/∂x.
///
/// Of a linear model that is a row (or column) of the data, z = aᵀx, the same whatever x is. Of a bilinear one, z = uᵀv, it
/// is v where u lies and u where v lies: the line only says where, and whoever has x ([`View`](crate::store::View)) takes
/// the rest from there.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// Stored entries only.
    Sparse(SparseRow<'a>),
    /// All entries.
    Dense(&'a [f32]),
    /// Two blocks of parameters, each the other's derivative.
    Pair(Pair),
}

/// The stored entries of a row.
#[derive(Clone, Copy, Debug)]
pub struct SparseRow<'a> {
    columns: &'a [u32],
    values: &'a [f32],
    bound: usize,
}

impl<'a> SparseRow<'a> {
    /// A row whose columns are all below `bound`; as many columns as values.
    ///
    /// # Panics
    /// If they are not.
    pub fn new(columns: &'a [u32], values: &'a [f32], bound: usize) -> Self {
        assert!(columns.len() == values.len() && columns.iter().all(|&c| (c as usize) < bound));
        SparseRow { columns, values, bound }
    }

    /// Column of each entry: all below [`SparseRow::bound`], as many as values. Kernels rely on both.
    #[inline(always)]
    pub fn columns(&self) -> &'a [u32] {
        self.columns
    }

    /// Value of each entry.
    #[inline(always)]
    pub fn values(&self) -> &'a [f32] {
        self.values
    }

    /// Every column is below this.
    #[inline(always)]
    pub fn bound(&self) -> usize {
        self.bound
    }
}

impl<'a> Row<'a> {
    /// Number of parameters that it touches: stored entries, or both blocks of a pair.
    #[inline(always)]
    pub fn nonzeros(&self) -> usize {
        match self {
            Row::Sparse(row) => row.columns.len(),
            Row::Dense(values) => values.len(),
            Row::Pair(pair) => 2 * pair.rank(),
        }
    }

    /// The columns, `None` for all in order, and the values of a line that does not depend on x.
    ///
    /// # Panics
    /// On a pair, whose values are parameters. What needs fixed lines is only ever given a [`Matrix`] that has them.
    fn fixed(&self) -> (Option<&'a [u32]>, &'a [f32]) {
        match self {
            Row::Sparse(row) => (Some(row.columns), row.values),
            Row::Dense(values) => (None, values),
            Row::Pair(pair) => pair.has_no_values(),
        }
    }

    /// The entries as (column, value).
    ///
    /// # Panics
    /// On a pair, whose values are parameters.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let (columns, values) = self.fixed();
        values.iter().enumerate().map(move |(k, &v)| (columns.map_or(k, |c| c[k] as usize), f64::from(v)))
    }

    /// The parameters that it touches.
    pub fn slots(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (columns, count, pair) = match *self {
            Row::Sparse(row) => (Some(row.columns), row.columns.len(), None),
            Row::Dense(values) => (None, values.len(), None),
            Row::Pair(pair) => (None, 0, Some(pair)),
        };
        let fixed = (0..count).map(move |k| columns.map_or(k, |columns| columns[k] as usize));
        fixed.chain(pair.into_iter().flat_map(|pair| pair.left().chain(pair.right())))
    }

    /// ‖a‖².
    ///
    /// # Panics
    /// On a pair, whose values are parameters.
    pub fn norm2(&self) -> f64 {
        let (_, values) = self.fixed();
        // The sum of nothing is −0.0, and a curvature of −0.0 turns the sign of whatever is divided by it.
        values.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>() + 0.0
    }
}

/// Some rows of a block: of one that is the caller's, to be dropped with it, or of one that others copy from too.
#[derive(Debug)]
pub struct Piece<'a> {
    own: Option<Block>,
    common: Option<&'a Block>,
    /// Which rows of the block.
    pub rows: Range<usize>,
}

impl<'a> Piece<'a> {
    /// All of `block`.
    pub fn whole(block: Block) -> Self {
        Piece { rows: 0..block.rows(), own: Some(block), common: None }
    }

    /// `rows` of `block`.
    pub fn of(block: &'a Block, rows: Range<usize>) -> Self {
        Piece { rows, own: None, common: Some(block) }
    }

    /// The block.
    pub fn block(&self) -> &Block {
        self.own.as_ref().or(self.common).expect("a piece is of a block")
    }

    /// Entries of a block's rows.
    pub fn nonzeros(block: &Block, rows: &Range<usize>) -> u64 {
        match block {
            Block::Sparse { starts, .. } => starts[rows.end] - starts[rows.start],
            Block::Dense { columns, .. } => (rows.len() * columns) as u64,
        }
    }
}

/// A run of lines in one piece of memory.
pub trait Matrix: Send + Sync + Sized {
    /// Whether a line is the same whatever the parameters are. Methods that remember a multiple of a line, or ask for its
    /// norm, need that.
    const FIXED: bool;
    /// Number of lines.
    fn rows(&self) -> usize;
    /// Number of columns.
    fn columns(&self) -> usize;
    /// Row `i`.
    fn row(&self, i: usize) -> Row<'_>;
    /// Asks the cache for row `i`.
    fn prefetch(&self, i: usize);
    /// Asks the cache for what says where `rows` are.
    fn prefetch_starts(&self, rows: Range<usize>);
    /// Number of parameters that the lines touch, one after the other: stored entries, or both blocks of each pair.
    fn nonzeros(&self) -> u64;
    /// Where its pages are, at most `pages_max` of each array asked.
    fn residency(&self, pages_max: usize) -> Residency;
}

/// A matrix whose lines are rows of the data.
pub trait Rows: Matrix {
    /// `rows` rows with `nonzeros` entries, the pieces' one after the other, each piece dropped once it is copied. Columns
    /// become the slots that `slots` has for them, ascending within a row; where it has one for a column of ones, each row
    /// gets it. The calling thread writes the memory, which lies at `site`.
    fn gather<'a>(
        pieces: impl Iterator<Item = Result<Piece<'a>>>,
        rows: usize,
        nonzeros: u64,
        slots: &Slots,
        site: &Site,
    ) -> Result<Self>;
    /// Multiplies the entry in row i and column j by `factor(i, j)`.
    fn scale(&mut self, factor: impl Fn(usize, usize) -> f64);
}

/// Compressed rows. 8 bytes an entry and 8 a row.
#[derive(Debug)]
pub struct Sparse {
    starts: Pages<u64>,
    columns: Pages<u32>,
    values: Pages<f32>,
    width: usize,
}

impl Sparse {
    /// Rows from their parts: row i is entries `starts[i]..starts[i + 1]`.
    ///
    /// # Panics
    /// If `starts` does not ascend from 0 to the number of entries, or a column is not below `width`.
    pub fn new(starts: Pages<u64>, columns: Pages<u32>, values: Pages<f32>, width: usize) -> Self {
        let ends = (starts.first(), starts.last());
        assert!(ends == (Some(&0), Some(&(columns.len() as u64))) && columns.len() == values.len());
        assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]), "starts descend");
        assert!(columns.iter().all(|&column| (column as usize) < width), "a column is out of range");
        Sparse { starts, columns, values, width }
    }
}

impl Matrix for Sparse {
    const FIXED: bool = true;

    fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    fn columns(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row(&self, i: usize) -> Row<'_> {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        Row::Sparse(SparseRow {
            columns: &self.columns[range.clone()],
            values: &self.values[range],
            bound: self.width,
        })
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        kernel::prefetch(&self.columns[range.clone()]);
        kernel::prefetch(&self.values[range]);
    }

    #[inline(always)]
    fn prefetch_starts(&self, rows: Range<usize>) {
        kernel::prefetch(&self.starts[rows]);
    }

    fn nonzeros(&self) -> u64 {
        self.columns.len() as u64
    }

    fn residency(&self, pages_max: usize) -> Residency {
        let mut all = self.starts.settle(pages_max);
        all.add(&self.columns.settle(pages_max));
        all.add(&self.values.settle(pages_max));
        all
    }
}

impl Rows for Sparse {
    fn gather<'a>(
        pieces: impl Iterator<Item = Result<Piece<'a>>>,
        rows: usize,
        nonzeros: u64,
        slots: &Slots,
        site: &Site,
    ) -> Result<Self> {
        let entries = nonzeros as usize + if slots.ones().is_some() { rows } else { 0 };
        let mut starts = Pages::placed(rows + 1, site);
        let (mut columns, mut values) = (Pages::placed(entries, site), Pages::placed(entries, site));
        let mut renamed = Vec::new();
        let (mut row, mut end) = (0, 0);
        for piece in pieces {
            let piece = piece?;
            let Block::Sparse { starts: from, columns: block_columns, values: block_values } = piece.block() else {
                unreachable!("a sparse source yields sparse blocks");
            };
            for pair in from[piece.rows.start..=piece.rows.end].windows(2) {
                let range = pair[0] as usize..pair[1] as usize;
                let next = end + range.len();
                if slots.permute() {
                    let slot = |&column: &u32| slots.of(column as usize) as u32;
                    renamed.clear();
                    renamed.extend(
                        block_columns[range.clone()].iter().map(slot).zip(block_values[range].iter().copied()),
                    );
                    renamed.sort_unstable_by_key(|&(slot, _)| slot);
                    for (k, &(slot, value)) in (end..).zip(&renamed) {
                        (columns[k], values[k]) = (slot, value);
                    }
                } else {
                    columns[end..next].copy_from_slice(&block_columns[range.clone()]);
                    values[end..next].copy_from_slice(&block_values[range]);
                }
                end = next;
                if let Some(ones) = slots.ones() {
                    columns[end] = ones as u32;
                    values[end] = 1.0;
                    end += 1;
                }
                row += 1;
                starts[row] = end as u64;
            }
        }
        Ok(Sparse::new(starts, columns, values, slots.width()))
    }

    fn scale(&mut self, factor: impl Fn(usize, usize) -> f64) {
        for i in 0..self.rows() {
            let range = self.starts[i] as usize..self.starts[i + 1] as usize;
            for (value, &column) in self.values[range.clone()].iter_mut().zip(&self.columns[range]) {
                *value = (f64::from(*value) * factor(i, column as usize)) as f32;
            }
        }
    }
}

/// Full rows. 4 bytes an entry.
#[derive(Debug)]
pub struct Dense {
    values: Pages<f32>,
    rows: usize,
    width: usize,
}

impl Dense {
    /// `rows` rows of `width` values each.
    ///
    /// # Panics
    /// If there are not rows × width values.
    pub fn new(values: Pages<f32>, rows: usize, width: usize) -> Self {
        assert_eq!(values.len(), rows * width);
        Dense { values, rows, width }
    }
}

impl Matrix for Dense {
    const FIXED: bool = true;

    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row(&self, i: usize) -> Row<'_> {
        Row::Dense(&self.values[i * self.width..(i + 1) * self.width])
    }

    /// A dense row is a stream that the hardware fetches ahead by itself.
    #[inline(always)]
    fn prefetch(&self, _i: usize) {}

    #[inline(always)]
    fn prefetch_starts(&self, _rows: Range<usize>) {}

    fn nonzeros(&self) -> u64 {
        self.values.len() as u64
    }

    fn residency(&self, pages_max: usize) -> Residency {
        self.values.settle(pages_max)
    }
}

impl Rows for Dense {
    fn gather<'a>(
        pieces: impl Iterator<Item = Result<Piece<'a>>>,
        rows: usize,
        _nonzeros: u64,
        slots: &Slots,
        site: &Site,
    ) -> Result<Self> {
        // Every row touches every column: a dense matrix has no holes and no other order.
        let (width, stride) = (slots.columns(), slots.width());
        let mut values = Pages::placed(rows * stride, site);
        let mut row = 0;
        for piece in pieces {
            let piece = piece?;
            let Block::Dense { columns, values: from } = piece.block() else {
                unreachable!("a dense source yields dense blocks");
            };
            let range = piece.rows.start * columns..piece.rows.end * columns;
            for source in from[range].chunks_exact((*columns).max(1)) {
                let target = &mut values[row * stride..(row + 1) * stride];
                target[..width].copy_from_slice(source);
                target[width..].fill(1.0);
                row += 1;
            }
        }
        Ok(Dense::new(values, rows, stride))
    }

    fn scale(&mut self, factor: impl Fn(usize, usize) -> f64) {
        let width = self.width;
        for (k, value) in self.values.iter_mut().enumerate() {
            *value = (f64::from(*value) * factor(k / width, k % width)) as f32;
        }
    }
}
