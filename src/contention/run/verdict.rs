//! What a bill amounts to: seconds by cause, and the lines of a config that would change them.

use super::{Bill, Measured, Misplaced, Trials, advice::Advice};
use crate::{
    config::{Granularity, MergeKind, Setup},
    placement::Plan,
    solve::Outcome,
};
use serde::Serialize;

/// A cause that takes less than this part of the solving is slight.
const WORTH: f64 = 0.05;
/// Of the lines taken, the part that must be for another slot before layouts are spoken of.
const FALSE_SHARING: f64 = 0.5;
/// The hottest lines are few if so many have half of all that is taken.
const FEW: usize = 16;

/// What time goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Updates, as a worker alone on its own memory makes them.
    Updates,
    /// Lines that several workers write.
    SharedLines,
    /// Writing by compare-exchange or under locks, with nobody else there.
    Merge,
    /// Caches, memory and sibling threads that workers share without sharing a line.
    SharedMemory,
    /// Drawing replicas together.
    Exchange,
    /// Waiting for the last worker, and for the work that one does for all.
    Gate,
    /// Pages that are not where the plan puts them.
    WrongNode,
}

/// Whether a cause is to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// It takes less than a twentieth of the time.
    Slight,
    /// It takes more by the median of the rounds, which do not tell it from nothing.
    Unsure,
    /// It takes more.
    Matters,
}

/// One cause, sized.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Which.
    pub cause: Cause,
    /// Seconds of the run's solving, as they pass on the wall; `None` where it is not sized in time.
    pub seconds: Option<f64>,
    /// The same by the quartiles of the trials.
    pub seconds_low: Option<f64>,
    /// The same.
    pub seconds_high: Option<f64>,
    /// Of all seconds of solving.
    pub share: Option<f64>,
    /// In a sentence.
    pub why: String,
    /// Whether it is to be told of.
    pub weight: Weight,
    /// What to change where it matters, a line of a config each with a reason behind `#`; empty where no line would.
    pub change: Vec<String>,
}

/// All causes, the updates first, then by size.
pub(super) fn findings(bill: &Bill, setup: &Setup, plan: &Plan, outcome: &Outcome) -> Vec<Finding> {
    let mut findings = Vec::new();
    let advice = Advice { setup, plan, outcome };
    let trials = bill.trials.figure();
    if let Some(trials) = trials {
        let scale = Scale { bill, wall: wall(bill, trials) };
        findings.push(scale.finding(Cause::Updates, trials.private_alone_ns, own_why(trials), Vec::new()));
        findings.push(shared_lines(&scale, trials, advice));
        // On a replica a worker nothing is merged.
        findings.extend((plan.granularity != Granularity::Core).then(|| merge(&scale, trials, advice)));
        findings.push(shared_memory(&scale, trials, advice));
    }
    // Where workers take turns on one thread, or go by passes that a serial part leads, waiting is not for each other.
    if bill.each.iter().any(|worker| worker.busy_seconds > 0.0) && !outcome.passes {
        findings.extend((plan.replicas.len() > 1).then(|| exchange(bill, advice)));
        // One worker waits for nobody.
        findings.extend((plan.workers.len() > 1).then(|| gate(bill, advice)));
    }
    findings.extend(wrong_node(bill, trials));
    let rest = usize::from(trials.is_some());
    findings[rest..]
        .sort_by(|a, b| b.seconds.unwrap_or(f64::INFINITY).total_cmp(&a.seconds.unwrap_or(f64::INFINITY)));
    findings
}

/// What a worker was busy for, on average.
fn busy(bill: &Bill) -> f64 {
    bill.each.iter().map(|worker| worker.busy_seconds).sum::<f64>() / bill.workers as f64
}

/// Seconds of the run for a nanosecond an update. What its workers were busy for is shared out as the trials' time is; unless pages
/// strayed, which those of the trials did not: then as many updates are priced as trials price them, and what is left over
/// is the pages'.
fn wall(bill: &Bill, trials: &Trials) -> f64 {
    if strayed(bill) { 1e-9 * per_worker(bill) } else { busy(bill) / trials.asked_ns.median }
}

/// Whether enough pages of one kind are away from home for anybody to care.
fn strayed(bill: &Bill) -> bool {
    bill.memory.misplaced.iter().any(|kind| part(kind.bytes, kind.bytes_asked) >= WORTH)
}

fn part(of: u64, whole: u64) -> f64 {
    of as f64 / whole.max(1) as f64
}

fn per_worker(bill: &Bill) -> f64 {
    bill.updates as f64 / bill.workers as f64
}

/// From nanoseconds of cpu an update in trials to seconds of the run, on the wall.
struct Scale<'a> {
    bill: &'a Bill,
    wall: f64,
}

impl Scale<'_> {
    fn finding(&self, cause: Cause, ns: Measured, why: String, change: Vec<String>) -> Finding {
        let wall = |ns: f64| ns * self.wall;
        let share = wall(ns.median) / self.bill.seconds_solve;
        let weight = match share >= WORTH && cause != Cause::Updates {
            false => Weight::Slight,
            true if ns.sure => Weight::Matters,
            true => Weight::Unsure,
        };
        Finding {
            cause,
            seconds: Some(wall(ns.median)),
            seconds_low: Some(wall(ns.low)),
            seconds_high: Some(wall(ns.high)),
            share: Some(share),
            why,
            weight,
            change: if weight == Weight::Matters { change } else { Vec::new() },
        }
    }
}

fn own_why(trials: &Trials) -> String {
    format!("{:.0} ns an update, by one worker alone on its own memory", trials.private_alone_ns.median)
}

fn shared_lines(scale: &Scale<'_>, trials: &Trials, advice: Advice<'_>) -> Finding {
    let ns = trials.shared_lines_ns;
    let than = if advice.plan.granularity == Granularity::Core {
        "with one exchange an epoch: lines that exchanges take"
    } else {
        "with a replica a worker"
    };
    let mut why = format!("{:.0} ns an update more than {than}", ns.median);
    let mut layout = None;
    if let Some(audited) = scale.bill.audited.figure() {
        let per_update = audited.lines_taken as f64 / audited.updates.max(1) as f64;
        let wrong = audited.lines_taken_false as f64 / audited.lines_taken.max(1) as f64;
        why += &format!(
            "; an update takes {per_update:.2} lines that another worker wrote last, {:.0} % of them for another slot of the line",
            100.0 * wrong
        );
        let top: u64 = audited.hottest.iter().take(FEW).map(|line| line.taken).sum();
        let few = 2 * top >= audited.lines_taken && audited.lines_taken > 0;
        layout = if wrong >= FALSE_SHARING { Some("padded") } else { few.then_some("scatter") };
    }
    scale.finding(Cause::SharedLines, ns, why, advice.share_less(layout))
}

fn merge(scale: &Scale<'_>, trials: &Trials, advice: Advice<'_>) -> Finding {
    let ns = trials.merge_ns;
    let kind = advice.setup.parameters.merge;
    let name = match kind {
        MergeKind::Lossy => "lossy writes",
        MergeKind::Lossless => "compare-exchange",
        MergeKind::Locked => "locked stripes",
        MergeKind::Consistent => "one lock of all",
    };
    let why = format!("{:.0} ns an update for {name} with nobody else there", ns.median);
    let change = advice.write_cheaper(scale.bill.expected.conflicts_seen);
    let mut finding = scale.finding(Cause::Merge, ns, why, change);
    // There is no cheaper way to write what is shared: that it is shared is what the shared lines are about.
    if kind == MergeKind::Lossy {
        finding.weight = Weight::Slight;
    }
    finding
}

fn shared_memory(scale: &Scale<'_>, trials: &Trials, advice: Advice<'_>) -> Finding {
    let ns = trials.shared_memory_ns;
    let alone = trials.private_alone_ns.median;
    let why = format!(
        "{:.0} ns an update more with all workers than alone, on memory of their own: caches, bandwidth, sibling threads",
        ns.median
    );
    scale.finding(Cause::SharedMemory, ns, why, advice.burden_memory_less(ns.median > alone))
}

fn exchange(bill: &Bill, advice: Advice<'_>) -> Finding {
    let rest = |worker: &super::WorkerBill| bill.seconds_solve - worker.busy_seconds - worker.gate_seconds;
    let seconds = bill.each.iter().map(rest).sum::<f64>() / bill.workers as f64;
    let share = seconds / bill.seconds_solve;
    let mut why = format!("{:.1} % of the time is neither updates nor waiting", 100.0 * share);
    if let Some(exchanged) = advice.outcome.exchanged {
        why += &format!("; {:.0} % of the slots are moved", 100.0 * exchanged.share);
    }
    plain(Cause::Exchange, seconds, share, why, advice.exchange_rarely())
}

/// A cause that the run itself tells.
fn plain(cause: Cause, seconds: f64, share: f64, why: String, change: Vec<String>) -> Finding {
    let weight = if share >= WORTH { Weight::Matters } else { Weight::Slight };
    Finding {
        cause,
        seconds: Some(seconds),
        seconds_low: None,
        seconds_high: None,
        share: Some(share),
        why,
        weight,
        change: if weight == Weight::Matters { change } else { Vec::new() },
    }
}

fn gate(bill: &Bill, advice: Advice<'_>) -> Finding {
    let waits: Vec<f64> = bill.each.iter().map(|worker| worker.gate_seconds).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    let share = if bill.seconds_solve > 0.0 { mean / bill.seconds_solve } else { 0.0 };
    let least = waits.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    let slowest = least.filter(|(_, least)| *least < 0.5 * mean).map(|(worker, _)| worker);
    let mut why = format!("workers wait {:.1} % of the time on average", 100.0 * share);
    let mut change = advice.meet_rarely();
    if let Some(worker) = slowest {
        let cpus = crate::cpulist::format(&advice.plan.workers[worker].cpus);
        why += &format!("; the last to arrive is mostly worker {worker}, on cpu {cpus}");
        let of_others = (waits.iter().sum::<f64>() - waits[worker]) / (waits.len() - 1) as f64;
        // Meetings cost nothing beside a worker that all wait for.
        change = advice.without(worker, of_others / bill.seconds_solve).map_or(change, |line| vec![line]);
    }
    plain(Cause::Gate, mean, share, why, change)
}

/// Pages that left their homes, or never came there. What they took is what the run took beyond its trials, whose pages were new and at
/// home.
fn wrong_node(bill: &Bill, trials: Option<&Trials>) -> Option<Finding> {
    let memory = &bill.memory;
    if memory.bytes_misplaced == 0 {
        return None;
    }
    let named = |kind: &Misplaced| {
        let share = 100.0 * part(kind.bytes, kind.bytes_asked);
        format!("{share:.1} % of the {} ({})", kind.what, kind.home)
    };
    let what: Vec<String> = memory.misplaced.iter().map(named).collect();
    let at_first = match memory.bytes_misplaced_at_first {
        0 => "all were where the plan puts them when the run began".into(),
        bytes => format!("{:.1} % were there already when it began", 100.0 * part(bytes, memory.bytes_asked)),
    };
    let share = 100.0 * part(memory.bytes_misplaced, memory.bytes_asked);
    let untimed = match trials {
        _ if !strayed(bill) => "; too few to be priced",
        None => "; without trials nobody can tell what they took",
        Some(_) => "",
    };
    let change = if memory.bytes_misplaced_at_first > 0 {
        "parameters.memory = \"local\"   # and data.memory = \"shard\"; the warnings say what the kernel refused"
    } else {
        "# no line of a config: something moved them, such as sysctl kernel.numa_balancing, migratepages, a cpuset"
    };
    let priced = trials.filter(|_| strayed(bill));
    let took = |of: fn(&Trials) -> f64| priced.map(|trials| busy(bill) - 1e-9 * of(trials) * per_worker(bill));
    Some(Finding {
        cause: Cause::WrongNode,
        seconds: took(|trials| trials.asked_ns.median),
        seconds_low: took(|trials| trials.asked_ns.high),
        seconds_high: took(|trials| trials.asked_ns.low),
        share: took(|trials| trials.asked_ns.median).map(|seconds| seconds / bill.seconds_solve),
        why: format!(
            "{share:.1} % of the pages looked up were on another node than planned when the run ended: {}; {at_first}{untimed}",
            what.join(", ")
        ),
        weight: if strayed(bill) { Weight::Matters } else { Weight::Slight },
        change: if strayed(bill) { vec![change.into()] } else { Vec::new() },
    })
}
