//! What an update of one coordinate costs by merge, workers and conflict, and which share of the updates is lost.

use super::{
    Answer, Item,
    crew::Seat,
    window::{Reading, Tally, crew, ns_per_operation, windows},
};
use crate::{
    machine::{Update, UpdateMerge},
    os::memory::Pages,
    sync::{Lossless, Lossy, Merge, SharedF64, Slot, Stripes},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::iter::once;

/// Coordinates that all share: on a line each.
const COMMON: u32 = 8;
/// Coordinates before the first worker's own: a page.
const BEFORE: u32 = 512;
/// Coordinates of a worker's own: 32 KiB.
const OWN: u32 = 4096;
/// Updates that a worker goes through, then again.
const LIST: usize = 4096;
/// Updates between two readings of the clock.
const BATCH: usize = 256;

/// Main: ns an update as a worker sees it. Side: the share of all updates, each of which adds 1, that the coordinates do not
/// have in the end.
pub(super) fn ask(of: Update, item: &Item, reading: Reading) -> Result<Answer, String> {
    let x: Pages<SharedF64> = Pages::zeroed((BEFORE + OWN * item.cpus.len() as u32) as usize);
    let (x, stripes) = (&x[..], Stripes::default());
    let told: Vec<(Vec<Tally>, f64)> = crew(item, |seat| {
        let own = BEFORE + OWN * seat.number as u32;
        // Each worker's pages are touched by itself.
        x[own as usize..(own + OWN) as usize].iter().for_each(|slot| slot.put(0.0));
        let list = coordinates(own, of.conflict_percent);
        let run = (seat, item.measure_s, reading);
        match of.merge {
            UpdateMerge::Lossy => updates(run, &list, |j| Lossy::add(&x[j], 1.0)),
            UpdateMerge::Lossless => updates(run, &list, |j| Lossless::add(&x[j], 1.0)),
            UpdateMerge::Locked => updates(run, &list, |j| {
                let held = stripes.hold(once(j));
                Lossy::add(&x[j], 1.0);
                drop(held);
            }),
        }
    })?;
    let made: f64 = told.iter().map(|(_, updates)| updates).sum();
    let landed: f64 = x.iter().map(Slot::read).sum();
    let tallies: Vec<Vec<Tally>> = told.into_iter().map(|(tallies, _)| tallies).collect();
    Ok(Answer { main: ns_per_operation(&tallies), side: vec![1.0 - landed / made] })
}

/// Updates the coordinates of a list in windows; how many updates it were in all, those of the warm-up too.
#[inline(always)]
fn updates(
    (seat, seconds, reading): (&Seat<'_>, f64, Reading),
    list: &[u32],
    update: impl Fn(usize),
) -> Option<(Vec<Tally>, f64)> {
    let (mut at, mut made) = (0, 0.0);
    let tallies = windows(seat, seconds, reading, || {
        list[at..at + BATCH].iter().for_each(|&j| update(j as usize));
        at = (at + BATCH) % LIST;
        made += BATCH as f64;
        BATCH as u64
    });
    Some((tallies?, made))
}

/// A list of coordinates, so many in a hundred of which are common and the others from `own` on.
fn coordinates(own: u32, conflict_percent: u32) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(own));
    let mut one = || {
        if random.random_range(0..100) < conflict_percent {
            8 * random.random_range(0..COMMON)
        } else {
            own + random.random_range(0..OWN)
        }
    };
    (0..LIST).map(|_| one()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_updates_are_common_as_were_asked_for_and_the_others_are_ones_own() {
        for percent in [0, 10, 50, 100] {
            let list = coordinates(BEFORE + OWN, percent);
            let common = list.iter().filter(|&&j| j < BEFORE).count();
            let share = common as f64 / LIST as f64;
            assert!((share - f64::from(percent) / 100.0).abs() < 0.03, "{share} for {percent} %");
            let fits = |&&j: &&u32| (j < 8 * COMMON && j % 8 == 0) || (BEFORE + OWN..BEFORE + 2 * OWN).contains(&j);
            assert_eq!(list.iter().filter(fits).count(), LIST);
        }
    }
}
