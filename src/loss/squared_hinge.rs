//! max(0, 1 − bz)².

use super::Term;

pub(super) struct SquaredHinge;

impl Term for SquaredHinge {
    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        let slack = 1.0 - b * z;
        // Not max(): a NaN margin must stay NaN, or a diverged run would look like a perfect one.
        if slack <= 0.0 { 0.0 } else { slack * slack }
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        -2.0 * b * (1.0 - b * z).max(0.0)
    }

    fn curvature(&self) -> f64 {
        2.0
    }

    /// φ″ jumps between 0 and 2.
    fn stretch(&self, _t: f64) -> f64 {
        f64::INFINITY
    }

    #[inline]
    fn second(&self, z: f64, b: f64) -> f64 {
        if b * z < 1.0 { 2.0 } else { 0.0 }
    }

    /// y²/4 − y with y = αb ≥ 0.
    #[inline]
    fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        let y = alpha * b;
        if y >= 0.0 { 0.25 * y * y - y } else { f64::INFINITY }
    }

    #[inline]
    fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64 {
        let y = old * b;
        (y + (1.0 - b * z - 0.5 * y) / (0.5 + c)).max(0.0) * b
    }
}
