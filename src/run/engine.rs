//! The part of a run that is compiled for each method and store: the workers' seats, and the updates. All else asks it
//! through [`Engine`], once a window or once a piece of rows, and is compiled for each form of data alone.

use super::{PANICKED, Run, Task};
use crate::{
    data::matrix::Matrix,
    method::{Companion, Method, Pace, batch::Batch},
    objective::{Glm, Linear},
    order::Order,
    os::memory::{Apart, Pages, Residency},
    placement::{Plan, share},
    prox::Prox,
    shard::{Part, Shards},
    store::{Replica, View},
    vectors::on_vectors,
};
use crossbeam_utils::CachePadded;
use std::{ops::Range, sync::Mutex};

/// What a run asks of a method and the replicas it writes.
pub trait Engine<D: Matrix>: Sync {
    /// What asks for whole passes, for a method that moves by them.
    fn batch(&self) -> Option<Box<dyn Batch>>;
    /// The vector that the method has beside the parameters, if it has one.
    fn companion(&self) -> Option<Companion>;
    /// Slots of a replica: x, and right behind it the companion if there is one.
    fn width(&self) -> usize;
    /// Copies the slots from `start` on of a replica into `out`. For between the phases, when no worker has the replica open.
    fn read(&self, replica: usize, start: usize, out: &mut [f64]);
    /// Puts `values` at the slots from `start` on. As [`Engine::read`].
    fn write(&self, replica: usize, start: usize, values: &[f64]);
    /// Puts the coordinates in `range` between `lo` and `hi`.
    fn clamp(&self, replica: usize, range: Range<usize>, lo: f64, hi: f64);
    /// zᵢ = aᵢᵀx of `rows`, where x is the replica, or what `mapped` makes of it: [`Prox::dual_map`] of λ₂ times it. Reads
    /// the rows once, in order.
    fn margins(&self, replica: usize, f: &Glm<'_, D>, rows: Range<usize>, mapped: Option<Prox>, z: &mut [f64]);
    /// vector ← vector + Σ scaleᵢ aᵢ over `rows`, where of a pair aᵢ is taken from the replica. Reads the rows once, in order,
    /// and reads and writes an entry of `vector` for each of theirs.
    fn expand(&self, replica: usize, f: &Glm<'_, D>, rows: Range<usize>, scales: &[f64], vector: &mut [f64]);
    /// Where a replica's pages lie, at most `pages_max` of them asked.
    fn residency_of_replica(&self, replica: usize, pages_max: usize) -> Residency;
    /// Where a worker's order and counters lie.
    fn residency_of_seat(&self, worker: usize, pages_max: usize) -> Residency;
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
    /// Stripes that another worker held, under a locked merge.
    fn stripes_waited(&self, worker: usize) -> u64;
    /// The worker's updates of window `index`, at once with the others'.
    fn window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize);
    /// Those of all workers, in turns.
    fn interleave(&self, run: &Run<'_, D>, epoch: u64, index: usize);
}

/// One worker, in pages of its own on its node.
pub(super) struct Seat<'a, D, L> {
    pub(super) order: Order,
    pub(super) hands: Hands<L>,
    /// All parts: which of them are its shard's, the order knows.
    pub(super) parts: Pages<&'a Part<D>>,
}

/// Where a seat stands; empty until its worker sits down.
type Chair<'a, D, L> = Mutex<Option<Apart<Seat<'a, D, L>>>>;

/// What a worker changes as it goes.
pub(super) struct Hands<L> {
    pub(super) local: L,
    /// Updates since this run began.
    pub(super) updates: u64,
    /// Stripes that another worker held, under a locked merge.
    pub(super) stripes_waited: u64,
    /// Updates since the last sweep.
    pub(super) unsettled: u64,
    /// Place among the workers of its replica, and their number.
    pub(super) rank: (usize, usize),
}

/// What a replica consists of.
pub struct Vectors<R> {
    /// The parameters.
    pub x: R,
    /// The companion; of no slots for a method that has none.
    pub beside: R,
    /// Number of parameters.
    pub width: usize,
}

impl<R: Replica> Vectors<R> {
    /// The vectors that the slots from `start` on, `len` of them, lie in, each with its own first slot and number of them.
    fn cut(&self, start: usize, len: usize) -> [(&R, usize, usize); 2] {
        let within = self.width.saturating_sub(start).min(len);
        [(&self.x, start.min(self.width), within), (&self.beside, start.saturating_sub(self.width), len - within)]
    }
}

/// The workers of a run, with their method and the replicas.
pub struct Team<'a, D, R, M: Method> {
    pub(super) method: &'a M,
    pub(super) replicas: Vec<Vectors<R>>,
    pub(super) seats: Vec<CachePadded<Chair<'a, D, M::Local>>>,
    shards: &'a Shards<D>,
}

impl<'a, D: Matrix, R: Replica, M: Method> Team<'a, D, R, M> {
    /// The workers of `plan`, none of which sits yet; `replicas` in order of the plan's.
    ///
    /// # Panics
    /// If the method keeps a vector that is a sum of lines, and lines depend on the parameters.
    pub fn new(plan: &Plan, shards: &'a Shards<D>, method: &'a M, replicas: Vec<Vectors<R>>) -> Self {
        assert!(D::FIXED || method.companion().is_none(), "a memo of a line is nothing where lines move");
        let seats = plan.workers.iter().map(|_| CachePadded::new(Mutex::new(None))).collect();
        Team { method, replicas, seats, shards }
    }

    fn seat<T>(&self, worker: usize, look: impl FnOnce(Option<&mut Seat<'a, D, M::Local>>) -> T) -> T {
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
        self.replicas[0].width * if self.method.companion().is_some() { 2 } else { 1 }
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

    fn residency_of_replica(&self, replica: usize, pages_max: usize) -> Residency {
        let Vectors { x, beside, .. } = &self.replicas[replica];
        let mut all = x.residency(pages_max);
        all.add(&beside.residency(pages_max));
        all
    }

    fn residency_of_seat(&self, worker: usize, pages_max: usize) -> Residency {
        let seat = self.seats[worker].lock().expect(PANICKED);
        let seat = seat.as_ref().expect(SEATED);
        let mut order = seat.order.residency(pages_max);
        order.add(&seat.parts.settle(pages_max));
        order.add(&seat.record(pages_max));
        order
    }

    fn sit(&self, task: &Task<'_, D>, worker: usize, private: f64) {
        let (plan, parts) = (task.plan, &self.shards.parts);
        let shard = plan.workers[worker].shard;
        let copy = (plan.copy_of(shard), plan.copies());
        let own: Vec<_> =
            plan.shards[shard].workers.iter().map(|&part| (part, parts[part].matrix.rows())).collect();
        let mut local = M::Local::default();
        if let Some(own) = M::private(&mut local) {
            *own = private;
        }
        let site = plan.site_of_worker(worker);
        let seat = Seat {
            order: Order::new(task.order, &own, plan.rank_in_shard(worker), task.seed, copy, &site),
            parts: Pages::filled(parts.len(), &site, |part| &*parts[part]),
            hands: Hands { local, updates: 0, stripes_waited: 0, unsettled: 0, rank: plan.rank_in_replica(worker) },
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

    fn stripes_waited(&self, worker: usize) -> u64 {
        self.seat(worker, |seat| seat.map_or(0, |seat| seat.hands.stripes_waited))
    }

    fn window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) {
        self.visit(run, worker, epoch, index);
    }

    fn interleave(&self, run: &Run<'_, D>, epoch: u64, index: usize) {
        self.take_turns(run, epoch, index);
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
        hands.unsettled = 0;
    }
}
