//! SVRG as it was first written (Johnson and Zhang, NIPS 2013; with a prox, Xiao and Zhang, SIOPT 2014), run as [`svrg`](super::svrg)
//! is: what that one is held against (Mania et al., SIOPT 2017, §6.2).
//!
//! An update of row i steps along its corrected gradient, x ← prox_{γr}(x − γ((n/W) δ aᵢ + G)) with δ = wᵢφ′(aᵢᵀx̂) − mᵢ, in all
//! d coordinates, as G and r have no zeros: O(d) an update where `svrg` makes O(nnz), and workers that share a replica write each
//! other's every line. So it shows what the sparse step saves, and what contention costs.
//!
//! Where this departs from the papers: rows are visited in shuffled order and not drawn, and the step is written without locks in
//! two sweeps, the row's and then that of all. Where `parameters.merge` is `locked` an update is written under one lock of all
//! (`consistent`). γ is that of `svrg`.

use super::{About, Beside, Companion, Facts, Method, Pace, Term, corrected::Corrected};
use crate::{objective::Linear, store::View};

pub(super) const FACTS: Facts = Facts::TABLE;

pub(super) fn make(about: &About<'_>, epochs: u64) -> DenseSvrg {
    let frame = about.frame;
    DenseSvrg { step: Corrected::new(frame.prox, frame.rows, frame.total_weight, frame.free), epochs }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct DenseSvrg {
    step: Corrected,
    epochs: u64,
}

impl Method for DenseSvrg {
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
        x.axpy(-pace.step * self.step.scale * (slope - term.memo()), term.line());
        self.step.step_all(x, &beside.average, pace.step);
    }

    const DENSE: bool = true;

    fn companion(&self) -> Option<Companion> {
        Some(Companion::Snapshot { epochs: self.epochs })
    }
}
