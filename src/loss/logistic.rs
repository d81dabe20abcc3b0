//! log(1 + e^(−bz)).

use super::{
    Term,
    elementary::{exp_of_negative, ln_of_normal, sum},
};
use crate::vectors::on_vectors;

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
        // Of σ(z) and 1 − σ(z) the small one is computed, the large one has no digits to lose.
        let s = sigmoid(-z.abs());
        s * (1.0 - s)
    }

    #[inline]
    fn bend(&self, z: f64, b: f64) -> (f64, f64) {
        let s = sigmoid(-b * z);
        (-b * s, s * (1.0 - s))
    }

    /// (log φ″)′ = 1 − 2σ lies in [−1, 1].
    #[inline]
    fn stretch(&self, t: f64) -> f64 {
        t.exp()
    }

    /// y log y + (1 − y) log(1 − y) with y = αb in [0, 1].
    #[inline]
    fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        let y = alpha * b;
        if !(0.0..=1.0).contains(&y) {
            return f64::INFINITY;
        }
        if y == 0.0 || y == 1.0 {
            return 0.0;
        }
        y * y.ln() + (1.0 - y) * (-y).ln_1p()
    }

    fn values(&self, z: &[f64], b: &[f64], w: &[f64]) -> f64 {
        sum(
            z,
            b,
            w,
            #[inline(always)]
            |fused, z, b| {
                let m = b * z;
                let tail = exp_of_negative(fused, -m.abs());
                // What 1 + tail loses of a small tail is added again: log(v + e) = log v + e/v.
                let v = 1.0 + tail;
                (if m < 0.0 { -m } else { 0.0 }) + (ln_of_normal(fused, v) + (tail - (v - 1.0)) / v)
            },
        )
    }

    fn slopes(&self, z: &[f64], b: &[f64], out: &mut [f64]) {
        on_vectors(
            #[inline(always)]
            |fused| {
                for (out, (&z, &b)) in out.iter_mut().zip(z.iter().zip(b)) {
                    let m = b * z;
                    let tail = exp_of_negative(fused, -m.abs());
                    *out = -b * (if m < 0.0 { 1.0 } else { tail } / (1.0 + tail));
                }
            },
        );
    }

    fn seconds(&self, z: &[f64], _b: &[f64], out: &mut [f64]) {
        on_vectors(
            #[inline(always)]
            |fused| {
                for (out, &z) in out.iter_mut().zip(z) {
                    let tail = exp_of_negative(fused, -z.abs());
                    let sum = 1.0 + tail;
                    *out = tail / (sum * sum);
                }
            },
        );
    }

    fn conjugates(&self, alpha: &[f64], b: &[f64], w: &[f64]) -> f64 {
        sum(
            alpha,
            b,
            w,
            #[inline(always)]
            |fused, alpha, b| {
                let y = alpha * b;
                let inside = (0.0..=1.0).contains(&y);
                if inside { entropy(fused, y) + entropy(fused, 1.0 - y) } else { f64::INFINITY }
            },
        )
    }

    /// With y = αb = σ(u) and m = bz the condition is h(u) = u + m + c(σ(u) − y_old) = 0. h increases with slope 1 or
    /// more, so it has one root, in [−m − c(1 − y_old), −m + c y_old]; see [`near`] and [`root`].
    #[inline(always)]
    fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64 {
        b * near(b * z, old * b, c).unwrap_or_else(|| far(b * z, old * b, c))
    }
}

/// y log y.
#[inline(always)]
fn entropy(fused: bool, y: f64) -> f64 {
    y * ln_of_normal(fused, if y < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { y })
}

/// 1/(1 + e^(−t)).
#[inline]
fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

/// A step of [`near`] is no longer than this.
const NEAR: f64 = 0.5;

/// One of Halley's steps from u = log(y_old/(1 − y_old)), along which σ is carried by three terms of Taylor's series;
/// `None` where the step is long, or y_old so near to 0 or 1 that u has lost its digits.
///
/// Halley's step from the old point s is off by less than |s|³/4, since |h″| and |h‴| are at most h′, and the series
/// by s⁴/24: a step that is not exact, but one that misses the maximum by less than 7 % of its way there, and so gains
/// all but half a per cent of what the exact one would. The fixed point is the exact one's.
///
/// All but h depends on y_old and c alone, not on the margin: a processor works it out, logarithm and all, while it
/// still waits for the margin, and is then one quotient and ten products away from y. That matters more than
/// the number of instructions, since the write of this row and the read of the next must wait for y.
#[inline(always)]
fn near(m: f64, y_old: f64, c: f64) -> Option<f64> {
    const EDGE: f64 = 1e-12;
    let first = y_old * (1.0 - y_old);
    let second = first * (1.0 - 2.0 * y_old);
    let third = first * (1.0 - 6.0 * first);
    let slope = 1.0 + c * first;
    let (square, bend) = (slope * slope, 0.5 * c * second);
    let u = (y_old / (1.0 - y_old)).ln();
    let h = u + m;
    let step = -h * slope / (square - bend * h);
    let inside = (EDGE..=1.0 - EDGE).contains(&y_old) && h.abs() <= 2.0 * NEAR * slope;
    (inside && step.abs() <= NEAR).then(|| y_old + step * (first + step * (0.5 * second + step * (third / 6.0))))
}

/// [`root`], out of the way of the loop that mostly needs [`near`].
#[cold]
#[inline(never)]
fn far(m: f64, y_old: f64, c: f64) -> f64 {
    root(m, y_old, c, f64::exp)
}

/// A step shorter than this is the last, taken by three terms of Taylor's series of σ. Halley's step is off by less
/// than a quarter of its cube and the series by a twenty-fourth of its fourth power: y is right to 1e-9 of itself.
const LAST_STEP: f64 = 1e-3;
/// Turns after which the last y is taken as it is: only inputs beyond those named below, or NaN, come this far.
const TURNS: usize = 200;
/// Along a step shorter than this e^(−u) is carried by a polynomial.
const SHORT_STEP: f64 = 0.25;

/// y = σ(u) at the root u of h(u) = u + m + c(σ(u) − y_old), y_old in [0, 1], c ≥ 0.
///
/// Halley's steps from u = −m, where y would be if x did not follow: near the optimum y_old ≈ σ(−m), so the first step
/// is short. A step costs a quotient and its error is of the order of its cube, since |h″| and |h‴| are at most h′;
/// σ is carried along a short step by a polynomial, so that near the optimum the one exponential is that of −m. A step
/// that leaves the bracket or is not half the one before it is replaced by bisection, which ends every cycle: 60 turns
/// suffice for |m| and c up to 1e9. NaN gives NaN.
#[inline]
fn root(m: f64, y_old: f64, c: f64, exp: impl Fn(f64) -> f64) -> f64 {
    let (mut lo, mut hi) = (-m - c * (1.0 - y_old), -m + c * y_old);
    let mut u = -m;
    let mut tail = exp(-u);
    let mut before = f64::INFINITY;
    for _ in 0..TURNS {
        let y = 1.0 / (1.0 + tail);
        let h = u + m + c * (y - y_old);
        let first = y * (1.0 - y);
        let second = first * (1.0 - 2.0 * y);
        let slope = 1.0 + c * first;
        // Halley: h / (h′ − h h″ / (2h′)); where that denominator is far from h′ the step is Newton's.
        let (bend, square) = (0.5 * h * c * second, slope * slope);
        let mut step = if bend.abs() < 0.5 * square { -h * slope / (square - bend) } else { -h / slope };
        if step.abs() < LAST_STEP {
            let third = first * (1.0 - 6.0 * first);
            return (y + step * (first + step * (0.5 * second + step * third / 6.0))).clamp(0.0, 1.0);
        }
        if h > 0.0 {
            hi = u;
        } else {
            lo = u;
        }
        if !(lo < u + step && u + step < hi) || 2.0 * step.abs() > before {
            step = 0.5 * (lo + hi) - u;
        }
        before = step.abs();
        u += step;
        tail = if before < SHORT_STEP { tail * exp_short(-step) } else { exp(-u) };
    }
    1.0 / (1.0 + tail)
}

/// e^t for |t| ≤ ¼ to 1e-11: eight terms of its series.
#[inline]
fn exp_short(t: f64) -> f64 {
    const C: [f64; 7] = [1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5];
    let high = C.iter().fold(0.0, |sum, k| sum * t + k);
    1.0 + t * (1.0 + t * high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// The root by 200 bisections, and the number of exponentials that `root` took for it.
    fn both(m: f64, y_old: f64, c: f64) -> (f64, f64, u32) {
        let (mut lo, mut hi) = (-m - c * (1.0 - y_old), -m + c * y_old);
        for _ in 0..200 {
            let u = 0.5 * (lo + hi);
            if u + m + c * (sigmoid(u) - y_old) > 0.0 { hi = u } else { lo = u }
        }
        let count = Cell::new(0);
        let counted = |t: f64| {
            count.set(count.get() + 1);
            t.exp()
        };
        (sigmoid(0.5 * (lo + hi)), root(m, y_old, c, counted), count.get())
    }

    const M: [f64; 12] = [0.0, 1e-9, 0.01, 0.3, 1.0, 2.5, 7.0, 20.0, 37.0, 90.0, 800.0, 1e4];
    const Y: [f64; 12] = [0.0, 1e-300, 1e-17, 1e-9, 1e-3, 0.1, 0.4, 0.5, 0.77, 0.999, 1.0 - f64::EPSILON, 1.0];
    const C: [f64; 11] = [0.0, 1e-12, 1e-3, 0.1, 1.0, 3.0, 14.0, 100.0, 1e4, 1e6, 1e9];

    fn grid() -> impl Iterator<Item = (f64, f64, f64)> {
        let pairs = || Y.into_iter().flat_map(|y| C.into_iter().map(move |c| (y, c)));
        M.into_iter().flat_map(|m| [m, -m]).flat_map(move |m| pairs().map(move |(y, c)| (m, y, c)))
    }

    #[test]
    fn root_agrees_with_bisection_and_never_takes_more_than_sixty_exponentials() {
        for (m, y_old, c) in grid() {
            let (right, found, count) = both(m, y_old, c);
            // c y is subtracted from c y_old: that many digits are lost, to bisection as well.
            let lost = 4.0 * f64::EPSILON * (1.0 + c + m.abs());
            assert!((found - right).abs() <= 1e-9 * right + lost, "{m} {y_old} {c}: {found} for {right}");
            assert!(count <= 60, "{m} {y_old} {c}: {count} exponentials");
        }
    }

    #[test]
    fn near_the_optimum_one_exponential_does() {
        let mut tried = 0;
        for (m, _, c) in grid().filter(|(m, _, c)| m.abs() < 30.0 && *c <= 14.0) {
            for off in [-0.05, -1e-3, -1e-6, 0.0, 1e-6, 1e-3, 0.05] {
                let (_, _, count) = both(m, sigmoid(-m + off), c);
                assert_eq!(count, 1, "{m} {c} {off}");
                tried += 1;
            }
        }
        assert!(tried > 1000);
    }

    #[test]
    fn not_a_number_comes_back_as_such_and_ends() {
        assert!(root(f64::NAN, 0.5, 1.0, f64::exp).is_nan());
        assert!(root(0.5, f64::NAN, 1.0, f64::exp).is_nan());
    }
}
