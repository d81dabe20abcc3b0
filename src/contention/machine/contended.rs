//! What an operation costs on a line that all workers use at once.

use super::{
    Answer, Item,
    window::{Reading, crew, ns_per_operation, windows},
};
use crate::{
    machine::Contended,
    os::memory::Pages,
    sync::{Line, Lossless, Lossy, Merge, SharedF64},
};

/// Operations between two readings of the clock.
const BATCH: u64 = 256;

/// Main: ns an operation as a worker sees it.
pub(super) fn ask(of: Contended, item: &Item, reading: Reading) -> Result<Answer, String> {
    let (line, cells): (Pages<Line>, Pages<SharedF64>) = (Pages::zeroed(1), Pages::zeroed(1));
    let (line, cell) = (&line[0], &cells[0]);
    let tallies = crew(item, |seat| {
        let repeat = |operation: &mut dyn FnMut()| {
            windows(seat, item.measure_s, reading, || {
                operation();
                BATCH
            })
        };
        match of {
            Contended::FetchAdd => repeat(&mut || (0..BATCH).for_each(|_| _ = line.add(1))),
            Contended::Lossless => repeat(&mut || (0..BATCH).for_each(|_| Lossless::add(cell, 1.0))),
            Contended::Lossy => repeat(&mut || (0..BATCH).for_each(|_| Lossy::add(cell, 1.0))),
        }
    })?;
    Ok(Answer { main: ns_per_operation(&tallies), side: Vec::new() })
}
