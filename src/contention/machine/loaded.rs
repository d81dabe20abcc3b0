//! How long a load takes while others use the same memory: the first cpu follows a chase, the others read arrays in order
//! and pause after every 4 KiB.

use super::{
    Answer, Item, bandwidth,
    chase::Trail,
    pool::Pool,
    window::{Reading, Tally, crew, giga_per_second, windows},
};
use crate::{machine::Loaded, os::memory::Pages};
use std::hint::{black_box, spin_loop};

/// Words between two pauses: a small page.
const PIECE: usize = 512;
/// Loads between two readings of the clock.
const STEPS: u64 = 256;

/// Main: ns a load of the first cpu. Side: GB/s that the others read meanwhile.
pub(super) fn ask(
    (of, spins): (Loaded, u32),
    bytes: (u64, u64),
    item: &Item,
    pool: &mut Pool,
    reading: Reading,
) -> Result<Answer, String> {
    let (chase, array) = pool.loaded(of.memory, bytes)?;
    chase.follow(|trail, from| beside((trail, from), array, spins, item, reading))
}

/// The answer, and where the chase came to.
fn beside(
    (trail, from): (&Trail<Pages<u64>>, usize),
    array: &[u64],
    spins: u32,
    item: &Item,
    reading: Reading,
) -> Result<(Answer, usize), String> {
    let part = array.len() / (item.cpus.len() - 1).max(1);
    let told = crew(item, |seat| {
        if seat.number == 0 {
            let mut at = from;
            let tallies = windows(seat, item.measure_s, reading, || {
                at = trail.walk(at, STEPS);
                STEPS
            })?;
            return Some((tallies, at));
        }
        let mine = &array[(seat.number - 1) * part..seat.number * part];
        let mut at = 0;
        let tallies = windows(seat, item.measure_s, reading, || {
            let piece = at..(at + PIECE).min(mine.len());
            at = if piece.end == mine.len() { 0 } else { piece.end };
            let bytes = 8 * piece.len() as u64;
            black_box(bandwidth::read(&mine[piece]));
            (0..spins).for_each(|_| spin_loop());
            bytes
        })?;
        Some((tallies, 0))
    })?;
    let at = told[0].1;
    let mut tallies: Vec<Vec<Tally>> = told.into_iter().map(|(tallies, _)| tallies).collect();
    let others = tallies.split_off(1);
    let main = tallies.iter().flatten().map(|tally| 1e9 * tally.seconds / tally.done).collect();
    Ok((Answer { main, side: giga_per_second(&others) }, at))
}
