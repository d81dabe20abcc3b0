//! The updates of one replica, numbered: how long each was delayed, and what step follows from it.
//!
//! An update reads before its first read how many updates have landed, and takes its number k when it comes to its write. Its
//! delay, k less what had landed, bounds the number of updates before it that it did not see: one that had its number and was
//! still being written counts as not seen.
//!
//! Cost: a number, and the step where a rule goes by delay, are taken under one lock a replica, so that steps are chosen in
//! exactly the order of the numbers; an update is two writes to lines that all workers of the replica share, and the lock.
//! Runs that measure nothing pay nothing of it.

use super::PANICKED;
use crate::{method::Measure, step::Adaptive, sync::Count};
use crossbeam_utils::CachePadded;
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// See the module.
pub(super) struct Gauge {
    landed: CachePadded<Count>,
    serial: CachePadded<Mutex<Serial>>,
    whole: CachePadded<RwLock<()>>,
}

struct Serial {
    /// Numbers taken.
    taken: u64,
    /// What had landed at the read of each worker's last update, where the delay counts all of them; else empty.
    stamps: Vec<u64>,
    rule: Option<Adaptive>,
    /// How far the updates went.
    sum: Sum,
}

/// Σ γₖ, of all updates and of those of the worker that feeds a GPU, where an update of fewer lines than others counts for as much
/// less.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) of_all: f64,
    pub(super) of_batches: f64,
}

/// An update's number, its delay, and its step where a rule goes by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) k: u64,
    pub(super) delay: u64,
    pub(super) step: f64,
}

/// Who asks for a number, and for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    /// Rank of the worker in the replica.
    pub(super) rank: usize,
    /// What had landed before its read.
    pub(super) read_at: u64,
    /// γ of a rule by epochs.
    pub(super) step: f64,
    /// The part of an update's lines that it has: less than 1 of the last of a window.
    pub(super) part: f64,
    /// How many times as far as the others' the update may go, where it is a GPU's batch.
    pub(super) batch: Option<f64>,
}

impl Gauge {
    /// Of a replica of `workers` workers.
    pub(super) fn new(measure: Measure, workers: usize, rule: Option<Adaptive>) -> Self {
        let stamps = if measure == Measure::Stamps { vec![0; workers] } else { Vec::new() };
        Gauge {
            landed: CachePadded::new(Count::default()),
            serial: CachePadded::new(Mutex::new(Serial { taken: 0, stamps, rule, sum: Sum::default() })),
            whole: CachePadded::new(RwLock::new(())),
        }
    }

    /// How many updates have landed: what an update notes before its first read.
    #[inline(always)]
    pub(super) fn landed(&self) -> u64 {
        self.landed.read()
    }

    /// The number of the update that `asking` is of; counts in `waits` if another is taken.
    pub(super) fn take(&self, asking: Asking, waits: &mut u64) -> Ticket {
        let mut serial = match self.serial.try_lock() {
            Ok(serial) => serial,
            Err(TryLockError::WouldBlock) => {
                *waits += 1;
                self.serial.lock().expect(PANICKED)
            }
            Err(TryLockError::Poisoned(_)) => panic!("{PANICKED}"),
        };
        let k = serial.taken;
        serial.taken += 1;
        if let Some(stamp) = serial.stamps.get_mut(asking.rank) {
            *stamp = asking.read_at;
        }
        let oldest = serial.stamps.iter().copied().min().unwrap_or(asking.read_at);
        let delay = k - oldest;
        let weight = asking.batch.unwrap_or(1.0);
        let step = serial.rule.as_mut().map_or(weight * asking.step, |rule| rule.next(delay, weight));
        serial.sum.of_all += asking.part * step;
        serial.sum.of_batches += if asking.batch.is_some() { asking.part * step } else { 0.0 };
        Ticket { k, delay, step }
    }

    /// An update's writes are all done.
    #[inline(always)]
    pub(super) fn land(&self) {
        self.landed.add_one();
    }

    /// Σ γₖ where updates `differ` in how far they go, as under a rule by delay they do; else all go as far as the epoch says. An
    /// update that has a part of the lines counts for that part, as its gradients do: a regulariser that went by all of γₖ would
    /// weigh more than was asked.
    pub(super) fn travelled(&self, differ: bool) -> Option<f64> {
        let serial = self.serial.lock().expect(PANICKED);
        (differ || serial.rule.is_some()).then_some(serial.sum.of_all)
    }

    /// The last γₖ of a rule by delay.
    pub(super) fn last(&self) -> Option<f64> {
        self.serial.lock().expect(PANICKED).rule.as_ref().map(Adaptive::last)
    }

    /// How far the numbered updates went.
    pub(super) fn sum(&self) -> Sum {
        self.serial.lock().expect(PANICKED).sum
    }

    /// The replica for an update's consistent reads; counts in `waits` if someone writes.
    pub(super) fn share(&self, waits: &mut u64) -> RwLockReadGuard<'_, ()> {
        match self.whole.try_read() {
            Ok(shared) => shared,
            Err(TryLockError::WouldBlock) => {
                *waits += 1;
                self.whole.read().expect(PANICKED)
            }
            Err(TryLockError::Poisoned(_)) => panic!("{PANICKED}"),
        }
    }

    /// The replica for an update's consistent writes; counts in `waits` if someone has it.
    pub(super) fn hold(&self, waits: &mut u64) -> RwLockWriteGuard<'_, ()> {
        match self.whole.try_write() {
            Ok(held) => held,
            Err(TryLockError::WouldBlock) => {
                *waits += 1;
                self.whole.write().expect(PANICKED)
            }
            Err(TryLockError::Poisoned(_)) => panic!("{PANICKED}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::StepKind, step::Step};

    fn asking(rank: usize, read_at: u64) -> Asking {
        Asking { rank, read_at, step: 0.5, part: 1.0, batch: None }
    }

    #[test]
    fn a_batch_goes_as_many_times_as_far_as_it_may_and_the_sums_tell_it_from_the_others() {
        let gauge = Gauge::new(Measure::Ticket, 2, None);
        let batch = Asking { batch: Some(3.0), ..asking(1, 0) };
        assert_eq!(gauge.take(asking(0, 0), &mut 0).step, 0.5);
        let ticket = gauge.take(batch, &mut 0);
        assert_eq!((ticket.step, ticket.delay), (1.5, 1));
        let Sum { of_all, of_batches } = gauge.sum();
        assert_eq!((of_all, of_batches), (2.0, 1.5));
        assert_eq!((gauge.travelled(false), gauge.travelled(true)), (None, Some(2.0)));
        // By delay: the room that a batch has is three times γ′, less what went since its read.
        let step = Step { kind: StepKind::Adaptive1 { initial: None, alpha: 0.5 }, initial: 1.0 };
        let gauge = Gauge::new(Measure::Ticket, 2, step.adaptive());
        assert_eq!(gauge.take(asking(0, 0), &mut 0).step, 0.5);
        assert_eq!(gauge.take(batch, &mut 0).step, 0.5 * (3.0 - 0.5));
        let part = Asking { part: 0.25, ..asking(0, 2) };
        assert_eq!(gauge.travelled(false), Some(1.75));
        let step = gauge.take(part, &mut 0).step;
        assert_eq!(gauge.travelled(false), Some(1.75 + 0.25 * step));
    }

    #[test]
    fn a_delay_counts_the_updates_that_had_not_landed_at_the_read() {
        let gauge = Gauge::new(Measure::Ticket, 3, None);
        let take = |rank, read_at| gauge.take(asking(rank, read_at), &mut 0).delay;
        let (a, b) = (gauge.landed(), gauge.landed());
        assert_eq!(take(0, a), 0);
        // The first has its number and has not landed: another that reads now may not see it.
        let c = gauge.landed();
        gauge.land();
        assert_eq!(take(1, b), 1);
        gauge.land();
        assert_eq!(take(2, c), 2);
        gauge.land();
        assert_eq!(take(0, gauge.landed()), 0);
    }

    #[test]
    fn stamps_count_the_oldest_of_all_workers_last_contributions() {
        let gauge = Gauge::new(Measure::Stamps, 2, None);
        let write = |rank, read_at| {
            let ticket = gauge.take(asking(rank, read_at), &mut 0);
            gauge.land();
            ticket.delay
        };
        // Worker 0 writes four times, each from the newest state; worker 1's contribution stays that of update 0.
        assert_eq!([write(0, 0), write(0, 1), write(0, 2), write(0, 3)], [0, 1, 2, 3]);
        assert_eq!(write(1, 3), 4 - 3);
        assert_eq!(write(1, 5), 5 - 3);
    }
}
