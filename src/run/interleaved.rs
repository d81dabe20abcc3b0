//! All workers on one thread, their reads and writes interleaved in an order drawn from the seed.
//!
//! At each turn one worker with work left is drawn, all alike, and does what comes next of its window: the read of a line, or
//! its write. So between a worker's read and its write there are as many of the others' as chance puts there: the
//! delays of a run are known, and the same for the same plan, seed and data, to the bit. A slow worker lets a turn go by by
//! chance, so that its updates take a random time, as many times as long as those of the others; one that stalls lets
//! turns go by for as long as it was told.
//!
//! Where replicas gossip, each worker goes through the windows of an epoch at the pace that chance gives it, and the step
//! of the exchange after a window is a turn of its own; one that must wait is drawn again later.

use super::{
    Crew, Ended, PANICKED, Run, Task,
    engine::{Engine, SEATED, Seat, Team},
    injection::slowness,
    turns::{Sight, Turn},
};
use crate::{
    checkpoint::Checkpoint, data::matrix::Matrix, error::Result, method::Method, store::Replica, trace::Observer,
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

/// A worker with something left to do, and the turns that it still lets go by.
struct Active {
    worker: usize,
    window: usize,
    /// Whether its window has something left; else the step of a gossip comes next.
    left: bool,
    owed: f64,
}

impl<D: Matrix, R: Replica, M: Method> Team<'_, D, R, M> {
    /// `windows` of all workers.
    pub(super) fn take_turns(&self, run: &Run<'_, D>, epoch: u64, windows: Range<usize>) {
        let number = epoch.wrapping_mul(run.windows_most as u64).wrapping_add(windows.start as u64);
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(!run.task.seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
        let open = |worker| {
            let left = run.goes_in(false) && self.open_window(run, worker, epoch, windows.start);
            Active { worker, window: windows.start, left, owed: 0.0 }
        };
        let mut active: Vec<_> = (0..run.workers()).map(open).collect();
        active.retain_mut(|active| self.goes_on(run, epoch, windows.end, active, false));
        let (mut turns, mut halted) = (0u32, false);
        while !active.is_empty() {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(64) && !halted && run.poll() {
                halted = true;
                active.retain_mut(|active| {
                    active.left = active.left && self.halt(active.worker);
                    active.left
                });
                continue;
            }
            let drawn = random.random_range(0..active.len());
            let one = &mut active[drawn];
            let slow = slowness(run.task.injection.straggler, one.worker);
            if slow > 1.0 && !halted && random.random::<f64>() * slow >= 1.0 {
                continue;
            }
            if one.owed >= 1.0 && !halted {
                one.owed -= 1.0;
                continue;
            }
            let stepped = !one.left;
            if one.left {
                self.take_turn(run, one, epoch);
            } else if !run.try_step(one.worker) {
                continue;
            }
            if !one.left && (halted || !self.goes_on(run, epoch, windows.end, one, stepped)) {
                active.swap_remove(drawn);
            }
        }
        if windows.end == run.windows() {
            (0..run.workers()).for_each(|worker| self.flush_epoch(run, worker, epoch));
        }
    }

    /// Whether the worker has something to do before window `end`: lines of its present window, the step of a gossip after
    /// it, unless that was made, or lines or a step of a later one, to which it then goes on.
    fn goes_on(&self, run: &Run<'_, D>, epoch: u64, end: usize, active: &mut Active, stepped: bool) -> bool {
        let mut stepped = stepped;
        loop {
            if active.left || (!stepped && run.steps_after(active.worker, epoch, active.window)) {
                return true;
            }
            if run.goes_in(true) {
                // Once more.
            } else if active.window + 1 < end && run.goes_in(false) {
                active.window += 1;
            } else {
                return false;
            }
            active.left = self.open_window(run, active.worker, epoch, active.window);
            stepped = false;
        }
    }

    /// Goes to the start of a worker's window; whether there is anything in it.
    fn open_window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) -> bool {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, parts, cursor, feeder, .. } = &mut **seat.as_mut().expect(SEATED);
        if let Some(feeder) = feeder {
            let (_, window) = run.window_of(run.dealt(order, worker, epoch), index);
            return feeder.open(window);
        }
        cursor.start(&run.stage(worker, epoch, index, run.dealt(order, worker, epoch), parts));
        cursor.next.is_some()
    }

    /// Lets the worker finish what it began; whether there is any.
    fn halt(&self, worker: usize) -> bool {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { cursor, feeder, .. } = &mut **seat.as_mut().expect(SEATED);
        if let Some(feeder) = feeder {
            return feeder.halt();
        }
        cursor.halt();
        cursor.next.is_some()
    }

    /// A worker's turn.
    fn take_turn(&self, run: &Run<'_, D>, active: &mut Active, epoch: u64) {
        let mut seat = self.seats[active.worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, cursor, books, feeder } = &mut **seat.as_mut().expect(SEATED);
        let stage = run.stage(active.worker, epoch, active.window, run.dealt(order, active.worker, epoch), parts);
        let replica = &self.replicas[stage.replica];
        let (mut open, mut open_beside) = (replica.x.open(), replica.beside.open());
        let rarity = run.task.shards.rarity(active.worker);
        let sight = Sight::new(replica, &mut open, &mut open_beside, rarity, books.as_deref());
        if let Some(feeder) = feeder {
            active.left = Self::feed(run, self.method, &stage, &sight.x, hands, feeder);
            return;
        }
        if let Turn::Update { pause } = Self::turn(run, self.method, &stage, &sight, hands, cursor) {
            let lines = if run.task.consistent { 1 } else { self.method.lines_per_update() };
            active.owed += pause * 2.0 * lines as f64;
        }
        active.left = cursor.next.is_some();
    }

    fn flush_epoch(&self, run: &Run<'_, D>, worker: usize, epoch: u64) {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, books, .. } = &mut **seat.as_mut().expect(SEATED);
        let stage = run.stage(worker, epoch, run.windows() - 1, run.dealt(order, worker, epoch), parts);
        let replica = &self.replicas[stage.replica];
        let mut open = replica.x.open();
        Self::flush(run, self.method, &stage, &replica.x.audited(&mut open, books.as_deref()), hands);
    }
}
