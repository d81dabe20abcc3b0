//! The phases of a run: what every worker does before any goes on.

use crate::{
    os::clock::Stopwatch,
    sync::{Gate, SharedF64, Slot},
};
use crossbeam_utils::CachePadded;

/// Who runs a phase: one worker of many threads, or all workers in turn.
pub(super) enum Crew<'a> {
    /// Worker `.0`, meeting the others at `.1`, and adding what it waited there to `.2`.
    Thread(usize, &'a Gate, &'a SharedF64),
    /// Workers 0 to `.0`, on this thread.
    Alone(usize),
}

impl Crew<'_> {
    /// Seconds that its thread has waited for others so far.
    pub(super) fn waited(&self) -> f64 {
        match self {
            Crew::Thread(_, _, waited) => waited.read(),
            Crew::Alone(_) => 0.0,
        }
    }

    /// Adds `seconds` to its worker's of `sums`.
    pub(super) fn note(&self, sums: &[CachePadded<SharedF64>], seconds: f64) {
        if let Crew::Thread(worker, ..) = self {
            sums[*worker].put(sums[*worker].read() + seconds);
        }
    }

    /// Runs `each` for every worker of this crew, then waits for all others; the last runs `then` before any goes on.
    pub(super) fn phase(&self, mut each: impl FnMut(usize), then: impl FnOnce()) {
        match self {
            Crew::Thread(worker, gate, waited) => {
                each(*worker);
                let clock = Stopwatch::start();
                gate.meet(then);
                waited.put(waited.read() + clock.seconds());
            }
            Crew::Alone(workers) => {
                (0..*workers).for_each(each);
                then();
            }
        }
    }
}
