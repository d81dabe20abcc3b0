//! All workers on one thread, their reads and writes interleaved in an order drawn from the seed.
//!
//! At each turn one worker with work left is drawn, all alike, and does its next half: a read if it has nothing pending,
//! else the write. So between a worker's read and its write there are as many of the others' as chance puts there: the
//! delays of a run are known, and the same for the same plan, seed and data, to the bit. An update under a locked merge
//! is done in one turn, since nobody could come between.
//!
//! Where replicas gossip, each worker goes through the windows of an epoch at the pace that chance gives it, and the step
//! of the exchange after a window is a turn of its own; one that must wait is drawn again later.

use super::{
    Crew, Ended, PANICKED, Run, Task,
    engine::{Engine, SEATED, Seat, Team, settle},
};
use crate::{
    checkpoint::Checkpoint,
    data::matrix::Matrix,
    error::Result,
    method::{Method, Pace},
    store::Replica,
    sync::Rest,
    trace::Observer,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;

/// Runs `task` on the calling thread.
///
/// # Errors
/// Whatever the observer reports.
pub fn run<D: Matrix>(
    task: Task<'_, D>,
    engine: &dyn Engine<D>,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let workers = task.plan.workers.len();
    let run = Run::new(task, engine, from, observer);
    run.drive(&Crew::Alone(workers), |run, epoch, windows| engine.interleave(run, epoch, windows));
    run.end()
}

/// Where a worker is in its window.
struct Cursor<P> {
    worker: usize,
    window: usize,
    /// Lines left, as (part, line, γ and σ′ there), the next one last.
    left: Vec<(u32, usize, Pace)>,
    pending: Option<P>,
}

impl<D: Matrix, R: Replica, M: Method> Team<'_, D, R, M> {
    /// `windows` of all workers.
    pub(super) fn take_turns(&self, run: &Run<'_, D>, epoch: u64, windows: Range<usize>) {
        let turn = epoch.wrapping_mul(run.windows_most as u64).wrapping_add(windows.start as u64);
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(!run.task.seed ^ turn.wrapping_mul(0xD1B5_4A32_D192_ED03));
        let mut active: Vec<_> =
            (0..run.workers()).map(|worker| self.cursor(run, worker, epoch, windows.start)).collect();
        let goes_on = |cursor: &mut _, stepped| self.goes_on(run, epoch, windows.end, cursor, stepped);
        active.retain_mut(|cursor| goes_on(cursor, false));
        let (mut turns, mut halted) = (0u32, false);
        while !active.is_empty() {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(64) && run.poll() {
                halted = true;
                // What was read is still written: every update that was begun counts.
                active.retain_mut(|cursor| {
                    let begun = cursor.pending.is_some();
                    cursor.left.drain(..cursor.left.len() - usize::from(begun));
                    begun
                });
                if active.is_empty() {
                    break;
                }
            }
            let drawn = random.random_range(0..active.len());
            let cursor = &mut active[drawn];
            let stepped = cursor.left.is_empty();
            if stepped {
                if !run.try_step(cursor.worker) {
                    continue;
                }
            } else {
                self.half(run, cursor);
            }
            if cursor.left.is_empty() && (halted || !goes_on(cursor, stepped)) {
                active.swap_remove(drawn);
            }
        }
        if windows.end == run.windows() {
            (0..run.workers()).for_each(|worker| self.flush(run, worker, epoch));
        }
    }

    /// Whether the worker has something to do before window `end`: lines of its present window, the step of a gossip after
    /// it, unless that was made, or lines or a step of a later one, to which it then goes on.
    fn goes_on(
        &self,
        run: &Run<'_, D>,
        epoch: u64,
        end: usize,
        cursor: &mut Cursor<M::Pending>,
        stepped: bool,
    ) -> bool {
        let mut stepped = stepped;
        loop {
            let due = !stepped && run.steps_after(cursor.worker, epoch, cursor.window);
            if due || !cursor.left.is_empty() {
                return true;
            }
            if cursor.window + 1 >= end {
                return false;
            }
            *cursor = self.cursor(run, cursor.worker, epoch, cursor.window + 1);
            stepped = false;
        }
    }

    fn cursor(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) -> Cursor<M::Pending> {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let buckets = seat.as_mut().expect(SEATED).order.epoch(epoch);
        let (skipped, window) = run.window_of(buckets, index);
        let lines = window.iter().enumerate().flat_map(|(k, bucket)| {
            let pace = run.pace(epoch, skipped + k, buckets.len());
            bucket.range().map(move |line| (bucket.part, line, pace))
        });
        let parts = &run.task.shards.parts;
        let passes = |part: u32, line: usize| parts[part as usize].rests.get(line).is_some_and(Rest::passes);
        let mut left: Vec<_> = lines.filter(|&(part, line, _)| !passes(part, line)).collect();
        left.reverse();
        Cursor { worker, window: index, left, pending: None }
    }

    /// A worker's read, or its write.
    fn half(&self, run: &Run<'_, D>, cursor: &mut Cursor<M::Pending>) {
        let task = &run.task;
        let &(part, i, pace) = cursor.left.last().expect("an active worker has lines left");
        let mut seat = self.seats[cursor.worker].lock().expect(PANICKED);
        let Seat { hands, .. } = &mut **seat.as_mut().expect(SEATED);
        let f = task.shards.glm(part as usize, task.frame);
        let state = &task.shards.parts[part as usize].state;
        let replica = &self.replicas[task.plan.workers[cursor.worker].replica];
        let mut open = replica.open();
        let x = replica.view(&mut open);
        let pending = match cursor.pending.take() {
            None => {
                let pending = self.method.read(&f, state, &x, i, &pace, &mut hands.local);
                if !R::HOLDS {
                    cursor.pending = Some(pending);
                    return;
                }
                pending
            }
            Some(pending) => pending,
        };
        self.method.write(&f, state, &x, i, pending, &mut hands.local);
        if let Some(rest) = task.shards.parts[part as usize].rests.get(i) {
            rest.visited(M::moves(&pending));
        }
        cursor.left.pop();
        hands.updates += 1;
        hands.unsettled += 1;
        settle(self.method, &x, hands, &pace, false);
    }

    fn flush(&self, run: &Run<'_, D>, worker: usize, epoch: u64) {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { hands, .. } = &mut **seat.as_mut().expect(SEATED);
        let replica = &self.replicas[run.task.plan.workers[worker].replica];
        let mut open = replica.open();
        settle(self.method, &replica.view(&mut open), hands, &run.pace(epoch, 1023, 1024), true);
    }
}
