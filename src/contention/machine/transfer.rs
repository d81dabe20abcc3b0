//! A line that goes to and fro between two cpus.
//!
//! In a ping-pong both wait for their turn and then make it the other's. What differs is how they wait and how they write:
//!
//! | | modified | shared |
//! |---|---|---|
//! | compare-exchange | waits by exchanging, so that the line comes as the other left it: modified | waits by reading; the exchange then takes a line that both have |
//! | fetch-add | waits by adding 0, then adds 1 | waits by reading, then adds 1 |
//! | read-after-write | loads one after the other, each telling where the next is, of lines that the other has just written | waits by reading, then stores |
//!
//! One way is half a round trip. Compare-exchange of a modified line is the method of the crate `core-to-core-latency`, so
//! that figures can be compared. The lines lie in memory of the first cpu's node.

use super::{
    Answer, Item,
    crew::{Patience, Seat},
    rounds::rounds,
    window::{Reading, crew},
};
use crate::{
    machine::{Operation, State, Transfer},
    os::{clock::Stopwatch, memory::Pages},
    sync::Line,
};
use std::hint::black_box;

/// Round trips of a sample.
const BATCH: u64 = 100;
/// Lines that one writes and the other then loads: 16 KiB, half a first cache.
const LINES: usize = 128;

pub(super) fn ask(of: Transfer, item: &Item, reading: Reading) -> Result<Answer, String> {
    let lines: Pages<Line> = Pages::zeroed(LINES + 2);
    let told = crew(item, |seat| {
        if seat.number == 0 {
            // Touched first here.
            lines.iter().for_each(|line| line.put(0));
        }
        let (agreed, line, patience) = (&lines[0], &lines[1], seat.patience);
        let trips = |turn: &dyn Fn(u64) -> bool| ping_pong(seat, item, reading, agreed, turn);
        match (of.operation, of.state) {
            (Operation::ReadAfterWrite, State::Modified) => loads(seat, item, reading, agreed, &lines[2..]),
            (Operation::ReadAfterWrite, State::Shared) => trips(&|turn| {
                let came = waits(patience, line, turn);
                line.put(turn + 1);
                came
            }),
            (Operation::CompareExchange, State::Modified) => {
                trips(&|turn| patience.wait(|| line.swap_if(turn, turn + 1)))
            }
            (Operation::CompareExchange, State::Shared) => {
                trips(&|turn| waits(patience, line, turn) && line.swap_if(turn, turn + 1))
            }
            (Operation::FetchAdd, State::Modified) => {
                // A constant 0 would be compiled to a fence and a load.
                let nothing = black_box(0);
                trips(&|turn| {
                    let came = patience.wait(|| line.add(nothing) == turn);
                    line.add(1);
                    came
                })
            }
            (Operation::FetchAdd, State::Shared) => trips(&|turn| {
                let came = waits(patience, line, turn);
                line.add(1);
                came
            }),
        }
    });
    told.map(|samples| Answer { main: samples.into_iter().flatten().collect(), side: Vec::new() })
}

#[inline(always)]
fn waits(patience: &Patience, line: &Line, turn: u64) -> bool {
    patience.wait(|| line.read() == turn)
}

/// Nanoseconds one way, as the first seat's clock has them. The seats' turns are the even and the odd numbers.
fn ping_pong(
    seat: &Seat<'_>,
    item: &Item,
    reading: Reading,
    agreed: &Line,
    turn: &dyn Fn(u64) -> bool,
) -> Option<Vec<f64>> {
    let mine = seat.number as u64;
    let timing = (item.measure_s, BATCH);
    let trips = rounds(seat, timing, reading, agreed, |round| turn(2 * round + mine).then_some(()))?;
    Some(if seat.number == 0 { trips.into_iter().map(|seconds| 0.5e9 * seconds).collect() } else { Vec::new() })
}

/// Nanoseconds a load of a line that the other has just written; each reads in turn.
fn loads(seat: &Seat<'_>, item: &Item, reading: Reading, agreed: &Line, lines: &[Line]) -> Option<Vec<f64>> {
    let order = super::chase::cycle(LINES, 1);
    let mut samples = Vec::new();
    rounds(seat, (item.measure_s, 1), reading, agreed, |round| {
        let reads = round as usize % 2 == seat.number;
        if !reads {
            lines.iter().zip(&order).for_each(|(line, &next)| line.put(u64::from(next)));
        }
        seat.meet()?;
        if reads {
            let clock = Stopwatch::start();
            let mut at = 0;
            for _ in 0..LINES {
                at = lines[at].read() as usize;
            }
            black_box(at);
            samples.push(1e9 * (clock.seconds() - reading.0) / LINES as f64);
        }
        seat.meet()
    })?;
    Some(samples.split_off(samples.len() / 10))
}
