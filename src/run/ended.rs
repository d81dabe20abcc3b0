//! What a run leaves behind, and what its workers waited for.

use super::{Delaying, Exchanged, Fed, PANICKED, Run, Verdict};
use crate::{
    data::matrix::Matrix,
    error::Result,
    os::memory::Asking,
    placement::actual::Actual,
    sync::Slot,
    trace::{DelaySummary, DelayTally, Delays, Sample, Seen, StopReason},
};

/// What a run leaves.
#[derive(Debug)]
pub struct Ended {
    /// Why it stopped.
    pub stop: StopReason,
    /// Every sample.
    pub samples: Vec<Sample>,
    /// The model and state at the end.
    pub checkpoint: crate::checkpoint::Checkpoint,
    /// The model.
    pub model: crate::model::Model,
    /// Seconds of solving and of evaluating.
    pub seconds: (f64, f64),
    /// Updates of this process.
    pub updates: u64,
    /// What each worker waited for.
    pub waits: Vec<Waits>,
    /// What exchanges moved, where replicas met.
    pub exchanged: Option<Exchanged>,
    /// How long updates were delayed, where that was measured.
    pub delays: Option<DelaySummary>,
    /// What a GPU did, where there was one.
    pub fed: Option<Fed>,
    /// What was seen of the memory.
    pub seen: Seen,
    /// Where threads and pages were when the run began.
    pub actual: Actual,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// What one worker waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waits {
    /// Seconds at the gate where workers meet, the serial work of the last to arrive included.
    pub gate_seconds: f64,
    /// The part of it that is of solving.
    pub gate_solving_seconds: f64,
    /// Seconds of its updates; what else there is of solving, it exchanged, or did work that is not an update's. 0 where workers take
    /// turns on one thread.
    pub busy_seconds: f64,
    /// Stripes of a locked merge that another update held.
    pub stripes: u64,
    /// Times that a lock of the replica was not to be had at once: that of a consistent merge, or the one under which updates
    /// are numbered where delays are measured.
    pub locks: u64,
    /// Seconds at exchanges where replicas do not meet: copying, and waiting for messages and for replicas in use.
    pub exchange_seconds: f64,
}

impl<D: Matrix> Run<'_, D> {
    /// What the run leaves behind.
    ///
    /// # Errors
    /// Whatever an observer reported.
    pub(super) fn end(self) -> Result<Ended> {
        let checkpoint = self.checkpoint();
        let model = self.model();
        let (updates, waits, delays, seen) = (self.updates(), self.waits(), self.delays(), self.seen());
        let (exchanged, fed) = (self.moving.exchanged(), self.fed());
        let troubles = self.troubles();
        let ledger = self.ledger.into_inner().expect(PANICKED);
        if let Some(error) = ledger.error {
            return Err(error);
        }
        let Verdict::Stop(stop) = ledger.verdict else {
            unreachable!("a run ends with a reason");
        };
        Ok(Ended {
            stop,
            checkpoint,
            model,
            seconds: (ledger.seconds_solve, ledger.seconds_evaluate),
            samples: ledger.samples,
            updates,
            waits,
            exchanged,
            delays,
            fed,
            seen,
            actual: ledger.actual,
            warnings: ledger.warnings.into_iter().chain(troubles).collect(),
        })
    }

    fn waits(&self) -> Vec<Waits> {
        let of = |worker: usize| {
            let (stripes, locks) = self.engine.waited(worker);
            let (gate_seconds, exchange_seconds) = (self.gate_seconds[worker].read(), self.step_seconds(worker));
            Waits {
                gate_seconds,
                gate_solving_seconds: self.gate_solving[worker].read(),
                busy_seconds: self.busy_seconds[worker].read(),
                exchange_seconds,
                stripes,
                locks,
            }
        };
        (0..self.workers()).map(of).collect()
    }

    fn delays(&self) -> Option<DelaySummary> {
        let mut all = Delays::default();
        (0..self.workers()).for_each(|worker| self.engine.add_delays(worker, &mut all));
        all.summary("after write")
    }

    fn seen(&self) -> Seen {
        let tally = |worker| {
            self.engine.tally(worker).unwrap_or_else(|| {
                let mut tally = DelayTally::new(0);
                self.engine.add_delays(worker, &mut tally.all);
                tally
            })
        };
        let asking = Asking { pages_max: self.task.facts.pages_max, moves: false };
        let watched = self.task.watches != Delaying::Unwatched;
        Seen {
            placed: watched.then(|| self.actual(asking)),
            delays: (0..self.workers()).map(tally).collect(),
            delays_label: if self.measures { "after write" } else { "sampled" },
            delays_split: !self.measures,
            retries: (0..self.workers()).map(|worker| self.engine.retries(worker)).collect(),
            audited: self.audit(),
            unaudited: None,
            readings: self.readings.iter().map(|readings| readings.lock().expect(PANICKED).clone()).collect(),
        }
    }

    /// Updates of this process, all workers.
    pub(super) fn updates(&self) -> u64 {
        (0..self.workers()).map(|worker| self.engine.updates(worker)).sum()
    }
}
