//! How long one load takes that nothing hides: a chase, from the first cache to another node's memory.

use super::{
    Answer, Item, chase,
    pool::Pool,
    window::{Reading, alone, crew},
};
use crate::{
    machine::{DramLatency, WorkingSet},
    os::clock::Stopwatch,
};
use std::{
    hint::black_box,
    sync::{Mutex, PoisonError},
};

/// Samples of a pass.
const SAMPLES: usize = 20;
/// Loads between two readings of the clock.
const STEPS: u64 = 1024;

/// From a working set of `bytes` that its own thread lays out and walks through once before.
pub(super) fn of_set(
    of: WorkingSet,
    bytes: u64,
    item: &Item,
    pool: &mut Pool,
    reading: Reading,
) -> Result<Answer, String> {
    let words = Mutex::new(pool.set(bytes, of.pages)?);
    one(item, |_| {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        chase::lay(&mut words, bytes);
        timed(&words, item.measure_s, reading)
    })
}

/// From memory of a node.
pub(super) fn of_node(
    of: DramLatency,
    memory: u32,
    item: &Item,
    pool: &mut Pool,
    reading: Reading,
) -> Result<Answer, String> {
    let words = pool.chase(memory, of.bytes, of.pages)?;
    one(item, |_| timed(words, item.measure_s, reading))
}

fn one(item: &Item, work: impl Fn(()) -> Vec<f64> + Sync) -> Result<Answer, String> {
    let told = crew(item, |_| Some(work(())))?;
    Ok(Answer { main: told.into_iter().flatten().collect(), side: Vec::new() })
}

/// Nanoseconds a load, sample by sample. Before the first, the chase is followed for its length, or for a quarter of the
/// time where that is less.
fn timed(words: &[u64], seconds: f64, reading: Reading) -> Vec<f64> {
    let (mut at, lines, clock) = (0, words.len() as u64 / 8, Stopwatch::start());
    let mut followed = 0;
    while followed < 2 * lines && clock.seconds() < 0.25 * seconds {
        at = chase::walk(words, at, STEPS);
        followed += STEPS;
    }
    let sample = |_| {
        let tally = alone(0.75 * seconds / SAMPLES as f64, reading, || {
            at = chase::walk(words, at, STEPS);
            STEPS
        });
        1e9 * tally.seconds / tally.done
    };
    let samples = (0..SAMPLES).map(sample).collect();
    black_box(at);
    samples
}
