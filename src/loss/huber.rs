//! ½r² for |r| = |z − b| ≤ δ, else δ|r| − ½δ².

use super::Term;

pub(super) struct Huber {
    pub(super) delta: f64,
}

impl Term for Huber {
    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        let r = (z - b).abs();
        if r <= self.delta { 0.5 * r * r } else { self.delta * r - 0.5 * self.delta * self.delta }
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        (z - b).clamp(-self.delta, self.delta)
    }

    fn curvature(&self) -> f64 {
        1.0
    }

    /// φ″ jumps between 0 and 1.
    fn stretch(&self, _t: f64) -> f64 {
        f64::INFINITY
    }

    #[inline]
    fn second(&self, z: f64, b: f64) -> f64 {
        if (z - b).abs() <= self.delta { 1.0 } else { 0.0 }
    }

    /// α²/2 − αb for |α| ≤ δ.
    #[inline]
    fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        if alpha.abs() <= self.delta { 0.5 * alpha * alpha - alpha * b } else { f64::INFINITY }
    }

    #[inline]
    fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64 {
        (old + (b - z - old) / (1.0 + c)).clamp(-self.delta, self.delta)
    }
}
