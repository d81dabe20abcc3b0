//! Asynchronous sparse SVRG: KroMagnon (Mania et al., SIOPT 2017, §5), after Johnson and Zhang (NIPS 2013); with a prox as
//! in Xiao and Zhang (SIOPT 2014).
//!
//! Every so many epochs the workers meet, and together take a snapshot: the slopes mᵢ = wᵢφ′ of all rows at the present
//! point y, and G = (1/W) Σ mᵢaᵢ, the gradient of the loss there, of which each replica has a copy on its node. In between an
//! update of row i makes [the corrected step](super::Companion) with δ = wᵢφ′(aᵢᵀx̂) − mᵢ and G for ᾱ: O(nnz) an update;
//! shares x, and reads n slopes and G, which nobody writes.
//!
//! Where this departs from the paper: the slopes at y are kept, 8 bytes a row, and not taken again at each visit; r has its
//! prox, with D_j for the coordinates of a row; with several replicas y is their average. γ is 1/(3L) where none is given, L
//! = (n/W) max wᵢφ″max‖aᵢ‖²: the paper tunes up to 1/(0.4L), its theory asks for 1/(4Lκ).

use super::{About, Beside, Companion, Facts, Method, Pace, Term, corrected::Corrected};
use crate::{objective::Linear, prox::Prox, store::View};

pub(super) const FACTS: Facts = Facts::TABLE;

pub(super) fn make(about: &About<'_>, epochs: u64) -> Svrg {
    let frame = about.frame;
    Svrg::new(frame.prox, frame.rows, frame.total_weight, frame.free, epochs)
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Svrg {
    step: Corrected,
    epochs: u64,
}

impl Svrg {
    /// For n `rows` of total weight W, with r on all slots but `free`; a snapshot every `epochs` epochs.
    pub fn new(prox: Prox, rows: usize, total_weight: f64, free: Option<usize>, epochs: u64) -> Self {
        Svrg { step: Corrected::new(prox, rows, total_weight, free), epochs }
    }
}

impl Method for Svrg {
    type Local = ();
    /// wᵢφ′(aᵢᵀx̂).
    type Pending = f64;

    #[inline(always)]
    fn read<O: Linear, V: View>(&self, term: Term<'_, O>, x: &V, _pace: &Pace, _local: &mut ()) -> f64 {
        self.step.slope(term, x)
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
        self.step.write(term, x, beside, (slope - term.memo(), 0.0), pace);
    }

    fn companion(&self) -> Option<Companion> {
        Some(Companion::Snapshot { epochs: self.epochs })
    }
}
