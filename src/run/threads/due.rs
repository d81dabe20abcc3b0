//! The lines that a worker visits next, picked out some way ahead of their visits.

use crate::{data::matrix::Matrix, order::Bucket, shard::Part, sync::Rest};
use std::ops::Range;

/// How many lines ahead of its visit a line's entries are asked of the cache: a line takes 30 to 200 ns, memory about 100.
const AHEAD: usize = 4;
/// How many lines ahead, at least, the cache is asked for what belongs to a line beside its entries, among it where those
/// are, without which they could not be asked for. By buckets, so that a line of the cache is asked for once.
const LEAD: u32 = 8;
/// Lines looked at together.
const PIECE: usize = 32;
/// Lines that are due at a time, at most.
const ROOM: usize = 3 * PIECE;

/// Line `line` of part `part`.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    pub(super) part: u32,
    pub(super) line: usize,
}

/// See the module. Lines that rest are passed over when they are looked at, without a branch that could be foreseen wrongly,
/// so that those that do not are fetched ahead no matter how few they are.
pub(super) struct Due<'a, D> {
    parts: &'a [&'a Part<D>],
    buckets: &'a [Bucket],
    /// Buckets between the one that is looked at and the one that is asked for.
    lead: usize,
    /// The bucket that is looked at, and how many of its lines were.
    bucket: usize,
    looked: usize,
    lines: [Line; ROOM],
    len: usize,
}

impl<'a, D: Matrix> Due<'a, D> {
    /// Those of `buckets`.
    pub(super) fn new(parts: &'a [&'a Part<D>], buckets: &'a [Bucket]) -> Self {
        let lead = buckets.first().map_or(1, |bucket| LEAD.div_ceil(bucket.lines.max(1)) as usize);
        Due { parts, buckets, lead, bucket: 0, looked: 0, lines: [Line::default(); ROOM], len: 0 }
    }

    /// The bucket that is looked at.
    pub(super) fn bucket(&self) -> usize {
        self.bucket
    }

    /// Drops the first `visited` lines and looks at more; how many were looked at, and how many of those that are due now
    /// are to be visited before the next look; (0, 0) where all is over.
    #[inline(always)]
    pub(super) fn look(&mut self, visited: usize) -> (usize, usize) {
        self.lines.copy_within(visited..self.len, 0);
        self.len -= visited;
        let mut looked = 0;
        while self.len <= ROOM - PIECE {
            let Some(bucket) = self.buckets.get(self.bucket) else {
                return (looked, self.len);
            };
            if self.looked == 0
                && let Some(bucket) = self.buckets.get(self.bucket + self.lead)
            {
                self.parts[bucket.part as usize].prefetch(bucket.range());
            }
            let count = PIECE.min(bucket.lines as usize - self.looked);
            let first = bucket.first + self.looked;
            self.pick(bucket.part, first..first + count);
            looked += count;
            self.looked += count;
            if self.looked == bucket.lines as usize {
                (self.bucket, self.looked) = (self.bucket + 1, 0);
            }
        }
        (looked, self.len - AHEAD)
    }

    #[inline(always)]
    fn pick(&mut self, part: u32, lines: Range<usize>) {
        let rests = self.parts[part as usize].rests.get(lines.clone()).unwrap_or_default();
        if rests.is_empty() {
            for line in lines {
                self.lines[self.len] = Line { part, line };
                self.len += 1;
            }
            return;
        }
        for (line, rest) in lines.zip(rests) {
            self.lines[self.len] = Line { part, line };
            self.len += usize::from(!Rest::passes(rest));
        }
    }

    /// Line `k` of those that are due. Asks the cache for one further on.
    #[inline(always)]
    pub(super) fn line(&self, k: usize) -> Line {
        if let Some(ahead) = self.lines[..self.len].get(k + AHEAD) {
            self.parts[ahead.part as usize].matrix.prefetch(ahead.line);
        }
        self.lines[k]
    }
}
