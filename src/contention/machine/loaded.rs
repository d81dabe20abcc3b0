//! How long a load takes while others use the same memory: the first cpu follows a chase, the others read arrays in order
//! and pause after every 4 KiB.

use super::{
    Answer, Item, bandwidth, chase,
    pool::Pool,
    window::{Reading, crew, giga_per_second, windows},
};
use crate::machine::Loaded;
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
    let (chased, array) = pool.loaded(of.memory, bytes)?;
    let part = array.len() / (item.cpus.len() - 1).max(1);
    let mut tallies = crew(item, |seat| {
        if seat.number == 0 {
            let mut at = 0;
            return windows(seat, item.measure_s, reading, || {
                at = chase::walk(chased, at, STEPS);
                black_box(at);
                STEPS
            });
        }
        let mine = &array[(seat.number - 1) * part..seat.number * part];
        let mut at = 0;
        windows(seat, item.measure_s, reading, || {
            let piece = at..(at + PIECE).min(mine.len());
            at = if piece.end == mine.len() { 0 } else { piece.end };
            let bytes = 8 * piece.len() as u64;
            black_box(bandwidth::read(&mine[piece]));
            (0..spins).for_each(|_| spin_loop());
            bytes
        })
    })?;
    let others = tallies.split_off(1);
    let main = tallies.iter().flatten().map(|tally| 1e9 * tally.seconds / tally.done).collect();
    Ok(Answer { main, side: giga_per_second(&others) })
}
