//! The regulariser r on one coordinate, r(x) = λ₁|x| + (λ₂/2)x² + indicator of [lo, hi] with lo ≤ 0 ≤ hi, and the maps
//! that methods and certificates need of it. None, L1, L2, elastic net, box and non-negative are settings of it.

use serde::Serialize;

/// r: one value for every coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prox {
    /// λ₁ ≥ 0.
    pub l1: f64,
    /// λ₂ ≥ 0.
    pub l2: f64,
    /// Lower bound, ≤ 0; −∞ for none.
    pub lo: f64,
    /// Upper bound, ≥ 0; +∞ for none.
    pub hi: f64,
}
