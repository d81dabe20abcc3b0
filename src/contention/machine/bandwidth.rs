//! Streaming through arrays.

use super::{crew::Crew, latency::site, question::Stream};
use crate::{
    os::{clock::Stopwatch, memory::Pages},
    sync::{Flag, Gate},
};

/// Numbers streamed between two looks at the clock: 1 MiB.
const PIECE: usize = 1 << 17;
/// Numbers between two pauses: 4 KiB.
const PAUSED: usize = 512;

/// GB/s of all cpus together: samples are of the same stretch of each cpu's time, and begin after a pass over the array.
pub(super) fn together(
    crew: &Crew,
    stream: Stream,
    cpus: &[u32],
    node: Option<u32>,
    bytes: u64,
    seconds: f64,
) -> Result<Vec<f64>, String> {
    let (ready, halt) = (Gate::new(cpus.len()), Flag::default());
    let numbers = (bytes as usize / 8 / cpus.len()).max(2 * PIECE).next_multiple_of(2 * PIECE);
    let site = site(node, true);
    let rates = crew.bound(cpus, |_| {
        let mut array = Pages::<u64>::placed(numbers, &site);
        array.fill(1);
        ready.meet(|| ());
        if let Some(refused) = array.refused() {
            return Err(format!("memory could not be placed: {refused}"));
        }
        Ok(stream_through(stream, &mut array, seconds, &halt))
    })?;
    let rates: Vec<Vec<f64>> = rates.into_iter().collect::<Result<_, String>>()?;
    let count = rates.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..count).map(|k| rates.iter().map(|rates| rates[k]).sum()).collect())
}

/// GB/s of each piece.
fn stream_through(stream: Stream, array: &mut [u64], seconds: f64, halt: &Flag) -> Vec<f64> {
    let (all, mut rates, mut at, mut clock) = (Stopwatch::start(), Vec::new(), 0, Stopwatch::start());
    let (pieces, half) = (array.len() / PIECE, array.len() / 2);
    loop {
        let moved = match stream {
            Stream::Read => {
                std::hint::black_box(sum(&array[at * PIECE..][..PIECE]));
                PIECE
            }
            Stream::Write => {
                array[at * PIECE..][..PIECE].fill(at as u64);
                std::hint::black_box(&mut array[at * PIECE]);
                PIECE
            }
            Stream::Copy => {
                let (from, to) = array.split_at_mut(half);
                let piece = at * PIECE / 2;
                to[piece..][..PIECE / 2].copy_from_slice(&from[piece..][..PIECE / 2]);
                std::hint::black_box(&mut to[piece]);
                PIECE
            }
        };
        let took = clock.lap();
        rates.push(8e-9 * moved as f64 / took);
        at = (at + 1) % pieces;
        if halt.is_raised() || (all.seconds() >= seconds && rates.len() > 4) {
            halt.raise();
            rates.remove(0);
            return rates;
        }
    }
}

/// Eight sums side by side.
fn sum(piece: &[u64]) -> u64 {
    let mut sums = [0u64; 8];
    for eight in piece.as_chunks::<8>().0 {
        (0..8).for_each(|lane| sums[lane] = sums[lane].wrapping_add(eight[lane]));
    }
    sums.iter().fold(0, |sum, &lane| sum.wrapping_add(lane))
}

/// GB/s of reading `array` with `pause` turns of a spin loop after each 4 KiB, until `halt`: one sample.
pub(super) fn paused(array: &[u64], pause: u32, halt: &Flag) -> Vec<f64> {
    let (clock, mut read) = (Stopwatch::start(), 0usize);
    'all: loop {
        for piece in array.chunks_exact(PAUSED) {
            std::hint::black_box(sum(piece));
            read += PAUSED;
            (0..pause).for_each(|_| std::hint::spin_loop());
            if halt.is_raised() {
                break 'all;
            }
        }
    }
    vec![8e-9 * read as f64 / clock.seconds()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_sums_are_one() {
        let values: Vec<u64> = (0..4096).collect();
        assert_eq!(sum(&values), 4095 * 4096 / 2);
    }

    #[test]
    fn a_copy_moves_every_number_of_the_first_half() {
        let mut array: Vec<u64> = (0..4 * PIECE as u64).collect();
        stream_through(Stream::Copy, &mut array, 0.05, &Flag::default());
        let half = 2 * PIECE;
        assert_eq!(array[..PIECE / 2], array[half..half + PIECE / 2]);
    }
}
