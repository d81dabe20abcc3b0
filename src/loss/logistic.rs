//! log(1 + e^(−bz)).

use super::Term;

pub(super) struct Logistic;

impl Term for Logistic {
    #[inline]
    fn value(&self, z: f64, b: f64) -> f64 {
        let m = b * z;
        // e^(−|m|) never overflows.
        (-m).max(0.0) + (-m.abs()).exp().ln_1p()
    }

    #[inline]
    fn slope(&self, z: f64, b: f64) -> f64 {
        -b * sigmoid(-b * z)
    }

    fn curvature(&self) -> f64 {
        0.25
    }

    #[inline]
    fn second(&self, z: f64, _b: f64) -> f64 {
        let s = sigmoid(z);
        s * (1.0 - s)
    }

    /// y log y + (1 − y) log(1 − y) with y = αb in [0, 1].
    #[inline]
    fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        let y = alpha * b;
        if !(0.0..=1.0).contains(&y) {
            return f64::INFINITY;
        }
        let entropy = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
        entropy(y) + entropy(1.0 - y)
    }

    /// With y = αb = σ(u), the condition is h(u) = u + m + c(σ(u) − y_old) = 0, m = bz. h increases with slope
    /// between 1 and 1 + c/4, so it has one root, in [−m − c(1 − y_old), −m + c y_old]. Newton in u from −m (where α
    /// would be if this term alone moved nothing) needs one exponential a turn and no logarithm; a turn that leaves
    /// the bracket is replaced by its middle. Two turns do near the optimum, since there y_old ≈ σ(−m).
    #[inline]
    fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64 {
        let (m, y_old) = (b * z, old * b);
        let (mut lo, mut hi) = (-m - c * (1.0 - y_old), -m + c * y_old);
        let mut u = (-m).clamp(lo, hi);
        let mut y = sigmoid(u);
        for _ in 0..50 {
            let h = u + m + c * (y - y_old);
            if h > 0.0 {
                hi = u;
            } else {
                lo = u;
            }
            let moved = -h / (1.0 + c * y * (1.0 - y));
            let next = if (lo..=hi).contains(&(u + moved)) { u + moved } else { 0.5 * (lo + hi) };
            let done = (next - u).abs() < 1e-9 * (1.0 + u.abs());
            // σ changes by at most a quarter of the move.
            u = next;
            if done {
                break;
            }
            y = sigmoid(u);
            if moved.abs() < 1e-5 && next == u {
                // Newton's error after this turn is of the order of moved².
                break;
            }
        }
        y * b
    }
}

/// 1/(1 + e^(−t)).
#[inline]
fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}
