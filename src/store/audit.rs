//! What one worker reads and writes of its replica, entry by entry: the books of an audited run.
//!
//! A view with an [`Audit`] takes the slow path of each of its operations, which does the same to the parameters and notes
//! three things beside it. *Mass*: what each write was to add, so that what a slot is found to have moved by tells what was
//! lost, whoever lost it. *Lines*: who wrote the line before, so that the transfers of lines between workers are counted, with
//! whether the same slot was meant (sharing) or a neighbour (false sharing), and whether they crossed nodes. *Conflicts*: whether a
//! value had changed between the read of an update and its write.
//!
//! Audited updates go by halves, so that the loop of other runs has a view that keeps no books by its type ([`Books`](super::Books)).
//! An audited update takes several times as long as another, with the same order of reads and writes, and all workers alike; so
//! an audited run counts events and never times them.

use super::{Pair, Row};
use crate::{
    os::memory::{Pages, Site},
    sync::{Merge, Owner, Slot},
};
use std::{cell::RefCell, ops::Range, sync::Arc};

/// Bytes of a line of the cache.
const LINE_BYTES: usize = 64;

/// The lines of one replica, with who wrote each last: what its workers' books share.
#[derive(Debug)]
pub struct Lines {
    owners: Pages<Owner>,
    width: usize,
    per_line: usize,
}

impl Lines {
    /// Those of `width` slots of `slot_bytes`.
    pub fn new(width: usize, slot_bytes: usize, site: &Site) -> Self {
        let per_line = LINE_BYTES / slot_bytes;
        Lines { owners: Pages::placed(width.div_ceil(per_line), site), width, per_line }
    }

    /// Slots of a line.
    pub fn per_line(&self) -> usize {
        self.per_line
    }
}

/// Bytes of memory that the books of `workers` workers on one replica take.
pub fn bytes(width: usize, slot_bytes: usize, workers: usize) -> f64 {
    let (slots, lines) = (width as f64, (width / (LINE_BYTES / slot_bytes)) as f64);
    // 24 a slot and 12 a line for each; what the slots were and have moved by, and the owners, once.
    workers as f64 * (24.0 * slots + 12.0 * lines) + 16.0 * slots + 4.0 * lines
}

/// What was done, over all slots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Parameters read for margins.
    pub entries_read: u64,
    /// Parameters written.
    pub entries_written: u64,
    /// Updates whose values at the write were held against those at the read.
    pub compared: u64,
    /// Those of them that found at least one changed.
    pub conflicted: u64,
    /// Values found changed.
    pub values_changed: u64,
    /// Writes to a line that another worker had written last.
    pub lines_taken: u64,
    /// Those of them from a worker of another node.
    pub lines_taken_far: u64,
    /// Those of them where the other had written another slot of the line.
    pub lines_taken_false: u64,
    /// Σδ² of all writes.
    pub squares: f64,
}

/// The books of one worker.
#[derive(Debug)]
pub struct Audit {
    worker: u32,
    lines: Arc<Lines>,
    /// By worker: whether it is on another node.
    far: Box<[bool]>,
    /// Totals.
    pub tally: Tally,
    /// Σδ by slot.
    pub added: Pages<f64>,
    /// Σ|δ| by slot.
    pub gross: Pages<f64>,
    /// Writes by slot.
    pub writes: Pages<u32>,
    /// Values found changed, by slot.
    pub changed: Pages<u32>,
    /// [`Tally::lines_taken`] by line.
    pub taken: Pages<u32>,
    /// [`Tally::lines_taken_far`] by line.
    pub taken_far: Pages<u32>,
    /// [`Tally::lines_taken_false`] by line.
    pub taken_false: Pages<u32>,
    /// The slots of which this worker notes what they have moved by.
    range: Range<usize>,
    before: Pages<f64>,
    moved: Pages<f64>,
    /// The row that was read last, and the values that were read.
    row: Option<(usize, usize)>,
    seen: Vec<f64>,
}

impl Audit {
    /// Empty books of worker `worker`, for a replica with `lines`; `far` tells of each worker whether it is on another
    /// node; the worker also notes what the slots in `range` have moved by. Its pages are to lie at `site`.
    pub fn new(worker: usize, lines: Arc<Lines>, far: Box<[bool]>, range: Range<usize>, site: &Site) -> Self {
        let (width, count) = (lines.width, lines.owners.len());
        Audit {
            worker: u32::try_from(worker).expect("fewer than 2^28 workers"),
            lines,
            far,
            tally: Tally::default(),
            added: Pages::placed(width, site),
            gross: Pages::placed(width, site),
            writes: Pages::placed(width, site),
            changed: Pages::placed(width, site),
            taken: Pages::placed(count, site),
            taken_far: Pages::placed(count, site),
            taken_false: Pages::placed(count, site),
            before: Pages::placed(range.len(), site),
            moved: Pages::placed(range.len(), site),
            range,
            row: None,
            seen: Vec::new(),
        }
    }

    /// Slots of a line.
    pub fn per_line(&self) -> usize {
        self.lines.per_line
    }

    /// The slots of which it notes what they moved by, and that: Σ over the windows of x after it less x before it.
    pub fn moved(&self) -> (Range<usize>, &[f64]) {
        (self.range.clone(), &self.moved)
    }

    /// A window begins: nobody writes; `read` copies x[start..].
    pub fn open(&mut self, read: impl FnOnce(usize, &mut [f64])) {
        read(self.range.start, &mut self.before);
    }

    /// A window is over: nobody writes any more.
    pub fn close(&mut self, read: impl FnOnce(usize, &mut [f64])) {
        let mut after = vec![0.0; self.range.len()];
        read(self.range.start, &mut after);
        let changes = after.iter().zip(&self.before[..]).map(|(after, before)| after - before);
        self.moved.iter_mut().zip(changes).for_each(|(moved, change)| *moved += change);
    }

    /// A read of `row` begins.
    fn reads(&mut self, row: Row<'_>) {
        self.row = Some(key(row));
        self.seen.clear();
    }

    /// It read `value`.
    fn read(&mut self, value: f64) -> f64 {
        self.seen.push(value);
        self.tally.entries_read += 1;
        value
    }

    /// A write of `row` begins; whether the last read was of the same.
    fn writes(&mut self, row: Row<'_>) -> bool {
        let same = self.row.take() == Some(key(row));
        self.tally.compared += u64::from(same);
        same
    }

    /// Slot `slot` held `value`, the k-th of its row, when it was to be written; whether that is not what was read.
    fn compare(&mut self, k: usize, slot: usize, value: f64) -> bool {
        let changed = self.seen.get(k).is_some_and(|seen| seen.to_bits() != value.to_bits());
        self.changed[slot] += u32::from(changed);
        self.tally.values_changed += u64::from(changed);
        changed
    }

    /// Slot `slot` was written, which was to add `delta` to it.
    fn wrote(&mut self, slot: usize, delta: f64) {
        let (line, place) = (slot / self.lines.per_line, (slot % self.lines.per_line) as u32);
        self.added[slot] += delta;
        self.gross[slot] += delta.abs();
        self.writes[slot] += 1;
        self.tally.squares += delta * delta;
        self.tally.entries_written += 1;
        let Some(last) = self.lines.owners[line].note(self.worker, place) else { return };
        if last.worker == self.worker {
            return;
        }
        let (far, beside) = (self.far[last.worker as usize], last.place != place);
        self.taken[line] += 1;
        self.taken_far[line] += u32::from(far);
        self.taken_false[line] += u32::from(beside);
        self.tally.lines_taken += 1;
        self.tally.lines_taken_far += u64::from(far);
        self.tally.lines_taken_false += u64::from(beside);
    }
}

/// What tells one row from another: where its entries, or a pair's blocks, begin.
fn key(row: Row<'_>) -> (usize, usize) {
    match row {
        Row::Sparse(row) => (row.values().as_ptr() as usize, row.values().len()),
        Row::Dense(values) => (values.as_ptr() as usize, values.len()),
        Row::Pair(pair) => (pair.left().start, pair.right().start),
    }
}

/// x_j ← f(x_j) by the merge; what that was to add, as the slot keeps it.
fn update<S: Slot, M: Merge>(slot: &S, mut f: impl FnMut(f64) -> f64) -> f64 {
    let mut landed = 0.0;
    M::update(slot, |value| {
        let next = f(value);
        landed = S::new(next).read() - value;
        next
    });
    landed
}

/// As [`View::dot`](super::View::dot).
#[cold]
#[inline(never)]
pub(super) fn dot<S: Slot>(slots: &[S], row: Row<'_>, books: &RefCell<Audit>) -> f64 {
    match row {
        Row::Pair(pair) => fold(slots, row, books, |j, x, a| if j < pair.right().start { x * a } else { 0.0 }),
        _ => fold(slots, row, books, |_, x, a| x * a),
    }
}

/// As [`View::fold`](super::View::fold).
#[cold]
#[inline(never)]
pub(super) fn fold<S: Slot>(
    slots: &[S],
    row: Row<'_>,
    books: &RefCell<Audit>,
    mut f: impl FnMut(usize, f64, f64) -> f64,
) -> f64 {
    let mut books = books.borrow_mut();
    books.reads(row);
    match row {
        Row::Pair(pair) => partners(pair)
            .map(|(left, right)| {
                let (u, v) = (books.read(slots[left].read()), books.read(slots[right].read()));
                f(left, u, v) + f(right, v, u)
            })
            .sum(),
        fixed => fixed.entries().map(|(j, a)| f(j, books.read(slots[j].read()), a)).sum(),
    }
}

/// As [`View::axpy`](super::View::axpy).
#[cold]
#[inline(never)]
pub(super) fn axpy<S: Slot, M: Merge>(slots: &[S], scale: f64, row: Row<'_>, books: &RefCell<Audit>) {
    match row {
        Row::Pair(pair) => {
            let mut books = books.borrow_mut();
            let same = books.writes(row);
            let mut conflict = false;
            for (k, (left, right)) in partners(pair).enumerate() {
                let (u, v) = (slots[left].read(), slots[right].read());
                for (k, slot, value, delta) in [(2 * k, left, u, scale * v), (2 * k + 1, right, v, scale * u)] {
                    conflict |= same && books.compare(k, slot, value);
                    let landed = update::<S, M>(&slots[slot], |x| x + delta);
                    books.wrote(slot, landed);
                }
            }
            books.tally.conflicted += u64::from(conflict);
        }
        fixed => update_row::<S, M>(slots, fixed, books, |_, x, a| x + scale * a),
    }
}

/// x_j ← f(j, x_j, a_j) for the entries of a row that does not depend on x.
#[cold]
#[inline(never)]
pub(super) fn update_row<S: Slot, M: Merge>(
    slots: &[S],
    row: Row<'_>,
    books: &RefCell<Audit>,
    mut f: impl FnMut(usize, f64, f64) -> f64,
) {
    let mut books = books.borrow_mut();
    let same = books.writes(row);
    let mut conflict = false;
    for (k, (j, a)) in row.entries().enumerate() {
        conflict |= same && books.compare(k, j, slots[j].read());
        let landed = update::<S, M>(&slots[j], |x| f(j, x, a));
        books.wrote(j, landed);
    }
    books.tally.conflicted += u64::from(conflict);
}

/// x_j ← f(j, x_j) over `range`: a sweep, which reads nothing that an update would be held against.
#[cold]
#[inline(never)]
pub(super) fn map<S: Slot, M: Merge>(
    slots: &[S],
    range: Range<usize>,
    books: &RefCell<Audit>,
    mut f: impl FnMut(usize, f64) -> f64,
) {
    let mut books = books.borrow_mut();
    for j in range {
        let landed = update::<S, M>(&slots[j], |x| f(j, x));
        if landed != 0.0 {
            books.wrote(j, landed);
        }
    }
}

fn partners(pair: Pair) -> impl Iterator<Item = (usize, usize)> {
    pair.left().zip(pair.right())
}
