//! Lines that cpus hand to each other, write all at once, or write beside each other.

use super::{
    crew::{Crew, LOST_PATIENCE, batches, spin},
    question::{How, Meet},
};
use crate::{
    os::memory::Pages,
    sync::{Flag, Line, Lossless, Lossy, Merge, SharedF32, SharedF64, Stripes},
};
use crossbeam_utils::CachePadded;

/// Ends a hand-over: no count gets there.
const STOP: u64 = u64::MAX;

/// ns one way. The first cpu makes its half of a round and waits for the second's; the line is touched first by the first cpu, and
/// so lies on its node.
pub(super) fn transfer(crew: &Crew, how: How, cpus: (u32, u32), seconds: f64) -> Result<Vec<f64>, String> {
    let (line, halt, tired) = (Line::default(), Flag::default(), Flag::default());
    let samples = crew.bound(&[cpus.0, cpus.1], |place| match place {
        0 => lead(how, &line, seconds, &halt, &tired),
        _ => {
            follow(how, &line, &tired);
            Vec::new()
        }
    })?;
    if tired.is_raised() {
        return Err(LOST_PATIENCE.into());
    }
    // A round is two ways.
    Ok(samples.concat().into_iter().map(|ns| ns / 2.0).collect())
}

fn lead(how: How, line: &Line, seconds: f64, halt: &Flag, tired: &Flag) -> Vec<f64> {
    let mut round = 0;
    let samples = batches(seconds, halt, |count| {
        for _ in 0..count {
            let (now, back) = (2 * round, 2 * round + 2);
            let mut came = true;
            match how {
                How::Read => {
                    line.put(now + 1);
                    came = spin(|| line.read() == back);
                }
                How::Exchange => {
                    came = spin(|| line.exchange(now, now + 1)) && came;
                }
                How::Add => {
                    line.add();
                    came = spin(|| line.read() == back);
                }
            }
            if !came {
                tired.raise();
                halt.raise();
                return;
            }
            round += 1;
        }
    });
    // The other is done with its last round, or will never be.
    spin(|| tired.is_raised() || line.read() == 2 * round);
    line.put(STOP);
    samples
}

fn follow(how: How, line: &Line, tired: &Flag) {
    let mut round = 0;
    loop {
        let now = 2 * round + 1;
        let mut over = false;
        let came = spin(|| match how {
            How::Exchange => {
                line.exchange(now, now + 1) || {
                    over = line.read() == STOP;
                    over
                }
            }
            _ => {
                let value = line.read();
                over = value == STOP;
                value == now || over
            }
        });
        if over || !came {
            if !came {
                tired.raise();
            }
            return;
        }
        match how {
            How::Read => line.put(now + 1),
            How::Exchange => {}
            How::Add => {
                line.add();
            }
        }
        round += 1;
    }
}

/// ns an operation of each cpu, on one line.
pub(super) fn contended(crew: &Crew, meet: Meet, cpus: &[u32], seconds: f64) -> Result<Vec<f64>, String> {
    let (count, halt) = (Line::default(), Flag::default());
    let slot = CachePadded::new(SharedF64::default());
    let stripes = Stripes::default();
    let samples = crew.bound(cpus, |_| {
        batches(seconds, &halt, |operations| {
            for _ in 0..operations {
                match meet {
                    Meet::Count => {
                        count.add();
                    }
                    Meet::Lossy => Lossy::add(&*slot, 1.0),
                    Meet::Lossless => Lossless::add(&*slot, 1.0),
                    Meet::Locked => {
                        let held = stripes.hold(std::iter::once(0));
                        Lossy::add(&*slot, 1.0);
                        drop(held);
                    }
                }
            }
        })
    })?;
    Ok(samples.concat())
}

/// ns a lossy write of each of two cpus, on 4-byte slots `bytes` apart, the first at a page's start.
pub(super) fn distance(crew: &Crew, cpus: (u32, u32), bytes: u32, seconds: f64) -> Result<Vec<f64>, String> {
    let (slots, halt) = (Pages::<SharedF32>::zeroed(1024), Flag::default());
    let samples = crew.bound(&[cpus.0, cpus.1], |place| {
        let slot = &slots[place * (bytes / 4) as usize];
        batches(seconds, &halt, |operations| {
            for _ in 0..operations {
                Lossy::add(slot, 1.0);
            }
        })
    })?;
    Ok(samples.concat())
}
