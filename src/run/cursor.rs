//! Where a worker is in its window, where that is gone through by halves: which update it reads or writes next.
//!
//! The k-th update is read just before the write of update k − τₖ, at its own write at the latest; so by default the order is
//! R₀ W₀ R₁ W₁ …. What was read and not yet written waits in a ring that is allocated once, of the longest delay, on the worker's node.

use super::injection::{self, Draws};
use crate::{
    config::{Injection, Straggler},
    data::matrix::Matrix,
    objective::Frame,
    order::Bucket,
    os::memory::{Asking, Pages, Residency, Site},
    shard::{Marks, Part},
    sync::Rest,
};

/// The end of a chain.
const NONE: u32 = u32::MAX;

/// A line of an update, and what its read left.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot<P> {
    pub(super) part: u32,
    /// Bucket of the window.
    pub(super) bucket: u32,
    pub(super) line: usize,
    pub(super) pending: P,
}

/// An update under way.
#[derive(Clone, Copy, Default)]
pub(super) struct Update {
    pub(super) lines: usize,
    /// What had landed when its read began.
    pub(super) read_at: u64,
    /// The next that is read before the same write, by place in the ring.
    link: u32,
    /// The first and the last that are read before this update's write.
    ends: [u32; 2],
}

/// What comes next of an update, by its place in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Read(usize),
    Write(usize),
}

/// One worker's window, as its seat sees it.
pub(super) struct Stage<'s, D> {
    pub(super) worker: usize,
    pub(super) replica: usize,
    pub(super) epoch: u64,
    /// Buckets of the epoch before the window's, and all of them.
    pub(super) skipped: usize,
    pub(super) of: usize,
    pub(super) buckets: &'s [Bucket],
    pub(super) parts: &'s [&'s Part<D>],
    pub(super) marks: Option<Marks<'s>>,
    pub(super) frame: &'s Frame,
    pub(super) consistent: bool,
    /// Whether an update holds stripes from its read to its write.
    pub(super) holds: bool,
    /// Whether all lines of a half are done in one turn.
    pub(super) whole: bool,
    pub(super) measures: bool,
    pub(super) straggler: Straggler,
    pub(super) injection: &'s Injection,
    pub(super) draws: Draws,
    /// Lines of the problem.
    pub(super) lines: usize,
}

/// See the module.
pub(super) struct Cursor<P> {
    slots: Pages<Slot<P>>,
    updates: Pages<Update>,
    /// Lines an update.
    batch: usize,
    /// The bucket that lines are taken from, and how many of it were.
    bucket: usize,
    taken: usize,
    /// All lines were taken.
    over: bool,
    /// Updates that have their lines, and updates that are written.
    fed: usize,
    written: usize,
    /// What comes next, and the first line of it that is left.
    pub(super) next: Option<Half>,
    pub(super) line: usize,
    /// γ of the update that is being written.
    pub(super) step: f64,
}

impl<P: Copy + Default> Cursor<P> {
    /// For updates of `batch` lines, delays of up to `longest` updates, and windows of up to `lines` lines.
    /// Its pages are to lie at `site`.
    pub(super) fn new(batch: usize, longest: u64, lines: usize, site: &Site) -> Self {
        let batch = batch.clamp(1, lines.max(1));
        let ring = (longest as usize + 1).min(lines.div_ceil(batch)).max(1);
        Cursor {
            slots: Pages::filled(ring * batch, site, |_| Slot::default()),
            updates: Pages::filled(ring, site, |_| Update::default()),
            batch,
            bucket: 0,
            taken: 0,
            over: true,
            fed: 0,
            written: 0,
            next: None,
            line: 0,
            step: 0.0,
        }
    }

    /// Where the ring lies.
    pub(super) fn residency(&self, asking: Asking) -> Residency {
        let mut all = self.slots.settle(asking);
        all.add(&self.updates.settle(asking));
        all
    }

    /// Goes to the start of a window.
    pub(super) fn start<D: Matrix>(&mut self, stage: &Stage<'_, D>) {
        (self.bucket, self.taken, self.over, self.fed, self.written) = (0, 0, false, 0, 0);
        self.updates.iter_mut().for_each(|update| update.ends = [NONE; 2]);
        self.prepare(stage);
    }

    /// Takes no more lines: what was begun is still written, since every update that was begun counts.
    pub(super) fn halt(&mut self) {
        self.over = true;
    }

    /// The update at a place of the ring, and its lines.
    #[inline(always)]
    pub(super) fn update(&mut self, place: usize) -> (&mut Update, &mut [Slot<P>]) {
        let update = &mut self.updates[place];
        let start = place * self.batch;
        let slots = &mut self.slots[start..start + update.lines];
        (update, slots)
    }

    /// The half that comes next is done.
    #[inline(always)]
    pub(super) fn done<D: Matrix>(&mut self, stage: &Stage<'_, D>) {
        if let Some(Half::Write(place)) = self.next {
            self.updates[place].ends = [NONE; 2];
            self.written += 1;
        }
        self.prepare(stage);
    }

    #[inline(always)]
    fn prepare<D: Matrix>(&mut self, stage: &Stage<'_, D>) {
        while !self.over && self.fed < self.written + self.updates.len() {
            self.feed(stage);
        }
        let place = self.written % self.updates.len();
        let first = self.updates[place].ends[0];
        self.line = 0;
        self.next = if first != NONE {
            self.updates[place].ends[0] = self.updates[first as usize].link;
            Some(Half::Read(first as usize))
        } else {
            (self.written < self.fed).then_some(Half::Write(place))
        };
    }

    /// Gives the next update its lines, and puts it where it will be read.
    #[inline(always)]
    fn feed<D: Matrix>(&mut self, stage: &Stage<'_, D>) {
        let (k, ring) = (self.fed, self.updates.len());
        let place = k % ring;
        let start = place * self.batch;
        let mut lines = 0;
        while lines < self.batch {
            let Some(slot) = self.take(stage) else {
                self.over = true;
                break;
            };
            self.slots[start + lines] = slot;
            lines += 1;
        }
        if lines == 0 {
            return;
        }
        self.updates[place].lines = lines;
        let delay = if ring == 1 { 0 } else { stage.delay(k as u64, &self.slots[start]) as usize };
        let before = (k - delay.min(k).min(ring - 1)) % ring;
        self.updates[place].link = NONE;
        let [first, last] = self.updates[before].ends;
        if first == NONE {
            self.updates[before].ends = [place as u32; 2];
        } else {
            self.updates[last as usize].link = place as u32;
            self.updates[before].ends[1] = place as u32;
        }
        self.fed += 1;
    }

    /// The next line that does not rest.
    #[inline(always)]
    fn take<D: Matrix>(&mut self, stage: &Stage<'_, D>) -> Option<Slot<P>> {
        loop {
            let bucket = stage.buckets.get(self.bucket)?;
            if self.taken == bucket.lines as usize {
                (self.bucket, self.taken) = (self.bucket + 1, 0);
                continue;
            }
            let part = stage.parts[bucket.part as usize];
            if self.taken == 0 {
                part.prefetch(bucket.range());
            }
            let line = bucket.first + self.taken;
            self.taken += 1;
            if !part.rests.get(line).is_some_and(Rest::passes) {
                return Some(Slot { part: bucket.part, bucket: self.bucket as u32, line, pending: P::default() });
            }
        }
    }
}

impl<D: Matrix> Stage<'_, D> {
    fn delay<P>(&self, k: u64, first: &Slot<P>) -> u64 {
        let line = self.parts[first.part as usize].first + first.line;
        injection::delay(self.injection, &self.draws, k, line as f64 / self.lines.max(1) as f64)
    }
}
