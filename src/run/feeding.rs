//! The worker that feeds a GPU: it takes snapshots of its replica, has the gradients of batches of rows worked out at them while
//! the other workers go on, and writes them by the store's merge, as late as they are.
//!
//! x ← x − γ ω (n/W)(1/B) g, g = Σ wᵢ φ′(aᵢᵀx̂ + c) aᵢ over the B rows of a batch, all at the snapshot x̂: the update of
//! [`minibatch`](mod@crate::method::minibatch) with B rows. The last batch of a window may have fewer and is still divided by B.
//! A batch is an update like any other: it has a number and a delay, a rule by delay shortens its step, and the regulariser is put
//! off for it as for them. It may go ω times as far as the cpus' updates of b rows, ω = min(B/b, L_b/L_B), since the mean of more
//! terms is smoother (L_b as in the search for a first step); where the loss has a kink ω = min(B/b, 1). Where B > b a row that a cpu
//! visits moves x B/(b ω) times as far as one of the GPU's: an epoch minimises the cpus' part of F more than the rest.
//!
//! As many batches are in flight as the device takes, two, so that one is sent while another is worked out: the feeder's own updates
//! then are one late. None is in flight between two windows. Where updates differ in how far they go, a worker's sweep applies
//! the regulariser for Σγ of all of them since its last, which the replica's `gauge` adds up.
//!
//! Memory traffic a batch: x read once, and written to a buffer; x read and written where g is not 0. Rows are not read here: the
//! device has a copy.

use super::{
    PANICKED, Run,
    cursor::Stage,
    engine::{Hands, SEATED, Seat, Team},
    gauge::{Asking, Sum},
    turns::{Sight, numbered},
};
use crate::{
    data::matrix::Matrix,
    error::{Error, Result},
    gpu::Gradients,
    method::Method,
    placement::Plan,
    store::{Replica, View},
    sync::SharedF64,
    trace::{DelaySummary, Delays},
};
use std::sync::Mutex;

mod batches;
mod share;

pub(super) use batches::Feeder;

/// Makes the stand-in of a device that failed.
pub type StandIn<'a> = &'a (dyn Fn() -> Result<Box<dyn Gradients>> + Sync);

/// What a run with a GPU is given.
pub struct Feeding<'a> {
    /// The worker that feeds it.
    pub worker: usize,
    /// B: rows of a batch.
    pub rows: usize,
    /// ω: how many times as far as the others' an update of the GPU may go.
    pub weight: f64,
    /// The part of its shard's lines that it takes, where that is set.
    pub share: Option<f64>,
    /// Where in the device's rows those of each part begin; `None` of parts that it does not have.
    pub firsts: Vec<Option<usize>>,
    /// What the gradients are worked out by, until the worker takes its seat.
    pub device: Mutex<Option<Box<dyn Gradients>>>,
    /// What goes on in its place if it fails.
    pub stand_in: Option<StandIn<'a>>,
}

/// What a run has found of its GPU.
pub(super) struct Feed {
    /// The part of its shard's lines that it takes in the present epoch.
    share: SharedF64,
    pace: Mutex<share::Pace>,
    troubles: Mutex<Troubles>,
}

/// What went wrong.
#[derive(Default)]
struct Troubles {
    failed: bool,
    told: Vec<String>,
}

/// What a GPU did in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Fed {
    /// The worker that fed it.
    pub worker: usize,
    /// B.
    pub rows: usize,
    /// ω.
    pub weight: f64,
    /// Lines of its updates, and the part they are of those of all workers.
    pub lines: u64,
    /// Its part of all lines.
    pub share_of_lines: f64,
    /// Σγ over its updates, as a part of that of all updates: how much of the way was its.
    pub share_of_way: f64,
    /// How long its updates were delayed.
    pub delays: Option<DelaySummary>,
    /// Whether the stand-in had to go on in its place.
    pub replaced: bool,
}

impl Feed {
    pub(super) fn new(feeding: &Feeding<'_>, plan: &Plan) -> Self {
        let workers = &plan.shards[plan.workers[feeding.worker].shard].workers;
        let even = 1.0 / workers.len() as f64;
        Feed {
            share: SharedF64::new(feeding.share.unwrap_or(even)),
            pace: Mutex::new(share::Pace::new(workers.clone())),
            troubles: Mutex::default(),
        }
    }
}

impl<D: Matrix> Run<'_, D> {
    /// Whether `worker` feeds a GPU.
    pub(super) fn feeds(&self, worker: usize) -> bool {
        self.task.feeding.is_some_and(|feeding| feeding.worker == worker)
    }

    /// Whether the run must end since the device failed.
    pub(super) fn device_failed(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.troubles.lock().expect(PANICKED).failed)
    }

    /// What to tell of a device that failed.
    pub(super) fn troubles(&self) -> Vec<String> {
        self.feed.as_ref().map_or(Vec::new(), |feed| feed.troubles.lock().expect(PANICKED).told.clone())
    }

    /// What stands in for the device after `error`; where nothing does the run must end.
    fn stands_in(&self, error: &Error) -> Option<Box<dyn Gradients>> {
        let (feed, feeding) = (self.feed.as_ref()?, self.task.feeding?);
        let made = feeding.stand_in.map(|make| make());
        let mut troubles = feed.troubles.lock().expect(PANICKED);
        let told = match &made {
            Some(Ok(_)) => format!("the GPU failed, and the cpu goes on in its place: {error}"),
            Some(Err(second)) => {
                format!("the GPU failed: {error}; and the cpu cannot go on in its place: {second}")
            }
            None => format!("the GPU failed, and the run ends with what was fitted until then: {error}"),
        };
        troubles.told.push(told);
        let made = made.and_then(Result::ok);
        if made.is_none() {
            troubles.failed = true;
            self.halt.raise();
        }
        made
    }

    /// What the GPU did.
    pub(super) fn fed(&self) -> Option<Fed> {
        let (feed, feeding) = (self.feed.as_ref()?, self.task.feeding?);
        let (worker, lines) = (feeding.worker, self.engine.updates(feeding.worker));
        let part = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        let of_all = self.gauges.iter().map(|gauge| gauge.sum().of_all).sum();
        let Sum { of_batches, .. } = self.gauges[self.replica_of(worker)].sum();
        let mut delays = Delays::default();
        self.engine.add_delays(worker, &mut delays);
        let troubles = feed.troubles.lock().expect(PANICKED);
        Some(Fed {
            worker,
            rows: feeding.rows,
            weight: feeding.weight,
            lines,
            share_of_lines: part(lines as f64, self.updates() as f64),
            share_of_way: part(of_batches, of_all),
            delays: delays.summary("after write"),
            replaced: !troubles.failed && !troubles.told.is_empty(),
        })
    }
}

impl<D: Matrix, R: Replica, M: Method> Team<'_, D, R, M> {
    /// The feeder's batches of window `index`, on a thread of its own.
    pub(super) fn feed_window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, books, feeder, .. } = &mut **seat.as_mut().expect(SEATED);
        let feeder = feeder.as_mut().expect("the feeder has a device");
        let stage = run.stage(worker, epoch, index, run.dealt(order, worker, epoch), parts);
        let replica = &self.replicas[stage.replica];
        let (mut open, mut open_beside) = (replica.x.open(), replica.beside.open());
        let sight = Sight::new(replica, &mut open, &mut open_beside, &[], books.as_deref());
        if run.logs {
            let lines: usize = stage.buckets.iter().map(|bucket| bucket.lines as usize).sum();
            hands.steps.reserve(lines.div_ceil(feeder.rows()));
        }
        let mut left = feeder.open(stage.buckets);
        while left {
            if run.poll() {
                left = feeder.halt();
                if !left {
                    break;
                }
            }
            left = Self::feed(run, self.method, &stage, &sight.x, hands, feeder);
        }
        if index + 1 == run.windows() {
            Self::flush(run, self.method, &stage, &sight.x, hands);
        }
    }

    /// The feeder's next turn: a snapshot of which a batch is started, or the write of the oldest. Whether there is something left.
    /// A device that fails is replaced, and the turn is made again; or the run ends, and what is in flight is given up.
    pub(super) fn feed<V: View>(
        run: &Run<'_, D>,
        method: &M,
        stage: &Stage<'_, D>,
        x: &V,
        hands: &mut Hands<M::Local>,
        feeder: &mut Feeder,
    ) -> bool {
        let done = match feeder.starts(stage.buckets) {
            true => Self::start(run, stage, x, hands, feeder),
            false => Self::write_batch(run, method, stage, x, hands, feeder),
        };
        if let Err(error) = done {
            match run.stands_in(&error) {
                Some(device) => feeder.replace(device),
                None => feeder.give_up(),
            }
        }
        feeder.is_left(stage.buckets)
    }

    fn start<V: View>(
        run: &Run<'_, D>,
        stage: &Stage<'_, D>,
        x: &V,
        hands: &mut Hands<M::Local>,
        feeder: &mut Feeder,
    ) -> Result<()> {
        let gauge = &run.gauges[stage.replica];
        let constant = M::private(&mut hands.local).map_or(0.0, |constant| *constant);
        let landed = gauge.landed();
        {
            let _shared = stage.consistent.then(|| gauge.share(&mut hands.locks_waited));
            x.snapshot(feeder.snapshot());
        }
        feeder.start(constant, landed, stage.buckets)
    }

    fn write_batch<V: View>(
        run: &Run<'_, D>,
        method: &M,
        stage: &Stage<'_, D>,
        x: &V,
        hands: &mut Hands<M::Local>,
        feeder: &mut Feeder,
    ) -> Result<()> {
        let gauge = &run.gauges[stage.replica];
        let batch = feeder.take()?;
        let held = stage.consistent.then(|| gauge.hold(&mut hands.locks_waited));
        let mut pace = run.pace_at(stage, batch.bucket);
        let asking = Asking {
            rank: hands.rank.0,
            read_at: batch.landed,
            step: pace.step,
            part: batch.lines as f64 / feeder.rows() as f64,
            batch: run.task.feeding.map(|feeding| feeding.weight),
        };
        pace.step = numbered(run, stage, hands, asking);
        let frame = stage.frame;
        let scale = -pace.step * frame.rows as f64 / (frame.total_weight * feeder.rows() as f64);
        add_where_not_zero(x, scale, feeder.gradient());
        if let Some(constant) = M::private(&mut hands.local).filter(|_| frame.private_constant) {
            *constant += scale * batch.slope;
        }
        gauge.land();
        drop(held);
        hands.updates += batch.lines as u64;
        hands.unsettled += batch.lines as u64;
        hands.whole_updates += 1;
        Self::sweep(run, method, stage, x, hands, &pace, false);
        Ok(())
    }
}

/// x ← x + scale g by the merge, in runs of what is not 0: a write that adds nothing could undo another's.
fn add_where_not_zero<V: View>(x: &V, scale: f64, gradient: &[f64]) {
    let mut at = 0;
    while let Some(skipped) = gradient[at..].iter().position(|&g| g != 0.0) {
        let start = at + skipped;
        let length = gradient[start..].iter().position(|&g| g == 0.0).unwrap_or(gradient.len() - start);
        at = start + length;
        x.map(start..at, |j, value| value + scale * gradient[j]);
    }
}
