//! Which blocks of the replicas an exchange moves, where they meet: all, or those of eight slots (a cache line of f64) that
//! some replica's workers touched since the last one.
//!
//! After an exchange every replica holds what is agreed, to the bit. So where nobody writes, nobody's change is other than 0,
//! and no rule makes anything else of it: an exchange that passes over such blocks ends where one of all slots does.
//!
//! Updates mark nothing. After a window its worker goes once more over the columns of the lines that moved, 4 bytes an
//! entry, and marks their blocks in its replica's [`Touched`], d/64 bytes on the replica's node; sweeps mark their slice, and
//! so does whatever else writes to a replica between exchanges. Who combines a range adds up the marks of all K replicas
//! over it, Kd/64W bytes for W workers, and leaves the sum for those who take over what is agreed.

use super::{
    PANICKED, Run, Task,
    by_nodes::Groups,
    engine::{Engine, SEATED, Seat, Team},
    share,
};
use crate::{
    data::matrix::{Matrix, Row},
    exchange::Window,
    method::Method,
    os::memory::{Asking, Pages, Residency},
    store::Replica,
    sync::{
        Rest, SharedF64, Slot, Touched,
        touched::{BLOCK, WORD},
    },
};
use crossbeam_utils::CachePadded;
use std::{ops::Range, sync::RwLock};

/// Blocks that are moved together: so many of K + 1 vectors stay in L1 for K up to 7, in L2 beyond.
const BLOCKS: usize = WORD / BLOCK;

/// See the module.
pub(super) struct Moving {
    /// By replica, where an exchange moves what was touched.
    touched: Option<Vec<Touched>>,
    /// By worker, over the range that it combines.
    pub(super) unions: Vec<RwLock<Union>>,
    /// Slots that each worker combined, and slots of its ranges.
    counts: Vec<CachePadded<[SharedF64; 2]>>,
}

/// What exchanges moved, where replicas meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchanged {
    /// Whether they moved what was touched since the last, or all.
    pub touched: bool,
    /// What part of the slots they moved.
    pub share: f64,
}

/// Blocks that some replica touched.
pub(super) struct Union {
    /// The first word of marks, and the marks; none where all blocks move.
    first: usize,
    words: Pages<u64>,
}

impl Moving {
    /// For a run whose workers go through `lines` lines each between two exchanges.
    pub(super) fn new<D: Matrix>(
        task: &Task<'_, D>,
        engine: &dyn Engine<D>,
        nodes: Option<&Groups>,
        lines: f64,
    ) -> Self {
        let (plan, width) = (task.plan, engine.width());
        let workers = plan.workers.len();
        // For the sweeps of a replica the lines of all its workers count.
        let of_replica = lines * workers as f64 / plan.replicas.len() as f64;
        let swept = engine.sweeps_every().map_or(0.0, |every| of_replica / every as f64);
        let touched = task.exchange.moves_touched(&Window {
            width,
            entries: lines * task.shards.nonzeros() as f64 / task.shards.lines().max(1) as f64,
            workers,
            swept: if task.facts.shape.dense || engine.dense() { 1.0 } else { swept },
        });
        let union = |worker| {
            let range = nodes.map_or(share(width, worker, workers), |nodes| nodes.range(worker, width));
            let words = if touched { range.end.div_ceil(WORD) - range.start / WORD } else { 0 };
            let words = Pages::placed(words, &plan.site_of_worker(worker));
            RwLock::new(Union { first: range.start / WORD, words })
        };
        let marks = || plan.replicas.iter().map(|replica| Touched::placed(width, &plan.site(&replica.home)));
        Moving {
            touched: touched.then(|| marks().collect()),
            unions: (0..workers).map(union).collect(),
            counts: (0..workers).map(|_| CachePadded::new([0.0, 0.0].map(SharedF64::new))).collect(),
        }
    }

    /// The marks of a replica, where it has any.
    pub(super) fn of(&self, replica: usize) -> Option<&Touched> {
        Some(&self.touched.as_ref()?[replica])
    }

    /// Marks slots of a replica that something else than an update writes.
    pub(super) fn mark(&self, replica: usize, slots: Range<usize>) {
        if let Some(touched) = self.of(replica) {
            touched.mark_all(slots);
        }
    }

    /// The same of all replicas.
    pub(super) fn mark_in_all(&self, slots: Range<usize>) {
        self.touched.iter().flatten().for_each(|touched| touched.mark_all(slots.clone()));
    }

    /// Adds up the marks of all replicas over the range that `worker` combines.
    pub(super) fn unite(&self, worker: usize) {
        let Some(touched) = &self.touched else { return };
        let Union { first, words } = &mut *self.unions[worker].write().expect(PANICKED);
        words.fill(0);
        touched.iter().for_each(|touched| touched.add_to(*first, words));
    }

    /// Takes back the marks of a replica, of which the worker of rank `rank` of `of` does its share.
    pub(super) fn clear(&self, replica: usize, (rank, of): (usize, usize)) {
        if let Some(touched) = self.of(replica) {
            touched.clear(share(touched.words(), rank, of));
        }
    }

    /// Counts what `worker` combined: `moved` of `all` slots.
    pub(super) fn count(&self, worker: usize, moved: usize, all: usize) {
        let add = |cell: &SharedF64, slots: usize| cell.put(cell.read() + slots as f64);
        let [cells_moved, cells_all] = &*self.counts[worker];
        add(cells_moved, moved);
        add(cells_all, all);
    }

    /// What exchanges moved so far; `None` before the first.
    pub(super) fn exchanged(&self) -> Option<Exchanged> {
        let sum = |which: usize| self.counts.iter().map(|counts| counts[which].read()).sum::<f64>();
        (sum(1) > 0.0).then(|| Exchanged { touched: self.touched.is_some(), share: sum(0) / sum(1) })
    }

    /// Where the marks of a replica lie.
    pub(super) fn residency(&self, replica: usize, asking: Asking) -> Option<Residency> {
        self.of(replica).map(|touched| touched.residency(asking))
    }
}

impl Union {
    /// Calls `each` with the slots of `range` that move, in order: some runs of blocks at a time, of at most 512 slots together.
    pub(super) fn batches(&self, range: Range<usize>, mut each: impl FnMut(&[Range<usize>])) {
        if range.is_empty() {
            return;
        }
        if self.words.is_empty() {
            let batch = |start| start..range.end.min(start + WORD);
            return range.clone().step_by(WORD).for_each(|start| each(std::slice::from_ref(&batch(start))));
        }
        let mut runs: [Range<usize>; BLOCKS] = std::array::from_fn(|_| 0..0);
        let (mut count, mut room) = (0, BLOCKS);
        let (mut at, end) = (range.start / BLOCK, range.end.div_ceil(BLOCK));
        loop {
            let first = self.next(at, end, true);
            if first < end {
                at = self.next(first, end.min(first + room), false);
                runs[count] = range.start.max(first * BLOCK)..range.end.min(at * BLOCK);
                (count, room) = (count + 1, room - (at - first));
            }
            if count > 0 && (room == 0 || first == end) {
                each(&runs[..count]);
                (count, room) = (0, BLOCKS);
            }
            if first == end {
                return;
            }
        }
    }

    /// The same, run by run.
    pub(super) fn runs(&self, range: Range<usize>, mut each: impl FnMut(Range<usize>)) {
        self.batches(range, |runs| runs.iter().cloned().for_each(&mut each));
    }

    /// The first block from `at` on that is marked, or is not; `end` if none is before it.
    fn next(&self, mut at: usize, end: usize, marked: bool) -> usize {
        while at < end {
            let word = self.words[at / 64 - self.first];
            let found = if marked { word } else { !word } >> (at % 64);
            if found != 0 {
                return end.min(at + found.trailing_zeros() as usize);
            }
            at = (at / 64 + 1) * 64;
        }
        end
    }
}

/// How many slots there are in `runs`.
pub(super) fn slots_of(runs: &[Range<usize>]) -> usize {
    runs.iter().map(|run| run.len()).sum()
}

/// Puts the slots of `runs` of a vector that begins at slot `start` one behind the other.
pub(super) fn gather(from: &[f64], start: usize, runs: &[Range<usize>], to: &mut [f64]) {
    let mut at = 0;
    for run in runs {
        to[at..at + run.len()].copy_from_slice(&from[run.start - start..run.end - start]);
        at += run.len();
    }
}

/// Puts them back.
pub(super) fn scatter(from: &[f64], start: usize, runs: &[Range<usize>], to: &mut [f64]) {
    let mut at = 0;
    for run in runs {
        to[run.start - start..run.end - start].copy_from_slice(&from[at..at + run.len()]);
        at += run.len();
    }
}

impl<D: Matrix> Run<'_, D> {
    /// Marks what the worker wrote in window `index`, where exchanges move what was touched.
    pub(super) fn mark(&self, worker: usize, epoch: u64, index: usize) {
        if let Some(touched) = self.moving.of(self.replica_of(worker)) {
            self.engine.mark(self, worker, epoch, index, touched);
        }
    }
}

impl<D: Matrix, R: Replica, M: Method> Team<'_, D, R, M> {
    /// Marks the blocks of the lines that a worker's window moved, and its slice if it swept that; all where an update writes
    /// all.
    pub(super) fn mark_window(&self, run: &Run<'_, D>, worker: usize, epoch: u64, index: usize, touched: &Touched) {
        let (width, all) = (self.replicas[0].width, Engine::<D>::width(self));
        if M::DENSE {
            return touched.mark_all(0..all);
        }
        let mut seat = self.seats[worker].lock().expect(PANICKED);
        let Seat { order, hands, parts, .. } = &mut **seat.as_mut().expect(SEATED);
        if std::mem::take(&mut hands.settled) {
            touched.mark_all(share(width, hands.rank.0, hands.rank.1));
        }
        let (_, window) = run.window_of(run.dealt(order, worker, epoch), index);
        for bucket in window {
            let part = parts[bucket.part as usize];
            for line in bucket.range().filter(|line| part.rests.get(*line).is_none_or(Rest::moved)) {
                match part.matrix.row(line) {
                    Row::Sparse(row) => {
                        row.columns().iter().for_each(|&column| touched.mark(column as usize));
                        if all > width {
                            row.columns().iter().for_each(|&column| touched.mark(width + column as usize));
                        }
                    }
                    Row::Pair(pair) => {
                        touched.mark_all(pair.left());
                        touched.mark_all(pair.right());
                    }
                    // One line has touched them all.
                    Row::Dense(_) => return touched.mark_all(0..all),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_the_slots_of_marked_blocks_in_order(
            start in 0usize..3000,
            len in 0usize..3000,
            slots in prop::collection::vec(0usize..6000, 0..60),
            filled in 0usize..6000,
        ) {
            let range = start..start + len;
            let first = start / WORD;
            let mut union = Union { first, words: Pages::zeroed(range.end.div_ceil(WORD) - first) };
            let mut moves = vec![false; 6000];
            let filled = filled..filled + 700;
            for slot in slots.into_iter().chain(filled).filter(|slot| *slot < 6000) {
                if let Some(word) = (slot / WORD).checked_sub(first).and_then(|word| union.words.get_mut(word)) {
                    *word |= 1 << (slot / BLOCK % 64);
                    moves[slot / BLOCK * BLOCK..slot / BLOCK * BLOCK + BLOCK].fill(true);
                }
            }
            let mut found = Vec::new();
            union.batches(range.clone(), |runs| {
                assert!(runs.iter().all(|run| !run.is_empty()) && slots_of(runs) <= WORD);
                found.extend(runs.iter().cloned().flatten());
            });
            let expected: Vec<usize> = range.clone().filter(|slot| moves[*slot]).collect();
            prop_assert_eq!(found, expected);
            let (all, mut found) = (Union { first: 0, words: Pages::zeroed(0) }, Vec::new());
            all.batches(range.clone(), |runs| found.extend(runs.iter().cloned().flatten()));
            prop_assert_eq!(found, range.collect::<Vec<_>>());
        }
    }
}
