//! Golden-section search: the maximum of a concave function of one variable by comparisons alone, for tests that hold
//! a closed form to its definition.

/// Where f, concave on [lo, hi] and maybe −∞ at an end, is largest: to about the square root of the precision of f.
pub fn argmax(lo: f64, hi: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut a, mut b) = (lo, hi);
    let (mut left, mut right) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..250 {
        if at_left > at_right {
            (b, right, at_right) = (right, left, at_left);
            left = b - ratio * (b - a);
            at_left = f(left);
        } else {
            (a, left, at_left) = (left, right, at_right);
            right = a + ratio * (b - a);
            at_right = f(right);
        }
    }
    let best = |x: f64, y: f64| if f(x) >= f(y) { x } else { y };
    best(best(lo, hi), 0.5 * (a + b))
}

/// The largest value there.
pub fn maximum(lo: f64, hi: f64, f: impl Fn(f64) -> f64) -> f64 {
    f(argmax(lo, hi, &f))
}
