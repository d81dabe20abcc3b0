//! The part of a run that is compiled for each method and store: the workers' seats, and the updates. All else asks it
//! through [`Engine`], once a window or once a piece of rows, and is compiled for each form of data alone.

pub use super::vectors::Vectors;
use super::{Delaying, PANICKED, Run, Task, cursor::Cursor, feeding::Feeder, injection, vectors::split};
use crate::{
    data::matrix::Matrix,
    method::{Companion, Measure, Method, Pace, batch::Batch},
    objective::{Glm, Linear},
    order::Order,
    os::memory::{Apart, Asking, Pages, Residency},
    placement::{Plan, share},
    prox::Prox,
    shard::{Part, Shards},
    store::{Audit, Replica, View},
    sync::Touched,
    trace::{DelayTally, Delays, StepTaken},
    vectors::on_vectors,
};
use crossbeam_utils::CachePadded;
use std::{cell::RefCell, ops::Range, sync::Mutex};

/// What a run asks of a method and the replicas it writes.
pub trait Engine<D: Matrix>: Sync {
    /// What asks for whole passes, for a method that moves by them.
    fn batch(&self) -> Option<Box<dyn Batch>>;
    /// The vector that the method has beside the parameters, if it has one.
    fn companion(&self) -> Option<Companion>;
    /// Slots of a replica that an exchange draws together: x, and right behind it a companion that updates change. One that
    /// they only read follows there too, but is alike in all replicas already.
    fn width(&self) -> usize;
    /// Copies the slots from `start` on of a replica into `out`: of plain memory between its worker's windows, of shared memory
    /// at any time.
    fn read(&self, replica: usize, start: usize, out: &mut [f64]);
    /// Puts `values` at the slots from `start` on. For between the phases, when no worker has the replica open.
    fn write(&self, replica: usize, start: usize, values: &[f64]);
    /// Copies the slots of `runs`, ascending, one run behind the other, into `out`. As [`Engine::read`].
    fn gather(&self, replica: usize, runs: &[Range<usize>], out: &mut [f64]);
    /// Puts `values` at the slots of `runs`. As [`Engine::write`].
    fn scatter(&self, replica: usize, runs: &[Range<usize>], values: &[f64]);
    /// `values` as a replica keeps them, rounded to the type of its slots.
    fn round(&self, values: &mut [f64]);
    /// Marks what the worker wrote in window `index`, in updates and in sweeps, in `touched`.
    fn mark(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize, touched: &Touched);
    /// Lines written to one replica after which all of it is swept, if it ever is.
    fn sweeps_every(&self) -> Option<u64>;
    /// x[start..] ← x[start..] + delta, beside the updates of the replica's workers, of which none is lost where the merge
    /// loses none. Where a replica is its worker's alone it waits until that worker is between two windows.
    fn add(&self, replica: usize, start: usize, delta: &[f64]);
    /// Puts the coordinates in `range` between `lo` and `hi`.
    fn clamp(&self, replica: usize, range: Range<usize>, lo: f64, hi: f64);
    /// zᵢ = aᵢᵀx of `rows`, where x is the replica, or what `mapped` makes of it: [`Prox::dual_map`] of λ₂ times it. Reads
    /// the rows once, in order.
    fn margins(&self, replica: usize, f: &Glm<'_, D>, rows: Range<usize>, mapped: Option<Prox>, z: &mut [f64]);
    /// vector ← vector + Σ scaleᵢ aᵢ over `rows`, where of a pair aᵢ is taken from the replica. Reads the rows once, in order,
    /// and reads and writes an entry of `vector` for each of theirs.
    fn expand(&self, replica: usize, f: &Glm<'_, D>, rows: Range<usize>, scales: &[f64], vector: &mut [f64]);
    /// Where a replica's pages lie.
    fn residency_of_replica(&self, replica: usize, asking: Asking) -> Residency;
    /// Where a worker's order and counters lie.
    fn residency_of_seat(&self, worker: usize, asking: Asking) -> Residency;
    /// Builds the state of `worker`, on the thread that runs it; its private scalar starts at `private`.
    fn sit(&self, task: &Task<'_, D>, worker: usize, private: f64);
    /// The worker's private scalar, if the method has one.
    fn private(&self, worker: usize) -> Option<f64>;
    /// Sets it.
    fn set_private(&self, worker: usize, value: f64);
    /// Updates of `worker` since the run began.
    fn updates(&self, worker: usize) -> u64;
    /// Counts `lines` updates more, which were made in a pass.
    fn count(&self, worker: usize, lines: u64);
    /// Stripes that another worker held, under a locked merge, and how often a lock of the replica was not to be had
    /// at once.
    fn waited(&self, worker: usize) -> (u64, u64);
    /// Lines that an update reads and writes.
    fn lines_per_update(&self) -> usize;
    /// Whether an update ends with dense work, as if a server did it: one at a time.
    fn finishes(&self) -> bool;
    /// Whether an update writes all slots.
    fn dense(&self) -> bool;
    /// How the method's delays are counted.
    fn measure(&self) -> Measure;
    /// Notes what the worker's share of its replica is before a window (`opens`), or what it has moved by after it.
    fn note_mass(&self, worker: usize, opens: bool);
    /// Takes the books of the worker, in an audited run.
    fn take_books(&self, worker: usize) -> Option<Audit>;
    /// The delays that the worker sampled, where they are.
    fn tally(&self, worker: usize) -> Option<DelayTally>;
    /// How often a compare-exchange of the worker's updates found that another had come first.
    fn retries(&self, worker: usize) -> u64;
    /// Adds the delays that the worker measured since the run began.
    fn add_delays(&self, worker: usize, sum: &mut Delays);
    /// Moves the steps that the worker noted to `steps`.
    fn take_steps(&self, worker: usize, steps: &mut Vec<StepTaken>);
    /// The worker's updates of window `index`, at once with the others'.
    fn window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize);
    /// Those of all workers in `windows`, in turns.
    fn interleave(&self, run: &Run<'_, D>, epoch: u64, windows: Range<usize>);
}

/// One worker, in pages of its own on its node.
pub(super) struct Seat<'a, D, M: Method> {
    pub(super) order: Order,
    pub(super) hands: Hands<M::Local>,
    /// All parts: which of them are its shard's, the order knows.
    pub(super) parts: Pages<&'a Part<D>>,
    pub(super) cursor: Cursor<M::Pending>,
    /// The books, in an audited run.
    pub(super) books: Option<Box<RefCell<Audit>>>,
    /// What it gives a GPU to do, where it feeds one.
    pub(super) feeder: Option<Box<Feeder>>,
}

/// Where a seat stands; empty until its worker sits down.
type Chair<'a, D, M> = Mutex<Option<Apart<Seat<'a, D, M>>>>;

/// What a worker changes as it goes.
pub(super) struct Hands<L> {
    pub(super) local: L,
    /// Updates since this run began.
    pub(super) updates: u64,
    /// Stripes that another worker held, under a locked merge.
    pub(super) stripes_waited: u64,
    /// How often a lock of the replica was not to be had at once.
    pub(super) locks_waited: u64,
    /// Updates of however many lines each, where the run goes by halves.
    pub(super) whole_updates: u64,
    /// Where the steps of the replica had gone at the last sweep, by a rule that goes by delay.
    pub(super) swept: f64,
    /// Delays measured, and the steps of the window where they are asked for.
    pub(super) delays: Delays,
    pub(super) steps: Vec<StepTaken>,
    /// Delays sampled, where they are.
    pub(super) tally: Option<Box<DelayTally>>,
    /// Compare-exchanges that another came before.
    pub(super) retries: u64,
    /// Updates since the last sweep.
    pub(super) unsettled: u64,
    /// Whether there was a sweep since what it wrote was last marked.
    pub(super) settled: bool,
    /// Place among the workers of its replica, and their number.
    pub(super) rank: (usize, usize),
}

/// The workers of a run, with their method and the replicas.
pub struct Team<'a, D, R, M: Method> {
    pub(super) method: &'a M,
    pub(super) replicas: Vec<Vectors<R>>,
    pub(super) seats: Vec<CachePadded<Chair<'a, D, M>>>,
    shards: &'a Shards<D>,
    /// Each worker's replica.
    replica_of: Vec<usize>,
}

impl<'a, D: Matrix, R: Replica, M: Method> Team<'a, D, R, M> {
    /// The workers of `plan`, none of which sits yet; `replicas` in order of the plan's.
    ///
    /// # Panics
    /// If the method keeps a vector that is a sum of lines, and lines depend on the parameters.
    pub fn new(plan: &Plan, shards: &'a Shards<D>, method: &'a M, replicas: Vec<Vectors<R>>) -> Self {
        assert!(D::FIXED || method.companion().is_none(), "a memo of a line is nothing where lines move");
        let seats = plan.workers.iter().map(|_| CachePadded::new(Mutex::new(None))).collect();
        let replica_of = plan.workers.iter().map(|worker| worker.replica).collect();
        Team { method, replicas, seats, shards, replica_of }
    }

    fn seat<T>(&self, worker: usize, look: impl FnOnce(Option<&mut Seat<'a, D, M>>) -> T) -> T {
        look(self.seats[worker].lock().expect(PANICKED).as_deref_mut())
    }
}

pub(super) const SEATED: &str = "seated before the first epoch";

impl<D: Matrix, R: Replica, M: Method> Engine<D> for Team<'_, D, R, M> {
    fn batch(&self) -> Option<Box<dyn Batch>> {
        self.method.batch()
    }

    fn companion(&self) -> Option<Companion> {
        self.method.companion()
    }

    fn width(&self) -> usize {
        self.replicas[0].width * if self.method.companion() == Some(Companion::Table) { 2 } else { 1 }
    }

    fn read(&self, replica: usize, start: usize, mut out: &mut [f64]) {
        for (vector, start, len) in self.replicas[replica].cut(start, out.len()) {
            let (own, rest) = out.split_at_mut(len);
            vector.read(start, own);
            out = rest;
        }
    }

    fn write(&self, replica: usize, start: usize, mut values: &[f64]) {
        for (vector, start, len) in self.replicas[replica].cut(start, values.len()) {
            let (own, rest) = values.split_at(len);
            vector.write(start, own);
            values = rest;
        }
    }

    fn gather(&self, replica: usize, runs: &[Range<usize>], out: &mut [f64]) {
        let Vectors { x, beside, width } = &self.replicas[replica];
        let (own, other) = split(runs, *width);
        let (first, second) = out.split_at_mut(own.clone().map(|run| run.len()).sum());
        x.gather(own, first);
        if !second.is_empty() {
            beside.gather(other, second);
        }
    }

    fn scatter(&self, replica: usize, runs: &[Range<usize>], values: &[f64]) {
        let Vectors { x, beside, width } = &self.replicas[replica];
        let (own, other) = split(runs, *width);
        let (first, second) = values.split_at(own.clone().map(|run| run.len()).sum());
        x.scatter(own, first);
        if !second.is_empty() {
            beside.scatter(other, second);
        }
    }

    fn round(&self, values: &mut [f64]) {
        values.iter_mut().for_each(|value| *value = R::kept(*value));
    }

    fn mark(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize, touched: &Touched) {
        self.mark_window(run, worker, epoch, index, touched);
    }

    fn sweeps_every(&self) -> Option<u64> {
        self.method.settle_every()
    }

    fn add(&self, replica: usize, start: usize, delta: &[f64]) {
        let mut delta = delta;
        for (vector, start, len) in self.replicas[replica].cut(start, delta.len()) {
            let (own, rest) = delta.split_at(len);
            let mut open = vector.open();
            vector.view(&mut open).map(start..start + len, |j, value| value + own[j - start]);
            delta = rest;
        }
    }

    fn clamp(&self, replica: usize, range: Range<usize>, lo: f64, hi: f64) {
        let mut open = self.replicas[replica].x.open();
        self.replicas[replica].x.view(&mut open).map(range, |_, value| value.clamp(lo, hi));
    }

    fn margins(&self, replica: usize, f: &Glm<'_, D>, rows: Range<usize>, mapped: Option<Prox>, z: &mut [f64]) {
        let mut open = self.replicas[replica].x.open();
        let x = self.replicas[replica].x.view(&mut open);
        on_vectors(
            #[inline(always)]
            |_| match mapped {
                None => z.iter_mut().zip(rows).for_each(|(z, i)| *z = x.dot(f.line(i))),
                Some(prox) => z
                    .iter_mut()
                    .zip(rows)
                    .for_each(|(z, i)| *z = x.fold(f.line(i), |_, u, a| a * prox.dual_map(prox.l2 * u))),
            },
        );
    }

    fn expand(&self, replica: usize, f: &Glm<'_, D>, rows: Range<usize>, scales: &[f64], vector: &mut [f64]) {
        let mut open = self.replicas[replica].x.open();
        let x = self.replicas[replica].x.view(&mut open);
        rows.zip(scales).for_each(|(i, &scale)| x.expand(scale, f.line(i), vector));
    }

    fn residency_of_replica(&self, replica: usize, asking: Asking) -> Residency {
        let Vectors { x, beside, .. } = &self.replicas[replica];
        let mut all = x.residency(asking);
        all.add(&beside.residency(asking));
        all
    }

    fn residency_of_seat(&self, worker: usize, asking: Asking) -> Residency {
        let seat = self.seats[worker].lock().expect(PANICKED);
        let seat = seat.as_ref().expect(SEATED);
        let mut order = seat.order.residency(asking);
        order.add(&seat.parts.settle(asking));
        order.add(&seat.cursor.residency(asking));
        order.add(&seat.record(asking.pages_max));
        order
    }

    fn sit(&self, task: &Task<'_, D>, worker: usize, private: f64) {
        let (plan, parts) = (task.plan, &self.shards.parts);
        let shard = plan.workers[worker].shard;
        // Whose lines are one component of the sum keeps them; else all workers of a shard share its lines.
        let (dealt, copy, rank) = if M::FINISHES {
            (std::slice::from_ref(&worker), (0, 1), (0, 1))
        } else {
            let copy = (plan.copy_of(shard), plan.copies());
            (&plan.shards[shard].workers[..], copy, plan.rank_in_shard(worker))
        };
        let own: Vec<_> = dealt.iter().map(|&part| (part, parts[part].matrix.rows())).collect();
        let mut local = M::Local::default();
        if let Some(own) = M::private(&mut local) {
            *own = private;
        }
        let site = plan.site_of_worker(worker);
        let longest = injection::longest(task.injection, worker);
        let seat = Seat {
            order: Order::new(task.order, &own, rank, task.seed, copy, &site),
            parts: Pages::filled(parts.len(), &site, |part| &*parts[part]),
            hands: Hands {
                local,
                updates: 0,
                stripes_waited: 0,
                locks_waited: 0,
                whole_updates: 0,
                swept: 0.0,
                delays: Delays::default(),
                steps: Vec::new(),
                tally: (task.watches == Delaying::Sampled)
                    .then(|| Box::new(DelayTally::new(self.replicas[0].width))),
                retries: 0,
                unsettled: 0,
                settled: false,
                rank: plan.rank_in_replica(worker),
            },
            cursor: Cursor::new(
                self.method.lines_per_update(),
                longest,
                own.iter().map(|(_, lines)| lines).sum(),
                &site,
            ),
            books: task.ledgers.map(|ledgers| Box::new(RefCell::new(ledgers.books(plan, worker)))),
            feeder: task.feeding.and_then(|feeding| feeding.seat(worker, self.replicas[0].width)).map(Box::new),
        };
        *self.seats[worker].lock().expect(PANICKED) = Some(Apart::new(seat, &site));
    }

    fn private(&self, worker: usize) -> Option<f64> {
        self.seat(worker, |seat| M::private(&mut seat.expect(SEATED).hands.local).copied())
    }

    fn set_private(&self, worker: usize, value: f64) {
        self.seat(worker, |seat| {
            if let Some(private) = M::private(&mut seat.expect(SEATED).hands.local) {
                *private = value;
            }
        });
    }

    fn updates(&self, worker: usize) -> u64 {
        self.seat(worker, |seat| seat.map_or(0, |seat| seat.hands.updates))
    }

    fn count(&self, worker: usize, lines: u64) {
        self.seat(worker, |seat| seat.expect(SEATED).hands.updates += lines);
    }

    fn waited(&self, worker: usize) -> (u64, u64) {
        self.seat(worker, |seat| seat.map_or((0, 0), |seat| (seat.hands.stripes_waited, seat.hands.locks_waited)))
    }

    fn lines_per_update(&self) -> usize {
        self.method.lines_per_update()
    }

    fn finishes(&self) -> bool {
        M::FINISHES
    }

    fn dense(&self) -> bool {
        M::DENSE
    }

    fn measure(&self) -> Measure {
        self.method.measure()
    }

    fn note_mass(&self, worker: usize, opens: bool) {
        let replica = self.replica_of[worker];
        self.seat(worker, |seat| {
            let Some(books) = seat.and_then(|seat| seat.books.as_mut()) else { return };
            let read = |start: usize, out: &mut [f64]| self.replicas[replica].x.read(start, out);
            if opens { books.get_mut().open(read) } else { books.get_mut().close(read) }
        });
    }

    fn take_books(&self, worker: usize) -> Option<Audit> {
        self.seat(worker, |seat| Some(seat?.books.take()?.into_inner()))
    }

    fn tally(&self, worker: usize) -> Option<DelayTally> {
        self.seat(worker, |seat| seat?.hands.tally.as_deref().cloned())
    }

    fn retries(&self, worker: usize) -> u64 {
        self.seat(worker, |seat| seat.map_or(0, |seat| seat.hands.retries))
    }

    fn add_delays(&self, worker: usize, sum: &mut Delays) {
        self.seat(worker, |seat| seat.iter().for_each(|seat| sum.add(&seat.hands.delays)));
    }

    fn take_steps(&self, worker: usize, steps: &mut Vec<StepTaken>) {
        self.seat(worker, |seat| seat.into_iter().for_each(|seat| steps.append(&mut seat.hands.steps)));
    }

    fn window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) {
        if run.feeds(worker) {
            self.feed_window(run, worker, epoch, index);
        } else if run.by_halves {
            self.visit_by_halves(run, worker, epoch, index);
        } else {
            self.visit(run, worker, epoch, index);
        }
    }

    fn interleave(&self, run: &Run<'_, D>, epoch: u64, windows: Range<usize>) {
        self.take_turns(run, epoch, windows);
    }
}

/// Sweeps the worker's slice of its replica if that is due, or if `flush`.
#[inline]
pub(super) fn settle<M: Method, V: View>(method: &M, x: &V, hands: &mut Hands<M::Local>, pace: &Pace, flush: bool) {
    let Some(every) = method.settle_every() else {
        return;
    };
    let (rank, workers) = hands.rank;
    let updates = hands.unsettled * workers as u64;
    if updates >= every || (flush && updates > 0) {
        method.settle(x, share(x.len(), rank, workers), updates, pace);
        (hands.unsettled, hands.settled) = (0, true);
    }
}
