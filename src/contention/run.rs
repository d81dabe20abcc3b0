//! The bill of a run: what part of its time sharing memory took, down to the coordinates that cause it.
//!
//! Three kinds of runs make a bill, so that looking does not change what is looked at.
//! 1. *The run itself*, as asked for, with what costs it next to nothing: delays of one update in many
//!    ([`Watching::delays`](crate::solve::Watching)), waits, retries, and what the kernel counts.
//! 2. *An audited run* of a few epochs, which notes every read and write ([`store::audit`](crate::store::audit)): conflicts seen, lines
//!    taken from other workers, writes lost. It counts and is never timed.
//! 3. *Trials*, short runs that are timed and alternate with each other ([`trials`]): the run as asked, the same with a replica a
//!    worker, and both with one worker alone. What they differ by is what sharing costs, whatever the reason inside the
//!    machine; counts of the audit and the price list only explain it.

use crate::{
    config::{Granularity, MergeKind, Runner, Setup},
    data::{Repeated, statistics::Rows},
    error::{Error, Result},
    method::{Form, Kind},
    os::counters::{self, MachineUsage, Reading},
    placement::{Label, Plan, plan},
    run::Waits,
    solve::{Outcome, Start, Watching, solve},
    topology::Topology,
    trace::{Audited, DelaySummary, Observer, Seen, Silent},
};
use serde::Serialize;

mod advice;
mod expected;
pub mod trials;
mod verdict;

pub use expected::Expected;
pub use trials::{Measured, Trials};
pub use verdict::{Cause, Finding, Weight};

/// The version of a bill's JSON.
pub const VERSION: u32 = 1;

/// How much to look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Rounds of trials: of fewer than seven none can tell a cause from chance ([`Measured::sure`]).
    pub rounds: usize,
    /// Seconds of one trial.
    pub trial_seconds: f64,
    /// Epochs of the audited run.
    pub audit_epochs: u64,
}

impl Default for Look {
    fn default() -> Self {
        Look { rounds: 11, trial_seconds: 0.2, audit_epochs: 2 }
    }
}

/// How the run itself is looked at.
const LOOKED: Watching = Watching { delays: true, audit: false };

/// Why something is missing after a signal.
const INTERRUPTED: &str = "the run was interrupted before";

/// How long updates were delayed.
#[derive(Clone, Debug, Serialize)]
pub struct DelayBill {
    /// Of all updates that were looked at.
    pub all: DelaySummary,
    /// Pairs of the longest delay of an octave and how many updates fell in it.
    pub histogram: Vec<(u64, u64)>,
    /// The same of each worker.
    pub workers: Vec<Option<DelaySummary>>,
    /// Counting only updates of workers on other nodes; `None` where tickets were taken, which do not tell.
    pub far: Option<DelaySummary>,
    /// Of the updates that touch each sixteenth of the slots; empty as above.
    pub blocks: Vec<Option<DelaySummary>>,
    /// Updates under way at a time, on average: one's own and those that came between.
    pub overlap: f64,
}

/// What one worker waited for, and how often it tried again.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WorkerBill {
    /// Seconds of its updates.
    pub busy_seconds: f64,
    /// Seconds of solving at the gate between phases.
    pub gate_seconds: f64,
    /// Seconds at exchanges where replicas do not meet.
    pub exchange_seconds: f64,
    /// Stripes of a locked merge that another update held.
    pub stripes: u64,
    /// Locks of the replica that were not to be had at once; under a consistent merge, reads that had to wait among them.
    pub locks: u64,
    /// Compare-exchanges that found that another had come first.
    pub retries: u64,
}

/// Where memory is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemoryBill {
    /// Bytes of pages that were looked up.
    pub bytes_asked: u64,
    /// Those that were not where the plan puts them when the run began.
    pub bytes_misplaced_at_first: u64,
    /// Those that were not when it ended.
    pub bytes_misplaced: u64,
    /// What is misplaced at the end.
    pub misplaced: Vec<Misplaced>,
    /// By the plan: of the parameters and rows that updates access, the share on another node than the worker's; `None` where a
    /// home is not one node.
    pub remote_share: Option<f64>,
}

/// Arrays of one kind and home, of which pages lie elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Misplaced {
    /// What they hold.
    pub what: &'static str,
    /// Where they were to lie.
    pub home: String,
    /// Bytes that lie elsewhere.
    pub bytes: u64,
    /// Of so many that were looked up.
    pub bytes_asked: u64,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Bill {
    /// [`VERSION`].
    pub version: u32,
    /// How the figures were got.
    pub label: Label,
    /// The method.
    pub method: &'static str,
    /// How two writes meet; `None` on a replica a worker.
    pub merge: Option<MergeKind>,
    /// Workers, and replicas.
    pub workers: usize,
    /// Replicas.
    pub replicas: usize,
    /// Seconds of solving of the run itself, and of its evaluations.
    pub seconds_solve: f64,
    /// Seconds of evaluating.
    pub seconds_evaluate: f64,
    /// Updates of the run itself, in lines.
    pub updates: u64,
    /// Epochs of it.
    pub epochs: f64,
    /// Delays, or why there are none.
    pub delays: Told<DelayBill>,
    /// By worker.
    pub each: Vec<WorkerBill>,
    /// What the audited run noted, or why there was none.
    pub audited: Told<Audited>,
    /// What the data make one expect.
    pub expected: Expected,
    /// Where memory is.
    pub memory: MemoryBill,
    /// Distance between replicas before the last exchange, root mean square, over the parameters' length; for several replicas.
    pub consensus: Option<f64>,
    /// What the kernel and the cpu counted of the workers' threads together, each figure or why there is none.
    pub counters: Vec<Reading>,
    /// What the kernel counted of the machine meanwhile.
    pub machine: Vec<Reading>,
    /// What the trials took, or why there were none.
    pub trials: Told<Trials>,
    /// What it amounts to.
    pub findings: Vec<Finding>,
    /// Whether all of them are slight.
    pub clean: bool,
}

/// A figure, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told<T> {
    /// It.
    Figure(T),
    /// Why not.
    Missing(String),
}

impl<T> Told<T> {
    /// The figure, if there is one.
    pub fn figure(&self) -> Option<&T> {
        match self {
            Told::Figure(figure) => Some(figure),
            Told::Missing(_) => None,
        }
    }

    fn from(result: Perhaps<T>) -> Self {
        result.map_or_else(Told::Missing, Told::Figure)
    }
}

/// Solves `data` by `setup` on `topology` and draws up the bill; `observer` watches the run itself, and `stage` is told what
/// comes next. Once `interrupted` says so the run ends at its next sample, and what would follow is left out.
///
/// # Errors
/// As [`solve`].
pub fn bill(
    data: &Repeated,
    setup: &Setup,
    topology: &Topology,
    look: Look,
    (observer, interrupted): (&mut dyn Observer, &(dyn Fn() -> bool + Sync)),
    mut stage: impl FnMut(&str),
) -> Result<(Bill, Outcome)> {
    if setup.gradients.feeds() {
        let what =
            "gradients.on is not \"cpu\": a bill is of what cpus' updates pay for the memory that they share";
        return Err(Error::unmet(what, "take gradients.on = \"cpu\" for it"));
    }
    let planned = plan(topology, setup)?;
    stage("the run itself");
    let start = Start { watching: LOOKED, interrupted: Some(interrupted), ..Start::default() };
    let before = MachineUsage::now();
    let outcome = solve(data.again(), setup, &planned, start, observer)?;
    let machine = MachineUsage::now().since(&before);
    stage("an audited run");
    let audited = audit(data, setup, &planned, &outcome, (look, interrupted))?;
    stage("what the data make one expect");
    let rows = Rows::take(data.again().source.as_ref())?;
    let expected = Expected::new(&rows, &outcome, audited.as_ref().ok());
    drop(rows);
    let trials = trials::run(data, (setup, &planned, topology), &outcome, (look, interrupted), &mut stage)?;
    Ok((draw_up(setup, &planned, &outcome, Looked { machine, audited, expected, trials }), outcome))
}

/// What the runs beside the run itself found, or why they did not.
struct Looked {
    machine: Vec<Reading>,
    audited: Perhaps<(Audited, Seen)>,
    expected: Expected,
    trials: Perhaps<Trials>,
}

/// Something, or why there is none.
type Perhaps<T> = std::result::Result<T, String>;

/// As [`bill`]: all that was seen, in one place.
fn draw_up(setup: &Setup, plan: &Plan, outcome: &Outcome, looked: Looked) -> Bill {
    let shares = plan.granularity != Granularity::Core;
    let mut bill = Bill {
        version: VERSION,
        label: outcome.label,
        method: outcome.method,
        merge: shares.then_some(setup.parameters.merge),
        workers: plan.workers.len(),
        replicas: plan.replicas.len(),
        seconds_solve: outcome.seconds.solve,
        seconds_evaluate: outcome.seconds.evaluate,
        updates: outcome.updates,
        epochs: outcome.epochs,
        delays: Told::from(delays(outcome)),
        each: each(outcome),
        audited: Told::from(looked.audited.map(|(audited, _)| audited)),
        expected: looked.expected,
        memory: memory(plan, outcome),
        consensus: consensus(outcome),
        counters: counters::sum(&outcome.seen.readings),
        machine: looked.machine,
        trials: Told::from(looked.trials),
        findings: Vec::new(),
        clean: true,
    };
    bill.findings = verdict::findings(&bill, setup, plan, outcome);
    bill.clean = bill.findings.iter().all(|finding| finding.weight == Weight::Slight);
    bill
}

/// A run of few epochs that notes all it reads and writes, or why there is none.
fn audit(
    data: &Repeated,
    setup: &Setup,
    plan: &Plan,
    outcome: &Outcome,
    (look, interrupted): (Look, &(dyn Fn() -> bool + Sync)),
) -> Result<Perhaps<(Audited, Seen)>> {
    if interrupted() {
        return Ok(Err(INTERRUPTED.into()));
    }
    let mut setup = trials::stepped(setup, outcome);
    setup.stop.target = None;
    setup.stop.target_objective = None;
    setup.stop.max_seconds = None;
    setup.stop.max_epochs = look.audit_epochs;
    setup.stop.evaluate_every = Some(look.audit_epochs);
    let start = Start {
        watching: Watching { delays: true, audit: true },
        interrupted: Some(interrupted),
        ..Start::default()
    };
    let seen = solve(data.again(), &setup, plan, start, &mut Silent)?.seen;
    let Some(audited) = seen.audited.clone() else {
        return Ok(Err(seen.unaudited.unwrap_or_else(|| "the run kept no books".into())));
    };
    Ok(Ok((audited, seen)))
}

fn delays(outcome: &Outcome) -> Perhaps<DelayBill> {
    let seen = &outcome.seen;
    let label = seen.delays_label;
    let all = seen.all_delays();
    let Some(summary) = all.summary(label) else {
        let few = || "too few updates were made for one to be sampled".to_string();
        return Err(passes(outcome).unwrap_or_else(few));
    };
    let split = seen.delays_split;
    let of = |delays: &crate::trace::Delays| delays.summary(label);
    let mut sum = crate::trace::DelayTally::new(1);
    seen.delays.iter().for_each(|tally| sum.add(tally));
    Ok(DelayBill {
        overlap: 1.0 + summary.mean,
        all: summary,
        histogram: all.histogram(),
        workers: seen.delays.iter().map(|tally| of(&tally.all)).collect(),
        far: if split { of(&sum.far) } else { None },
        blocks: if split { sum.blocks.iter().map(of).collect() } else { Vec::new() },
    })
}

fn each(outcome: &Outcome) -> Vec<WorkerBill> {
    let retries = &outcome.seen.retries;
    let bill = |(worker, waits): (usize, &Waits)| WorkerBill {
        busy_seconds: waits.busy_seconds,
        gate_seconds: waits.gate_solving_seconds,
        exchange_seconds: waits.exchange_seconds,
        stripes: waits.stripes,
        locks: waits.locks,
        retries: retries.get(worker).copied().unwrap_or(0),
    };
    outcome.waits.iter().enumerate().map(bill).collect()
}

fn memory(plan: &Plan, outcome: &Outcome) -> MemoryBill {
    let mut bill = MemoryBill { remote_share: remote(plan), ..MemoryBill::default() };
    bill.bytes_misplaced_at_first = outcome.placed.arrays.iter().map(|array| array.residency.bytes_misplaced).sum();
    for kind in outcome.seen.placed.as_ref().unwrap_or(&outcome.placed).kinds() {
        let (bytes, bytes_asked) = (kind.residency.bytes_misplaced, kind.residency.bytes_placed());
        bill.bytes_asked += bytes_asked;
        bill.bytes_misplaced += bytes;
        if bytes > 0 {
            bill.misplaced.push(Misplaced { what: kind.what, home: kind.home.to_string(), bytes, bytes_asked });
        }
    }
    bill
}

/// Two accesses of a parameter for each of an entry, 8 bytes.
fn remote(plan: &Plan) -> Option<f64> {
    let mut far = 0.0;
    for worker in &plan.workers {
        let node = worker.node?;
        let away = |other: Option<usize>| Some(if other? == node { 0.0 } else { 1.0 });
        far += (2.0 * away(plan.replicas[worker.replica].node)? + away(plan.shards[worker.shard].node)?) / 3.0;
    }
    Some(far / plan.workers.len() as f64)
}

fn consensus(outcome: &Outcome) -> Option<f64> {
    let distance = outcome.samples.iter().rev().find_map(|sample| sample.consensus)?;
    let length = outcome.model.weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    (length > 0.0).then(|| distance / length)
}

/// Whether the run is one that trials can time, and why not.
fn untimed(setup: &Setup, plan: &Plan, outcome: &Outcome) -> Option<String> {
    if setup.runner == Runner::Interleaved {
        return Some("the interleaved runner is one thread: its order is of interest, not its time".into());
    }
    if plan.workers.len() == 1 {
        return Some("one worker has nobody to share with".into());
    }
    passes(outcome)
}

/// What store and state of the run's method mean.
fn form(outcome: &Outcome) -> Form {
    Kind::named(outcome.method).form()
}

fn passes(outcome: &Outcome) -> Option<String> {
    outcome.passes.then(|| format!("method {} goes by whole passes and makes no updates", outcome.method))
}
