//! ProxASAGA (Pedregosa, Leblond, Lacoste-Julien, NIPS 2017), of which ASAGA (Leblond, Pedregosa, Lacoste-Julien, AISTATS
//! 2017) is the case without a kink in r: SAGA (Defazio, Bach, Lacoste-Julien, NIPS 2014) by sparse steps and without locks.
//!
//! Keeps a memo mᵢ = wᵢφ′ of each row, as it was at the row's last visit, and their average ᾱ = (1/W) Σ mᵢaᵢ. An update
//! of row i takes its slope at x̂ and δ, by how much it differs from mᵢ, makes [the corrected step](super::Companion) on
//! the row's support, adds δ aᵢ/W to ᾱ, and keeps the new slope: O(nnz) an update; shares x and ᾱ, and n memos, of which each
//! has one writer at a time. x_j is stored, the prox being no addition; what is added to ᾱ_j lands whatever the merge, since
//! an addition lost there would never be made good. x, ᾱ and m start at 0.
//!
//! Where this departs from the released code: x_j and ᾱ_j are read again at the write, so that a store of x_j undoes what
//! others wrote in the time of one entry and not of one update; rows are visited in shuffled order and not drawn.
//!
//! γ is 1/(3L) where none is given, L = (n/W) max wᵢφ″max‖aᵢ‖², the code's own; theory has a/L with an a that falls as 1/τ
//! once the overlap τ is above 1/√Δ, Δ the greatest share of rows that touch one column (Theorem 2).

use super::{About, Beside, Companion, Facts, Method, Pace, Term, corrected::Corrected};
use crate::{objective::Linear, prox::Prox, store::View};

pub(super) const FACTS: Facts = Facts::TABLE;

pub(super) fn make(about: &About<'_>) -> ProxAsaga {
    let frame = about.frame;
    ProxAsaga::new(frame.prox, frame.rows, frame.total_weight, frame.free)
}

/// See the module.
#[derive(Clone, Debug)]
pub struct ProxAsaga(Corrected);

impl ProxAsaga {
    /// For n `rows` of total weight W, with r on all slots but `free`.
    pub fn new(prox: Prox, rows: usize, total_weight: f64, free: Option<usize>) -> Self {
        ProxAsaga(Corrected::new(prox, rows, total_weight, free))
    }
}

impl Method for ProxAsaga {
    type Local = ();
    /// wᵢφ′(aᵢᵀx̂).
    type Pending = f64;

    #[inline(always)]
    fn read<O: Linear, V: View>(&self, term: Term<'_, O>, x: &V, _pace: &Pace, _local: &mut ()) -> f64 {
        self.0.slope(term, x)
    }

    #[inline(always)]
    fn write<O: Linear, V: View>(
        &self,
        term: Term<'_, O>,
        x: &V,
        beside: &Beside<'_, V>,
        slope: f64,
        pace: &Pace,
        _local: &mut (),
    ) {
        let delta = slope - term.memo();
        term.keep(slope);
        self.0.write(term, x, beside, (delta, pace.amplify * self.0.unit * delta), pace);
    }

    fn companion(&self) -> Option<Companion> {
        Some(Companion::Table)
    }
}
