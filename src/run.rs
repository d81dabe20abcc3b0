//! One worker loop. A run goes through epochs; each is cut into windows between which replicas are exchanged, at a gate or
//! by a step of each ([`exchange`](crate::exchange)); at its end the workers evaluate, and the last of them to finish decides.
//!
//! The runner is a clock: [`threads`] runs the workers at once and lets them meet at a gate; [`interleaved`] runs the
//! same workers, method and store on one thread, in an order of reads and writes drawn from the seed. Both drive the
//! phases below through a `Crew`, so that what a run does is written once.

use crate::{
    data::matrix::Matrix,
    error::Error,
    objective::certificate::Totals,
    os::{clock::Stopwatch, counters::Reading, memory::Pages},
    placement::{actual::Actual, share},
    sync::{Flag, SharedF64, Slot, Tickets},
    trace::{CertificateKind, Observer, Sample, StopReason},
};
use crossbeam_utils::CachePadded;
use std::{
    ops::Range,
    sync::{Mutex, RwLock},
};

mod audited;
mod by_nodes;
mod crew;
mod cursor;
mod decide;
mod ended;
pub mod engine;
mod evaluate;
mod exchanging;
pub mod feeding;
mod gauge;
mod injection;
pub mod interleaved;
mod meter;
mod mixing;
mod moving;
mod origin;
mod passes;
mod rebuild;
mod residency;
mod snapshot;
mod table;
mod task;
pub mod threads;
mod turns;
mod vectors;
mod windows;

pub use crate::method::Form;
pub use audited::Ledgers;
use crew::Crew;
pub use ended::{Ended, Waits};
use engine::Engine;
pub use feeding::{Fed, Feeding};
use gauge::Gauge;
pub use moving::Exchanged;
pub use task::{Delaying, Facts, Limits, Task};

/// What decides at an epoch's end, touched by one thread at a time.
struct Ledger<'a> {
    observer: &'a mut dyn Observer,
    samples: Vec<Sample>,
    /// When the present phase of solving or evaluating began.
    since: Stopwatch,
    seconds_solve: f64,
    seconds_evaluate: f64,
    epochs_done: u64,
    /// Epochs that are gone through before all workers meet again.
    span: u64,
    /// The epoch, counted from 1, after which the next evaluation is due.
    evaluate_after: u64,
    /// Updates of an earlier process.
    updates_before: u64,
    /// Updates of this process at the last sample.
    updates_seen: u64,
    /// Updates of this process when the last epoch was over.
    updates_solved: u64,
    /// The last sample of an earlier process.
    last_before: Option<Sample>,
    /// The dual objective, or minus the objective, of the last epoch.
    last_ascent: f64,
    /// Norm of the prox-gradient step at the origin, where that certifies.
    norm_origin: f64,
    objective_zero: f64,
    totals: Totals,
    verdict: Verdict,
    error: Option<Error>,
    actual: Actual,
    warnings: Vec<String>,
}

/// What the workers do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Go,
    /// The same, for the epoch that ends has no evaluation.
    Skip,
    /// Rebuild the store from the state and judge again.
    Verify,
    Stop(StopReason),
}

/// A run in progress.
pub struct Run<'a, D: Matrix> {
    task: Task<'a, D>,
    engine: &'a dyn Engine<D>,
    /// Windows of an epoch that visits every line.
    windows_most: usize,
    /// Lines of the problem.
    lines: usize,
    /// What a run with a GPU knows of it.
    feed: Option<feeding::Feed>,
    /// The updates of each replica, numbered.
    gauges: Vec<Gauge>,
    /// How far each worker is, for those who sample delays.
    meter: meter::Meter,
    /// Whether delays are measured, and whether every step is told of.
    measures: bool,
    logs: bool,
    /// Whether threads go by halves, too.
    by_halves: bool,
    /// Whether a worker goes through its lines again as soon as it has, without meeting the others, and how often all of
    /// them together may until they meet. Not where replicas are exchanged, whose rounds wait for each other.
    free: bool,
    passes: CachePadded<Tickets>,
    /// Lines visited in the last epoch, over all.
    visited: CachePadded<SharedF64>,
    sheets: Vec<evaluate::Sheet>,
    agreed: Vec<RwLock<Pages<f64>>>,
    /// For the methods that ask for whole passes.
    desk: Option<Mutex<Box<passes::Desk>>>,
    /// For replicas that do not meet.
    mixing: Option<mixing::Mixing>,
    /// What of the replicas exchanges move.
    moving: moving::Moving,
    /// For replicas that are averaged node by node.
    nodes: Option<by_nodes::Groups>,
    /// Squared distance of replicas from what was agreed at the last exchange, a worker's range each.
    spread: Vec<CachePadded<SharedF64>>,
    /// Squared length of the move of what is agreed at that exchange, and the sum of it over the replicas before it, in the
    /// same ranges, where replicas are summed.
    overlap: Vec<CachePadded<[SharedF64; 2]>>,
    /// Squared distance of the store from what the state says, and squared length of that, when it was last made again, in
    /// the same ranges.
    drift: Vec<CachePadded<[SharedF64; 2]>>,
    /// Each worker's private scalar.
    constants: Vec<CachePadded<SharedF64>>,
    /// φ′ of every margin, when going by columns.
    slopes: Pages<SharedF64>,
    /// Factors that make dual variables feasible: for the positive, for the negative, for all.
    balance: [SharedF64; 3],
    /// σ′, and what it is at least: 1, until the objective that must ascend falls.
    pace_damping: CachePadded<SharedF64>,
    damping_least: SharedF64,
    /// Seconds that each worker spent at the gate, the serial work of the last to arrive included.
    gate_seconds: Vec<CachePadded<SharedF64>>,
    /// The part of it that is of solving.
    gate_solving: Vec<CachePadded<SharedF64>>,
    /// Seconds that each worker spent in windows: on its updates.
    busy_seconds: Vec<CachePadded<SharedF64>>,
    /// What the kernel and the cpu counted of each worker's thread, where the run is watched.
    readings: Vec<Mutex<Vec<Reading>>>,
    halt: CachePadded<Flag>,
    clock: Stopwatch,
    /// When `limits.seconds` are over, by `clock`.
    deadline: CachePadded<SharedF64>,
    ledger: Mutex<Ledger<'a>>,
}

impl<'a, D: Matrix> Run<'a, D> {
    /// A run that starts where `from` was, or at zero. The parameters themselves are put by the caller.
    pub fn new(
        task: Task<'a, D>,
        engine: &'a dyn Engine<D>,
        from: Option<&crate::checkpoint::Checkpoint>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let workers = task.plan.workers.len();
        let width = task.width();
        let lines = task.shards.lines();
        let row_nonzeros = task.shards.nonzeros() as f64 / lines.max(1) as f64;
        let each = (lines as f64 / workers as f64).ceil();
        let batch = engine.lines_per_update().min(lines.max(1)) as f64;
        let entries = batch * row_nonzeros + if engine.dense() { engine.width() as f64 } else { 0.0 };
        let replicas = task.plan.replicas.len();
        let windows = match replicas {
            1 => 1,
            _ => task
                .exchange
                .every(engine.width(), entries, task.facts.shape.dense)
                .map_or(1, |every| (each / (batch * every as f64)).ceil().max(1.0) as usize),
        };
        let nodes = task.exchange.by_nodes().then(|| by_nodes::Groups::new(task.plan, engine.width())).flatten();
        let moving = moving::Moving::new(&task, engine, nodes.as_ref(), each / windows as f64);
        // K replicas that are summed are safe at σ′ = K (CoCoA+); one that is shared lets all see each other.
        let damping = from.map_or(replicas as f64, |from| from.damping);
        let least = if task.exchange.sums() { 1.0 } else { damping };
        let margins = if task.form == Form::Columns { width } else { 0 };
        let padded = || (0..workers).map(|_| CachePadded::new(SharedF64::new(0.0))).collect();
        let logs = observer.wants_steps();
        let by_delay = task.step.is_some_and(|step| step.kind.is_by_delay());
        let measures = logs
            || by_delay
            || !task.injection.is_none()
            || task.feeding.is_some()
            || task.watches == Delaying::Numbered;
        let gauge = |replica: &crate::placement::ReplicaPlan| {
            Gauge::new(engine.measure(), replica.workers.len(), task.step.and_then(crate::step::Step::adaptive))
        };
        let mut run = Run {
            windows_most: windows,
            lines,
            feed: task.feeding.map(|feeding| feeding::Feed::new(feeding, task.plan)),
            gauges: task.plan.replicas.iter().map(gauge).collect(),
            meter: meter::Meter::new(task.plan, task.watches == Delaying::Sampled && !measures),
            measures,
            logs,
            by_halves: measures || task.consistent || engine.lines_per_update() > 1 || task.ledgers.is_some(),
            free: engine.finishes() && replicas == 1,
            passes: CachePadded::default(),
            visited: CachePadded::new(SharedF64::new(1.0)),
            sheets: Vec::new(),
            desk: engine.batch().map(|batch| Mutex::new(Box::new(passes::Desk::new(batch, width)))),
            agreed: (0..workers)
                .map(|worker| {
                    RwLock::new(Pages::placed(
                        share(engine.width(), worker, workers).len(),
                        &task.plan.site_of_worker(worker),
                    ))
                })
                .collect(),
            mixing: mixing::Mixing::new(&task, engine.width()),
            moving,
            nodes,
            spread: padded(),
            overlap: (0..workers).map(|_| CachePadded::new([0.0, 0.0].map(SharedF64::new))).collect(),
            drift: (0..workers).map(|_| CachePadded::new([0.0, 0.0].map(SharedF64::new))).collect(),
            constants: (0..workers).map(|_| CachePadded::new(SharedF64::new(task.constant))).collect(),
            gate_seconds: padded(),
            gate_solving: padded(),
            busy_seconds: padded(),
            readings: (0..workers).map(|_| Mutex::default()).collect(),
            slopes: Pages::placed(margins, &task.plan.site(&task.plan.in_runs())),
            balance: [SharedF64::new(1.0), SharedF64::new(1.0), SharedF64::new(1.0)],
            pace_damping: CachePadded::new(SharedF64::new(damping)),
            damping_least: SharedF64::new(from.map_or(least, |from| from.damping_least)),
            halt: CachePadded::new(Flag::default()),
            clock: Stopwatch::start(),
            deadline: CachePadded::new(SharedF64::new(0.0)),
            ledger: Mutex::new(Ledger {
                observer,
                samples: Vec::new(),
                since: Stopwatch::start(),
                seconds_solve: 0.0,
                seconds_evaluate: 0.0,
                epochs_done: from.map_or(0, |from| from.epoch),
                span: 1,
                evaluate_after: 0,
                updates_before: from.and_then(|from| from.last.as_ref()).map_or(0, |last| last.updates),
                updates_seen: 0,
                updates_solved: 0,
                last_before: from.and_then(|from| from.last.clone()),
                last_ascent: from.map_or(f64::NEG_INFINITY, |from| from.ascent),
                norm_origin: 0.0,
                objective_zero: task.objective_at_zero(),
                totals: Totals::default(),
                verdict: Verdict::Go,
                error: None,
                actual: Actual::default(),
                warnings: Vec::new(),
            }),
            task,
            engine,
        };
        run.sheets = (0..workers).map(|worker| run.sheet(worker)).collect();
        run
    }

    fn sheet(&self, worker: usize) -> evaluate::Sheet {
        let plan = self.task.plan;
        let judged = self.task.shards.judged(worker, self.workers());
        let rows = judged.into_iter().map(|(_, lines)| lines.len()).sum();
        let lines = if self.task.form == Form::Primal && self.keeps_alpha() { rows } else { 0 };
        let kept = if self.keeps_rows() { rows } else { 0 };
        evaluate::Sheet::new(self.task.width(), self.desk.is_some(), lines, kept, &plan.site_of_worker(worker))
    }

    fn workers(&self) -> usize {
        self.task.plan.workers.len()
    }

    fn replicas(&self) -> usize {
        self.task.plan.replicas.len()
    }

    fn replica_of(&self, worker: usize) -> usize {
        self.task.plan.workers[worker].replica
    }

    /// Builds worker `worker`'s state, on the thread that runs it.
    fn sit(&self, worker: usize) {
        self.engine.sit(&self.task, worker, self.constants[worker].read());
        self.sheets[worker].populate();
        let agreed = self.agreed[worker].read().expect(PANICKED);
        // Where pages cannot be taken now, the first write does it.
        let _ = agreed.populate(0..agreed.len());
        let _ = self.slopes.populate(share(self.slopes.len(), worker, self.workers()));
    }

    /// All of a run, from the first epoch on.
    fn drive(&self, crew: &Crew<'_>, windows: impl Fn(&Self, u64, Range<usize>)) {
        crew.phase(|worker| self.sit(worker), || ());
        self.agree(crew);
        self.begin_gossip(crew);
        crew.phase(|_| (), || self.start());
        if self.task.certificate == CertificateKind::ProxGradient {
            self.judge_origin(crew);
        }
        loop {
            let (epoch, verdict) = {
                let ledger = self.ledger.lock().expect(PANICKED);
                (ledger.epochs_done, ledger.verdict)
            };
            if let Verdict::Stop(_) = verdict {
                return;
            }
            let waited = crew.waited();
            self.snapshot(crew, epoch);
            if self.desk.is_some() {
                self.passes(crew);
            } else {
                self.visit(crew, epoch, |range| windows(self, epoch, range));
            }
            self.share_constants(crew);
            crew.phase(|worker| self.project(worker), || self.solved());
            crew.note(&self.gate_solving, crew.waited() - waited);
            if self.ledger.lock().expect(PANICKED).verdict == Verdict::Skip {
                continue;
            }
            self.lay_aside(crew);
            if self.task.drifts {
                self.rebuild(crew);
            }
            self.evaluate(crew);
            crew.phase(|_| (), || self.decide(self.task.drifts));
            if self.ledger.lock().expect(PANICKED).verdict == Verdict::Verify {
                crew.phase(|_| (), || ());
                self.rebuild(crew);
                self.evaluate(crew);
                crew.phase(|_| (), || self.decide(true));
            }
            crew.phase(|_| (), || ());
            self.take_up(crew);
        }
    }

    /// Puts the worker's slice of its replica into the set that x must lie in: additions of others since the last sweep
    /// may have left it.
    fn project(&self, worker: usize) {
        let prox = self.task.frame.prox;
        if self.task.form != Form::Primal || (prox.lo == f64::NEG_INFINITY && prox.hi == f64::INFINITY) {
            return;
        }
        let (rank, workers) = self.task.plan.rank_in_replica(worker);
        let range = share(self.task.width(), rank, workers);
        // An intercept may be anything.
        let free = self.task.frame.free.filter(|free| range.contains(free)).unwrap_or(range.end);
        for range in [range.start..free, (free + 1).min(range.end)..range.end] {
            self.moving.mark(self.replica_of(worker), range.clone());
            self.engine.clamp(self.replica_of(worker), range, prox.lo, prox.hi);
        }
    }

    /// Whether the run must end within this epoch.
    fn poll(&self) -> bool {
        let late = || self.task.limits.seconds.is_some() && self.clock.seconds() >= self.deadline.read();
        if !self.halt.is_raised() && ((self.task.interrupted)() || late()) {
            self.halt.raise();
        }
        self.halt.is_raised()
    }
}

const PANICKED: &str = "a worker panicked";
