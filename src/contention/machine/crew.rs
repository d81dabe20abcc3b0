//! Threads bound to cpus that begin together, and the batches that they time.

use crate::{
    os::{affinity, clock::Stopwatch, host},
    sync::{Flag, Gate},
};
use std::cell::Cell;

/// Batches of a slice: the first is dropped.
const BATCHES: f64 = 12.0;
/// Operations of the first, shortest batch.
const FIRST: u64 = 16;
/// Whoever waits for another for longer than this gives up.
const PATIENCE_S: f64 = 5.0;
/// Turns of a wait between two looks at the clock.
const LOOKS: u32 = 1 << 14;

/// Starts threads, and counts how often one of them loses its cpu to another thread after it was bound.
#[derive(Debug, Default)]
pub(super) struct Crew {
    disturbances: Cell<u64>,
}

impl Crew {
    /// How often threads have lost their cpus so far.
    pub(super) fn disturbances(&self) -> u64 {
        self.disturbances.get()
    }

    /// Runs `work` of every place in `cpus` on a thread bound to its cpu; all begin together.
    ///
    /// # Errors
    /// Why a thread is not on its cpu.
    pub(super) fn bound<T: Send>(&self, cpus: &[u32], work: impl Fn(usize) -> T + Sync) -> Result<Vec<T>, String> {
        let done = bound(cpus, work)?;
        let switches: u64 = done.iter().map(|(_, switches)| switches).sum();
        self.disturbances.set(self.disturbances.get() + switches);
        Ok(done.into_iter().map(|(result, _)| result).collect())
    }
}

/// As [`Crew::bound`], each with how often its thread lost its cpu.
fn bound<T: Send>(cpus: &[u32], work: impl Fn(usize) -> T + Sync) -> Result<Vec<(T, u64)>, String> {
    let (gate, failed) = (Gate::new(cpus.len()), Flag::default());
    let (gate, failed, work) = (&gate, &failed, &work);
    let run = move |place: usize, cpu: u32| {
        let _watch = gate.watch();
        let binding = affinity::bind(&[cpu]);
        if !binding.met() {
            failed.raise();
        }
        gate.meet(|| ());
        if failed.is_raised() {
            return Err(binding.reason.unwrap_or_else(|| "another thread is not on its cpu".into()));
        }
        let before = host::involuntary_switches();
        let result = work(place);
        Ok((result, host::involuntary_switches().saturating_sub(before)))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            cpus.iter().enumerate().map(|(place, &cpu)| scope.spawn(move || run(place, cpu))).collect();
        let joined =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a probe panicked".into())));
        joined.collect()
    })
}

/// Times `operations(count)` in batches for about `seconds`, or until `halt` is raised, and raises it; ns an operation of each batch
/// but the first, and of the last only where it was not cut short by another's end.
pub(super) fn batches(seconds: f64, halt: &Flag, mut operations: impl FnMut(u64)) -> Vec<f64> {
    let all = Stopwatch::start();
    let mut samples = Vec::new();
    let (mut count, mut warm) = (FIRST, false);
    loop {
        let clock = Stopwatch::start();
        operations(count);
        let took = clock.seconds();
        let halted = halt.is_raised();
        if warm && !halted && took > 0.0 {
            samples.push(1e9 * took / count as f64);
        }
        // Batches grow until they are a twelfth of the slice; those before are warming up.
        let long = took * BATCHES >= seconds;
        if !long && !warm {
            count = (count * 2).max((count as f64 * (seconds / BATCHES / took.max(1e-9)).min(16.0)) as u64);
        }
        warm |= long;
        if halted || all.seconds() >= 2.0 * seconds || (all.seconds() >= seconds && samples.len() >= 3) {
            halt.raise();
            return samples;
        }
    }
}

/// Spins until `ready`; false if nothing came for seconds.
#[inline(always)]
pub(super) fn spin(mut ready: impl FnMut() -> bool) -> bool {
    let mut turns = 0u32;
    let mut clock = None;
    while !ready() {
        std::hint::spin_loop();
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(LOOKS) {
            // Whoever is waited for may wait for this cpu.
            std::thread::yield_now();
            if clock.get_or_insert_with(Stopwatch::start).seconds() > PATIENCE_S {
                return false;
            }
        }
    }
    true
}

/// Why a probe of two that waited for each other has nothing.
pub(super) const LOST_PATIENCE: &str =
    "a thread waited for another for seconds: the cpus are busy with something else";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_timed_until_the_slice_is_over_and_the_first_is_dropped() {
        let (mut operations, mut calls) = (0u64, 0usize);
        let samples = batches(0.002, &Flag::default(), |count| {
            operations += count;
            calls += 1;
            let clock = Stopwatch::start();
            while clock.seconds() < count as f64 * 2e-6 {
                std::hint::spin_loop();
            }
        });
        assert!(samples.len() >= 3 && samples.len() < calls, "{} of {calls}", samples.len());
        // Two microseconds each; a busy machine makes them longer, never shorter.
        assert!(samples.iter().all(|&ns| ns >= 1999.0), "{samples:?}");
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_a_reason_and_not_a_hang() {
        let cpus = affinity::at_start().expect("cpus");
        let crew = Crew::default();
        let why = crew.bound(&[cpus[0], 100_000], |place| place).expect_err("no such cpu");
        assert!(why.contains("cpu"), "{why}");
        assert_eq!(crew.bound(&cpus[..1], |place| place + 7), Ok(vec![7]));
    }
}
