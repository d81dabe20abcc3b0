//! Threads bound to cpus that do something together.

use crate::{
    os::{affinity, clock::Stopwatch},
    sync::{Flag, Line},
};
use std::{
    sync::{Mutex, PoisonError},
    thread,
};

/// A limit to waiting: nobody spins beyond it, and whoever comes to it takes the others along.
#[derive(Debug)]
pub struct Patience {
    clock: Stopwatch,
    limit_s: f64,
    over: Flag,
}

/// Turns of a wait between two looks at the clock.
const TURNS: u32 = 2048;

impl Patience {
    /// From now on, `limit_s` seconds.
    pub fn of(limit_s: f64) -> Self {
        Patience { clock: Stopwatch::start(), limit_s, over: Flag::default() }
    }

    /// Waits until `ready`, without a pause between two looks; false if the limit came first.
    #[inline(always)]
    pub fn wait(&self, mut ready: impl FnMut() -> bool) -> bool {
        loop {
            for _ in 0..TURNS {
                if ready() {
                    return true;
                }
            }
            if self.is_over() {
                return false;
            }
        }
    }

    /// Whether the limit has come, or somebody gave up.
    #[cold]
    pub fn is_over(&self) -> bool {
        if self.clock.seconds() > self.limit_s {
            self.over.raise();
        }
        self.over.is_raised()
    }

    /// Takes the others along.
    pub fn give_up(&self) {
        self.over.raise();
    }
}

/// One thread of a crew.
#[derive(Debug)]
pub(super) struct Seat<'a> {
    /// From 0.
    pub(super) number: usize,
    /// How many there are.
    pub(super) seats: usize,
    pub(super) patience: &'a Patience,
    line: &'a StartLine,
}

/// Where all seats meet; it may be used again and again.
#[derive(Debug, Default)]
struct StartLine {
    arrived: Line,
    round: Line,
}

impl Seat<'_> {
    /// Waits for all seats, spinning, so that all go on within the time that a line takes to reach them. `None` if the
    /// limit came first.
    pub(super) fn meet(&self) -> Option<()> {
        let round = self.line.round.read();
        if self.line.arrived.add(1) + 1 == self.seats as u64 {
            self.line.arrived.put(0);
            self.line.round.put(round + 1);
            return Some(());
        }
        self.patience.wait(|| self.line.round.read() != round).then_some(())
    }
}

/// Runs `work` on a thread for each of `cpus`, bound to it, all at once, for at most about `limit_s` seconds; the answers
/// are in the order of the cpus.
///
/// # Errors
/// Why a thread could not be started or bound, or that one did not come in time.
pub(super) fn together<T: Send>(
    cpus: &[u32],
    limit_s: f64,
    work: impl Fn(&Seat<'_>) -> Option<T> + Sync,
) -> Result<Vec<T>, String> {
    let (line, patience) = (StartLine::default(), Patience::of(limit_s));
    let refused: Mutex<Option<String>> = Mutex::new(None);
    let refuse = |reason: String| {
        refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        patience.give_up();
    };
    let one = |number: usize, cpu: u32| {
        let seat = Seat { number, seats: cpus.len(), patience: &patience, line: &line };
        if let Some(reason) = affinity::bind(&[cpu]).reason {
            refuse(format!("cpu {cpu} cannot be bound: {reason}"));
            return None;
        }
        seat.meet()?;
        work(&seat)
    };
    let one = &one;
    let answers: Vec<Option<T>> = thread::scope(|scope| {
        let start = |(number, &cpu): (usize, &u32)| {
            let thread = thread::Builder::new().spawn_scoped(scope, move || one(number, cpu));
            thread.map_err(|error| refuse(format!("a thread cannot be started: {error}"))).ok()
        };
        let running: Vec<_> = cpus.iter().enumerate().map(start).collect();
        running.into_iter().map(|thread| thread.and_then(|thread| thread.join().expect("no panic"))).collect()
    });
    if let Some(reason) = refused.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(reason);
    }
    let all: Option<Vec<T>> = answers.into_iter().collect();
    all.ok_or_else(|| format!("a worker did not come in {limit_s:.1} s: its cpu is busy with something else"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_that_never_comes_ends_the_wait_with_a_reason() {
        let cpus = affinity::at_start().unwrap();
        // Two seats on one cpu: both can come, and one leaves.
        let told = together(&[cpus[0], cpus[0]], 0.2, |seat| if seat.number == 0 { None } else { seat.meet() });
        assert!(told.unwrap_err().contains("did not come"));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_with_the_kernels_reason() {
        let told = together(&[cpulist_largest()], 0.2, |_| Some(()));
        assert!(told.unwrap_err().contains("cannot be bound"));
    }

    fn cpulist_largest() -> u32 {
        crate::cpulist::LARGEST
    }

    #[test]
    fn all_seats_do_their_work_and_answer_in_order() {
        let cpus = affinity::at_start().unwrap();
        let told = together(&cpus, 20.0, |seat| {
            (0..50).try_for_each(|_| seat.meet())?;
            Some(seat.number)
        });
        assert_eq!(told.unwrap(), (0..cpus.len()).collect::<Vec<_>>());
    }
}
