//! Real threads, pinned by the plan.

use super::{Crew, Ended, PANICKED, Run, Seat, Task};
use crate::{
    checkpoint::Checkpoint,
    data::matrix::Matrix,
    error::Result,
    method::Method,
    objective::Linear,
    os::markers,
    placement::team,
    store::{Replica, View},
    sync::{Gate, Rest},
    trace::Observer,
    vectors::on_vectors,
};

/// How many lines ahead a line is asked of the cache: a line takes 30 to 200 ns, memory about 100.
const AHEAD: usize = 4;

/// How many lines ahead, at least, the cache is asked for what belongs to a line beside its entries, among it where those
/// are, without which they could not be asked for. By buckets, so that a line of the cache is asked for once.
const LEAD: u32 = 8;

/// Lines after which a worker looks up the step and whether to stop.
const PACED: u32 = 32;

/// Runs `task` on one thread a worker.
///
/// # Errors
/// Whatever the observer reports.
pub fn run<D: Matrix, R: Replica, M: Method>(
    task: Task<'_, D, R, M>,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let plan = task.plan;
    let run = Run::new(task, from, observer);
    let gate = Gate::new(plan.workers.len());
    team::each(plan, |worker| {
        let _watch = gate.watch();
        run.drive(&Crew::Thread(worker, &gate, &run.gate_seconds[worker]), |run, epoch, index| {
            run.window(worker, epoch, index)
        });
    });
    markers::end();
    run.end()
}

impl<D: Matrix, R: Replica, M: Method> Run<'_, D, R, M> {
    /// Worker `worker`'s updates of window `index`: the hot loop.
    ///
    /// What an update reads beside rows and parameters is on the worker's own node: constants and method are copied to its
    /// stack, and the seat and the parts have pages of their own there.
    fn window(&self, worker: usize, epoch: u64, index: usize) {
        let task = &self.task;
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, hands, parts } = &mut **seat.as_mut().expect("seated before the first epoch");
        let (frame, method, marks) = (task.frame.clone(), task.method.clone(), task.shards.marks(worker));
        let buckets = order.epoch(epoch);
        let (skipped, window) = self.window_of(buckets, index);
        let replica = &task.replicas[task.plan.workers[worker].replica];
        let mut open = replica.open();
        let x = replica.view(&mut open);
        // Of the lines that do not rest: those that do are over before memory could answer.
        let wakes = |&(part, i): &(u32, usize)| !parts[part as usize].rests.get(i).is_some_and(Rest::rests);
        let lines = window.iter().flat_map(|bucket| bucket.range().map(|i| (bucket.part, i)));
        let mut ahead = lines.filter(wakes).skip(AHEAD);
        let (mut pace, mut since) = (self.pace(epoch, skipped, buckets.len()), PACED);
        let lead = window.first().map_or(1, |bucket| LEAD.div_ceil(bucket.lines.max(1)) as usize);
        markers::start();
        on_vectors(
            #[inline(always)]
            |_| {
                for (k, bucket) in window.iter().enumerate() {
                    if let Some(bucket) = window.get(k + lead) {
                        parts[bucket.part as usize].prefetch(bucket.range());
                    }
                    if since >= PACED {
                        since = 0;
                        if self.poll() {
                            break;
                        }
                        pace = self.pace(epoch, skipped + k, buckets.len());
                    }
                    since += bucket.lines;
                    let part = parts[bucket.part as usize];
                    let (f, state) = (part.glm(marks, &frame), &part.state[..]);
                    let mut passed = 0;
                    for i in bucket.range() {
                        let rest = part.rests.get(i);
                        if rest.is_some_and(Rest::passes) {
                            passed += 1;
                            continue;
                        }
                        if let Some((part, line)) = ahead.next() {
                            parts[part as usize].matrix.prefetch(line);
                        }
                        let held = x.hold(f.line(i));
                        let pending = method.read(&f, state, &x, i, &pace, &mut hands.local);
                        method.write(&f, state, &x, i, pending, &mut hands.local);
                        if let Some(rest) = rest {
                            rest.visited(M::moves(&pending));
                        }
                        if let Some(held) = held {
                            hands.stripes_waited += u64::from(held.waits());
                        }
                    }
                    hands.updates += u64::from(bucket.lines - passed);
                    hands.unsettled += u64::from(bucket.lines);
                    self.settle(&method, &x, hands, &pace, false);
                }
            },
        );
        if index + 1 == self.windows() {
            let pace = self.pace(epoch, buckets.len().saturating_sub(1), buckets.len());
            self.settle(&method, &x, hands, &pace, true);
        }
        markers::stop();
    }
}
