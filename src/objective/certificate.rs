//! What certifies a point x: the duality gap P(x) − D(α), or where no dual point can be had, the norm of the
//! prox-gradient step.
//!
//! D(α) = −(1/W) Σ wᵢ φ*(−αᵢ, bᵢ) − Σ_j r*(v_j), v = (1/W) Σ wᵢ αᵢ aᵢ, with Σ wᵢ αᵢ = 0 where the model has a free
//! constant. Any α with finite terms bounds F from below. A method without dual variables takes αᵢ = −φ′(zᵢ) and makes it
//! feasible: for the constant, the sign (positive or negative) whose sum is larger is scaled down to the other; where
//! λ₂ = 0 all are scaled by the largest s ≤ 1 with r*(s v_j) finite for every j. Both go to 1 at the optimum, and both
//! keep α in the domain of φ*, which is an interval around 0 for every loss here.

use crate::{prox::Prox, trace::CertificateKind};

/// Sums over all workers.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Σ wᵢ φ(zᵢ, bᵢ).
    pub loss: f64,
    /// Σ wᵢ φ*(−αᵢ, bᵢ).
    pub conjugate: f64,
    /// Σ wᵢ αᵢ over positive αᵢ, and the negative of it over negative ones.
    pub signed: [f64; 2],
    /// Σ_j r(x_j).
    pub regulariser: f64,
    /// Σ_j r*(v_j).
    pub regulariser_conjugate: f64,
    /// Coordinates that are not 0.
    pub support: u64,
    /// Squared norm of the prox-gradient step.
    pub step2: f64,
    /// Largest feasible scale of α.
    pub scale: f64,
}

impl Default for Totals {
    fn default() -> Self {
        Totals {
            loss: 0.0,
            conjugate: 0.0,
            signed: [0.0; 2],
            regulariser: 0.0,
            regulariser_conjugate: 0.0,
            support: 0,
            step2: 0.0,
            scale: 1.0,
        }
    }
}

impl Totals {
    /// Adds another worker's sums.
    pub fn add(&mut self, other: &Totals) {
        self.loss += other.loss;
        self.conjugate += other.conjugate;
        self.signed[0] += other.signed[0];
        self.signed[1] += other.signed[1];
        self.regulariser += other.regulariser;
        self.regulariser_conjugate += other.regulariser_conjugate;
        self.support += other.support;
        self.step2 += other.step2;
        self.scale = self.scale.min(other.scale);
    }

    /// P(x).
    pub fn primal(&self, total_weight: f64) -> f64 {
        self.loss / total_weight + self.regulariser
    }

    /// D(α) of the α that was scaled, or a bound below it (see `Run::coordinate`).
    pub fn dual(&self, total_weight: f64) -> f64 {
        -self.conjugate / total_weight - self.scale * self.regulariser_conjugate
    }

    /// Factors for the positive and the negative dual variables that make their weighted sum 0.
    pub fn balance(&self) -> [f64; 2] {
        let [positive, negative] = self.signed;
        if positive > negative {
            [negative / positive, 1.0]
        } else if negative > positive {
            [1.0, positive / negative]
        } else {
            [1.0, 1.0]
        }
    }
}

/// Whether a dual point can be had for regulariser r: r* must be finite somewhere near 0 and reachable by scaling, and F must
/// be convex, as it is where the model is `linear`.
pub fn kind(prox: &Prox, linear: bool) -> CertificateKind {
    let bounded = prox.lo.is_finite() && prox.hi.is_finite();
    if !linear {
        return CertificateKind::ProxGradient;
    }
    if prox.l2 > 0.0 || prox.l1 > 0.0 || bounded { CertificateKind::Gap } else { CertificateKind::ProxGradient }
}

/// Whether α must be scaled for r* to be finite.
pub fn scales(prox: &Prox) -> bool {
    prox.l2 == 0.0 && !(prox.lo.is_finite() && prox.hi.is_finite())
}
