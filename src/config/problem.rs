//! `[problem]`: what is minimised.

use crate::{data::Shape, loss::Loss, prox::Prox};
use serde::Serialize;

/// `--class-weight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// 1 for both classes.
    None,
    /// n / (2 × the number of rows of the class).
    Balanced,
}

/// `--normalize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalize {
    /// Leave the data as they are.
    None,
    /// Scale every row to Euclidean norm 1; the model remembers it and predicts accordingly.
    Rows,
    /// Scale every column to root mean square 1 while solving; coefficients are reported in the input's scale.
    Columns,
}

/// `[problem]`: F(x) = (1/Σw) Σ wᵢ φ(aᵢᵀx, bᵢ) + λ₁‖x‖₁ + (λ₂/2)‖x‖² + an indicator; with a rank
/// F(U, V) = (1/Σw) Σ wᵢ φ(uᵢᵀvⱼ, aᵢⱼ) over the stored entries (i, j), and the same of all coordinates of U and V.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// φ.
    pub loss: Loss,
    /// λ₁ ≥ 0.
    pub l1: f64,
    /// λ₂ ≥ 0, or `1/n`.
    pub l2: L2,
    /// The constraint set: whole space, a box, or the non-negative orthant.
    pub constraint: Constraint,
    /// Whether an unpenalised constant is fitted.
    pub intercept: bool,
    /// Weights by class.
    pub class_weight: ClassWeight,
    /// Scaling of the data.
    pub normalize: Normalize,
    /// k of a bilinear model, in which the stored entry (i, j) is to be uᵢᵀvⱼ, uᵢ and vⱼ of k numbers each; `None` for the
    /// linear one.
    pub rank: Option<usize>,
}

/// λ₂ as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum L2 {
    /// A number.
    Value(f64),
    /// 1/n, n the number of terms: of rows, or with a rank of stored entries.
    OneOverN,
}

/// The set that the coefficients are kept in (`--prox box:LO:HI`, `--prox non-negative`; `none` otherwise).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constraint {
    /// No constraint.
    None,
    /// Every coefficient in [lo, hi], lo ≤ 0 ≤ hi.
    Box {
        /// Lower bound.
        lo: f64,
        /// Upper bound.
        hi: f64,
    },
    /// Every coefficient ≥ 0.
    NonNegative,
}

impl Problem {
    /// The largest rank.
    pub const RANK_MAX: usize = 1 << 16;

    /// Number of terms of F on data of `shape`: rows, or with a rank stored entries.
    pub fn terms(&self, shape: &Shape) -> usize {
        if self.rank.is_some() { shape.nonzeros as usize } else { shape.rows }
    }

    /// The regulariser as a prox on one coordinate, λ₂ resolved for `terms` terms.
    pub fn prox(&self, terms: usize) -> Prox {
        let (lo, hi) = match self.constraint {
            Constraint::None => (f64::NEG_INFINITY, f64::INFINITY),
            Constraint::Box { lo, hi } => (lo, hi),
            Constraint::NonNegative => (0.0, f64::INFINITY),
        };
        let l2 = match self.l2 {
            L2::Value(value) => value,
            L2::OneOverN => 1.0 / terms as f64,
        };
        Prox { l1: self.l1, l2, lo, hi }
    }
}
