//! What it costs two workers that each has a cell of its own, so many bytes from the other's: the same line up to its size,
//! and up to twice that where a prefetcher brings lines in pairs.

use super::{
    Answer, Item,
    window::{Reading, crew, ns_per_operation, windows},
};
use crate::{
    os::memory::Pages,
    sync::{Lossy, Merge, SharedF32},
};

/// Additions between two readings of the clock.
const BATCH: u64 = 256;

/// Main: ns an addition, of two workers whose cells of four bytes begin `bytes` apart, the first at a page's begin.
pub(super) fn ask(bytes: u32, item: &Item, reading: Reading) -> Result<Answer, String> {
    let cells: Pages<SharedF32> = Pages::zeroed(1024);
    let tallies = crew(item, |seat| {
        let cell = &cells[seat.number * bytes as usize / 4];
        windows(seat, item.measure_s, reading, || {
            (0..BATCH).for_each(|_| Lossy::add(cell, 1.0));
            BATCH
        })
    })?;
    Ok(Answer { main: ns_per_operation(&tallies), side: Vec::new() })
}
