//! Hogwild! (Niu, Recht, Ré, Wright, NIPS 2011; perturbed-iterate analysis: Mania et al., SIOPT 2017): every worker
//! takes a row, reads the coordinates it touches, and adds the stochastic gradient to them, without locks.
//!
//! x_e ← x_e − γ (n/W) wᵢ φ′(aᵢᵀx̂ + c) aᵢ on the support e of row i: O(nnz) an update; shares x and nothing else.
//!
//! **The regulariser is put off.** Instead of a time stamp a coordinate (one more random access an entry) or one global
//! scale factor (a line that every worker writes), each worker sweeps its slice of x once every so many updates, and
//! applies prox_{kγr} for the k updates of its replica since its last sweep. Sweeps are read and written in
//! order; [`Hogwild::new`] spaces them so that they cost a few per cent of the time, and at least two an epoch. The
//! method is then proximal SGD with the prox applied in portions: same fixed point as γ → 0.
//!
//! **The intercept** is a worker's own scalar, averaged over the workers at every exchange and at every epoch's end: as a
//! shared coordinate it would be the one line that every update of every worker writes.

use super::{About, Beside, Facts, Method, Pace, Term};
use crate::{objective::Linear, prox::Prox, store::View};
use std::ops::Range;

pub(super) const FACTS: Facts = Facts::PRIMAL;

pub(super) fn make(about: &About<'_>) -> Hogwild {
    let frame = about.frame;
    Hogwild::new(frame.prox, frame.rows, frame.columns, about.nonzeros, frame.total_weight, frame.private_constant)
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Hogwild {
    prox: Prox,
    settle_every: Option<u64>,
    /// n/W, and divided by the rows an update.
    pub(super) scale: f64,
    intercept: bool,
    /// Rows an update.
    pub(super) rows: usize,
}

impl Hogwild {
    /// For n `rows` of total weight W with `nonzeros` entries in `columns` columns.
    pub fn new(prox: Prox, rows: usize, columns: usize, nonzeros: u64, total_weight: f64, intercept: bool) -> Self {
        // An entry of a row costs about ten times a coordinate of a sweep. A sixteenth of an epoch is often enough for
        // the shrinkage to act in small portions, half an epoch is the least.
        let row_nonzeros = (nonzeros as f64 / rows.max(1) as f64).max(1.0);
        let cheap = (columns as f64 / (0.3 * row_nonzeros)) as u64;
        let rows = rows as u64;
        let every = cheap.clamp(rows.div_ceil(16), rows.div_ceil(2)).max(1);
        Hogwild {
            prox,
            settle_every: (!prox.is_none()).then_some(every),
            scale: rows as f64 / total_weight,
            intercept,
            rows: 1,
        }
    }
}

impl Method for Hogwild {
    /// c.
    type Local = f64;
    /// −(n/W) wᵢ φ′.
    type Pending = f64;

    #[inline(always)]
    fn read<O: Linear, V: View>(&self, term: Term<'_, O>, x: &V, _pace: &Pace, local: &mut f64) -> f64 {
        -self.scale * term.slope(x.dot(term.line()) + *local)
    }

    #[inline(always)]
    fn write<O: Linear, V: View>(
        &self,
        term: Term<'_, O>,
        x: &V,
        _beside: &Beside<'_, V>,
        pending: f64,
        pace: &Pace,
        local: &mut f64,
    ) {
        if pending != 0.0 {
            let change = pace.step * pending;
            x.axpy(change, term.line());
            if self.intercept {
                *local += change;
            }
        }
    }

    fn lines_per_update(&self) -> usize {
        self.rows
    }

    fn settle_every(&self) -> Option<u64> {
        self.settle_every
    }

    fn settle<V: View>(&self, x: &V, range: Range<usize>, updates: u64, pace: &Pace) {
        let length = pace.step * updates as f64 / self.rows as f64;
        if self.prox.is_pure_l2() {
            let shrink = 1.0 / (1.0 + length * self.prox.l2);
            x.map(range, |_, value| value * shrink);
        } else {
            x.map(range, |_, value| self.prox.prox(value, length));
        }
    }

    fn private(local: &mut f64) -> Option<&mut f64> {
        Some(local)
    }
}
