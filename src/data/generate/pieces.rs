//! Rows in pieces that threads make side by side; what a piece holds depends on its rows alone.

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Entries of a piece, about.
const ENTRIES: usize = 1 << 18;

/// Sparse rows under way: row i of the piece is entries `starts[i]..starts[i + 1]`.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) first_row: usize,
    pub(super) starts: Vec<u64>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f32>,
}

impl Piece {
    /// No rows yet; the first will be row `first_row` of all.
    pub(super) fn new(first_row: usize) -> Self {
        Piece { first_row, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// The row at hand is complete.
    pub(super) fn end_row(&mut self) {
        self.starts.push(self.columns.len() as u64);
    }

    pub(super) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Entries of row i of the piece.
    pub(super) fn range(&self, i: usize) -> Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
}

/// Rows cut so that a piece has about `ENTRIES` entries at `entries_a_row`.
pub(super) fn cut(rows: usize, entries_a_row: f64) -> Vec<Range<usize>> {
    let step = ((ENTRIES as f64 / entries_a_row.max(1.0)) as usize).max(1);
    (0..rows).step_by(step).map(|first| first..rows.min(first + step)).collect()
}

/// `work` on every item, on `threads` threads; results in the order of the items.
pub(super) fn map<T: Send, R: Send>(items: Vec<T>, threads: usize, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let count = items.len();
    let queue = Mutex::new(items.into_iter().enumerate());
    let done = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|| {
                loop {
                    // A statement of its own, so that the queue is free while the item is worked on.
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((k, item)) = next else { break };
                    let result = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((k, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|item| item.0);
    done.into_iter().map(|item| item.1).collect()
}
