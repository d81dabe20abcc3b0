//! The steps that the methods with remembered gradients share: a stochastic gradient, corrected by what is remembered of it, on
//! the support of its row alone (Leblond, Pedregosa, Lacoste-Julien, AISTATS 2017; Pedregosa et al., NIPS 2017, eq. 4).
//!
//! With δ = wᵢφ′(aᵢᵀx̂) − mᵢ for row i, x_j ← prox_{γD_j r}(x_j − γ(n/W δ aᵢⱼ + D_j ᾱ_j)) for each j in its support. D_j =
//! n/n_j makes the expectation over i of the second term ᾱ_j, and that of the prox's length γ. The read is of x alone; what
//! is written follows from ᾱ_j and x_j as they are then. Per entry: x_j and ᾱ_j, D_j, and 8 bytes of the row twice.

use super::{Beside, Pace, Term};
use crate::{objective::Linear, prox::Prox, store::View};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Corrected {
    prox: Prox,
    /// n/W.
    pub(super) scale: f64,
    /// 1/W.
    pub(super) unit: f64,
    /// The slot that no regulariser touches; none has the number `usize::MAX`.
    free: usize,
}

impl Corrected {
    /// For n `rows` of total weight W, with r on all slots but `free`.
    pub(super) fn new(prox: Prox, rows: usize, total_weight: f64, free: Option<usize>) -> Self {
        Corrected {
            prox,
            scale: rows as f64 / total_weight,
            unit: 1.0 / total_weight,
            free: free.unwrap_or(usize::MAX),
        }
    }

    /// wᵢφ′ at x.
    #[inline(always)]
    pub(super) fn slope<O: Linear, V: View>(&self, term: Term<'_, O>, x: &V) -> f64 {
        term.slope(x.dot(term.line()))
    }

    /// x ← prox_{γr}(x − γȳ), where `average` shows ȳ: a step of all coordinates. Reads both vectors, and writes x: 24d bytes.
    #[inline(always)]
    pub(super) fn step_all<V: View>(&self, x: &V, average: &V, step: f64) {
        x.map_beside(average, |j, x, y| {
            let moved = x - step * y;
            if j == self.free { moved } else { self.prox.prox(moved, step) }
        });
    }

    /// Writes the step of a row with `delta` = δ, and adds `add` times the row to ᾱ.
    #[inline(always)]
    pub(super) fn write<O: Linear, V: View>(
        &self,
        term: Term<'_, O>,
        x: &V,
        beside: &Beside<'_, V>,
        (delta, add): (f64, f64),
        pace: &Pace,
    ) {
        let (step, row) = (pace.step, term.line());
        let along = step * self.scale * delta;
        let Beside { average, rarity } = beside;
        if self.prox.is_pure_l2() {
            let shrink = step * self.prox.l2;
            x.update_beside(row, average, rarity, add, |j, x, y, d, a| {
                let moved = x - along * a - step * d * y;
                if j == self.free { moved } else { moved / (1.0 + shrink * d) }
            });
        } else {
            x.update_beside(row, average, rarity, add, |j, x, y, d, a| {
                let moved = x - along * a - step * d * y;
                if j == self.free { moved } else { self.prox.prox(moved, step * d) }
            });
        }
    }
}
