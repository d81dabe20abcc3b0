//! Work of several threads in windows of time: all begin together, and all work until the window is over, so that none is
//! alone while it is timed.

use super::{
    Item,
    crew::{Seat, together},
};
use crate::os::clock::Stopwatch;

/// A window's length where there is time for several: shorter than a scheduler's slice, so that most windows have all
/// workers on their cpus even while something else wants one.
const WINDOW_S: f64 = 0.5e-3;
/// Windows at least and at most; one in ten, the first ones, is dropped.
const WINDOWS: (f64, f64) = (5.0, 1000.0);

/// What one thread did in one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// Operations, or bytes.
    pub(super) done: f64,
    /// Seconds of its own, without those of the clock.
    pub(super) seconds: f64,
}

impl Tally {
    fn rate(self) -> f64 {
        self.done / self.seconds
    }
}

/// A reading of the clock in seconds, to be subtracted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading(pub(super) f64);

/// Repeats `batch`, which says how much it did, until `seconds` are over: of one thread, without meeting anybody.
#[inline(always)]
pub(super) fn alone(seconds: f64, reading: Reading, mut batch: impl FnMut() -> u64) -> Tally {
    let (mut done, mut readings) = (0, 0u32);
    let clock = Stopwatch::start();
    loop {
        done += batch();
        readings += 1;
        let now = clock.seconds();
        if now >= seconds {
            let without = now - f64::from(readings) * reading.0;
            // A reading that was dearer than the batch would leave nothing.
            return Tally { done: done as f64, seconds: without.max(0.1 * now) };
        }
    }
}

/// [`alone`], in windows that all seats begin together; the first ones are dropped.
#[inline(always)]
pub(super) fn windows(
    seat: &Seat<'_>,
    seconds: f64,
    reading: Reading,
    mut batch: impl FnMut() -> u64,
) -> Option<Vec<Tally>> {
    let windows = (seconds / WINDOW_S).clamp(WINDOWS.0, WINDOWS.1) as usize;
    let mut tallies = Vec::with_capacity(windows);
    for _ in 0..windows {
        seat.meet()?;
        tallies.push(alone(seconds / windows as f64, reading, &mut batch));
    }
    Some(tallies.split_off(windows.div_ceil(10)))
}

/// Runs `work` on the item's cpus, with time enough.
///
/// # Errors
/// As [`together`].
pub(super) fn crew<T: Send>(item: &Item, work: impl Fn(&Seat<'_>) -> Option<T> + Sync) -> Result<Vec<T>, String> {
    together(&item.cpus, limit_s(item), work)
}

/// Waits are given up after twenty times what the whole should take.
pub(super) fn limit_s(item: &Item) -> f64 {
    0.5 + 20.0 * item.seconds()
}

/// Nanoseconds an operation as a worker sees it, window by window: workers / (sum of their rates).
pub(super) fn ns_per_operation(tallies: &[Vec<Tally>]) -> Vec<f64> {
    let workers = tallies.len() as f64;
    sums(tallies).into_iter().map(|rate| 1e9 * workers / rate).collect()
}

/// 10⁹ operations or bytes a second of all workers together, window by window.
pub(super) fn giga_per_second(tallies: &[Vec<Tally>]) -> Vec<f64> {
    sums(tallies).into_iter().map(|rate| rate / 1e9).collect()
}

fn sums(tallies: &[Vec<Tally>]) -> Vec<f64> {
    let windows = tallies.iter().map(Vec::len).min().unwrap_or(0);
    (0..windows).map(|window| tallies.iter().map(|of| of[window].rate()).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_workers_at_different_rates_share_their_mean() {
        let of = |done: f64| vec![Tally { done, seconds: 1e-3 }; 2];
        // 1000 and 3000 operations a millisecond: 4 a microsecond of both, 2 of each.
        assert_eq!(ns_per_operation(&[of(1000.0), of(3000.0)]), [500.0, 500.0]);
        assert_eq!(giga_per_second(&[of(1000.0), of(3000.0)]), [0.004, 0.004]);
        assert!(ns_per_operation(&[]).is_empty());
    }

    #[test]
    fn a_window_is_as_long_as_it_was_to_be() {
        let mut batches = 0u32;
        let tally = alone(2e-3, Reading(0.0), || {
            batches += 1;
            7
        });
        assert!(tally.seconds >= 2e-3 && tally.done == 7.0 * f64::from(batches) && batches > 0);
    }
}
