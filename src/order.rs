//! Which line next. Lines are dealt in buckets, runs of consecutive lines of one part, because the order in which rows
//! are visited costs more than anything else a sparse solver does: memory is fetched ahead inside a bucket, not between.

use crate::{
    config::OrderKind,
    os::memory::{Asking, Pages, Residency, Site},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;

/// A run of consecutive lines of one part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Which part.
    pub part: u32,
    /// How many lines, at most 2³².
    pub lines: u32,
    /// The first line, within the part.
    pub first: usize,
}

impl Bucket {
    /// Its lines.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.lines as usize
    }
}

/// The part of its shard's buckets that falls to a worker, from `from` to `to` in [0, 1], where they are not dealt evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Where it begins.
    pub from: f64,
    /// Where it ends: where another begins.
    pub to: f64,
}

/// One worker's order: the buckets of its shard, shuffled alike by all workers of the shard and dealt among them.
///
/// Dealing anew every epoch is SySCD's dynamic partition: which rows meet in one replica changes from epoch to epoch.
#[derive(Debug)]
pub struct Order {
    file: Pages<Bucket>,
    shuffled: Pages<Bucket>,
    shuffle: bool,
    seed: u64,
    /// The pass over all buckets that `shuffled` belongs to.
    current: Option<u64>,
    /// Which copy of the data this is, of how many.
    copy: (usize, usize),
    /// This worker's rank among the workers of the shard, and their number.
    seat: (usize, usize),
}

impl Order {
    /// The order of the worker of rank `seat.0` of `seat.1` over `parts`, given as (part, number of lines). `copy` is
    /// which copy of the data this is, of how many: each is gone through in an order of its own, and an epoch, in which all
    /// copies together see n visits, is that part of the way. The order lies at `site`.
    pub fn new(
        kind: OrderKind,
        parts: &[(usize, usize)],
        seat: (usize, usize),
        seed: u64,
        copy: (usize, usize),
        site: &Site,
    ) -> Self {
        let (rows, shuffle) = match kind {
            OrderKind::Buckets { rows } => (rows, true),
            OrderKind::Rows => (1, true),
            OrderKind::File => (32, false),
            OrderKind::Auto => unreachable!("resolved before a run"),
        };
        let rows = rows.min(u32::MAX as usize);
        let file: Vec<Bucket> = parts
            .iter()
            .flat_map(|&(part, lines)| {
                (0..lines).step_by(rows).map(move |first| Bucket {
                    part: part as u32,
                    lines: rows.min(lines - first) as u32,
                    first,
                })
            })
            .collect();
        let seed = seed ^ (copy.0 as u64).wrapping_mul(0xA076_1D64_78BD_642F);
        let kept = || Pages::filled(file.len(), site, |i| file[i]);
        Order { shuffled: kept(), file: kept(), shuffle, seed, current: None, copy, seat }
    }

    /// Where it lies.
    pub fn residency(&self, asking: Asking) -> Residency {
        let mut all = self.file.settle(asking);
        all.add(&self.shuffled.settle(asking));
        all
    }

    /// The worker's buckets in epoch `epoch`, an even part of them or the part `dealt`. The same for the same seed, epoch and
    /// part, whatever came before.
    pub fn epoch(&mut self, epoch: u64, dealt: Option<Slice>) -> &[Bucket] {
        let (copy, copies) = self.copy;
        // Shards are at different places of their ways, so that an epoch's visits add up to n.
        let (pass, slice) = (epoch / copies as u64, (epoch % copies as u64) as usize);
        let slice = (slice + copy) % copies;
        if self.shuffle && self.current != Some(pass) {
            self.current = Some(pass);
            self.shuffled.copy_from_slice(&self.file);
            let mut random =
                Xoshiro256PlusPlus::seed_from_u64(self.seed ^ pass.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            // Fisher–Yates, spelled out: the permutation is part of what a seed promises.
            for last in (1..self.shuffled.len()).rev() {
                self.shuffled.swap(last, random.random_range(0..=last));
            }
        }
        let (rank, workers) = self.seat;
        let (place, places) = (slice * workers + rank, copies * workers);
        let count = self.shuffled.len();
        if let Some(Slice { from, to }) = dealt {
            let (first, last) = (count * slice / copies, count * (slice + 1) / copies);
            let bound = |part: f64| first + (part * (last - first) as f64).round() as usize;
            return &self.shuffled[bound(from)..bound(to)];
        }
        &self.shuffled[count * place / places..count * (place + 1) / places]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(order: &mut Order, epoch: u64) -> Vec<(u32, usize)> {
        order.epoch(epoch, None).iter().flat_map(|b| b.range().map(|line| (b.part, line))).collect()
    }

    #[test]
    fn the_workers_of_a_shard_visit_every_line_once_an_epoch() {
        let parts = [(2, 100), (5, 0), (7, 37)];
        let mut every: Vec<(u32, usize)> =
            parts.iter().flat_map(|&(part, n)| (0..n).map(move |line| (part as u32, line))).collect();
        every.sort_unstable();
        for kind in [OrderKind::Buckets { rows: 8 }, OrderKind::Rows, OrderKind::File] {
            for epoch in 0..3 {
                let mut seen = Vec::new();
                for rank in 0..3 {
                    seen.extend(lines(
                        &mut Order::new(kind, &parts, (rank, 3), 9, (0, 1), &Site::default()),
                        epoch,
                    ));
                }
                seen.sort_unstable();
                assert_eq!(seen, every, "{kind:?} epoch {epoch}");
            }
        }
    }

    #[test]
    fn parts_that_meet_leave_no_line_out_and_deal_none_twice() {
        for copies in [1, 3] {
            let mut seen = Vec::new();
            for epoch in 0..copies as u64 {
                for (from, to) in [(0.0, 0.31), (0.31, 0.62), (0.62, 1.0)] {
                    let mut order =
                        Order::new(OrderKind::Rows, &[(0, 61)], (0, 3), 9, (0, copies), &Site::default());
                    seen.extend(order.epoch(epoch, Some(Slice { from, to })).iter().map(|bucket| bucket.first));
                }
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..61).collect::<Vec<_>>(), "{copies}");
        }
        let mut order = Order::new(OrderKind::Rows, &[(0, 1000)], (0, 2), 9, (0, 1), &Site::default());
        assert_eq!(order.epoch(0, Some(Slice { from: 0.75, to: 1.0 })).len(), 250);
    }

    #[test]
    fn a_seed_fixes_the_order_of_an_epoch_whatever_came_before() {
        let (mut a, mut b) = (
            Order::new(OrderKind::Rows, &[(0, 50)], (0, 1), 3, (0, 1), &Site::default()),
            Order::new(OrderKind::Rows, &[(0, 50)], (0, 1), 3, (0, 1), &Site::default()),
        );
        lines(&mut a, 0);
        assert_eq!(lines(&mut a, 4), lines(&mut b, 4));
        assert_ne!(lines(&mut a, 4), lines(&mut b, 5));
    }

    #[test]
    fn with_a_copy_of_the_rows_a_shard_visits_each_once_in_as_many_epochs_as_there_are_copies() {
        let parts = [(0, 30), (1, 31)];
        let mut every: Vec<(u32, usize)> = (0..30).map(|i| (0, i)).chain((0..31).map(|i| (1, i))).collect();
        every.sort_unstable();
        let visited = |shard: usize, epochs: std::ops::Range<u64>| {
            let mut seen = Vec::new();
            for epoch in epochs {
                for rank in 0..2 {
                    let copy = (shard, 3);
                    seen.extend(lines(
                        &mut Order::new(OrderKind::Rows, &parts, (rank, 2), 9, copy, &Site::default()),
                        epoch,
                    ));
                }
            }
            seen
        };
        for shard in 0..3 {
            let mut seen = visited(shard, 3..6);
            seen.sort_unstable();
            assert_eq!(seen, every);
        }
        assert_ne!(visited(0, 0..1), visited(1, 0..1), "each shard has an order of its own");
        let together: usize = (0..3).map(|shard| visited(shard, 1..2).len()).sum();
        assert_eq!(together, 61, "an epoch is n visits of all shards together");
    }
}
