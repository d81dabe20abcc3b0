//! What is minimised: F(x) = (1/W) Σ wᵢ φ(aᵢᵀx + c, bᵢ) + Σ_j r(x_j), W = Σ wᵢ, and what one term of it tells a method. With a
//! rank, x is (U, V), terms are the stored entries, and uᵢᵀvⱼ stands for aᵢᵀx + c.
//!
//! A gradient is a memo that expands: for a linear model the memo is a scalar in margin space (a slope, or the change
//! of a dual variable), and its expansion is that scalar times the row.

use crate::{
    data::matrix::{Matrix, Row},
    layout::Slots,
    loss::Loss,
    prox::Prox,
};
use std::sync::Arc;

pub mod certificate;
mod origin;

pub use origin::Origin;

/// The constants of a problem.
#[derive(Clone, Debug)]
pub struct Frame {
    /// φ.
    pub loss: Loss,
    /// r.
    pub prox: Prox,
    /// n.
    pub rows: usize,
    /// d, counting a column of ones where one was added.
    pub columns: usize,
    /// Where each column stands in the store, for the methods that go by rows.
    pub slots: Arc<Slots>,
    /// W.
    pub total_weight: f64,
    /// The slot, or by columns the column, of a column of ones that no regulariser touches: an intercept.
    pub free: Option<usize>,
    /// Whether every worker keeps a constant c of its own (`hogwild` with an intercept).
    pub private_constant: bool,
    /// Where a run starts, and what a prox-gradient certificate is relative to.
    pub origin: Origin,
}

impl Frame {
    /// r as it applies to slot `j`, or by columns to column `j`.
    #[inline(always)]
    pub fn prox_of(&self, j: usize) -> Prox {
        if self.free == Some(j) {
            Prox { l1: 0.0, l2: 0.0, lo: f64::NEG_INFINITY, hi: f64::INFINITY }
        } else {
            self.prox
        }
    }

    /// Whether the model has a constant that no regulariser touches; the dual then has the constraint Σ wᵢ αᵢ = 0.
    pub fn has_free_constant(&self) -> bool {
        self.free.is_some() || self.private_constant
    }
}

/// A problem whose terms are functions of one inner product each. For the methods that go by rows, line i is row i and
/// the store holds x; for those that go by columns, line j is column j and the store holds the margins z = Ax.
pub trait Linear: Sync {
    /// Number of lines.
    fn lines(&self) -> usize;
    /// Line `i`.
    fn line(&self, i: usize) -> Row<'_>;
    /// ‖line i‖², each entry weighted by its row's weight when going by columns.
    fn norm2(&self, i: usize) -> f64;
    /// bₖ of margin k.
    fn label(&self, k: usize) -> f64;
    /// wₖ of margin k.
    fn weight(&self, k: usize) -> f64;
    /// Index in the whole problem of line `i`.
    fn global(&self, i: usize) -> usize;
    /// The constants.
    fn frame(&self) -> &Frame;
}

/// A [`Linear`] over one part of the data.
#[derive(Clone, Copy)]
pub struct Glm<'a, D> {
    /// The lines.
    pub matrix: &'a D,
    /// Labels by margin.
    pub labels: &'a [f64],
    /// Weights by margin; `None` for 1.
    pub weights: Option<&'a [f64]>,
    /// Squared norms by line.
    pub norms2: &'a [f64],
    /// Global index of the first line.
    pub first: usize,
    /// The constants.
    pub frame: &'a Frame,
}

impl<D: Matrix> Linear for Glm<'_, D> {
    #[inline(always)]
    fn lines(&self) -> usize {
        self.matrix.rows()
    }

    #[inline(always)]
    fn line(&self, i: usize) -> Row<'_> {
        self.matrix.row(i)
    }

    #[inline(always)]
    fn norm2(&self, i: usize) -> f64 {
        self.norms2[i]
    }

    #[inline(always)]
    fn label(&self, k: usize) -> f64 {
        self.labels[k]
    }

    #[inline(always)]
    fn weight(&self, k: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[k])
    }

    #[inline(always)]
    fn global(&self, i: usize) -> usize {
        self.first + i
    }

    #[inline(always)]
    fn frame(&self) -> &Frame {
        self.frame
    }
}
