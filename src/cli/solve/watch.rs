//! Told of every sample: writes the trace and the checkpoint, shows the progress, and passes Ctrl-C on.
//!
//! An output that fails in the middle of a run does not end the run: what is computed would be lost with it. It is
//! said at once, and the command ends with exit code 1.

use super::bar::Bar;
use crate::cli::console;
use farrow::{
    error::{Error, Result},
    os::{clock::Stopwatch, signals::Interrupt},
    placement::costs::{Costs, Room},
    trace::{Begun, Continue, Observer, Sample, Snapshot, StepLog, StepTaken, TraceWriter},
};
use std::path::PathBuf;

pub(super) struct Watch {
    pub(super) trace: Option<TraceWriter>,
    pub(super) steps: Option<StepLog>,
    pub(super) checkpoint: Option<Keeper>,
    pub(super) bar: Option<Bar>,
    /// Nothing on standard error but errors.
    pub(super) quiet: bool,
    /// A line a sample on standard error.
    pub(super) verbose: bool,
    pub(super) interrupt: Interrupt,
    /// The first output that failed.
    pub(super) failure: Option<Error>,
}

impl Watch {
    /// Notes a failed output; true if it worked.
    pub(super) fn noted(&mut self, done: Result<()>) -> bool {
        let Err(error) = done else { return true };
        self.say(&format!("farrow: {error}\n  the run goes on without it"));
        self.failure.get_or_insert(error);
        false
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.line(text),
            None => console::line(text),
        }
    }

    fn trace(&mut self, write: impl FnOnce(&mut TraceWriter) -> Result<()>) {
        if let Some(mut trace) = self.trace.take()
            && self.noted(write(&mut trace))
        {
            self.trace = Some(trace);
        }
    }
}

impl Observer for Watch {
    fn costs(&mut self, costs: &Costs, room: &Room) -> Result<()> {
        /// Below this, one node's memory is nobody's concern.
        const BYTES: f64 = (1 << 30) as f64;
        if self.verbose || !self.quiet && (costs.nodes.len() > 1 || costs.total().bytes() >= BYTES) {
            self.say(costs.describe(room).trim_end());
        }
        Ok(())
    }

    fn begun(&mut self, begun: &Begun<'_>) -> Result<Continue> {
        self.trace(|trace| trace.placed(begun));
        Ok(Continue::Yes)
    }

    fn wants_steps(&self) -> bool {
        self.steps.is_some()
    }

    fn steps(&mut self, steps: &[StepTaken]) -> Result<()> {
        if let Some(mut log) = self.steps.take()
            && self.noted(log.write(steps))
        {
            self.steps = Some(log);
        }
        Ok(())
    }

    fn sample(&mut self, sample: &Sample, state: &dyn Snapshot) -> Result<Continue> {
        self.trace(|trace| trace.sample(sample));
        if self.verbose {
            self.say(&line(sample));
        }
        if let Some(bar) = &mut self.bar {
            bar.show(sample);
        }
        let interrupted = self.interrupt.received();
        if let Some(mut keeper) = self.checkpoint.take() {
            if keeper.is_due() || interrupted {
                let saved = keeper.keep(state);
                self.noted(saved);
            }
            self.checkpoint = Some(keeper);
        }
        Ok(if interrupted { Continue::Stop } else { Continue::Yes })
    }
}

fn line(sample: &Sample) -> String {
    let gap = sample.gap.map_or(String::new(), |gap| format!("  gap {gap:.3e}"));
    format!(
        "epoch {:>6.2}  {:>9.3} s  objective {:.10}{gap}  certificate {:.3e}  nonzero {}",
        sample.epoch, sample.seconds_solve, sample.objective, sample.certificate, sample.support
    )
}

/// Saves a checkpoint every so many seconds.
pub(super) struct Keeper {
    path: PathBuf,
    every_s: f64,
    since_kept: Stopwatch,
    since_sample: Stopwatch,
}

impl Keeper {
    pub(super) fn new(path: PathBuf, every_s: f64) -> Self {
        Keeper { path, every_s, since_kept: Stopwatch::start(), since_sample: Stopwatch::start() }
    }

    /// True if the checkpoint would be older than its interval at the next sample, which is as far away as the last.
    fn is_due(&mut self) -> bool {
        self.since_kept.seconds() + self.since_sample.lap() > self.every_s
    }

    fn keep(&mut self, state: &dyn Snapshot) -> Result<()> {
        state.checkpoint().save(&self.path)?;
        self.since_kept = Stopwatch::start();
        Ok(())
    }
}
