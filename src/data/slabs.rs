//! Text parsed on all threads at once, never held whole: the stream is cut at line ends into slabs of a few MiB, each
//! thread fetches the next slab under a lock and parses it outside, and the parts are put in order at the end.

use super::{
    input::{Input, LINE_BYTES_MAX, too_long},
    number::PADDING,
    room::Watch,
};
use crate::error::{Error, Result};
use memchr::{memchr, memrchr};
use std::{
    io::{self, Read},
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};

/// What is wrong on a line of a slab.
#[derive(Debug)]
pub(super) struct Fault {
    /// The line, from 1 within the slab; `None` if it concerns no line.
    pub(super) line: Option<u64>,
    /// As in [`Error::Data`].
    pub(super) what: String,
    /// As in [`Error::Data`].
    pub(super) remedy: String,
}

/// Where a text may be cut: gives the length of the part up to and with the last line end that ends a record.
pub(super) type Cut = fn(&[u8]) -> Option<usize>;

/// Any line end will do.
pub(super) fn at_line_end(text: &[u8]) -> Option<usize> {
    memrchr(b'\n', text).map(|at| at + 1)
}

/// A line end outside double quotes; the text begins outside them.
pub(super) fn outside_quotes(text: &[u8]) -> Option<usize> {
    if memchr(b'"', text).is_none() {
        return at_line_end(text);
    }
    let (mut quoted, mut cut) = (false, None);
    for at in memchr::memchr2_iter(b'"', b'\n', text) {
        match text[at] {
            b'"' => quoted = !quoted,
            _ if !quoted => cut = Some(at + 1),
            _ => {}
        }
    }
    cut
}

/// The first line end of `text`, as a length.
pub(super) fn first_line_end(text: &[u8]) -> Option<usize> {
    memchr(b'\n', text).map(|at| at + 1)
}

/// The first line end outside double quotes, as a length.
pub(super) fn first_outside_quotes(text: &[u8]) -> Option<usize> {
    let mut quoted = false;
    for at in memchr::memchr2_iter(b'"', b'\n', text) {
        match text[at] {
            b'"' => quoted = !quoted,
            _ if !quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Slabs between two looks at how much memory is left: some tens of microseconds in some tens of milliseconds.
const LOOKS_EVERY: usize = 8;

struct Stream {
    input: Input,
    cut: Cut,
    slab_bytes: usize,
    carry: Vec<u8>,
    room: Watch,
    /// Bytes of text handed out.
    read: u64,
    next: usize,
    over: bool,
}

impl Stream {
    /// Puts the next slab into `slab`, padded; gives its number and its length. `None` at the end.
    fn next(&mut self, slab: &mut Vec<u8>) -> Result<Option<(usize, usize)>> {
        slab.clear();
        if self.over {
            return Ok(None);
        }
        if self.next.is_multiple_of(LOOKS_EVERY) {
            self.room.look(self.input.path(), self.read)?;
        }
        slab.append(&mut self.carry);
        let mut target = self.slab_bytes.max(slab.len());
        loop {
            self.over = self.fill(slab, target).map_err(|e| self.input.fault(e))?;
            if self.over {
                break;
            }
            if let Some(cut) = (self.cut)(slab) {
                self.carry.extend_from_slice(&slab[cut..]);
                slab.truncate(cut);
                break;
            }
            if slab.len() > LINE_BYTES_MAX {
                return Err(too_long(self.input.path()));
            }
            target = 2 * slab.len();
        }
        let (number, length) = (self.next, slab.len());
        self.next += 1;
        self.read += length as u64;
        slab.resize(length + PADDING, b'\n');
        Ok((length > 0).then_some((number, length)))
    }

    /// Reads until `slab` has `target` bytes; whether the stream ended before.
    fn fill(&mut self, slab: &mut Vec<u8>, target: usize) -> io::Result<bool> {
        let missing = target.saturating_sub(slab.len());
        slab.reserve_exact(missing + PADDING + 64);
        Ok(self.input.by_ref().take(missing as u64).read_to_end(slab)? < missing)
    }
}

/// A parsed slab, by its number.
pub(super) struct Part<T> {
    pub(super) slab: usize,
    pub(super) outcome: Outcome<T>,
}

/// What became of a slab.
pub(super) enum Outcome<T> {
    Good {
        lines: u64,
        value: T,
    },
    /// Its first fault.
    Bad(Fault),
    /// It could not be read.
    Unread(Error),
}

/// Parses `input` on `threads` threads: `parse(scratch, text, end)` sees one slab at a time, `text[..end]` followed by
/// [`PADDING`] line ends, and gives the number of lines it held and its parts, which come back in file order. The
/// first fault in the file is the one reported, with its line in the whole file, `lines_before` added.
pub(super) fn parse<S, T: Send>(
    input: Input,
    cut: Cut,
    slab_bytes: usize,
    threads: usize,
    lines_before: u64,
    scratch: impl Fn() -> S + Sync,
    parse: impl Fn(&mut S, &[u8], usize) -> std::result::Result<(u64, T), Fault> + Sync,
) -> Result<Vec<T>> {
    let path = input.path().to_path_buf();
    let slab_bytes = slab_bytes.max(1);
    let (room, carry) = (Watch::begin(), Vec::new());
    let stream = Mutex::new(Stream { input, cut, slab_bytes, carry, room, read: 0, next: 0, over: false });
    let parts = Mutex::new(Vec::new());
    let work = || {
        let (mut scratch, mut slab) = (scratch(), Vec::new());
        loop {
            let fetched = {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                let fetched = stream.next(&mut slab);
                stream.over |= fetched.is_err();
                fetched.map_err(|error| Part { slab: stream.next, outcome: Outcome::Unread(error) })
            };
            let part = match fetched {
                Ok(None) => return,
                Ok(Some((number, end))) => Part {
                    slab: number,
                    outcome: match parse(&mut scratch, &slab, end) {
                        Ok((lines, value)) => Outcome::Good { lines, value },
                        Err(fault) => Outcome::Bad(fault),
                    },
                },
                Err(part) => part,
            };
            let good = matches!(part.outcome, Outcome::Good { .. });
            parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
            if !good {
                // Slabs are handed out in order, so all before this one are in somebody's hands: nothing is missed.
                stream.lock().unwrap_or_else(PoisonError::into_inner).over = true;
                return;
            }
        }
    };
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    in_order(parts.into_inner().unwrap_or_else(PoisonError::into_inner), &path, lines_before)
}

/// The values in file order, or the first fault.
pub(super) fn in_order<T>(mut parts: Vec<Part<T>>, path: &Path, mut lines_before: u64) -> Result<Vec<T>> {
    parts.sort_by_key(|part| part.slab);
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        match part.outcome {
            Outcome::Good { lines, value } => {
                lines_before += lines;
                values.push(value);
            }
            Outcome::Bad(fault) => {
                let line = fault.line.map(|line| lines_before + line);
                return Err(Error::data(path, line, fault.what, fault.remedy));
            }
            Outcome::Unread(error) => return Err(error),
        }
    }
    Ok(values)
}
