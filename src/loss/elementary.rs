//! e^t and log t without branches or tables, so that a compiler turns a loop of them into vector instructions: a
//! certificate takes three of them a row, which one by one cost as much as the row's margin.

use crate::vectors::{multiply_add, on_vectors};

const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5 · 2⁵²: added to a small number it leaves the nearest integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// 2⁵²: with an integer below it in its low bits it is 2⁵² plus that integer.
const COUNT: f64 = 4_503_599_627_370_496.0;
const MANTISSA: u64 = (1 << 52) - 1;

/// e^t to 2 units in the last place for t ≤ 0; below −708 it is e^(−708), 3e-308.
#[inline(always)]
pub(super) fn exp_of_negative(fused: bool, t: f64) -> f64 {
    // Taylor's series to t¹³: on |r| ≤ ½ log 2 the next term is 4e-18.
    const C: [f64; 14] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let t = if t < -708.0 { -708.0 } else { t };
    let rounded = t * std::f64::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (t - k * LN_2_HIGH) - k * LN_2_LOW;
    let series = C.iter().fold(0.0, |sum, &c| multiply_add(fused, sum, r, c));
    // k stands in the low bits of `rounded`; shifted up, and with the exponent of 1 added, it is 2ᵏ.
    series * f64::from_bits((rounded.to_bits() << 52).wrapping_add(1.0f64.to_bits()))
}

/// log t to 2 units in the last place for normal t > 0.
#[inline(always)]
pub(super) fn ln_of_normal(fused: bool, t: f64) -> f64 {
    let bits = t.to_bits();
    let exponent = f64::from_bits(COUNT.to_bits() | (bits >> 52)) - (COUNT + 1023.0);
    let mantissa = f64::from_bits((bits & MANTISSA) | 1.0f64.to_bits());
    let high = mantissa > std::f64::consts::SQRT_2;
    let (m, k) = if high { (0.5 * mantissa, exponent + 1.0) } else { (mantissa, exponent) };
    // log m = 2 artanh s; on |s| ≤ 0.172 the first term left out is 3e-18 of the sum.
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    const C: [f64; 10] = [
        2.0 / 21.0,
        2.0 / 19.0,
        2.0 / 17.0,
        2.0 / 15.0,
        2.0 / 13.0,
        2.0 / 11.0,
        2.0 / 9.0,
        2.0 / 7.0,
        2.0 / 5.0,
        2.0 / 3.0,
    ];
    let series = C.iter().fold(0.0, |sum, &c| multiply_add(fused, sum, s2, c));
    k * LN_2_HIGH + (2.0 * s + (s * s2 * series + k * LN_2_LOW))
}

/// Σₖ wₖ f(zₖ, bₖ); f is told whether products and sums are fused. The terms of a piece are worked out before they are
/// added: a sum in order is no loop for vectors.
#[inline(always)]
pub(super) fn sum(z: &[f64], b: &[f64], w: &[f64], f: impl Fn(bool, f64, f64) -> f64) -> f64 {
    const PIECE: usize = 64;
    on_vectors(
        #[inline(always)]
        |fused| {
            let mut terms = [0.0; PIECE];
            let mut sum = 0.0;
            for ((z, b), w) in z.chunks(PIECE).zip(b.chunks(PIECE)).zip(w.chunks(PIECE)) {
                let count = z.len().min(b.len()).min(w.len());
                let (z, b, w, terms) = (&z[..count], &b[..count], &w[..count], &mut terms[..count]);
                for k in 0..count {
                    terms[k] = w[k] * f(fused, z[k], b[k]);
                }
                sum += terms.iter().sum::<f64>();
            }
            sum
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As fused and as plain products and sums give it; both must do.
    fn both(of: impl Fn(bool) -> f64, right: f64) -> f64 {
        ulps(of(true), right).max(ulps(of(false), right))
    }

    /// |found − right| in units of the last place of `right`.
    fn ulps(found: f64, right: f64) -> f64 {
        (found - right).abs() / (right.abs() * f64::EPSILON).max(f64::MIN_POSITIVE)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn they_equal_those_of_the_standard_library(t in prop_oneof![-1.0..=0.0f64, -40.0..=0.0f64, -708.0..=0.0f64]) {
            prop_assert!(both(|fused| exp_of_negative(fused, t), t.exp()) <= 2.0, "{t}");
            let v = t.exp();
            prop_assert!(both(|fused| ln_of_normal(fused, v), v.ln()) <= 2.0, "{v}");
            let v = 1.0 + v;
            prop_assert!(both(|fused| ln_of_normal(fused, v), v.ln()) <= 2.0, "{v}");
        }
    }

    #[test]
    fn their_ends_are_right() {
        let (exp, ln) = (|t| exp_of_negative(true, t), |t| ln_of_normal(true, t));
        assert_eq!((exp(0.0), exp(-0.0)), (1.0, 1.0));
        assert!(exp(-1e300) < 1e-307 && exp(f64::NEG_INFINITY) < 1e-307);
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(ln(1.0), 0.0);
        assert!(ulps(ln(f64::MIN_POSITIVE), f64::MIN_POSITIVE.ln()) <= 2.0);
        assert!(ulps(ln(f64::MAX), f64::MAX.ln()) <= 2.0);
    }
}
