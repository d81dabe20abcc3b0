//! What one update reads, and what it then writes. A method is one file below and two lines here.

use crate::{objective::Linear, store::View, sync::SharedF64};
use std::ops::Range;

pub mod batch;
pub mod bcd;
pub mod dual;
pub mod hogwild;
pub mod minibatch;
pub mod newton;

pub use {bcd::Bcd, dual::Dual, hogwild::Hogwild, newton::Newton};

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

    /// Reads what line `i` needs of the parameters `x` and of the method's `state` (one slot a line).
    fn read<O: Linear, V: View>(
        &self,
        f: &O,
        state: &[SharedF64],
        x: &V,
        i: usize,
        pace: &Pace,
        local: &mut Self::Local,
    ) -> Self::Pending {
        let _ = (f, state, x, i, pace, local);
        Self::Pending::default()
    }

    /// Writes the update of line `i`. Only now is the step's length known, for it may depend on how many updates others
    /// wrote since the read.
    #[expect(clippy::too_many_arguments, reason = "what a read takes, and what it left")]
    fn write<O: Linear, V: View>(
        &self,
        f: &O,
        state: &[SharedF64],
        x: &V,
        i: usize,
        pending: Self::Pending,
        pace: &Pace,
        local: &mut Self::Local,
    ) {
        let _ = (f, state, x, i, pending, pace, local);
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
