//! φ and φ′ in f32: the twin of `loss.wgsl`.

use crate::loss::Loss;

/// A loss in f32.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    loss: Loss,
    delta: f32,
}

impl Function {
    pub(super) fn of(loss: Loss) -> Self {
        let delta = if let Loss::Huber { delta } = loss { delta as f32 } else { 0.0 };
        Function { loss, delta }
    }

    /// φ(z, b).
    #[inline]
    pub(super) fn value(&self, z: f32, b: f32) -> f32 {
        match self.loss {
            Loss::Logistic => {
                let m = b * z;
                let tail = (-m.abs()).exp();
                // What 1 + tail loses of a small tail is added again: log(v + e) = log v + e/v.
                let v = 1.0 + tail;
                (if m < 0.0 { -m } else { 0.0 }) + (v.ln() + (tail - (v - 1.0)) / v)
            }
            Loss::Squared => 0.5 * (z - b) * (z - b),
            Loss::Hinge => slack(z, b),
            Loss::SquaredHinge => slack(z, b) * slack(z, b),
            Loss::Huber { .. } => {
                let r = (z - b).abs();
                if r <= self.delta { 0.5 * r * r } else { self.delta * (r - 0.5 * self.delta) }
            }
        }
    }

    /// φ′(z, b).
    #[inline]
    pub(super) fn slope(&self, z: f32, b: f32) -> f32 {
        match self.loss {
            Loss::Logistic => {
                let m = b * z;
                let tail = (-m.abs()).exp();
                -b * ((if m < 0.0 { 1.0 } else { tail }) / (1.0 + tail))
            }
            Loss::Squared => z - b,
            Loss::Hinge => {
                if b * z < 1.0 {
                    -b
                } else {
                    0.0
                }
            }
            Loss::SquaredHinge => -2.0 * b * slack(z, b),
            Loss::Huber { .. } => {
                let r = z - b;
                if r > self.delta {
                    self.delta
                } else if r < -self.delta {
                    -self.delta
                } else {
                    r
                }
            }
        }
    }
}

/// max(0, 1 − bz); NaN stays NaN.
#[inline]
fn slack(z: f32, b: f32) -> f32 {
    let slack = 1.0 - b * z;
    if slack <= 0.0 { 0.0 } else { slack }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_f64_to_a_few_roundings() {
        let losses = Loss::NAMES.map(|name| Loss::named(name, 0.75).expect("a name"));
        let mut tried = 0;
        for (loss, k) in losses.into_iter().flat_map(|loss| (-300..=300).map(move |k| (loss, k))) {
            let z = k as f32 / 16.0;
            for b in if loss.is_classification() { [-1.0f32, 1.0] } else { [-2.5, 0.625] } {
                let function = Function::of(loss);
                let (value, slope) = (loss.value(z.into(), b.into()), loss.slope(z.into(), b.into()));
                // Each is a few operations on exact inputs, but for an exponential of up to −19, good to one unit.
                let within =
                    |found: f32, right: f64| (f64::from(found) - right).abs() <= 8.0 * 6e-8 * (right.abs() + 1e-9);
                assert!(within(function.value(z, b), value), "{loss:?} {z} {b}: {} {value}", function.value(z, b));
                assert!(within(function.slope(z, b), slope), "{loss:?} {z} {b}: {} {slope}", function.slope(z, b));
                tried += 1;
            }
            assert!(Function::of(loss).value(f32::NAN, 1.0).is_nan(), "{loss:?}");
        }
        assert_eq!(tried, 5 * 601 * 2);
    }
}
