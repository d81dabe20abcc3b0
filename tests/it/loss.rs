//! Every loss against its definition: values from closed forms, derivatives from differences, conjugates from a
//! numeric supremum, and the dual step from a numeric maximum of what it says it maximises.

use crate::golden::{argmax, maximum};
use farrow::loss::Loss;
use proptest::prelude::*;

const ALL: [Loss; 6] = [
    Loss::Logistic,
    Loss::Squared,
    Loss::Hinge,
    Loss::SquaredHinge,
    Loss::Huber { delta: 1.0 },
    Loss::Huber { delta: 0.3 },
];

fn loss() -> impl Strategy<Value = Loss> {
    prop::sample::select(ALL.to_vec())
}

/// A label that `loss` takes: ±1 for classes, else a number that `raw` chooses.
fn label(loss: Loss, raw: f64) -> f64 {
    if loss.is_classification() { raw.signum() } else { raw }
}

/// A dual value inside the domain of φ*(−α, b); `share` in [0, 1] chooses.
fn inside(loss: Loss, b: f64, share: f64) -> f64 {
    match loss {
        Loss::Logistic | Loss::Hinge => share * b,
        Loss::SquaredHinge => 8.0 * share * b,
        Loss::Squared => 16.0 * share - 8.0,
        Loss::Huber { delta } => (2.0 * share - 1.0) * delta,
    }
}

/// What `ascend` maximises.
fn gain(loss: Loss, alpha: f64, (z, b, old, c): (f64, f64, f64, f64)) -> f64 {
    -loss.conjugate(alpha, b) - (alpha - old) * z - 0.5 * c * (alpha - old).powi(2)
}

fn close(found: f64, right: f64, tolerance: f64) -> bool {
    found == right || (found - right).abs() <= tolerance * (1.0 + right.abs())
}

#[test]
fn values_are_those_of_the_closed_forms() {
    let huber = Loss::Huber { delta: 0.5 };
    for (loss, z, b, right) in [
        (Loss::Logistic, 0.0, 1.0, std::f64::consts::LN_2),
        // log(1 + e^(−2)) and log(1 + e^2), from tables.
        (Loss::Logistic, 2.0, 1.0, 0.126_928_011_042_972_6),
        (Loss::Logistic, 2.0, -1.0, 2.126_928_011_042_972_4),
        (Loss::Squared, 3.0, 1.0, 2.0),
        (Loss::Hinge, 0.25, 1.0, 0.75),
        (Loss::Hinge, 1.5, 1.0, 0.0),
        (Loss::Hinge, 1.5, -1.0, 2.5),
        (Loss::SquaredHinge, 0.5, 1.0, 0.25),
        (Loss::SquaredHinge, 2.0, -1.0, 9.0),
        (huber, 1.25, 1.0, 0.03125),
        (huber, -1.0, 1.0, 0.875),
    ] {
        assert!(close(loss.value(z, b), right, 1e-15), "{loss:?} at {z}, {b}: {}", loss.value(z, b));
    }
}

#[test]
fn far_and_tiny_arguments_keep_their_digits() {
    let logistic = Loss::Logistic;
    // log(1 + e^(−m)) → e^(−m), and → −m on the other side; both as far as f64 goes.
    assert!(close(logistic.value(700.0, 1.0) / (-700f64).exp(), 1.0, 1e-14));
    assert_eq!(logistic.value(-1e300, 1.0), 1e300);
    assert_eq!(logistic.value(1e300, 1.0), 0.0);
    assert!(close(logistic.slope(700.0, 1.0) / -(-700f64).exp(), 1.0, 1e-14));
    assert!(close(logistic.second(-40.0, 1.0) / (-40f64).exp(), 1.0, 1e-14));
    assert!(close(logistic.second(40.0, 1.0) / (-40f64).exp(), 1.0, 1e-14));
    // y log y + (1 − y) log(1 − y) → y log y − y.
    for y in [1e-300f64, 1e-20, 5e-324] {
        let right = y * y.ln() - y;
        assert!((logistic.conjugate(y, 1.0) - right).abs() <= 1e-14 * right.abs(), "{y}");
    }
    assert_eq!((logistic.conjugate(0.0, 1.0), logistic.conjugate(-1.0, -1.0)), (0.0, 0.0));
    for loss in ALL {
        assert!(loss.value(f64::NAN, 1.0).is_nan(), "{loss:?}: a diverged margin must not look like a perfect one");
    }
}

proptest! {
    #[test]
    fn slope_and_second_are_the_differences_of_what_is_before_them(
        loss in loss(), z in -20.0..20.0f64, raw in -5.0..5.0f64,
    ) {
        let b = label(loss, raw);
        let h = 1e-5;
        let kink = match loss {
            Loss::Huber { delta } => ((z - b).abs() - delta).abs(),
            Loss::Hinge | Loss::SquaredHinge => (1.0 - b * z).abs(),
            _ => 1.0,
        };
        prop_assume!(kink > 2.0 * h);
        let slope = (loss.value(z + h, b) - loss.value(z - h, b)) / (2.0 * h);
        prop_assert!(close(loss.slope(z, b), slope, 1e-7), "{} for {slope}", loss.slope(z, b));
        let second = (loss.slope(z + h, b) - loss.slope(z - h, b)) / (2.0 * h);
        prop_assert!(close(loss.second(z, b), second, 1e-7), "{} for {second}", loss.second(z, b));
        prop_assert!(loss.second(z, b) <= loss.curvature());
        let (bent_slope, bent_second) = loss.bend(z, b);
        prop_assert!(close(bent_slope, loss.slope(z, b), 1e-14) && close(bent_second, loss.second(z, b), 1e-14));
    }

    #[test]
    fn the_second_derivative_stretches_no_further_than_its_bound(
        loss in loss(), z in -30.0..30.0f64, raw in -5.0..5.0f64, move_by in -10.0..10.0f64,
    ) {
        let b = label(loss, raw);
        let bound = loss.second(z, b) * loss.stretch(move_by.abs());
        // 0 times infinity bounds nothing.
        prop_assert!(bound.is_nan() || loss.second(z + move_by, b) <= bound * (1.0 + 1e-12));
        prop_assert!(!matches!(loss, Loss::Logistic | Loss::Squared) || bound.is_finite());
    }

    #[test]
    fn conjugate_is_the_supremum_that_defines_it(loss in loss(), share in 1e-6..0.999_999f64, raw in -5.0..5.0f64) {
        let b = label(loss, raw);
        let alpha = inside(loss, b, share);
        let right = maximum(-60.0, 60.0, |z| -alpha * z - loss.value(z, b));
        prop_assert!(close(loss.conjugate(alpha, b), right, 1e-9), "{} for {right}", loss.conjugate(alpha, b));
    }

    #[test]
    fn value_and_conjugate_obey_fenchel_and_young(
        loss in loss(), z in -30.0..30.0f64, raw in -5.0..5.0f64, share in 0.0..=1.0f64,
    ) {
        let b = label(loss, raw);
        let alpha = inside(loss, b, share);
        let excess = loss.value(z, b) + loss.conjugate(alpha, b) + alpha * z;
        prop_assert!(excess >= -1e-13 * (1.0 + (alpha * z).abs()), "{excess}");
        let alpha = -loss.slope(z, b);
        let excess = loss.value(z, b) + loss.conjugate(alpha, b) + alpha * z;
        prop_assert!(excess.abs() <= 1e-13 * (1.0 + (alpha * z).abs()), "{excess} at α = −φ′");
    }

    #[test]
    fn conjugate_is_infinite_outside_its_domain(loss in loss(), raw in -5.0..5.0f64, out in 1e-9..3.0f64) {
        let b = label(loss, raw);
        for alpha in match loss {
            Loss::Logistic | Loss::Hinge => vec![-out * b, (1.0 + out) * b],
            Loss::SquaredHinge => vec![-out * b],
            Loss::Squared => vec![],
            Loss::Huber { delta } => vec![delta + out, -delta - out],
        } {
            prop_assert_eq!(loss.conjugate(alpha, b), f64::INFINITY);
        }
    }

    #[test]
    fn ascend_reaches_the_maximum_that_defines_it(
        loss in loss(),
        z in prop_oneof![-3.0..3.0f64, -40.0..40.0f64, -1e4..1e4f64, Just(0.0), Just(1.0), Just(-1.0)],
        raw in -5.0..5.0f64,
        share in prop_oneof![0.0..=1.0f64, Just(0.0), Just(1.0), Just(1e-12)],
        c in prop_oneof![Just(0.0), Just(1e-12), Just(1e6), 0.0..20.0f64, (-9.0..9.0f64).prop_map(|e| 10f64.powf(e))],
    ) {
        let b = label(loss, raw);
        let old = inside(loss, b, share);
        let at = (z, b, old, c);
        let found = loss.ascend(z, b, old, c);
        prop_assert!(loss.conjugate(found, b).is_finite(), "{found} is outside the domain");
        let (lo, hi) = match loss {
            Loss::Logistic | Loss::Hinge => (b.min(0.0), b.max(0.0)),
            Loss::Huber { delta } => (-delta, delta),
            // The maximum lies no further from old than the free maximum with c = 0.
            Loss::Squared | Loss::SquaredHinge => {
                let reach = 2.0 * (b.abs() + z.abs() + old.abs() + 1.0);
                let (lo, hi) = (old - reach, old + reach);
                if loss == Loss::Squared { (lo, hi) } else if b > 0.0 { (0.0, hi) } else { (lo, 0.0) }
            }
        };
        let right = argmax(lo, hi, |alpha| gain(loss, alpha, at));
        // The gain is a difference of terms of this size.
        let size = 1.0 + (found - old).abs() * z.abs() + c * (found - old).powi(2) + loss.conjugate(found, b).abs();
        let (reached, best) = (gain(loss, found, at), gain(loss, right, at));
        // A step of the logistic loss may leave a hundredth of what there is to gain; all others are exact.
        let left = if loss == Loss::Logistic { 0.01 * (best - gain(loss, old, at)).max(0.0) } else { 0.0 };
        prop_assert!(reached >= best - left - 1e-12 * size, "{found} gives {reached}, {right} gives {best}");
    }

    #[test]
    fn ascend_stays_where_the_optimum_is(loss in loss(), z in -20.0..20.0f64, raw in -5.0..5.0f64, c in 0.0..100.0f64) {
        let b = label(loss, raw);
        let old = -loss.slope(z, b);
        prop_assert!(close(loss.ascend(z, b, old, c), old, 1e-9), "{old} became {}", loss.ascend(z, b, old, c));
    }
}
