//! How many bytes a second some cpus move through memory, in order, each its own part.

use super::{
    Answer, Item,
    pool::Pool,
    window::{Reading, Tally, crew, giga_per_second, windows},
};
use crate::{machine::Stream, vectors::on_vectors};
use std::{
    hint::black_box,
    sync::{Mutex, PoisonError},
};

/// Words between two readings of the clock: 256 KiB.
const PIECE: usize = 32 << 10;

/// One thread's part of both arrays.
type Part<'a> = Mutex<(&'a mut [u64], &'a mut [u64])>;

/// The item's cpus go through arrays of `bytes` on node `memory`.
pub(super) fn ask(
    stream: Stream,
    (bytes, memory): (u64, u32),
    item: &Item,
    pool: &mut Pool,
    reading: Reading,
) -> Result<Answer, String> {
    let [from, to] = pool.streams(memory, bytes)?;
    let part = from.len().div_ceil(item.cpus.len());
    let parts: Vec<Part<'_>> =
        from.chunks_mut(part).zip(to.chunks_mut(part)).map(|(from, to)| Mutex::new((from, to))).collect();
    let tallies: Vec<Vec<Tally>> = crew(item, |seat| {
        let Some(part) = parts.get(seat.number) else { return Some(Vec::new()) };
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        let (from, to) = &mut *part;
        let mut at = 0;
        windows(seat, item.measure_s, reading, || {
            let piece = at..(at + PIECE).min(from.len());
            at = if piece.end == from.len() { 0 } else { piece.end };
            let words = piece.len() as u64;
            match stream {
                Stream::Read => {
                    black_box(read(&from[piece]));
                    8 * words
                }
                Stream::Write => {
                    write(&mut from[piece], black_box(at as u64));
                    8 * words
                }
                Stream::Copy => {
                    copy(&mut to[piece.clone()], &from[piece], black_box(at as u64));
                    16 * words
                }
            }
        })
    })?;
    Ok(Answer { main: giga_per_second(&tallies), side: Vec::new() })
}

/// The sum of all words, in 32 lanes.
pub(super) fn read(words: &[u64]) -> u64 {
    on_vectors(
        #[inline(always)]
        |_| {
            let mut lanes = [0u64; 32];
            let (chunks, rest) = words.as_chunks::<32>();
            for chunk in chunks {
                for lane in 0..32 {
                    lanes[lane] = lanes[lane].wrapping_add(chunk[lane]);
                }
            }
            lanes.iter().chain(rest).fold(0u64, |sum, &word| sum.wrapping_add(word))
        },
    )
}

/// Puts `value` everywhere, by ordinary stores: it is none that memset could put.
fn write(words: &mut [u64], value: u64) {
    let value = value | 0x0102_0304_0506_0708;
    on_vectors(
        #[inline(always)]
        |_| words.iter_mut().for_each(|word| *word = value),
    );
}

/// Each word, changed, so that no memcpy is made of it.
fn copy(to: &mut [u64], from: &[u64], change: u64) {
    on_vectors(
        #[inline(always)]
        |_| to.iter_mut().zip(from).for_each(|(to, &from)| *to = from ^ change),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_do_what_they_are_counted_for() {
        let mut from: Vec<u64> = (0..1003).collect();
        assert_eq!(read(&from), 1002 * 1003 / 2);
        let mut to = vec![0; 1003];
        copy(&mut to, &from, 1);
        assert!(to.iter().enumerate().all(|(i, &word)| word == i as u64 ^ 1));
        write(&mut from, 8);
        assert!(from.iter().all(|&word| word == 0x0102_0304_0506_0708));
    }
}
