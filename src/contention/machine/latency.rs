//! How long one load takes that nothing hides: a chase, from the first cache to another node's memory.

use super::{
    Answer, Item,
    chase::{Fixed, Trail},
    pool::Pool,
    window::{Reading, alone, crew},
};
use crate::machine::{DramLatency, WorkingSet};
use std::sync::{Mutex, PoisonError};

/// Samples of a pass at least and at most, and what one takes where there is time for more than the least.
const SAMPLES: (f64, f64) = (20.0, 200.0);
const SAMPLE_S: f64 = 0.5e-3;
/// Loads between two readings of the clock.
const STEPS: u64 = 1024;
/// Times that a set which may fit a cache is gone through before it is timed: an L3 that keeps what others evict took three
/// laps to hold a set of a quarter of its size (Zen 3).
const LAPS: u64 = 4;
/// Loads before others are timed.
const WARM: u64 = 20_000;

/// From a working set of `bytes` that its own thread lays out and goes through some times before, if it may fit a cache of
/// `cache` bytes.
pub(super) fn of_set(
    of: WorkingSet,
    (bytes, cache): (u64, u64),
    item: &Item,
    pool: &mut Pool,
    reading: Reading,
) -> Result<Answer, String> {
    let words = Mutex::new(pool.set(bytes, of.pages)?);
    let told = one(item, || {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        let trail = Trail::lay(&mut **words, bytes);
        let warm = if fits(bytes, cache) { LAPS * trail.lines() as u64 } else { WARM };
        timed(&trail, (0, warm), item.measure_s, reading)
    });
    told.map(|(answer, _)| answer)
}

/// Whether some of a set may stay in a cache from one lap to the next.
pub(super) fn fits(bytes: u64, cache: u64) -> bool {
    bytes <= cache + cache / 2
}

/// From memory of a node.
pub(super) fn of_node(
    of: DramLatency,
    memory: u32,
    item: &Item,
    pool: &mut Pool,
    reading: Reading,
) -> Result<Answer, String> {
    let chase = pool.chase(memory, of.bytes, of.pages)?;
    chase.follow(|trail, at| one(item, || timed(trail, (at, WARM), item.measure_s, reading)))
}

/// The answer of the item's one cpu, and the line to which the chase came.
fn one(item: &Item, work: impl Fn() -> (Vec<f64>, usize) + Sync) -> Result<(Answer, usize), String> {
    let (main, at) = crew(item, |_| Some(work()))?.pop().ok_or("no cpu was named")?;
    Ok((Answer { main, side: Vec::new() }, at))
}

/// Nanoseconds a load, sample by sample, after `warm` loads that are not timed; and the line to which it came.
fn timed<M: Fixed>(
    trail: &Trail<M>,
    (at, warm): (usize, u64),
    seconds: f64,
    reading: Reading,
) -> (Vec<f64>, usize) {
    let mut at = trail.walk(at, warm);
    let samples = (seconds / SAMPLE_S).clamp(SAMPLES.0, SAMPLES.1).floor();
    let sample = |_| {
        let tally = alone(seconds / samples, reading, || {
            at = trail.walk(at, STEPS);
            STEPS
        });
        1e9 * tally.seconds / tally.done
    };
    let samples = (0..samples as u32).map(sample).collect();
    (samples, at)
}
