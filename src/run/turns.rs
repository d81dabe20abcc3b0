//! Updates by halves: what the interleaved runner does at a turn, and what a thread does one after the other where a run
//! numbers delays, injects them, writes many lines an update or reads consistently. The plain case on threads is the loop of
//! [`threads`](super::threads).
//!
//! A turn is the read or the write of one line. On threads, and under a consistent merge, it is that of all lines of an update;
//! under a locked merge it is a whole update, between whose halves nobody could come.

use super::{
    Run,
    cursor::{Cursor, Half, Stage},
    engine::{Hands, Team, Vectors, settle},
    gauge::Asking,
    injection::{Draws, stall},
};
use crate::{
    data::matrix::Matrix,
    method::{Beside, Method, Pace, Term},
    order::Bucket,
    placement::share,
    shard::Part,
    store::{Audit, Replica, View},
    sync::Rest,
    trace::StepTaken,
};
use std::cell::RefCell;

/// A worker's replica, open.
pub(super) struct Sight<'a, V> {
    pub(super) x: V,
    pub(super) beside: Beside<'a, V>,
}

impl<'a, V: View> Sight<'a, V> {
    /// Of an open replica, with the rarity of its coordinates, and the worker's books in an audited run.
    #[inline(always)]
    pub(super) fn new<'o: 'a, R: Replica<Audited<'a> = V> + 'a>(
        vectors: &'a Vectors<R>,
        open: &'a mut R::Open<'o>,
        open_beside: &'a mut R::Open<'o>,
        rarity: &'a [f64],
        books: Option<&'a RefCell<Audit>>,
    ) -> Self {
        let average = vectors.beside.audited(open_beside, None);
        Sight { x: vectors.x.audited(open, books), beside: Beside { average, rarity } }
    }
}

/// How many lines ahead of its read a line's entries are asked of the cache.
const AHEAD: usize = 4;

/// What a turn did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// A part of an update.
    Part,
    /// The last of its reads: a slow worker takes its time here, while what it read grows old.
    Read,
    /// The last part of an update; the worker is to pause for so many times as an update takes.
    Update { pause: f64 },
}

impl<'a, D: Matrix> Run<'a, D> {
    /// Window `index` of the buckets of `worker`'s epoch.
    pub(super) fn stage<'s>(
        &'s self,
        worker: usize,
        epoch: u64,
        index: usize,
        buckets: &'s [Bucket],
        parts: &'s [&'s Part<D>],
    ) -> Stage<'s, D> {
        let task = &self.task;
        let (skipped, window) = self.window_of(buckets, index);
        let number = epoch.wrapping_mul(self.windows_most as u64).wrapping_add(index as u64);
        Stage {
            worker,
            replica: self.replica_of(worker),
            epoch,
            skipped,
            of: buckets.len(),
            buckets: window,
            parts,
            marks: task.shards.marks(worker),
            frame: task.frame,
            consistent: task.consistent,
            holds: task.holds,
            whole: task.consistent,
            measures: self.measures,
            straggler: task.injection.straggler,
            injection: task.injection,
            draws: Draws { seed: task.seed, worker, window: number },
            lines: self.lines,
        }
    }

    pub(super) fn pace_at(&self, stage: &Stage<'_, D>, bucket: u32) -> Pace {
        self.pace(stage.epoch, stage.skipped + bucket as usize, stage.of)
    }
}

impl<D: Matrix, R: Replica, M: Method> Team<'_, D, R, M> {
    /// The worker's next turn; there must be one.
    #[inline(always)]
    pub(super) fn turn<V: View>(
        run: &Run<'_, D>,
        method: &M,
        stage: &Stage<'_, D>,
        sight: &Sight<'_, V>,
        hands: &mut Hands<M::Local>,
        cursor: &mut Cursor<M::Pending>,
    ) -> Turn {
        let gauge = &run.gauges[stage.replica];
        let written = match cursor.next.expect("a turn is of a worker with something left") {
            Half::Read(place) if stage.holds => {
                // One line an update, and nothing is put off: its write comes next.
                let line = cursor.update(place).1[0];
                let held = sight.x.hold(stage.parts[line.part as usize].matrix.row(line.line));
                Self::read(run, method, stage, &sight.x, hands, cursor, place);
                let written = Self::write(run, method, stage, sight, hands, cursor, place);
                hands.stripes_waited += held.map_or(0, |held| u64::from(held.waits()));
                written
            }
            Half::Read(place) => {
                let shared = stage.consistent.then(|| gauge.share(&mut hands.locks_waited));
                let all = Self::read(run, method, stage, &sight.x, hands, cursor, place);
                drop(shared);
                return if all { Turn::Read } else { Turn::Part };
            }
            Half::Write(place) => {
                let held = stage.consistent.then(|| gauge.hold(&mut hands.locks_waited));
                let written = Self::write(run, method, stage, sight, hands, cursor, place);
                drop(held);
                written
            }
        };
        // The sweep takes locks of its own.
        written.map_or(Turn::Part, |pace| {
            Self::sweep(run, method, stage, &sight.x, hands, &pace, false);
            cursor.done(stage);
            Turn::Update { pause: stall(stage.straggler, stage.worker, hands.whole_updates) }
        })
    }

    /// Lines of an update's half from the one that is next on: one, or all that are left where halves are whole. Whether all
    /// are read now.
    #[inline(always)]
    fn read<V: View>(
        run: &Run<'_, D>,
        method: &M,
        stage: &Stage<'_, D>,
        x: &V,
        hands: &mut Hands<M::Local>,
        cursor: &mut Cursor<M::Pending>,
        place: usize,
    ) -> bool {
        let mut line = cursor.line;
        let (update, slots) = cursor.update(place);
        if line == 0 && stage.measures {
            update.read_at = run.gauges[stage.replica].landed();
        }
        let (lines, pace) = (update.lines, run.pace_at(stage, slots[0].bucket));
        loop {
            if let Some(ahead) = slots.get(line + AHEAD) {
                stage.parts[ahead.part as usize].matrix.prefetch(ahead.line);
            }
            let slot = &mut slots[line];
            let part = stage.parts[slot.part as usize];
            let f = part.glm(stage.marks, stage.frame);
            let term = Term { f: &f, i: slot.line, state: &part.state };
            slot.pending = method.read(term, x, &pace, &mut hands.local);
            line += 1;
            if line == lines || !stage.whole {
                break;
            }
        }
        cursor.line = line;
        if line == lines {
            cursor.done(stage);
        }
        line == lines
    }

    /// As [`Team::read`]; the pace of an update that is written to its last line.
    #[inline(always)]
    fn write<V: View>(
        run: &Run<'_, D>,
        method: &M,
        stage: &Stage<'_, D>,
        sight: &Sight<'_, V>,
        hands: &mut Hands<M::Local>,
        cursor: &mut Cursor<M::Pending>,
        place: usize,
    ) -> Option<Pace> {
        let (mut line, mut step) = (cursor.line, cursor.step);
        let (update, slots) = cursor.update(place);
        let mut pace = run.pace_at(stage, slots[0].bucket);
        if line == 0 {
            step = if stage.measures {
                let part = update.lines as f64 / method.lines_per_update() as f64;
                let (rank, read_at) = (hands.rank.0, update.read_at);
                numbered(run, stage, hands, Asking { rank, read_at, step: pace.step, part, batch: None })
            } else {
                pace.step
            };
        }
        pace.step = step;
        let lines = update.lines;
        loop {
            let slot = &slots[line];
            let part = stage.parts[slot.part as usize];
            let f = part.glm(stage.marks, stage.frame);
            let term = Term { f: &f, i: slot.line, state: &part.state };
            method.write(term, &sight.x, &sight.beside, slot.pending, &pace, &mut hands.local);
            if let Some(rest) = part.rests.get(slot.line) {
                Rest::visited(rest, M::moves(&slot.pending));
            }
            line += 1;
            if line == lines || !stage.whole {
                break;
            }
        }
        (cursor.line, cursor.step) = (line, step);
        if line < lines {
            return None;
        }
        if M::FINISHES {
            method.finish(&sight.x, &sight.beside, &pace);
        }
        if stage.measures {
            run.gauges[stage.replica].land();
        }
        hands.updates += lines as u64;
        hands.unsettled += lines as u64;
        hands.whole_updates += 1;
        Some(pace)
    }

    /// Sweeps as [`settle`] does, if that is due or if `flush`; by a rule that goes by delay, for as far as all steps of the
    /// replica went since the last.
    pub(super) fn sweep<V: View>(
        run: &Run<'_, D>,
        method: &M,
        stage: &Stage<'_, D>,
        x: &V,
        hands: &mut Hands<M::Local>,
        pace: &Pace,
        flush: bool,
    ) {
        let Some(every) = method.settle_every() else { return };
        let (rank, workers) = hands.rank;
        let updates = hands.unsettled * workers as u64;
        if updates < every && !(flush && updates > 0) {
            return;
        }
        let gauge = &run.gauges[stage.replica];
        let held = stage.consistent.then(|| gauge.hold(&mut hands.locks_waited));
        match gauge.travelled(run.task.feeding.is_some()) {
            None => settle(method, x, hands, pace, true),
            Some(total) => {
                // One update as long as all of them.
                let pace = Pace { step: total - hands.swept, ..*pace };
                method.settle(x, share(x.len(), rank, workers), method.lines_per_update() as u64, &pace);
                (hands.swept, hands.unsettled, hands.settled) = (total, 0, true);
            }
        }
        drop(held);
    }

    /// The sweep at a worker's last window of an epoch.
    pub(super) fn flush<V: View>(
        run: &Run<'_, D>,
        method: &M,
        stage: &Stage<'_, D>,
        x: &V,
        hands: &mut Hands<M::Local>,
    ) {
        let pace = run.pace(stage.epoch, stage.of.saturating_sub(1), stage.of);
        Self::sweep(run, method, stage, x, hands, &pace, true);
    }
}

/// Takes the update's number, notes its delay, and says its step: that of a rule by delay, or `asking`'s.
pub(super) fn numbered<D: Matrix, L>(
    run: &Run<'_, D>,
    stage: &Stage<'_, D>,
    hands: &mut Hands<L>,
    asking: Asking,
) -> f64 {
    let ticket = run.gauges[stage.replica].take(asking, &mut hands.locks_waited);
    hands.delays.count(ticket.delay);
    let step = ticket.step;
    if run.logs {
        let (worker, replica) = (stage.worker as u32, stage.replica as u32);
        let step = if run.task.step.is_some() { step } else { f64::NAN };
        hands.steps.push(StepTaken { k: ticket.k, step, delay: ticket.delay, worker, replica, epoch: stage.epoch });
    }
    step
}
