//! Delays and stragglers that are put into a run, whatever the machine gives it: the same under both runners, and the same for
//! the same seed.
//!
//! A worker's k-th update of a window, from 0, writes what it read when the worker had written k − τₖ of its own updates of
//! that window, so it waits for nobody. The updates of others that come between add to the delay that is measured.

use crate::{
    config::{DelayKind, Injection, Straggler},
    mix::{STEP, mix, unit},
};

/// What makes the draws of two windows of one worker differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    pub(super) seed: u64,
    pub(super) worker: usize,
    /// Number of the window, counted over all epochs.
    pub(super) window: u64,
}

impl Draws {
    /// The k-th draw, uniform on [0, 1): a hash of what it is for, so that
    /// it does not depend on what was drawn before.
    fn uniform(&self, k: u64) -> f64 {
        let mut hash = self.seed ^ 0xD6E8_FEB8_6659_FD93;
        for part in [self.worker as u64, self.window, k] {
            hash = mix(hash.wrapping_add(part).wrapping_add(STEP));
        }
        unit(hash)
    }
}

/// The longest delay of worker `worker`.
pub(super) fn longest(injection: &Injection, worker: usize) -> u64 {
    let named = |workers: &Vec<u32>| workers.contains(&(worker as u32));
    if injection.workers.as_ref().is_none_or(named) { injection.delay.most() } else { 0 }
}

/// τₖ of the worker's update `k`, whose first line stands at `place` in [0, 1) of all lines; for a worker that is delayed.
pub(super) fn delay(injection: &Injection, draws: &Draws, k: u64, place: f64) -> u64 {
    let upto = |u: f64, most: u64| ((u * (most + 1) as f64) as u64).min(most);
    let drawn = match injection.delay {
        DelayKind::None => 0,
        DelayKind::Fixed(most) => most,
        DelayKind::Sawtooth(period) => k % period,
        DelayKind::Uniform(most) => upto(draws.uniform(k), most),
        // P(⌊1/(1 − u)⌋ − 1 ≥ t) = 1/(t + 1).
        DelayKind::Heavy(most) => (1.0 / (1.0 - draws.uniform(k)) - 1.0).min(most as f64) as u64,
        DelayKind::Rare(most) => {
            let u = 50.0 * draws.uniform(k);
            if u < 1.0 { most } else { upto((u - 1.0) / 49.0, most / 8) }
        }
    };
    let block = (place * injection.blocks.len() as f64) as usize;
    let factor = injection.blocks.get(block).copied().unwrap_or(1.0);
    (drawn as f64 * factor).round() as u64
}

/// How many times as long an update of `worker` takes.
pub(super) fn slowness(straggler: Straggler, worker: usize) -> f64 {
    match straggler {
        Straggler::Slow { worker: slow, factor } if slow == worker => factor,
        _ => 1.0,
    }
}

/// How long `worker` pauses after its update number `updates`, counted from 1 over the whole run: in times that one of its
/// updates takes.
pub(super) fn stall(straggler: Straggler, worker: usize, updates: u64) -> f64 {
    match straggler {
        Straggler::Stall { worker: stalls, every, updates: pause }
            if stalls == worker && updates.is_multiple_of(every) =>
        {
            pause as f64
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: Draws = Draws { seed: 7, worker: 1, window: 3 };

    fn drawn(kind: DelayKind) -> Vec<u64> {
        let injection = Injection { delay: kind, ..Injection::none() };
        (0..100_000).map(|k| delay(&injection, &DRAWS, k, 0.5)).collect()
    }

    fn share(delays: &[u64], of: impl Fn(u64) -> bool) -> f64 {
        delays.iter().filter(|&&delay| of(delay)).count() as f64 / delays.len() as f64
    }

    #[test]
    fn each_kind_of_delay_is_distributed_as_told() {
        assert!(drawn(DelayKind::Fixed(5)).iter().all(|&delay| delay == 5));
        assert_eq!(drawn(DelayKind::Sawtooth(40))[38..42], [38, 39, 0, 1]);
        let uniform = drawn(DelayKind::Uniform(9));
        (0..=9).for_each(|d| assert!((share(&uniform, |delay| delay == d) - 0.1).abs() < 0.01));
        let heavy = drawn(DelayKind::Heavy(1000));
        for t in [1, 9, 99] {
            let expected = 1.0 / (t + 1) as f64;
            assert!((share(&heavy, |delay| delay >= t) / expected - 1.0).abs() < 0.1, "{t}");
        }
        assert_eq!(heavy.iter().max(), Some(&1000));
        let rare = drawn(DelayKind::Rare(64));
        assert!((share(&rare, |delay| delay == 64) - 0.02).abs() < 0.002);
        assert_eq!(share(&rare, |delay| delay <= 8 || delay == 64), 1.0);
        assert!((share(&rare, |delay| delay == 8) - 0.98 / 9.0).abs() < 0.01);
    }

    #[test]
    fn draws_are_told_apart_by_seed_worker_window_and_number() {
        let one = DRAWS.uniform(4);
        let others = [
            Draws { seed: 8, ..DRAWS }.uniform(4),
            Draws { worker: 2, ..DRAWS }.uniform(4),
            Draws { window: 4, ..DRAWS }.uniform(4),
            DRAWS.uniform(5),
        ];
        assert!(one == DRAWS.uniform(4) && others.iter().all(|&other| other != one));
    }

    #[test]
    fn a_block_multiplies_the_delay_and_a_worker_that_is_not_named_has_none() {
        let injection = Injection {
            delay: DelayKind::Fixed(10),
            workers: Some(vec![0, 2]),
            blocks: vec![1.0, 0.25],
            ..Injection::none()
        };
        assert_eq!([0.0, 0.49, 0.5, 0.99].map(|place| delay(&injection, &DRAWS, 0, place)), [10, 10, 3, 3]);
        assert_eq!([0, 1, 2].map(|worker| longest(&injection, worker)), [10, 0, 10]);
    }

    #[test]
    fn stragglers_pause_when_they_should() {
        let slow = Straggler::Slow { worker: 1, factor: 4.0 };
        assert_eq!([slowness(slow, 0), slowness(slow, 1)], [1.0, 4.0]);
        let stalls = Straggler::Stall { worker: 0, every: 3, updates: 50 };
        assert_eq!([1, 2, 3, 4, 6].map(|updates| super::stall(stalls, 0, updates)), [0.0, 0.0, 50.0, 0.0, 50.0]);
    }
}
