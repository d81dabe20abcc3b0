//! max(0, 1 − bz).

use super::Term;

pub(super) struct Hinge;

impl Term for Hinge {
    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        let slack = 1.0 - b * z;
        // Not max(): a NaN margin must stay NaN, or a diverged run would look like a perfect one.
        if slack <= 0.0 { 0.0 } else { slack }
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        if b * z < 1.0 { -b } else { 0.0 }
    }

    fn curvature(&self) -> f64 {
        f64::INFINITY
    }

    /// φ″ is 0 but at the kink.
    fn stretch(&self, _t: f64) -> f64 {
        f64::INFINITY
    }

    #[inline]
    fn second(&self, _z: f64, _b: f64) -> f64 {
        0.0
    }

    /// −αb for αb in [0, 1].
    #[inline]
    fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        let y = alpha * b;
        if (0.0..=1.0).contains(&y) { -y } else { f64::INFINITY }
    }

    #[inline]
    fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64 {
        let (slack, y_old) = (1.0 - b * z, old * b);
        // c = 0 (an empty row) divides to ±∞, which is clamped to the right end; only 0/0 is left, where nothing is
        // to be gained.
        let y = if slack == 0.0 { y_old } else { (y_old + slack / c.abs()).clamp(0.0, 1.0) };
        y * b
    }
}
