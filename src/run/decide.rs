//! What happens when all workers have met: the clock, the sample, the observer, and whether to go on.

use super::{Form, Ledger, PANICKED, Run, Verdict, snapshot::At, task::Facts};
use crate::{
    data::matrix::Matrix,
    os::{clock::Stopwatch, memory::Asking},
    sync::Slot,
    trace::{Begun, CertificateKind, Continue, Sample, StopReason},
};

/// A run has grown apart when F exceeds F(0) by this factor.
const GROWTH: f64 = 1e4;
/// Epochs without an evaluation, at most: what a crash may lose, and then evaluations cost little.
const AHEAD: f64 = 10.0;
/// The part of the target by which rounding may make a gap wrong that is taken as it is.
const ROUNDING: f64 = 0.01;

impl<D: Matrix> Run<'_, D> {
    /// All stand where they will run: tells the observer. Then the line is clear.
    pub(super) fn start(&self) {
        let facts = &self.task.facts;
        let actual = self.actual(Asking { pages_max: facts.pages_max, moves: true });
        let mut ledger = self.ledger.lock().expect(PANICKED);
        ledger.warnings = facts.warnings.iter().cloned().chain(actual.notes()).collect();
        ledger.actual = actual;
        self.tell(&mut ledger);
        ledger.since = Stopwatch::start();
        self.set_deadline(&ledger);
        self.set_span(&mut ledger);
        if ledger.verdict == Verdict::Go && ledger.epochs_done >= self.task.limits.epochs {
            ledger.verdict = Verdict::Stop(StopReason::MaxEpochs);
        }
    }

    fn tell(&self, ledger: &mut Ledger<'_>) {
        let Facts { method, why, shape, .. } = self.task.facts;
        let Ledger { observer, actual, warnings, .. } = ledger;
        match observer.begun(&Begun { method, why, shape, actual, warnings }) {
            Ok(Continue::Yes) => {}
            Ok(Continue::Stop) => ledger.verdict = Verdict::Stop(StopReason::Interrupted),
            Err(error) => {
                ledger.verdict = Verdict::Stop(StopReason::Interrupted);
                ledger.error = Some(error);
            }
        }
    }

    /// How far the workers go before they meet again: where each goes on by itself, to the next evaluation that was asked for.
    fn set_span(&self, ledger: &mut Ledger<'_>) {
        let limits = &self.task.limits;
        let asked = limits.evaluate_every.filter(|_| self.free).unwrap_or(1);
        ledger.span = asked.min(limits.epochs.saturating_sub(ledger.epochs_done)).max(1);
        self.passes.open(ledger.span * self.workers() as u64);
    }

    fn set_deadline(&self, ledger: &Ledger<'_>) {
        if let Some(limit) = self.task.limits.seconds {
            self.deadline.put(self.clock.seconds() + limit - ledger.seconds_solve - ledger.seconds_evaluate);
        }
    }

    /// Solving ends, evaluating begins; or the next epoch, where no evaluation is due.
    pub(super) fn solved(&self) {
        let mut ledger = self.ledger.lock().expect(PANICKED);
        ledger.seconds_solve += ledger.since.lap();
        self.tell_steps(&mut ledger);
        let updates = self.updates();
        self.visited.put((updates - ledger.updates_solved) as f64 / self.task.shards.lines().max(1) as f64);
        ledger.updates_solved = updates;
        self.share_lines();
        let limits = &self.task.limits;
        let ends = ledger.epochs_done + ledger.span >= limits.epochs
            || limits.seconds.is_some_and(|limit| ledger.seconds_solve + ledger.seconds_evaluate >= limit)
            || self.halt.is_raised()
            || (self.task.interrupted)();
        let due = ends || self.is_due(&ledger);
        ledger.verdict = if due { Verdict::Go } else { Verdict::Skip };
        if !due {
            ledger.epochs_done += ledger.span;
            ledger.updates_seen = updates;
            self.set_span(&mut ledger);
        }
    }

    /// Tells the observer of the epoch's steps, by replica, in their order. What that takes is neither solving nor evaluating.
    fn tell_steps(&self, ledger: &mut Ledger<'_>) {
        if !self.logs {
            return;
        }
        let mut steps = Vec::new();
        (0..self.workers()).for_each(|worker| self.engine.take_steps(worker, &mut steps));
        steps.sort_unstable_by_key(|step| (step.replica, step.k));
        if let Err(error) = ledger.observer.steps(&steps) {
            ledger.error.get_or_insert(error);
            self.halt.raise();
        }
        ledger.since = Stopwatch::start();
        self.set_deadline(ledger);
    }

    /// Whether an evaluation is due at the end of this epoch.
    fn is_due(&self, ledger: &Ledger<'_>) -> bool {
        let limits = &self.task.limits;
        let epoch = ledger.epochs_done + ledger.span;
        match (limits.evaluate_every, limits.objective, limits.target, self.foreseen()) {
            (None, None, Some(target), Some(foreseen)) => {
                let before = ledger.samples.last().map_or(0.0, |last| last.epoch);
                foreseen <= target || epoch as f64 >= before + AHEAD
            }
            _ => epoch >= ledger.evaluate_after,
        }
    }

    /// Takes a sample and decides. `exact`: the store is what the state says.
    pub(super) fn decide(&self, exact: bool) {
        let mut guard = self.ledger.lock().expect(PANICKED);
        let ledger = &mut *guard;
        ledger.seconds_evaluate += ledger.since.lap();
        let sample = self.sample(ledger);
        let reached = self.task.limits.target.is_some_and(|target| sample.certificate <= target);
        let exact = exact || self.rounds_little(sample.updates);
        if reached && !exact && ledger.verdict != Verdict::Verify {
            ledger.verdict = Verdict::Verify;
            return;
        }
        // Before the observer looks: what it saves must go on with the σ′ that this epoch taught.
        let (ascent, fell) = self.adapt(ledger, &sample);
        let at = At { run: self, epoch: ledger.epochs_done + ledger.span, sample: &sample, ascent };
        let seen = ledger.observer.sample(&sample, &at);
        // What the observer took is neither solving nor evaluating.
        ledger.since = Stopwatch::start();
        self.set_deadline(ledger);
        ledger.epochs_done += ledger.span;
        ledger.verdict = match self.stop(ledger, &sample, reached, ascent, fell) {
            Some(reason) => Verdict::Stop(reason),
            None => Verdict::Go,
        };
        match seen {
            Ok(Continue::Yes) => (),
            Ok(Continue::Stop) if ledger.verdict == Verdict::Go => {
                ledger.verdict = Verdict::Stop(StopReason::Interrupted);
            }
            Ok(Continue::Stop) => (),
            Err(error) => {
                ledger.error = Some(error);
                ledger.verdict = Verdict::Stop(StopReason::Interrupted);
            }
        }
        ledger.updates_seen = self.updates();
        ledger.last_ascent = ascent;
        ledger.samples.push(sample);
        self.set_span(ledger);
        ledger.evaluate_after = ledger.epochs_done + self.epochs_ahead(&ledger.samples);
    }

    /// Whether what rounding made of the store by now is nothing beside the target, so that there is no need to rebuild it
    /// before the target counts as met.
    ///
    /// A coordinate u of dual ascent is a sum that was rounded once an update, to a relative error ε at most. So
    /// λ₂Σ x_j δu_j, by which the gap is then wrong, is no more than about 2ε `updates` times r(x), of which F is the larger.
    fn rounds_little(&self, updates: u64) -> bool {
        let target = self.task.limits.target.unwrap_or(0.0);
        match self.task.form {
            Form::Primal => true,
            Form::Dual => 2.0 * f64::EPSILON * updates as f64 <= ROUNDING * target,
            Form::Columns => false,
        }
    }

    /// Epochs to the next evaluation. An evaluation goes over the data once, as an epoch does, and most of those on the
    /// way to a target only tell that it is not met yet. The certificate falls by a nearly constant factor an epoch; the
    /// next evaluation is due when it would be met at the factor between the last two, but no later than
    /// [`AHEAD`] epochs on, nor than the epochs done again.
    fn epochs_ahead(&self, samples: &[Sample]) -> u64 {
        let limits = &self.task.limits;
        if let Some(every) = limits.evaluate_every {
            return every;
        }
        let (Some(target), None, [.., before, last]) = (limits.target, limits.objective, samples) else {
            return 1;
        };
        let rate = (before.certificate / last.certificate).ln() / (last.epoch - before.epoch);
        let left = (last.certificate / target).ln() / rate;
        // Neither holds for NaN, infinity, or a certificate that rises.
        if rate > 0.0 && left > 1.0 { left.min(last.epoch).min(AHEAD).ceil() as u64 } else { 1 }
    }

    fn sample(&self, ledger: &Ledger<'_>) -> Sample {
        let totals = &ledger.totals;
        let weight = self.task.frame.total_weight;
        let objective = totals.primal(weight);
        let (gap, certificate) = match self.task.certificate {
            CertificateKind::Gap => {
                let gap = objective - totals.dual(weight);
                // P and D are sums of many terms: at the optimum they differ by rounding, of either sign.
                let gap = if gap.abs() <= 1e-14 * objective.abs() { gap.max(0.0) } else { gap };
                (Some(gap), gap / objective.abs().max(1e-300))
            }
            CertificateKind::ProxGradient => {
                (None, if ledger.norm_origin > 0.0 { totals.step2.sqrt() / ledger.norm_origin } else { 0.0 })
            }
        };
        let done = self.updates();
        // Less than all where the run was halted within the epoch. Otherwise all, though with a copy of the rows a node, or
        // workers that go on by themselves, its visits add up to n only as nearly as buckets and parts allow.
        let visited = (done - ledger.updates_seen) as f64 / self.task.shards.lines().max(1) as f64;
        let span = ledger.span as f64;
        let epochs = if self.halt.is_raised() { visited.min(span) } else { span };
        Sample {
            epoch: ledger.epochs_done as f64 + epochs,
            updates: ledger.updates_before + done,
            seconds_solve: ledger.seconds_solve,
            seconds_evaluate: ledger.seconds_evaluate,
            objective,
            gap,
            certificate,
            support: totals.support,
            step: self.task.step.map(|step| match self.gauges[0].last() {
                Some(last) => last,
                None => step.length(ledger.epochs_done as f64),
            }),
            consensus: self.consensus(),
            drift: self.drift(),
        }
    }

    fn stop(
        &self,
        ledger: &Ledger<'_>,
        sample: &Sample,
        reached: bool,
        ascent: f64,
        fell: bool,
    ) -> Option<StopReason> {
        let limits = &self.task.limits;
        let seconds = ledger.seconds_solve + ledger.seconds_evaluate;
        let limit = GROWTH * ledger.objective_zero.max(f64::MIN_POSITIVE);
        let grown = match self.task.form {
            Form::Primal => sample.objective > limit,
            // The primal of a dual ascent may be large on its way; what must not fall is the dual. With σ′ at its largest
            // it has no excuse left.
            Form::Dual | Form::Columns => -ascent > limit && fell,
        };
        if !(sample.objective.is_finite() && ascent.is_finite()) || grown {
            Some(StopReason::Diverged)
        } else if reached {
            Some(StopReason::Target)
        } else if limits.objective.is_some_and(|objective| sample.objective <= objective) {
            Some(StopReason::Objective)
        } else if limits.seconds.is_some_and(|limit| seconds >= limit) {
            Some(StopReason::MaxSeconds)
        } else if self.device_failed() {
            Some(StopReason::DeviceFailed)
        } else if self.halt.is_raised() || (self.task.interrupted)() {
            Some(StopReason::Interrupted)
        } else if ledger.epochs_done >= limits.epochs {
            Some(StopReason::MaxEpochs)
        } else {
            None
        }
    }

    /// The objective that must ascend, and whether it fell although σ′ was at its largest. Where it fell otherwise the
    /// workers moved too far together: σ′ doubles, or if it fell far, goes to the number of workers at once.
    fn adapt(&self, ledger: &mut Ledger<'_>, sample: &Sample) -> (f64, bool) {
        let ascent = match self.task.form {
            Form::Primal => return (0.0, false),
            Form::Dual => sample.objective - sample.gap.unwrap_or(0.0),
            Form::Columns => -sample.objective,
        };
        // Rounding makes both sums differ in the last digits.
        let slack = 1e-12 * sample.objective.abs();
        let largest = self.workers() as f64;
        let fell = ascent < ledger.last_ascent.max(-ledger.objective_zero) - slack;
        let damping = self.pace_damping.read();
        let exhausted = damping >= largest;
        if fell && !exhausted {
            let far = -ascent > 2.0 * ledger.objective_zero;
            let raised = if far { largest } else { (2.0 * damping).min(largest) };
            self.pace_damping.put(raised);
            self.damping_least.put(raised);
        }
        (ascent, fell && exhausted)
    }
}
