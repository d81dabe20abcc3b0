//! The regulariser against its definition: the prox from a numeric minimum, the conjugate from a numeric supremum,
//! the dual scale from the edge of the domain.

use crate::golden::{argmax, maximum};
use farrow::prox::Prox;
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;
const NONE: Prox = Prox { l1: 0.0, l2: 0.0, lo: -INF, hi: INF };

fn prox() -> impl Strategy<Value = Prox> {
    let weight = || prop_oneof![Just(0.0), 0.01..3.0f64, (-9.0..0.0f64).prop_map(|e| 10f64.powf(e))];
    let bound = || prop_oneof![Just(INF), Just(0.0), 0.0..4.0f64];
    (weight(), weight(), bound(), bound()).prop_map(|(l1, l2, lo, hi)| Prox { l1, l2, lo: -lo, hi })
}

fn close(found: f64, right: f64, tolerance: f64) -> bool {
    found == right || (found - right).abs() <= tolerance * (1.0 + right.abs())
}

#[test]
fn named_regularisers_have_their_known_proxes_and_conjugates() {
    assert_eq!((NONE.prox(3.0, 2.0), NONE.conjugate(0.0), NONE.conjugate(1e-300)), (3.0, 0.0, INF));
    let l1 = Prox { l1: 0.5, ..NONE };
    assert_eq!((l1.prox(3.0, 2.0), l1.prox(-3.0, 2.0), l1.prox(0.9, 2.0)), (2.0, -2.0, 0.0));
    assert_eq!((l1.conjugate(0.5), l1.conjugate(-0.5), l1.conjugate(0.51)), (0.0, 0.0, INF));
    let l2 = Prox { l2: 0.25, ..NONE };
    assert_eq!((l2.prox(3.0, 2.0), l2.conjugate(3.0), l2.dual_map(-3.0)), (2.0, 18.0, -12.0));
    let net = Prox { l1: 1.0, l2: 2.0, ..NONE };
    assert_eq!((net.prox(5.0, 0.5), net.conjugate(-5.0), net.dual_map(-5.0)), (2.25, 4.0, -2.0));
    let boxed = Prox { lo: -1.0, hi: 2.0, ..NONE };
    assert_eq!((boxed.prox(5.0, 9.0), boxed.conjugate(3.0), boxed.conjugate(-3.0)), (2.0, 6.0, 3.0));
    assert_eq!((boxed.dual_map(3.0), boxed.dual_map(-3.0)), (2.0, -1.0));
    let positive = Prox { lo: 0.0, ..NONE };
    assert_eq!((positive.prox(-5.0, 9.0), positive.conjugate(-3.0), positive.conjugate(3.0)), (0.0, 0.0, INF));
    assert_eq!((positive.value(-1e-300), positive.value(2.0)), (INF, 0.0));
    assert_eq!((positive.dual_scale(-3.0), positive.dual_scale(3.0)), (1.0, 0.0));
}

#[test]
fn only_the_settings_that_are_pure_are_called_so() {
    let l2 = Prox { l2: 0.25, ..NONE };
    assert!(NONE.is_none() && !NONE.is_pure_l2() && l2.is_pure_l2() && !l2.is_none());
    for other in [Prox { l1: 0.1, ..l2 }, Prox { lo: 0.0, ..l2 }, Prox { hi: 1.0, ..l2 }, Prox { l1: 0.1, ..NONE }]
    {
        assert!(!other.is_pure_l2() && !other.is_none(), "{other:?}");
    }
}

#[test]
fn not_a_number_stays_one() {
    for r in [NONE, Prox { l1: 1.0, ..NONE }, Prox { l1: 1.0, l2: 1.0, lo: -1.0, hi: 1.0 }] {
        assert!(r.prox(f64::NAN, 1.0).is_nan(), "{r:?}");
    }
}

proptest! {
    #[test]
    fn prox_is_the_minimum_that_defines_it(r in prox(), v in -20.0..20.0f64, t in prop_oneof![0.0..5.0f64, Just(1e4)]) {
        let cost = |x: f64| 0.5 * (x - v).powi(2) + t * r.value(x);
        let found = r.prox(v, t);
        let right = argmax(r.lo.max(-21.0), r.hi.min(21.0), |x| -cost(x));
        prop_assert!(cost(found) <= cost(right) + 1e-12 * (1.0 + cost(right)), "{found} for {right}");
        // The cost is 1-strongly convex: as close as the search can tell, it is also the same point.
        prop_assert!((found - right).abs() <= 1e-5 * (1.0 + t), "{found} for {right}");
    }

    #[test]
    fn what_prox_leaves_over_is_a_subgradient(r in prox(), v in -20.0..20.0f64, t in 1e-3..5.0f64) {
        let x = r.prox(v, t);
        let g = (v - x) / t;
        // g ∈ ∂r(x) if and only if r(x) + r*(g) = gx; with λ₂ = 0 rounding may put g beyond the domain by an ulp.
        let g = g * r.dual_scale(g);
        let excess = r.value(x) + r.conjugate(g) - g * x;
        prop_assert!(excess.abs() <= 1e-10 * (1.0 + (g * x).abs()), "{excess} at {x}, {g}");
    }

    #[test]
    fn conjugate_is_the_supremum_that_defines_it(r in prox(), v in -20.0..20.0f64) {
        let found = r.conjugate(v);
        if found == INF {
            // It grows without bound: twice as far is more, and more than any value asked for.
            let far = 1e30 * v;
            prop_assert!(r.value(far) < INF && v * far - r.value(far) > 1e15);
            prop_assert_eq!(r.dual_map(v), INF.copysign(v));
        } else {
            let x = r.dual_map(v);
            let reach = 2.0 * x.abs() + 1.0;
            let right = maximum(r.lo.max(-reach), r.hi.min(reach), |x| v * x - r.value(x));
            prop_assert!(close(found, right, 1e-9), "{found} for {right}");
            prop_assert!(close(v * x - r.value(x), found, 1e-12), "dual_map gives {x}");
        }
    }

    #[test]
    fn value_and_conjugate_obey_fenchel_and_young(r in prox(), v in -20.0..20.0f64, x in -5.0..5.0f64) {
        prop_assert!(r.value(x) + r.conjugate(v) - v * x >= -1e-12 * (1.0 + (v * x).abs()));
    }

    #[test]
    fn dual_scale_is_the_largest_that_keeps_the_conjugate_finite(
        r in prox(), v in prop_oneof![-20.0..20.0f64, (-300.0..300.0f64).prop_map(|e| 10f64.powf(e))],
    ) {
        let s = r.dual_scale(v);
        prop_assert!((0.0..=1.0).contains(&s));
        prop_assert!(r.l2 > 0.0 || r.conjugate(s * v) < INF, "{s} does not do");
        if s < 1.0 {
let more = if s > 0.0 { s * (1.0 + 1e-12) } else { 1e-10 };
            prop_assert!(r.conjugate(more * v) == INF, "{s} is not the largest");
        }
    }
}
