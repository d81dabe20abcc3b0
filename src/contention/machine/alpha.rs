//! DimmWitted's α: what a write to a model that all groups share costs, as against a read of what is one's own.
//!
//! α = t(write of a coordinate of one vector that a worker of every group writes) / t(read of a coordinate of a vector of
//! the same size that one worker alone has), both of 64 KiB and at random coordinates, all groups at work at once. Zhang
//! and Ré (DimmWitted, VLDB 2014, §3.2) choose between replicas by it, and estimate 4 to 12, growing with the sockets. A
//! write is a plain store, which a cpu's store buffer hides for as long as it has room.

use super::{
    Answer, Item,
    window::{Reading, crew, ns_per_operation, windows},
};
use crate::{
    os::memory::Pages,
    sync::{SharedF64, Slot},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;

/// Coordinates: 64 KiB.
const LEN: usize = 8192;
/// Coordinates that a worker goes through, then again.
const LIST: usize = 4096;
/// Accesses between two readings of the clock.
const BATCH: usize = 256;

/// Main: ns a write to what all share. Side: ns a read of one's own.
pub(super) fn ask(item: &Item, reading: Reading) -> Result<Answer, String> {
    let shared: Pages<SharedF64> = Pages::zeroed(LEN);
    let told = crew(item, |seat| {
        let own: Pages<SharedF64> = Pages::zeroed(LEN);
        own.iter().for_each(|slot| slot.put(1.0));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seat.number as u64);
        let list: Vec<u32> = (0..LIST).map(|_| random.random_range(0..LEN as u32)).collect();
        let mut at = 0;
        let mut next = || {
            let batch = at..at + BATCH;
            at = batch.end % LIST;
            batch
        };
        let writes = windows(seat, 0.5 * item.measure_s, reading, || {
            list[next()].iter().for_each(|&j| shared[j as usize].put(1.0));
            BATCH as u64
        })?;
        let reads = windows(seat, 0.5 * item.measure_s, reading, || {
            // Four sums, so that no addition waits for the one before.
            let mut sums = [0.0; 4];
            let (fours, _) = list[next()].as_chunks::<4>();
            for four in fours {
                (0..4).for_each(|lane| sums[lane] += own[four[lane] as usize].read());
            }
            black_box(sums);
            BATCH as u64
        })?;
        Some((writes, reads))
    })?;
    let (writes, reads): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    Ok(Answer { main: ns_per_operation(&writes), side: ns_per_operation(&reads) })
}
