//! A barrier whose last arriver does the serial work.

use super::{AtomicU32, Flag, Ordering};
use crossbeam_utils::{Backoff, CachePadded};

/// Turns of waiting before a worker sleeps: about a tenth of a millisecond on a machine of its own.
const YIELDS: u32 = 200;
/// How long it sleeps at a time.
const NAP: std::time::Duration = std::time::Duration::from_micros(50);

/// Where the workers of a run meet between two phases.
///
/// The last to arrive runs a closure while the others wait, then all go on. Everything written before arriving is
/// visible to the closure, and everything the closure wrote is visible to all after it: an arriver's `AcqRel`
/// increment of `arrived` publishes its writes to the last arriver, and the last arriver's `Release` store of
/// `round` publishes them, and its own, to the waiters' `Acquire` loads.
///
/// Waiters spin, then yield their cpu, then sleep: a descheduled worker must not be starved by those who wait for it,
/// above all where there are more workers than cpus.
#[derive(Debug)]
pub struct Gate {
    workers: u32,
    arrived: CachePadded<AtomicU32>,
    round: CachePadded<AtomicU32>,
    broken: Flag,
}

/// Breaks its gate if it is dropped by a panic: those who wait would wait for ever.
#[derive(Debug)]
pub struct Watch<'a>(&'a Gate);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.raise();
        }
    }
}

impl Gate {
    /// A gate for `workers` threads.
    pub fn new(workers: usize) -> Self {
        Gate {
            workers: u32::try_from(workers).expect("fewer than 2^32 workers"),
            arrived: CachePadded::new(AtomicU32::new(0)),
            round: CachePadded::new(AtomicU32::new(0)),
            broken: Flag::default(),
        }
    }

    /// What a worker keeps for as long as others may wait for it.
    pub fn watch(&self) -> Watch<'_> {
        Watch(self)
    }

    /// Waits until all workers are here; the last runs `serial` first.
    ///
    /// # Panics
    /// If another worker has panicked under its [`Gate::watch`].
    pub fn meet(&self, serial: impl FnOnce()) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            serial();
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        self.wait_until(|| self.round.load(Ordering::Acquire) != round);
    }

    /// As [`Gate::meet`] with nothing to do, for those who may give up: false if `over` said so first, and then the gate
    /// is of no more use.
    ///
    /// # Panics
    /// As [`Gate::meet`].
    pub fn meet_unless(&self, mut over: impl FnMut() -> bool) -> bool {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return true;
        }
        let mut met = false;
        self.wait_until(|| {
            met = self.round.load(Ordering::Acquire) != round;
            met || over()
        });
        met
    }

    /// Asks `ready` until it says so, spinning, then yielding, then sleeping in between.
    ///
    /// # Panics
    /// As [`Gate::meet`].
    pub fn wait_until(&self, mut ready: impl FnMut() -> bool) {
        let (backoff, mut yields) = (Backoff::new(), 0u32);
        while !ready() {
            assert!(!self.broken.is_raised(), "another worker panicked");
            if yields < YIELDS {
                backoff.snooze();
                yields += 1;
            } else {
                std::thread::sleep(NAP);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_worker_that_panics_takes_the_others_with_it_instead_of_leaving_them_waiting() {
        let gate = Gate::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| gate.meet(|| ()));
            let panics = scope.spawn(|| {
                let _watch = gate.watch();
                panic!("on purpose");
            });
            assert!(panics.join().is_err() && waits.join().is_err());
        });
    }

    #[test]
    fn a_worker_that_gives_up_waits_no_longer_and_one_that_is_met_is_told_so() {
        let gate = Gate::new(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| gate.meet_unless(|| false));
            assert!(gate.meet_unless(|| false) && other.join().unwrap());
        });
        let mut turns = 0;
        let met = gate.meet_unless(|| {
            turns += 1;
            turns > 3
        });
        assert!(!met);
    }

    #[test]
    fn the_serial_part_runs_once_a_round_and_sees_every_arrival() {
        let gate = Gate::new(3);
        let (arrivals, sums) = (Mutex::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        *arrivals.lock().unwrap() += 1;
                        gate.meet(|| sums.lock().unwrap().push(*arrivals.lock().unwrap()));
                    }
                });
            }
        });
        let expected: Vec<i32> = (1..=200).map(|round| 3 * round).collect();
        assert_eq!(*sums.lock().unwrap(), expected);
    }
}
