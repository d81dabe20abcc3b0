//! A plain file of lines, parsed on all threads at once, each of which also reads: the file is dealt out in ranges, and
//! the lines that begin in a range are its own. A thread reads its range in pieces that stay in its cache; what the lines
//! become is handed over once a range, so that arrays are long enough for huge pages.
//!
//! Ranges are large while much is left and small towards the end, so that threads end together.

use super::{
    input::{LINE_BYTES_MAX, PlainFile, too_long},
    number::PADDING,
    room::Watch,
    slabs::{Fault, Outcome, Part, in_order},
};
use crate::error::{Error, Result};
use memchr::{memchr, memrchr};
use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::{Mutex, PoisonError},
    thread,
};

/// A range is at most so long: some 50 ms of work.
const RANGE_BYTES_MAX: u64 = 32 << 20;
/// Ranges that each thread would get of what is left, were they all of a size.
const RANGES_A_THREAD: u64 = 4;
/// Text in hand at once: a part of what a core's own cache holds.
const PIECE_BYTES: usize = 256 << 10;
/// Text of a range between two looks at how much memory is left.
const LOOKS_EVERY_BYTES: u64 = 8 << 20;
/// What is read at first of a line that goes on behind its range.
const TAIL_BYTES: usize = 4 << 10;

/// What is left to be dealt out.
struct Rest {
    at: u64,
    end: u64,
    /// The next range's number.
    number: usize,
}

impl Rest {
    /// The next range: its number and its bytes.
    fn deal(&mut self, threads: usize, bytes_min: usize) -> Option<(usize, u64, u64)> {
        let left = self.end.checked_sub(self.at).filter(|left| *left > 0)?;
        let share = left / (RANGES_A_THREAD * threads as u64);
        let bytes = share.min(RANGE_BYTES_MAX).max(bytes_min as u64).min(left);
        let (number, start) = (self.number, self.at);
        self.number += 1;
        self.at += bytes;
        Some((number, start, self.at))
    }
}

/// The lines that begin in a range, a piece at a time.
struct Pieces<'a> {
    file: &'a File,
    /// The next byte to read.
    at: u64,
    /// Lines that begin here or later are not this range's.
    end: u64,
    file_end: u64,
    /// Whether the range begins within a line, which is not its own.
    within: bool,
    piece_bytes: usize,
    text: &'a mut Vec<u8>,
    /// Bytes of `text` that were read, and those of them that were handed out.
    filled: usize,
    used: usize,
}

/// Why there is no further piece.
enum Stop {
    Read(io::Error),
    TooLong,
}

impl Pieces<'_> {
    /// Whole lines, as many bytes at the front of `text`, which goes on for [`PADDING`] bytes behind them; the last line
    /// of a file need not be ended, and is followed by line ends. `None` at the end of the range.
    fn next(&mut self) -> std::result::Result<Option<usize>, Stop> {
        self.text.copy_within(self.used..self.filled, 0);
        self.filled -= self.used;
        self.used = 0;
        let mut count = self.piece_bytes;
        while self.at < self.end {
            self.read(count.min((self.end - self.at) as usize))?;
            if self.within && !self.begin() {
                continue;
            }
            if self.at < self.end
                && let Some(last) = memrchr(b'\n', &self.text[..self.filled])
            {
                return Ok(Some(self.hand_out(last + 1)));
            }
            count = count.max(self.filled);
        }
        count = TAIL_BYTES;
        while self.filled > 0 && self.text[self.filled - 1] != b'\n' && self.at < self.file_end {
            let before = self.filled;
            self.read(count.min((self.file_end - self.at) as usize))?;
            if let Some(end) = memchr(b'\n', &self.text[before..self.filled]) {
                self.filled = before + end + 1;
                break;
            }
            count *= 2;
        }
        // What was read behind the range's last line is not its own.
        self.at = self.file_end;
        Ok((self.filled > 0).then(|| self.hand_out(self.filled)))
    }

    /// Drops the line that the range begins within, as far as it was read; whether it ended.
    fn begin(&mut self) -> bool {
        let end = memchr(b'\n', &self.text[..self.filled]);
        let dropped = end.map_or(self.filled, |end| end + 1);
        self.text.copy_within(dropped..self.filled, 0);
        self.filled -= dropped;
        self.within = end.is_none();
        !self.within
    }

    fn hand_out(&mut self, length: usize) -> usize {
        self.text[self.filled..self.filled + PADDING].fill(b'\n');
        self.used = length;
        length
    }

    /// Reads `count` bytes behind those there are; a file that has become shorter ends there.
    fn read(&mut self, count: usize) -> std::result::Result<(), Stop> {
        if self.filled > LINE_BYTES_MAX {
            return Err(Stop::TooLong);
        }
        let target = self.filled + count;
        if self.text.len() < target + PADDING {
            self.text.resize(target + PADDING, 0);
        }
        while self.filled < target {
            match self.file.read_at(&mut self.text[self.filled..target], self.at) {
                Ok(0) => {
                    (self.end, self.file_end) = (self.at, self.at);
                    return Ok(());
                }
                Ok(read) => {
                    self.filled += read;
                    self.at += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Stop::Read(error)),
            }
        }
        Ok(())
    }
}

/// The parse of one file.
struct Parse<'a, F, G> {
    plain: &'a PlainFile,
    room: Watch,
    piece_bytes: usize,
    piece: F,
    finish: G,
}

impl<F, G> Parse<'_, F, G> {
    /// All lines of a range.
    fn range<S, T>(&self, scratch: &mut S, text: &mut Vec<u8>, start: u64, end: u64) -> Outcome<T>
    where
        F: Fn(&mut S, &[u8], usize) -> std::result::Result<u64, Fault>,
        G: Fn(&mut S) -> T,
    {
        let first = start == self.plain.start;
        let mut pieces = Pieces {
            file: &self.plain.file,
            // A line begins at `start` if a line end comes before it.
            at: if first { start } else { start - 1 },
            end,
            file_end: self.plain.end,
            within: !first,
            piece_bytes: self.piece_bytes,
            text,
            filled: 0,
            used: 0,
        };
        let (mut lines, mut look_at) = (0, start);
        loop {
            if pieces.at >= look_at && look_at < end {
                if let Err(error) = self.room.look(&self.plain.path, pieces.at - self.plain.start) {
                    return Outcome::Unread(error);
                }
                look_at = pieces.at + LOOKS_EVERY_BYTES;
            }
            match pieces.next() {
                Ok(None) => return Outcome::Good { lines, value: (self.finish)(scratch) },
                Ok(Some(length)) => match (self.piece)(scratch, &pieces.text[..pieces.filled + PADDING], length) {
                    Ok(more) => lines += more,
                    Err(fault) => {
                        return Outcome::Bad(Fault { line: fault.line.map(|line| lines + line), ..fault });
                    }
                },
                Err(Stop::Read(error)) => {
                    return Outcome::Unread(Error::io("read", &self.plain.path, error));
                }
                Err(Stop::TooLong) => return Outcome::Unread(too_long(&self.plain.path)),
            }
        }
    }
}

/// Parses `plain` on `threads` threads, in ranges of at least `bytes_min`: `piece(scratch, text, end)`
/// sees whole lines, `text[..end]`, behind which `text` goes on for [`PADDING`] bytes, and gives how many they were;
/// `finish(scratch)` gives what the lines of a range became, and these come back in file order. The first fault in the
/// file is the one reported, with its line in the whole file.
pub(super) fn parse<S, T: Send>(
    plain: &PlainFile,
    bytes_min: usize,
    threads: usize,
    scratch: impl Fn() -> S + Sync,
    piece: impl Fn(&mut S, &[u8], usize) -> std::result::Result<u64, Fault> + Sync,
    finish: impl Fn(&mut S) -> T + Sync,
) -> Result<Vec<T>> {
    let bytes_min = bytes_min.max(1);
    let rest = Mutex::new(Rest { at: plain.start, end: plain.end, number: 0 });
    let parts = Mutex::new(Vec::new());
    let parse = Parse { plain, room: Watch::begin(), piece_bytes: bytes_min.min(PIECE_BYTES), piece, finish };
    let work = || {
        let (mut scratch, mut text) = (scratch(), Vec::new());
        loop {
            let dealt = rest.lock().unwrap_or_else(PoisonError::into_inner).deal(threads, bytes_min);
            let Some((number, start, end)) = dealt else { return };
            let outcome = parse.range(&mut scratch, &mut text, start, end);
            let good = matches!(outcome, Outcome::Good { .. });
            parts.lock().unwrap_or_else(PoisonError::into_inner).push(Part { slab: number, outcome });
            if !good {
                // Ranges are dealt out in order, so all before this one are in somebody's hands: nothing is missed.
                let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
                rest.at = rest.end;
                return;
            }
        }
    };
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    in_order(parts.into_inner().unwrap_or_else(PoisonError::into_inner), &plain.path, 0)
}
