//! Stochastic dual coordinate ascent on shared memory: PASSCoDe (Hsieh, Yu, Dhillon, ICML 2015) over one vector, with
//! lock, atomic or wild writes by the store's merge; over replicas, CoCoA+ (Ma et al., ICML 2015) and SySCD (Ioannou et
//! al., NeurIPS 2019).
//!
//! Maximises D(α) = −(1/W) Σ wᵢ φ*(−αᵢ, bᵢ) − Σ_j r*(v_j), v = (1/W) Σ wᵢ αᵢ aᵢ, which needs λ₂ > 0. The store holds
//! u = v/λ₂; the primal point is x = ∇r*(λ₂u), which is u itself for pure L2. An update reads z = aᵢᵀx, maximises the
//! dual in αᵢ alone, with the quadratic bound c = σ′wᵢ‖aᵢ‖²/(λ₂W) for the change of r* (exact for pure L2 and σ′ = 1), and
//! adds wᵢΔαᵢ/(λ₂W) times the row: O(nnz) an update, shares u; α has one writer at a time.
//!
//! With several replicas a worker adds σ′ times its change to its own replica, and the exchange takes 1/σ′ of every
//! replica's change: the local subproblem of CoCoA+. The dual cannot fall where ‖Σ δₖ‖² ≤ σ′ Σ ‖δₖ‖² for the changes δₖ of the
//! replicas, which holds at σ′ = the number of replicas; a run starts there, and then takes a quarter more than the ratio
//! was at the last exchange. Workers that share a replica see each other's writes: there a run starts at σ′ = 1. Either
//! doubles whenever the dual falls (see `run`).

use super::{About, Beside, Facts, Form, Intercept, Method, Pace, Term};
use crate::{objective::Linear, prox::Prox, store::View};

pub(super) const FACTS: Facts = Facts {
    form: Form::Dual,
    step: Err("maximises the dual along each coordinate"),
    fixed: Some("maximises a dual, and F of a product of parameters is not convex and has none"),
    keeps: Some("a dual variable"),
    intercept: Intercept::Penalized,
    ..Facts::PRIMAL
};

pub(super) fn make(about: &About<'_>, _penalize_intercept: bool) -> Dual {
    Dual::new(about.frame.prox, about.frame.total_weight)
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Dual {
    prox: Prox,
    /// 1/(λ₂W).
    unit: f64,
    linear: bool,
}

impl Dual {
    /// For r with λ₂ > 0 and total weight W.
    pub fn new(prox: Prox, total_weight: f64) -> Self {
        Dual { prox, unit: 1.0 / (prox.l2 * total_weight), linear: prox.is_pure_l2() }
    }

    /// x_j of u_j.
    #[inline(always)]
    pub fn primal(&self, u: f64) -> f64 {
        if self.linear { u } else { self.prox.dual_map(self.prox.l2 * u) }
    }
}

impl Method for Dual {
    type Local = ();
    /// The new αᵢ, and the scalar that multiplies the row.
    type Pending = (f64, f64);

    #[inline(always)]
    fn read<O: Linear, V: View>(&self, term: Term<'_, O>, x: &V, pace: &Pace, _local: &mut ()) -> (f64, f64) {
        let Term { f, i, .. } = term;
        let row = f.line(i);
        let margin = if self.linear { x.dot(row) } else { x.fold(row, |_, u, a| a * self.primal(u)) };
        let old = term.memo();
        let unit = f.weight(i) * self.unit;
        let new = f.frame().loss.ascend(margin, f.label(i), old, unit * pace.damping * f.norm2(i));
        (new, (new - old) * unit * pace.amplify)
    }

    #[inline(always)]
    fn moves(&(_, change): &(f64, f64)) -> bool {
        change != 0.0
    }

    #[inline(always)]
    fn write<O: Linear, V: View>(
        &self,
        term: Term<'_, O>,
        x: &V,
        _beside: &Beside<'_, V>,
        (new, change): (f64, f64),
        _pace: &Pace,
        _local: &mut (),
    ) {
        if change != 0.0 {
            term.keep(new);
            x.axpy(change, term.line());
        }
    }
}
