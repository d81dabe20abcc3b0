//! The regulariser r on one coordinate, r(x) = λ₁|x| + (λ₂/2)x² + indicator of [lo, hi] with lo ≤ 0 ≤ hi, and the maps
//! that methods and certificates need of it. None, L1, L2, elastic net, box and non-negative are settings of it.

use serde::Serialize;

/// r: one value for every coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prox {
    /// λ₁ ≥ 0.
    pub l1: f64,
    /// λ₂ ≥ 0.
    pub l2: f64,
    /// Lower bound, ≤ 0; −∞ for none.
    pub lo: f64,
    /// Upper bound, ≥ 0; +∞ for none.
    pub hi: f64,
}

impl Prox {
    /// r(x); infinite outside [lo, hi].
    #[inline]
    pub fn value(&self, x: f64) -> f64 {
        if x < self.lo || x > self.hi { f64::INFINITY } else { self.l1 * x.abs() + 0.5 * self.l2 * x * x }
    }

    /// argmin over x of ½(x − v)² + t r(x), for a finite t ≥ 0: soft threshold, shrink, clamp. In one dimension the
    /// constrained minimiser is the free one clamped.
    #[inline]
    pub fn prox(&self, v: f64, t: f64) -> f64 {
        let free = soft_threshold(v, t * self.l1) / (1.0 + t * self.l2);
        free.clamp(self.lo, self.hi)
    }

    /// r*(v) = sup over x of vx − r(x); infinite where λ₂ = 0, |v| > λ₁ and the bound on v's side is infinite.
    ///
    /// With s = |v| − λ₁ > 0 and B the distance from 0 to the bound on v's side it is the supremum of
    /// sx − (λ₂/2)x² over [0, B]: s²/(2λ₂) if s/λ₂ ≤ B, else B(s − λ₂B/2).
    #[inline]
    pub fn conjugate(&self, v: f64) -> f64 {
        let s = v.abs() - self.l1;
        if s <= 0.0 {
            return 0.0;
        }
        let bound = self.bound(v);
        if s / self.l2 <= bound && self.l2 > 0.0 {
            0.5 * s * (s / self.l2)
        } else if bound < f64::INFINITY {
            bound * (s - 0.5 * self.l2 * bound)
        } else {
            f64::INFINITY
        }
    }

    /// ∇r*(v) = argmax over x of vx − r(x): the coefficient that belongs to the dual point v.
    ///
    /// Unique and finite if λ₂ > 0 or both bounds are finite. With λ₂ = 0 it is a bound where |v| > λ₁ (±∞ where that
    /// bound is infinite: the supremum is not attained), and 0, one of the maximisers, where |v| = λ₁.
    #[inline]
    pub fn dual_map(&self, v: f64) -> f64 {
        let s = v.abs() - self.l1;
        if s <= 0.0 {
            return 0.0;
        }
        let bound = self.bound(v);
        let free = s / self.l2;
        (if free > bound { bound } else { free }).copysign(v)
    }

    /// The largest s in [0, 1] with r*(sv) finite, rounded down so that it is finite in floating point too: what a
    /// dual point must be scaled by to be feasible. The least over all coordinates serves the whole vector.
    ///
    /// 1 unless λ₂ = 0, |v| > λ₁ and the bound on v's side is infinite; there λ₁/|v|. So a non-negative problem
    /// scales on positive v only.
    #[inline]
    pub fn dual_scale(&self, v: f64) -> f64 {
        let magnitude = v.abs();
        if self.l2 > 0.0 || magnitude <= self.l1 || self.bound(v) < f64::INFINITY {
            return 1.0;
        }
        let mut scale = self.l1 / magnitude;
        if scale * magnitude > self.l1 {
            // One rounding of the quotient is undone by one ε; a subnormal quotient has no ε to give and becomes 0.
            scale *= 1.0 - f64::EPSILON;
        }
        if scale * magnitude > self.l1 { 0.0 } else { scale }
    }

    /// True if r = (λ₂/2)x² with λ₂ > 0 and nothing else, so that ∇r*(v) = v/λ₂.
    #[inline]
    pub fn is_pure_l2(&self) -> bool {
        self.l2 > 0.0 && self.l1 == 0.0 && self.is_unbounded()
    }

    /// True if r = 0.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.l2 == 0.0 && self.l1 == 0.0 && self.is_unbounded()
    }

    #[inline]
    fn is_unbounded(&self) -> bool {
        self.lo == f64::NEG_INFINITY && self.hi == f64::INFINITY
    }

    /// How far x may go from 0 towards the sign of v.
    #[inline]
    fn bound(&self, v: f64) -> f64 {
        if v < 0.0 { -self.lo } else { self.hi }
    }
}

/// sign(v) max(|v| − threshold, 0); NaN stays NaN, so that a diverged run is seen.
#[inline]
fn soft_threshold(v: f64, threshold: f64) -> f64 {
    if v.abs() <= threshold { 0.0 } else { v - threshold.copysign(v) }
}
