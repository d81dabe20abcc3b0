//! The proximal incremental aggregated gradient method (PIAG: Aytekin, Feyzmahdavian, Johansson 2016; Vanli, Gürbüzbalaban,
//! Ozdaglar, SIOPT 2018), the parameter server's: after IAG (Blatt, Hero, Gauchman, SIOPT 2007).
//!
//! Keeps the last gradient of each component, and their sum; a component is one worker's rows, all of them. An update reads their
//! slopes at x̂, then exchanges what is kept of them for these, so that ᾱ = (1/W) Σ mᵢaᵢ is the sum of all components' last
//! gradients, and takes x ← prox_{γr}(x − γᾱ), all of it. The delay of an update is that of the oldest gradient in the sum:
//! τₖ = k − minₖ sₖ over the workers' last updates ([`Measure::Stamps`]).
//!
//! For a linear model a gradient is kept as the slopes of its rows, 8 bytes a row on their worker's node, and not as d
//! numbers a worker. O(nnz + d) an update, whose writes are dense; shares x, ᾱ and n memos of one writer each. Writes are one
//! after the other, as if a server made them, and what is read was x at some time (`parameters.merge` is `consistent` whatever
//! it says).
//!
//! γ goes by delay (Wu et al., ICML 2022): `adaptive1` with γ′ = 0.9/L where nothing is said, L that of F. Unlike there L is
//! not √(mean L_c²) over components but their mean's, which is less; what the theory needs is the Lipschitz constant by which
//! the aggregate's error is bounded, and with equal parts of shuffled rows the two hardly differ.

use super::{About, Beside, Companion, Facts, First, Measure, Method, Pace, Term, corrected::Corrected};
use crate::{objective::Linear, prox::Prox, store::View};

pub(super) const FACTS: Facts = Facts { step: Ok(First::OfAll), ..Facts::TABLE };

pub(super) fn make(about: &About<'_>) -> Piag {
    let frame = about.frame;
    Piag::new(frame.prox, frame.rows, frame.total_weight, frame.free)
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Piag(Corrected);

impl Piag {
    /// For n `rows` of total weight W, with r on all slots but `free`.
    pub fn new(prox: Prox, rows: usize, total_weight: f64, free: Option<usize>) -> Self {
        Piag(Corrected::new(prox, rows, total_weight, free))
    }
}

impl Method for Piag {
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
        _x: &V,
        beside: &Beside<'_, V>,
        slope: f64,
        pace: &Pace,
        _local: &mut (),
    ) {
        let delta = slope - term.memo();
        term.keep(slope);
        beside.average.axpy(pace.amplify * self.0.unit * delta, term.line());
    }

    fn finish<V: View>(&self, x: &V, beside: &Beside<'_, V>, pace: &Pace) {
        self.0.step_all(x, &beside.average, pace.step);
    }

    const FINISHES: bool = true;

    fn companion(&self) -> Option<Companion> {
        Some(Companion::Table)
    }

    fn lines_per_update(&self) -> usize {
        usize::MAX
    }

    fn measure(&self) -> Measure {
        Measure::Stamps
    }
}
