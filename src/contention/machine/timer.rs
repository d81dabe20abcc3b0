//! The clock that times all others: what a reading costs, and its least step.

use super::{Answer, Item, window::crew};
use crate::os::clock::Stopwatch;
use std::hint::black_box;

/// Readings of one sample.
const READINGS: u32 = 1000;

/// Main: ns a reading. Side: ns of the least step above 0 among [`READINGS`] in a row.
pub(super) fn ask(item: &Item) -> Result<Answer, String> {
    let told = crew(item, |_| {
        let (mut answer, total) = (Answer::default(), Stopwatch::start());
        one();
        while total.seconds() < item.measure_s || answer.main.len() < 3 {
            let (overhead_ns, step_ns) = one();
            answer.main.push(overhead_ns);
            answer.side.push(step_ns);
        }
        Some(answer)
    });
    told.and_then(|mut answers| answers.pop().ok_or_else(|| "no cpu was named".into()))
}

fn one() -> (f64, f64) {
    let clock = Stopwatch::start();
    let (mut before, mut step) = (0.0, f64::INFINITY);
    for _ in 0..READINGS {
        let now = black_box(&clock).seconds();
        if now > before {
            step = step.min(now - before);
        }
        before = now;
    }
    (1e9 * clock.seconds() / f64::from(READINGS + 1), 1e9 * step)
}

/// Nanoseconds of a reading, roughly, to begin with.
pub(super) fn reading_s() -> f64 {
    let mut samples: Vec<f64> = (0..9).map(|_| one().0).collect();
    samples.sort_by(f64::total_cmp);
    1e-9 * samples[4]
}
