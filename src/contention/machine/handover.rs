//! What it costs that workers wait for each other: a barrier, a token, and a slot of 4 KiB.

use super::{
    Answer, Item,
    rounds::rounds,
    window::{Reading, crew},
};
use crate::{
    machine::Handover,
    os::memory::Pages,
    sync::{Gate, Line, SharedF64, Slot},
};

/// Crossings of a barrier, and rounds of a ring, that make a sample.
const BATCH: u64 = 16;
/// f64 of a slot: 4 KiB.
const SLOT: usize = 512;
/// Looks at a barrier between two looks at the clock.
const TURNS: u32 = 256;

/// Main: ns a crossing, or from one worker to the next.
pub(super) fn ask(of: Handover, item: &Item, reading: Reading) -> Result<Answer, String> {
    let workers = item.cpus.len() as u64;
    let (lines, gate): (Pages<Line>, Gate) = (Pages::zeroed(2), Gate::new(item.cpus.len()));
    let slot: Pages<SharedF64> = Pages::zeroed(SLOT);
    let (agreed, line) = (&lines[0], &lines[1]);
    let told = crew(item, |seat| {
        let _watch = gate.watch();
        let (mine, timing) = (seat.number as u64, (item.measure_s, BATCH));
        let waits = |turn: u64| seat.patience.wait(|| line.read() == turn).then_some(());
        let (samples, parts) = match of {
            Handover::Barrier => {
                let cross = |_| {
                    let mut turns = 0;
                    let over = || {
                        turns += 1;
                        turns % TURNS == 0 && seat.patience.is_over()
                    };
                    gate.meet_unless(over).then_some(())
                };
                (rounds(seat, timing, reading, agreed, cross)?, 1)
            }
            Handover::Token => {
                let pass = |round| {
                    let turn = round * workers + mine;
                    waits(turn)?;
                    line.put(turn + 1);
                    Some(())
                };
                (rounds(seat, timing, reading, agreed, pass)?, workers)
            }
            Handover::Slot => {
                let mut copy = vec![0.0; SLOT];
                let pass = |round| {
                    let turn = round * workers + mine;
                    waits(turn)?;
                    copy.iter_mut().zip(&*slot).for_each(|(copy, slot)| *copy = slot.read() + 1.0);
                    slot.iter().zip(&copy).for_each(|(slot, &value)| slot.put(value));
                    line.put(turn + 1);
                    Some(())
                };
                (rounds(seat, timing, reading, agreed, pass)?, workers)
            }
        };
        // The others' clocks run over the same rounds.
        let samples = if seat.number == 0 { samples } else { Vec::new() };
        Some(samples.into_iter().map(|seconds| 1e9 * seconds / parts as f64).collect::<Vec<f64>>())
    })?;
    Ok(Answer { main: told.into_iter().flatten().collect(), side: Vec::new() })
}
