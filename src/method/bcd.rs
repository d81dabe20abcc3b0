//! Proximal coordinate descent by columns (Tseng and Yun 2009; asynchronous on shared memory: Liu and Wright, SIOPT
//! 2015; Bradley et al.'s Shotgun, ICML 2011).
//!
//! The store holds the margins z = Ax; column j owns x_j. An update reads g = (1/W) Σᵢ wᵢ φ′(zᵢ) a_ij over the column,
//! takes x_j ← prox_{r/h}(x_j − g/h), and adds Δx_j a_j to z: O(nnz of the column), shares z. h bounds the curvature along
//! the coordinate as far as the step goes, so that a serial update never raises F; σ′ allows for the others' updates in
//! the meantime.
//!
//! **h** is H = σ′ φ″max (1/W) Σ wᵢ a_ij² at most. Where φ″ changes slowly (logistic: by a factor e^t at most when a margin
//! moves by t) the curvature here, h₀ = σ′ (1/W) Σ wᵢ φ″(zᵢ) a_ij², gives a longer step: with δ₀ the step for h₀, every
//! step for an h ≥ h₀ is no longer than δ₀, moves no margin by more than δ₀ maxᵢ|a_ij|, and so meets at most the curvature
//! h₀ e^(δ₀ maxᵢ|a_ij|), which is the h taken if it is below H. No line search is needed.

use super::{About, Beside, Facts, Form, Intercept, Method, Pace, Term};
use crate::{objective::Linear, store::View};

pub(super) const FACTS: Facts = Facts {
    form: Form::Columns,
    step: Err("takes each coordinate's step from the data"),
    fixed: Some("keeps each coordinate's column, and with a rank that column is other coordinates, which move"),
    kink: Some("coordinate descent can stall where the loss has a kink"),
    keeps: Some("a coefficient"),
    intercept: Intercept::Column,
    ..Facts::PRIMAL
};

pub(super) fn make(about: &About<'_>) -> Bcd {
    Bcd::new(about.frame.loss.curvature())
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Bcd {
    /// φ″max.
    curvature: f64,
}

impl Bcd {
    /// For a loss with φ″ ≤ `curvature` < ∞.
    pub fn new(curvature: f64) -> Self {
        Bcd { curvature }
    }
}

impl Method for Bcd {
    type Local = ();
    /// The new x_j and its change.
    type Pending = (f64, f64);

    #[inline(always)]
    fn read<O: Linear, V: View>(&self, term: Term<'_, O>, z: &V, pace: &Pace, _local: &mut ()) -> (f64, f64) {
        let Term { f, i, .. } = term;
        let frame = f.frame();
        let loss = &frame.loss;
        let (mut curvature, mut reach) = (0.0, 0.0f64);
        let gradient = z.fold(f.line(i), |k, z, a| {
            let (slope, second) = loss.bend(z, f.label(k));
            let weighted = f.weight(k) * a;
            curvature += weighted * a * second;
            reach = reach.max(a.abs());
            weighted * slope
        }) / frame.total_weight;
        let bound = pace.damping * self.curvature * f.norm2(i) / frame.total_weight;
        let old = term.memo();
        if bound == 0.0 {
            // An empty column: only r speaks, and r is least at 0.
            return (0.0, -old * pace.amplify);
        }
        let prox = frame.prox_of(f.global(i));
        let step = |h: f64| prox.prox(old - gradient / h, 1.0 / h);
        let here = pace.damping * curvature / frame.total_weight;
        let far = here * loss.stretch((step(here) - old).abs() * reach * pace.damping);
        // Not a number where the curvature here is 0: then, too, the bound.
        let new = step(if far < bound { far } else { bound });
        (new, (new - old) * pace.amplify)
    }

    #[inline(always)]
    fn write<O: Linear, V: View>(
        &self,
        term: Term<'_, O>,
        z: &V,
        _beside: &Beside<'_, V>,
        (new, change): (f64, f64),
        _pace: &Pace,
        _local: &mut (),
    ) {
        if change != 0.0 {
            term.keep(new);
            z.axpy(change, term.line());
        }
    }
}
