//! Pairs of blocks of parameters: the lines of a bilinear model, in which entry (i, j) of the data is to be uᵢᵀvⱼ.
//!
//! The parameters are U, then V: k numbers for each of n rows, then k for each of d columns. An entry's line says where its
//! two blocks lie; its value is the label of its term.

use super::{Matrix, Row, prefetch};
use crate::os::memory::{Asking, Pages, Residency, Site};
use std::ops::Range;

/// Where uᵢ and vⱼ lie among the parameters: two runs of k that share nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    left: usize,
    right: usize,
    rank: usize,
}

impl Pair {
    /// `rank` parameters from `left` on, and as many from `right` on.
    ///
    /// # Panics
    /// If the first run does not end before the second begins.
    #[inline(always)]
    pub fn new(left: usize, right: usize, rank: usize) -> Self {
        assert!(left + rank <= right);
        Pair { left, right, rank }
    }

    /// k.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Where uᵢ lies.
    #[inline(always)]
    pub fn left(&self) -> Range<usize> {
        self.left..self.left + self.rank
    }

    /// Where vⱼ lies.
    #[inline(always)]
    pub fn right(&self) -> Range<usize> {
        self.right..self.right + self.rank
    }

    /// For what is asked of fixed lines alone.
    #[cold]
    pub(super) fn has_no_values(&self) -> ! {
        panic!("the values of a pair are parameters: what needs fixed lines cannot have it")
    }
}

/// Entries of the data as lines, in row order. 8 bytes a line.
#[derive(Debug)]
pub struct Pairs {
    lefts: Pages<u32>,
    rights: Pages<u32>,
    rank: usize,
    /// n and d of all the data.
    blocks: (usize, usize),
}

impl Pairs {
    /// No lines yet, room for `lines`, of `rank` numbers for each of `rows` rows and of `columns` columns; its pages are to
    /// lie at `site`.
    ///
    /// # Panics
    /// If there are more than 2³² rows or columns.
    pub fn placed(lines: usize, rank: usize, rows: usize, columns: usize, site: &Site) -> Self {
        assert!(rows <= 1 << 32 && columns <= 1 << 32, "rows and columns are numbered in 4 bytes");
        let (lefts, rights) = (Pages::placed(lines, site), Pages::placed(lines, site));
        Pairs { lefts, rights, rank, blocks: (rows, columns) }
    }

    /// Makes line `line` that of entry (`row`, `column`).
    ///
    /// # Panics
    /// If there is no such line, row or column.
    pub fn put(&mut self, line: usize, row: usize, column: usize) {
        assert!(row < self.blocks.0 && column < self.blocks.1);
        (self.lefts[line], self.rights[line]) = (row as u32, column as u32);
    }
}

impl Matrix for Pairs {
    const FIXED: bool = false;

    fn rows(&self) -> usize {
        self.lefts.len()
    }

    fn columns(&self) -> usize {
        self.rank * (self.blocks.0 + self.blocks.1)
    }

    #[inline(always)]
    fn row(&self, i: usize) -> Row<'_> {
        let (left, right) = (self.lefts[i] as usize, self.blocks.0 + self.rights[i] as usize);
        Row::Pair(Pair { left: self.rank * left, right: self.rank * right, rank: self.rank })
    }

    /// A line is 8 bytes, and [`Matrix::prefetch_starts`] has asked for them.
    #[inline(always)]
    fn prefetch(&self, _i: usize) {}

    #[inline(always)]
    fn prefetch_starts(&self, rows: Range<usize>) {
        prefetch(&self.lefts[rows.clone()]);
        prefetch(&self.rights[rows]);
    }

    fn nonzeros(&self) -> u64 {
        2 * (self.rank * self.lefts.len()) as u64
    }

    fn residency(&self, asking: Asking) -> Residency {
        let mut all = self.lefts.settle(asking);
        all.add(&self.rights.settle(asking));
        all
    }
}
