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
}

/// An update's number, its delay, and its step where a rule goes by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) k: u64,
    pub(super) delay: u64,
    pub(super) step: Option<f64>,
}

impl Gauge {
    /// Of a replica of `workers` workers.
    pub(super) fn new(measure: Measure, workers: usize, rule: Option<Adaptive>) -> Self {
        let stamps = if measure == Measure::Stamps { vec![0; workers] } else { Vec::new() };
        Gauge {
            landed: CachePadded::new(Count::default()),
            serial: CachePadded::new(Mutex::new(Serial { taken: 0, stamps, rule })),
            whole: CachePadded::new(RwLock::new(())),
        }
    }

    /// How many updates have landed: what an update notes before its first read.
    #[inline(always)]
    pub(super) fn landed(&self) -> u64 {
        self.landed.read()
    }

    /// The number of an update of the worker of rank `rank`, which noted `read_at`; counts in `waits` if another is taken.
    pub(super) fn take(&self, rank: usize, read_at: u64, waits: &mut u64) -> Ticket {
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
        if let Some(stamp) = serial.stamps.get_mut(rank) {
            *stamp = read_at;
        }
        let oldest = serial.stamps.iter().copied().min().unwrap_or(read_at);
        let delay = k - oldest;
        Ticket { k, delay, step: serial.rule.as_mut().map(|rule| rule.next(delay)) }
    }

    /// An update's writes are all done.
    #[inline(always)]
    pub(super) fn land(&self) {
        self.landed.add_one();
    }

    /// Σ γₖ, and the last γₖ, of a rule by delay.
    pub(super) fn travelled(&self) -> Option<(f64, f64)> {
        let serial = self.serial.lock().expect(PANICKED);
        serial.rule.as_ref().map(|rule| (rule.total(), rule.last()))
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

    #[test]
    fn a_delay_counts_the_updates_that_had_not_landed_at_the_read() {
        let gauge = Gauge::new(Measure::Ticket, 3, None);
        let (a, b) = (gauge.landed(), gauge.landed());
        assert_eq!(gauge.take(0, a, &mut 0).delay, 0);
        // The first has its number and has not landed: another that reads now may not see it.
        let c = gauge.landed();
        gauge.land();
        assert_eq!(gauge.take(1, b, &mut 0).delay, 1);
        gauge.land();
        assert_eq!(gauge.take(2, c, &mut 0).delay, 2);
        gauge.land();
        assert_eq!(gauge.take(0, gauge.landed(), &mut 0).delay, 0);
    }

    #[test]
    fn stamps_count_the_oldest_of_all_workers_last_contributions() {
        let gauge = Gauge::new(Measure::Stamps, 2, None);
        let write = |rank, read_at| {
            let ticket = gauge.take(rank, read_at, &mut 0);
            gauge.land();
            ticket.delay
        };
        // Worker 0 writes four times, each from the newest state; worker 1's contribution stays that of update 0.
        assert_eq!([write(0, 0), write(0, 1), write(0, 2), write(0, 3)], [0, 1, 2, 3]);
        assert_eq!(write(1, 3), 4 - 3);
        assert_eq!(write(1, 5), 5 - 3);
    }
}
