//! ½(z − b)².

use super::Term;

pub(super) struct Squared;

impl Term for Squared {
    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        0.5 * (z - b) * (z - b)
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        z - b
    }

    fn curvature(&self) -> f64 {
        1.0
    }

    fn stretch(&self, _t: f64) -> f64 {
        1.0
    }

    #[inline]
    fn second(&self, _z: f64, _b: f64) -> f64 {
        1.0
    }

    /// φ*(u) = u²/2 + ub at u = −α.
    #[inline]
    fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        0.5 * alpha * alpha - alpha * b
    }

    #[inline]
    fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64 {
        old + (b - z - old) / (1.0 + c)
    }
}
