//! Updates of one slot, some of which meet.

use super::{
    crew::{Crew, batches},
    question::Meet,
};
use crate::{
    mix::{STEP, mix},
    os::memory::Pages,
    sync::{Flag, Lossless, Lossy, Merge, SharedF64, Slot, Stripes},
};

/// Slots that all workers write: one line.
const COMMON: usize = 8;
/// Slots that each worker has for itself: 32 KiB, as a first-level cache has.
const OWN: usize = 4096;

/// What workers did.
struct Done {
    /// ns an update, a batch each.
    samples: Vec<f64>,
    /// Updates made, warming up included.
    updates: u64,
    /// What all slots add up to: each update added one.
    landed: f64,
}

/// ns an update of each cpu.
pub(super) fn time(crew: &Crew, meet: Meet, cpus: &[u32], percent: u32, seconds: f64) -> Result<Vec<f64>, String> {
    Ok(run(crew, meet, cpus, percent, seconds)?.samples)
}

/// The share of lossy updates that is gone, in percent: one sample.
pub(super) fn lost(crew: &Crew, cpus: &[u32], percent: u32, seconds: f64) -> Result<Vec<f64>, String> {
    let done = run(crew, Meet::Lossy, cpus, percent, seconds)?;
    Ok(vec![100.0 * (done.updates as f64 - done.landed) / done.updates as f64])
}

fn run(crew: &Crew, meet: Meet, cpus: &[u32], percent: u32, seconds: f64) -> Result<Done, String> {
    let slots = Pages::<SharedF64>::zeroed(OWN * (cpus.len() + 1));
    let (stripes, halt) = (Stripes::default(), Flag::default());
    let each = crew.bound(cpus, |place| {
        let own = &slots[OWN * (place + 1)..OWN * (place + 2)];
        let mut draw = place as u64;
        let mut updates = 0;
        let samples = batches(seconds, &halt, |count| {
            for _ in 0..count {
                draw = draw.wrapping_add(STEP);
                let bits = mix(draw);
                let meets = (bits >> 32) % 100 < u64::from(percent);
                let (slot, number) = match meets {
                    true => (&slots[bits as usize % COMMON], bits as usize % COMMON),
                    false => (&own[bits as usize % OWN], OWN * (place + 1) + bits as usize % OWN),
                };
                match meet {
                    Meet::Locked => {
                        let held = stripes.hold(std::iter::once(number));
                        Lossy::add(slot, 1.0);
                        drop(held);
                    }
                    Meet::Lossless | Meet::Count => Lossless::add(slot, 1.0),
                    Meet::Lossy => Lossy::add(slot, 1.0),
                }
            }
            updates += count;
        });
        (samples, updates)
    })?;
    Ok(Done {
        updates: each.iter().map(|(_, updates)| updates).sum(),
        samples: each.into_iter().flat_map(|(samples, _)| samples).collect(),
        landed: slots.iter().map(Slot::read).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::affinity;

    #[test]
    fn what_cannot_be_lost_is_not() {
        let cpus = affinity::at_start().expect("cpus");
        for meet in [Meet::Lossless, Meet::Locked] {
            let done = run(&Crew::default(), meet, &cpus[..cpus.len().min(2)], 100, 0.002).expect("bound");
            assert!(done.updates > 100 && !done.samples.is_empty());
            assert_eq!(done.landed, done.updates as f64, "{meet:?}");
        }
        assert_eq!(lost(&Crew::default(), &cpus[..1], 100, 0.002), Ok(vec![0.0]), "one worker loses nothing");
    }
}
