//! Real threads, pinned by the plan.

use super::{
    Crew, Delaying, Ended, PANICKED, Run, Task,
    engine::{Engine, SEATED, Seat, Team, settle},
    injection::slowness,
    turns::{Sight, Turn},
};
use crate::{
    checkpoint::Checkpoint,
    data::matrix::Matrix,
    error::Result,
    method::{Beside, Method, Term},
    objective::Linear,
    os::{
        clock::Stopwatch,
        counters::{Counters, Reading, ThreadUsage},
        markers,
    },
    placement::team,
    store::{Replica, View},
    sync::{Gate, retries},
    trace::Observer,
    vectors::on_vectors,
};
use due::{Due, Line};

mod due;

/// Runs `task` on one thread a worker.
///
/// # Errors
/// Whatever the observer reports.
pub fn run<D: Matrix>(
    task: Task<'_, D>,
    engine: &dyn Engine<D>,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let plan = task.plan;
    let run = Run::new(task, engine, from, observer);
    let gate = Gate::new(plan.workers.len());
    team::each(plan, |worker| {
        let _watch = gate.watch();
        let crew = Crew::Thread(worker, &gate, &run.gate_seconds[worker]);
        let counted = (run.task.watches != Delaying::Unwatched).then(Counted::start);
        run.drive(&crew, |run, epoch, windows| {
            for index in windows {
                let mut again = false;
                while run.goes_in(again) {
                    let clock = Stopwatch::start();
                    engine.window(run, worker, epoch, index);
                    crew.note(&run.busy_seconds, clock.seconds());
                    run.step_after(&gate, worker, epoch, index);
                    again = true;
                }
            }
        });
        if let Some(counted) = counted {
            *run.readings[worker].lock().expect(PANICKED) = counted.stop();
        }
    });
    markers::end();
    run.end()
}

/// What is counted of a thread, from its start line to its stop.
struct Counted {
    counters: Counters,
    usage: ThreadUsage,
}

impl Counted {
    fn start() -> Self {
        let mut counters = Counters::open();
        let usage = ThreadUsage::now();
        counters.start();
        Counted { counters, usage }
    }

    fn stop(mut self) -> Vec<Reading> {
        let mut readings = self.counters.stop();
        readings.extend(ThreadUsage::now().since(&self.usage));
        readings
    }
}

impl<D: Matrix, R: Replica, M: Method> Team<'_, D, R, M> {
    /// Worker `worker`'s updates of window `index`: the hot loop.
    ///
    /// What an update reads beside rows and parameters is on the worker's own node: constants and method are copied to its
    /// stack, and the seat and the parts have pages of their own there.
    pub(super) fn visit(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) {
        let task = &run.task;
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, .. } = &mut **seat.as_mut().expect(SEATED);
        let (frame, method, marks) = (task.frame.clone(), self.method.clone(), task.shards.marks(worker));
        let buckets = run.dealt(order, worker, epoch);
        let (skipped, window) = run.window_of(buckets, index);
        let replica = &self.replicas[task.plan.workers[worker].replica];
        let (mut open, mut open_beside) = (replica.x.open(), replica.beside.open());
        let x = replica.x.view(&mut open);
        let rarity = task.shards.rarity(worker);
        let beside = Beside { average: replica.beside.view(&mut open_beside), rarity };
        let (mut due, mut visited) = (Due::new(parts, window), 0);
        let mut sampler = run.meter.sampler(run.task.plan, worker, hands.updates);
        retries::take();
        markers::start();
        on_vectors(
            #[inline(always)]
            |_| {
                loop {
                    let pace = run.pace(epoch, skipped + due.bucket(), buckets.len());
                    let (looked, count) = due.look(visited);
                    if looked + count == 0 || run.poll() {
                        break;
                    }
                    let mut from = 0;
                    while from < count {
                        let mut to = count;
                        if let Some(sampler) = &mut sampler {
                            to = from + 1;
                            sampler.begin();
                        }
                        for k in from..to {
                            let Line { part, line: i } = due.line(k);
                            let part = parts[part as usize];
                            let (f, state) = (part.glm(marks, &frame), &part.state[..]);
                            let held = x.hold(f.line(i));
                            let term = Term { f: &f, i, state };
                            let pending = method.read(term, &x, &pace, &mut hands.local);
                            method.write(term, &x, &beside, pending, &pace, &mut hands.local);
                            if let Some(rest) = part.rests.get(i) {
                                rest.visited(M::moves(&pending));
                            }
                            if let Some(held) = held {
                                hands.stripes_waited += u64::from(held.waits());
                            }
                        }
                        if let Some(sampler) = &mut sampler {
                            sampler.end(&mut hands.tally, || {
                                let Line { part, line } = due.line(from);
                                parts[part as usize].matrix.row(line)
                            });
                        }
                        from = to;
                    }
                    visited = count;
                    hands.updates += count as u64;
                    hands.unsettled += looked as u64;
                    settle(&method, &x, hands, &pace, false);
                }
            },
        );
        if index + 1 == run.windows() {
            let pace = run.pace(epoch, buckets.len().saturating_sub(1), buckets.len());
            settle(&method, &x, hands, &pace, true);
        }
        hands.retries += retries::take();
        markers::stop();
    }

    /// The same by halves, for a run that numbers or injects delays, keeps books, writes several lines an update or
    /// reads consistently.
    pub(super) fn visit_by_halves(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize) {
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, cursor, books, .. } = &mut **seat.as_mut().expect(SEATED);
        let (frame, method) = (run.task.frame.clone(), self.method.clone());
        let mut stage = run.stage(worker, epoch, index, run.dealt(order, worker, epoch), parts);
        (stage.frame, stage.whole) = (&frame, true);
        let replica = &self.replicas[stage.replica];
        let (mut open, mut open_beside) = (replica.x.open(), replica.beside.open());
        let rarity = run.task.shards.rarity(worker);
        let sight = Sight::new(replica, &mut open, &mut open_beside, rarity, books.as_deref());
        retries::take();
        if run.logs {
            let lines: usize = stage.buckets.iter().map(|bucket| bucket.lines as usize).sum();
            hands.steps.reserve(lines.div_ceil(self.method.lines_per_update()));
        }
        cursor.start(&stage);
        markers::start();
        on_vectors(
            #[inline(always)]
            |_| {
                let slow = slowness(stage.straggler, worker) - 1.0;
                let (mut turns, mut updates, mut clock) = (0u32, 0u32, Stopwatch::start());
                while cursor.next.is_some() {
                    if turns.is_multiple_of(POLLED) && run.poll() {
                        cursor.halt();
                    }
                    turns = turns.wrapping_add(1);
                    let pause = match Self::turn(run, &method, &stage, &sight, hands, cursor) {
                        Turn::Part => continue,
                        Turn::Read => slow,
                        Turn::Update { pause } => {
                            updates += 1;
                            // Under stripes nobody comes between the halves.
                            if stage.holds { pause + slow } else { pause }
                        }
                    };
                    if pause > 0.0 {
                        wait(run, pause * clock.seconds() / f64::from(updates.max(1)));
                        (updates, clock) = (0, Stopwatch::start());
                    }
                }
            },
        );
        if index + 1 == run.windows() {
            Self::flush(run, &method, &stage, &sight.x, hands);
        }
        hands.retries += retries::take();
        markers::stop();
    }
}

/// Turns between two looks at whether the run must end.
const POLLED: u32 = 32;

/// A straggler's pause: it keeps its cpu, as a slow one would, and ends it when the run must end.
fn wait<D: Matrix>(run: &Run<'_, D>, seconds: f64) {
    let clock = Stopwatch::start();
    while clock.seconds() < seconds && !run.poll() {
        std::hint::spin_loop();
    }
}
