//! Work that goes in rounds in which every thread has a part, so that all must do the same number of them.

use super::{crew::Seat, window::Reading};
use crate::{os::clock::Stopwatch, sync::Line};

/// Batches that are kept at least and at most. One in ten, the first ones, is dropped.
const BATCHES: (f64, f64) = (6.0, 1000.0);

/// Repeats `turn`, this seat's part of the round of a number that is counted from 0, in batches of `batch` rounds for about
/// `seconds`: two batches as a warm-up, by which the first seat tells how many follow (in `agreed`), then as many. Returns
/// the seconds of a round, batch by batch, as this seat's clock had them; `None` if a turn failed.
#[inline(always)]
pub(super) fn rounds(
    seat: &Seat<'_>,
    (seconds, batch): (f64, u64),
    reading: Reading,
    agreed: &Line,
    mut turn: impl FnMut(u64) -> Option<()>,
) -> Option<Vec<f64>> {
    let mut round = 0;
    let mut timed = |rounds: u64| -> Option<f64> {
        let clock = Stopwatch::start();
        for _ in 0..rounds {
            turn(round)?;
            round += 1;
        }
        let seconds = clock.seconds();
        Some((seconds - reading.0).max(0.1 * seconds) / rounds as f64)
    };
    seat.meet()?;
    timed(batch)?;
    let expected = timed(batch)?;
    if seat.number == 0 {
        let wished = 0.9 * seconds / (expected * batch as f64);
        agreed.put(wished.clamp(BATCHES.0, BATCHES.1) as u64);
    }
    // The number is visible behind the line: whoever crosses it has read what the last arriver put, who read all others'.
    seat.meet()?;
    let batches = agreed.read();
    let samples: Option<Vec<f64>> = (0..batches).map(|_| timed(batch)).collect();
    samples.map(|mut samples| samples.split_off(batches as usize / 10))
}
