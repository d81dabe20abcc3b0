//! All workers on one thread, their reads and writes interleaved in an order drawn from the seed.
//!
//! At each turn one worker with work left is drawn, all alike, and does what comes next of its window: the read of a line, or
//! its write. So between a worker's read and its write there are as many of the others' as chance puts there: the
//! delays of a run are known, and the same for the same plan, seed and data, to the bit. A straggler lets turns go by when it
//! is drawn.

use super::{
    Crew, Ended, PANICKED, Run, Task,
    engine::{Engine, SEATED, Seat, Team},
    turns::{Sight, Turn},
};
use crate::{
    checkpoint::Checkpoint, data::matrix::Matrix, error::Result, method::Method, store::Replica, trace::Observer,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

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
    run.drive(&Crew::Alone(workers), |run, epoch, index| engine.interleave(run, epoch, index));
    run.end()
}

/// A worker with something left of its window, and the turns that it still lets go by.
struct Active {
    worker: usize,
    owed: f64,
}

impl<D: Matrix, R: Replica, M: Method> Team<'_, D, R, M> {
    /// Window `index` of all workers.
    pub(super) fn take_turns(&self, run: &Run<'_, D>, epoch: u64, index: usize) {
        let number = epoch.wrapping_mul(run.windows_most as u64).wrapping_add(index as u64);
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(!run.task.seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
        let mut active: Vec<_> = (0..run.workers()).map(|worker| Active { worker, owed: 0.0 }).collect();
        active.retain(|active| self.open_window(run, active.worker, epoch, index));
        let (mut turns, mut halted) = (0u32, false);
        while !active.is_empty() {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(64) && !halted && run.poll() {
                halted = true;
                active.iter().for_each(|active| self.halt(active.worker));
            }
            let drawn = random.random_range(0..active.len());
            if active[drawn].owed >= 1.0 && !halted {
                active[drawn].owed -= 1.0;
            } else if !self.take_turn(run, &mut active[drawn], epoch, index) {
                active.swap_remove(drawn);
            }
        }
        if index + 1 == run.windows() {
            (0..run.workers()).for_each(|worker| self.flush_epoch(run, worker, epoch));
        }
    }

    /// Goes to the start of a worker's window; whether there is anything in it.
    fn open_window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) -> bool {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, parts, cursor, .. } = &mut **seat.as_mut().expect(SEATED);
        cursor.start(&run.stage(worker, epoch, index, order.epoch(epoch), parts));
        cursor.next.is_some()
    }

    fn halt(&self, worker: usize) {
        self.seats[worker].lock().expect(PANICKED).as_mut().expect(SEATED).cursor.halt();
    }

    /// A worker's turn; whether it has something left.
    fn take_turn(&self, run: &Run<'_, D>, active: &mut Active, epoch: u64, index: usize) -> bool {
        let mut seat = self.seats[active.worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, cursor } = &mut **seat.as_mut().expect(SEATED);
        let stage = run.stage(active.worker, epoch, index, order.epoch(epoch), parts);
        let replica = &self.replicas[stage.replica];
        let (mut open, mut open_beside) = (replica.x.open(), replica.beside.open());
        let rarity = run.task.shards.rarity(active.worker);
        let sight = Sight::new(replica, &mut open, &mut open_beside, rarity);
        if let Turn::Update { pause } = Self::turn(run, self.method, &stage, &sight, hands, cursor) {
            let lines = if run.task.consistent { 1 } else { self.method.lines_per_update() };
            active.owed += pause * 2.0 * lines as f64;
        }
        cursor.next.is_some()
    }

    fn flush_epoch(&self, run: &Run<'_, D>, worker: usize, epoch: u64) {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, .. } = &mut **seat.as_mut().expect(SEATED);
        let stage = run.stage(worker, epoch, run.windows() - 1, order.epoch(epoch), parts);
        let replica = &self.replicas[stage.replica];
        let mut open = replica.x.open();
        Self::flush(run, self.method, &stage, &replica.x.view(&mut open), hands);
    }
}
