//! What one update reads, and what it then writes. A method is one file below and two lines here: its module, and its place in
//! the list of [`Kind`]s.

use crate::{
    config::keyed::Value,
    data::matrix::Row,
    objective::Linear,
    store::View,
    sync::{SharedF64, Slot},
};
use std::ops::Range;

pub mod batch;
pub mod bcd;
mod corrected;
pub mod dense_svrg;
pub mod dual;
pub mod facts;
pub mod hogwild;
pub mod minibatch;
pub mod newton;
pub mod piag;
pub mod proxasaga;
pub mod svrg;

pub use facts::{About, Facts, First, Form, Intercept};
pub use {bcd::Bcd, dual::Dual, hogwild::Hogwild, newton::Newton, piag::Piag, proxasaga::ProxAsaga, svrg::Svrg};

facts::methods! {
    "hogwild" Hogwild => hogwild for any,
    "minibatch" Minibatch {
        /// Rows an update.
        rows: usize = 64
    } => minibatch,
    "dual" Dual {
        /// Penalise the intercept as one more column of ones (the dual has no free constant).
        penalize_intercept: bool = false
    } => dual,
    "bcd" Bcd => bcd,
    "newton" Newton => newton,
    "proxasaga" ProxAsaga => proxasaga,
    "svrg" Svrg {
        /// Epochs from one snapshot to the next (Mania et al. 2017, §6: 2).
        epochs: u64 = 2
    } => svrg,
    "piag" Piag => piag,
    "dense-svrg" DenseSvrg { #[doc = "Epochs from one snapshot to the next."] epochs: u64 = 2 } => dense_svrg,
}

impl Kind {
    /// Whether a step's length is to be chosen for it.
    pub fn takes_step(&self) -> bool {
        self.facts().is_some_and(|facts| facts.step.is_ok())
    }

    /// Whether it keeps a memo for each row, and their average beside the parameters.
    pub fn has_companion(&self) -> bool {
        self.facts().is_some_and(|facts| facts.companion)
    }

    /// Lines of an update, where they are set; else 1.
    pub fn rows(&self) -> usize {
        let set = self.keys().into_iter().find(|(key, _)| *key == "rows");
        set.map_or(1, |(_, value)| if let Value::Count(rows) = value { rows as usize } else { 1 })
    }

    /// What its store and state mean; those of `auto` are x.
    pub fn form(&self) -> Form {
        self.facts().map_or(Form::Primal, |facts| facts.form)
    }
}

/// What the run tells an update about itself.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// γ, for methods that take one: as long as it is at the write.
    pub step: f64,
    /// σ′ ≥ 1: how much more curvature than its own a worker must assume, since others move at the same time.
    pub damping: f64,
    /// What a worker multiplies its writes with: σ′ where replicas are summed and divided by σ′, else 1.
    pub amplify: f64,
}

/// A term of the objective, as an update sees it.
#[derive(Debug)]
pub struct Term<'a, O> {
    /// The problem that it is a term of.
    pub f: &'a O,
    /// The number of its line there.
    pub i: usize,
    /// What the method keeps for each line there; empty for a method that keeps nothing.
    pub state: &'a [SharedF64],
}

// Whether the problem itself can be copied does not matter.
impl<O> Clone for Term<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Term<'_, O> {}

impl<'a, O: Linear> Term<'a, O> {
    /// Its line.
    #[inline(always)]
    pub fn line(&self) -> Row<'a> {
        self.f.line(self.i)
    }

    /// What the method keeps for it.
    #[inline(always)]
    pub fn memo(&self) -> f64 {
        self.state[self.i].read()
    }

    /// Keeps `memo` for it. A line has one worker at a time, so that nobody else writes there.
    #[inline(always)]
    pub fn keep(&self, memo: f64) {
        self.state[self.i].put(memo);
    }

    /// wᵢ φ′(z, bᵢ).
    #[inline(always)]
    pub fn slope(&self, margin: f64) -> f64 {
        self.f.weight(self.i) * self.f.frame().loss.slope(margin, self.f.label(self.i))
    }
}

/// What an update sees beside the parameters, where its method has a [`Companion`].
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a, V> {
    /// ᾱ by slot, of the same replica; of no slots without a companion.
    pub average: V,
    /// D_j by slot: n over the number of rows that touch it, the inverse of the chance that a random row does. 0 where none
    /// does. Empty without a companion.
    pub rarity: &'a [f64],
}

/// A vector that a method has beside the parameters in each replica: ᾱ = (1/W) Σ mᵢ aᵢ over all lines, where the memo mᵢ =
/// wᵢφ′ at some earlier point is what the method keeps for line i.
///
/// Each of K replicas has one of its own, to which its workers' changes of memos count K times, and an exchange draws those
/// together like the parameters: the average over the replicas is ᾱ, whatever the exchange, as long as it keeps sums. This is
/// gradient tracking, as in GT-SAGA (Xin, Khan, Kar, IEEE TSP 2020).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Companion {
    /// Updates change memos, and ᾱ with them.
    Table,
    /// Updates read both only. They are made anew, all memos at the average of the replicas, before epoch 0 and after every
    /// so many.
    Snapshot {
        /// Epochs between.
        epochs: u64,
    },
}

/// Whose delay an update has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its own: the updates written between its read and its write (shared memory, Wu et al. 2022).
    Ticket,
    /// The longest of all workers' last contributions, its own among them, since each still counts in what is written: a
    /// table of gradients (PIAG: τₖ = k − min sᵢ).
    Stamps,
}

/// One method, small enough that each worker has a copy of its own. An update is a read, then a write; a runner may let
/// other workers write in between. A method that moves by whole passes has a [`Batch`](batch::Batch) instead, and neither
/// reads nor writes by lines.
pub trait Method: Clone + Send + Sync {
    /// What a worker keeps to itself.
    type Local: Send + Default;
    /// What a read leaves for its write.
    type Pending: Copy + Send + Default;

    /// Reads what `term` needs of the parameters `x` and of the method's state.
    fn read<O: Linear, V: View>(
        &self,
        term: Term<'_, O>,
        x: &V,
        pace: &Pace,
        local: &mut Self::Local,
    ) -> Self::Pending {
        let _ = (term, x, pace, local);
        Self::Pending::default()
    }

    /// Writes the update of `term`. Only now is the step's length known, for it may depend on how many updates others
    /// wrote since the read.
    fn write<O: Linear, V: View>(
        &self,
        term: Term<'_, O>,
        x: &V,
        beside: &Beside<'_, V>,
        pending: Self::Pending,
        pace: &Pace,
        local: &mut Self::Local,
    ) {
        let _ = (term, x, beside, pending, pace, local);
    }

    /// What an update does once all its lines are written, where [`Method::FINISHES`]: dense work, once an update.
    fn finish<V: View>(&self, x: &V, beside: &Beside<'_, V>, pace: &Pace) {
        let _ = (x, beside, pace);
    }

    /// Whether [`Method::finish`] does anything.
    const FINISHES: bool = false;

    /// Whether an update writes all slots, and not those of its lines alone: an exchange moves all after it, it costs as much
    /// more, and where locks are asked for it is held by one of all.
    const DENSE: bool = Self::FINISHES;

    /// The vector that the method has beside the parameters, if it has one.
    fn companion(&self) -> Option<Companion> {
        None
    }

    /// Lines b of an update: it reads b lines one after the other, then writes them all with the same step. What counts lines,
    /// such as `updates` of a run, counts b for it; delays and steps count it as one.
    fn lines_per_update(&self) -> usize {
        1
    }

    /// How the delays of its updates are counted.
    fn measure(&self) -> Measure {
        Measure::Ticket
    }

    /// Whether the write of `pending` moves anything. A line that was visited and did not move is left alone for a while,
    /// where the loss lets lines rest ([`Loss::rests`](crate::loss::Loss::rests)).
    fn moves(pending: &Self::Pending) -> bool {
        let _ = pending;
        true
    }

    /// What asks for whole passes, for a method that moves by them.
    fn batch(&self) -> Option<Box<dyn batch::Batch>> {
        None
    }

    /// Lines written to one replica after which [`Method::settle`] is due; `None` if it never is.
    fn settle_every(&self) -> Option<u64> {
        None
    }

    /// Applies what was put off for `updates` lines that were written to the replica to the parameters in `range`.
    fn settle<V: View>(&self, x: &V, range: Range<usize>, updates: u64, pace: &Pace) {
        let _ = (x, range, updates, pace);
    }

    /// The worker's private scalars, that an exchange averages over all workers.
    fn private(local: &mut Self::Local) -> Option<&mut f64> {
        let _ = local;
        None
    }
}
