//! Short runs that are timed, alternating, and differ in one thing each: what sharing costs, measured and not reckoned.
//!
//! With t the cpu time of an update (waits at gates left out), W workers and a store as asked or a replica a worker of plain memory
//! ("private"):
//!
//! | t of | one worker | W workers |
//! |---|---|---|
//! | private | t₁ᵖ: the update itself | tᵖ |
//! | as asked | t₁ | t |
//!
//! * merge: t₁ − t₁ᵖ, what writing by compare-exchange or under locks takes with nobody there;
//! * shared memory: tᵖ − t₁ᵖ, what W workers take from each other in caches, memory and sibling threads without sharing a line;
//! * shared lines: (t − t₁) − (tᵖ − t₁ᵖ), what is left: lines that two workers write.
//!
//! t is of windows alone: drawing replicas together is told from the run itself, but lines that an exchange takes from a worker are
//! among the shared ones. Delays and slow workers that settings inject are left out of trials: they cost what they were told to.
//! A fifth is the run as asked that is looked at as the run itself is: what looking adds. A round times each once; figures are
//! medians over rounds, and so are the differences, taken within a round: what disturbs the machine for longer than a round
//! disturbs both sides of a difference.

use super::{INTERRUPTED, Look, Perhaps, form, untimed};
use crate::{
    config::{Count, Every, ExchangeKind, Granularity, Injection, Setup, StepKind},
    data::Repeated,
    error::Result,
    placement::{Plan, plan},
    solve::{Outcome, Start, Watching, solve},
    topology::Topology,
    trace::Silent,
};
use serde::Serialize;

/// More epochs than fit a trial.
const EPOCHS: u64 = 1 << 40;

/// A median over rounds, with the quartiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The median.
    pub median: f64,
    /// A quarter of the rounds were below this.
    pub low: f64,
    /// A quarter of the rounds were above this.
    pub high: f64,
    /// Whether so many rounds are above 0 that chance, which has half of them there, would do it less than once in a hundred times.
    pub sure: bool,
}

impl Measured {
    /// Of the figures of all rounds.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (below, part) = (place as usize, place.fract());
            values[below] + part * (values[(below + 1).min(values.len() - 1)] - values[below])
        };
        Measured { median: at(0.5), low: at(0.25), high: at(0.75), sure: chance(&values) < 0.01 }
    }
}

/// The sign test: how likely at least as many are above 0 if each is with probability ½.
fn chance(values: &[f64]) -> f64 {
    let (all, above) = (values.len(), values.iter().filter(|value| **value > 0.0).count());
    // C(n, k) 2^−n, from k = n downwards.
    let (mut term, mut sum) = (0.5f64.powi(i32::try_from(all).unwrap_or(i32::MAX)), 0.0);
    for k in (above..=all).rev() {
        sum += term;
        term *= k as f64 / (all - k + 1) as f64;
    }
    sum
}

/// What the trials took; nanoseconds of cpu an update (a line).
#[derive(Clone, Debug, Serialize)]
pub struct Trials {
    /// Rounds.
    pub rounds: usize,
    /// As asked, all workers.
    pub asked_ns: Measured,
    /// As asked, one worker alone.
    pub alone_ns: Measured,
    /// A replica a worker, all workers.
    pub private_ns: Measured,
    /// A replica of plain memory, one worker alone: the update itself.
    pub private_alone_ns: Measured,
    /// What writing by the merge takes.
    pub merge_ns: Measured,
    /// What workers take from each other without sharing a line.
    pub shared_memory_ns: Measured,
    /// What shared lines take.
    pub shared_lines_ns: Measured,
    /// As asked, all workers, looked at as the run itself is.
    pub watched_ns: Measured,
    /// What looking adds to an update, as a part of it: [`watched_ns`](Trials::watched_ns)/[`asked_ns`](Trials::asked_ns) − 1,
    /// within each round.
    pub looking: Measured,
}

/// One kind of trial.
struct Trial {
    setup: Setup,
    plan: Plan,
    watching: Watching,
}

/// Trials of a round.
const KINDS: usize = 5;

/// The setup with the step that the run itself used, so that no trial searches for one again.
pub(super) fn stepped(setup: &Setup, outcome: &Outcome) -> Setup {
    let mut setup = setup.clone();
    if let Some(initial) = outcome.step_initial {
        let kind = setup.step.unwrap_or(StepKind::Constant { initial: None });
        setup.step = Some(kind.with_initial(initial));
    }
    setup
}

/// Times rounds of all trials, or says why there are none.
///
/// # Errors
/// As [`solve`].
pub(super) fn run(
    data: &Repeated,
    (setup, planned, topology): (&Setup, &Plan, &Topology),
    outcome: &Outcome,
    (look, interrupted): (Look, &(dyn Fn() -> bool + Sync)),
    stage: &mut impl FnMut(&str),
) -> Result<Perhaps<Trials>> {
    if let Some(why) = untimed(setup, planned, outcome) {
        return Ok(Err(why));
    }
    let trials = trials(setup, planned, topology, outcome, look)?;
    // Of a replica a worker, one worker alone is one trial and not two.
    let kinds: &[usize] = if planned.granularity == Granularity::Core { &[0, 1, 2, 4] } else { &[0, 1, 2, 3, 4] };
    let mut rounds: Vec<[f64; KINDS]> = Vec::new();
    for round in 0..look.rounds.max(1) {
        if interrupted() {
            return Ok(Err(INTERRUPTED.into()));
        }
        stage(&format!("trials, round {} of {}", round + 1, look.rounds.max(1)));
        let mut took = [0.0; KINDS];
        // Each round in another order, so that none always comes after the same.
        for step in 0..kinds.len() {
            let k = kinds[(step + round) % kinds.len()];
            let Some(ns) = time(data, &trials[k])? else {
                return Ok(Err("a trial made no update in its time".into()));
            };
            took[k] = ns;
        }
        if !kinds.contains(&3) {
            took[3] = took[1];
        }
        rounds.push(took);
    }
    Ok(Ok(sum_up(&rounds)))
}

/// As asked; as asked alone; private; private alone; as asked and looked at.
fn trials(
    setup: &Setup,
    planned: &Plan,
    topology: &Topology,
    outcome: &Outcome,
    look: Look,
) -> Result<[Trial; KINDS]> {
    let mut asked = stepped(setup, outcome);
    asked.injection = Injection::none();
    asked.stop.target = None;
    asked.stop.target_objective = None;
    asked.stop.max_epochs = EPOCHS;
    asked.stop.max_seconds = Some(look.trial_seconds);
    asked.stop.evaluate_every = Some(EPOCHS);
    let mut alone = asked.clone();
    alone.workers.count = Count::Exactly(1);
    alone.exchange = None;
    alone.parameters.replicas = Some(match planned.granularity {
        Granularity::Core => Granularity::Core,
        _ => Granularity::Machine,
    });
    let mut private = asked.clone();
    private.parameters.replicas = Some(Granularity::Core);
    private.exchange = once(planned, outcome);
    let mut private_alone = private.clone();
    private_alone.workers.count = Count::Exactly(1);
    private_alone.exchange = None;
    let make = |setup: Setup| {
        let watching = Watching::default();
        Ok::<_, crate::error::Error>(Trial { plan: plan(topology, &setup)?, setup, watching })
    };
    let watched = Trial { watching: super::LOOKED, ..make(asked.clone())? };
    Ok([make(asked)?, make(alone)?, make(private)?, make(private_alone)?, watched])
}

/// An exchange at an epoch's end and nowhere else, of the kind that the method can do with.
fn once(planned: &Plan, outcome: &Outcome) -> Option<ExchangeKind> {
    (planned.workers.len() > 1).then(|| ExchangeKind::usual(form(outcome), Every::Epoch))
}

/// ns of a worker an update.
fn time(data: &Repeated, trial: &Trial) -> Result<Option<f64>> {
    let start = Start { watching: trial.watching, ..Start::default() };
    let outcome = solve(data.again(), &trial.setup, &trial.plan, start, &mut Silent)?;
    let busy: f64 = outcome.waits.iter().map(|waits| waits.busy_seconds).sum();
    Ok((outcome.updates > 0 && busy > 0.0).then(|| 1e9 * busy / outcome.updates as f64))
}

fn sum_up(rounds: &[[f64; KINDS]]) -> Trials {
    let of = |f: &dyn Fn(&[f64; KINDS]) -> f64| Measured::of(rounds.iter().map(f).collect());
    Trials {
        rounds: rounds.len(),
        asked_ns: of(&|t| t[0]),
        alone_ns: of(&|t| t[1]),
        private_ns: of(&|t| t[2]),
        private_alone_ns: of(&|t| t[3]),
        merge_ns: of(&|t| t[1] - t[3]),
        shared_memory_ns: of(&|t| t[2] - t[3]),
        shared_lines_ns: of(&|t| (t[0] - t[1]) - (t[2] - t[3])),
        watched_ns: of(&|t| t[4]),
        looking: of(&|t| t[4] / t[0] - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_comes_with_its_quartiles() {
        let measured = Measured::of(vec![5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(measured, Measured { median: 3.0, low: 2.0, high: 4.0, sure: false });
        let sure = |above: usize, all: usize| {
            Measured::of((0..all).map(|i| if i < above { 1.0 } else { -1.0 }).collect()).sure
        };
        // 2⁻⁷ = 0.8 %, 8 · 2⁻⁷ = 6 %; of fifteen, 13: 0.37 %, 12: 1.8 %.
        assert_eq!([sure(7, 7), sure(6, 7), sure(13, 15), sure(12, 15)], [true, false, true, false]);
        assert_eq!(Measured::of(vec![7.0]).high, 7.0);
        assert_eq!(Measured::of(vec![1.0, 2.0]).median, 1.5);
    }

    #[test]
    fn the_four_times_are_taken_apart_within_each_round() {
        // A disturbance that doubles all of a round doubles its differences, and the median passes it over.
        let took = |scale: f64| [100.0, 30.0, 26.0, 20.0, 104.0].map(|t| scale * t);
        let trials = sum_up(&[took(1.0), took(2.0), took(1.0)]);
        let medians = [trials.merge_ns, trials.shared_memory_ns, trials.shared_lines_ns].map(|m| m.median);
        assert_eq!(medians, [10.0, 6.0, 64.0]);
        let parts = medians.iter().sum::<f64>() + trials.private_alone_ns.median;
        assert_eq!(parts, trials.asked_ns.median, "nothing is left over");
        assert!((trials.looking.median - 0.04).abs() < 1e-12, "{:?}", trials.looking);
    }
}
