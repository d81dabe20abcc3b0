//! What threads wait for each other: a barrier, a token that goes round, a block of numbers handed over.

use super::crew::{Crew, LOST_PATIENCE, batches, spin};
use crate::{
    os::{clock::Stopwatch, memory::Pages},
    sync::{Flag, Gate, Line, SharedF64, Slot},
};

/// Slots of a block: 4 KiB.
const BLOCK: usize = 512;
/// Ends a ring or a hand-over.
const STOP: u64 = u64::MAX;
/// Meetings, or rounds of a ring, a sample.
const ROUNDS: u64 = 32;

/// ns from one meeting at a gate to the next.
pub(super) fn barrier(crew: &Crew, cpus: &[u32], seconds: f64) -> Result<Vec<f64>, String> {
    let (gate, over) = (Gate::new(cpus.len()), Flag::default());
    let samples = crew.bound(cpus, |place| {
        let (all, mut samples) = (Stopwatch::start(), Vec::new());
        loop {
            let clock = Stopwatch::start();
            for _ in 1..ROUNDS {
                gate.meet(|| ());
            }
            // The last to arrive decides for all.
            gate.meet(|| {
                if all.seconds() >= seconds {
                    over.raise();
                }
            });
            samples.push(1e9 * clock.seconds() / ROUNDS as f64);
            if over.is_raised() {
                return if place == 0 { samples } else { Vec::new() };
            }
        }
    })?;
    Ok(but_the_first(samples.concat()))
}

/// ns a hop of a token round the cpus.
pub(super) fn token(crew: &Crew, cpus: &[u32], seconds: f64) -> Result<Vec<f64>, String> {
    let workers = cpus.len();
    let (lines, tired): (Vec<Line>, _) = ((0..workers).map(|_| Line::default()).collect(), Flag::default());
    let samples = crew.bound(cpus, |place| {
        let (next, own) = (&lines[(place + 1) % workers], &lines[place]);
        if place > 0 {
            for round in 1.. {
                let mut value = 0;
                let came = spin(|| {
                    value = own.read();
                    value >= round
                });
                if !came {
                    tired.raise();
                }
                if !came || value == STOP {
                    next.put(STOP);
                    break;
                }
                next.put(round);
            }
            return Vec::new();
        }
        let (all, mut samples, mut round) = (Stopwatch::start(), Vec::new(), 0);
        while all.seconds() < seconds && !tired.is_raised() {
            let clock = Stopwatch::start();
            for _ in 0..ROUNDS {
                round += 1;
                next.put(round);
                if !spin(|| own.read() >= round) {
                    tired.raise();
                    break;
                }
            }
            samples.push(1e9 * clock.seconds() / (ROUNDS * workers as u64) as f64);
        }
        next.put(STOP);
        samples
    })?;
    if tired.is_raised() { Err(LOST_PATIENCE.into()) } else { Ok(but_the_first(samples.concat())) }
}

/// ns from the first write of a block of 512 parameters by one cpu until the other has read all, and said so.
pub(super) fn block(crew: &Crew, cpus: (u32, u32), seconds: f64) -> Result<Vec<f64>, String> {
    let (slots, flag) = (Pages::<SharedF64>::zeroed(BLOCK), Line::default());
    let (halt, tired) = (Flag::default(), Flag::default());
    let samples = crew.bound(&[cpus.0, cpus.1], |place| {
        let mut round = 0u64;
        if place == 1 {
            loop {
                let mut value = 0;
                let came = spin(|| {
                    value = flag.read();
                    value == 2 * round + 1 || value == STOP
                });
                if !came || value == STOP {
                    return Vec::new();
                }
                std::hint::black_box(slots.iter().map(Slot::read).sum::<f64>());
                round += 1;
                flag.put(2 * round);
            }
        }
        let samples = batches(seconds, &halt, |count| {
            for _ in 0..count {
                slots.iter().for_each(|slot| slot.put(round as f64));
                flag.put(2 * round + 1);
                round += 1;
                if !spin(|| flag.read() == 2 * round) {
                    tired.raise();
                    halt.raise();
                    return;
                }
            }
        });
        flag.put(STOP);
        samples
    })?;
    if tired.is_raised() { Err(LOST_PATIENCE.into()) } else { Ok(samples.concat()) }
}

fn but_the_first(mut samples: Vec<f64>) -> Vec<f64> {
    if samples.len() > 1 {
        samples.remove(0);
    }
    samples
}
