//! The books of an audited run ([`store::audit`](crate::store::audit)): opened and closed around each window, and added up at the
//! end.

use super::{Crew, Form, Run, meter::far};
use crate::{
    data::matrix::Matrix,
    objective::Frame,
    placement::{Plan, share},
    store::{
        Audit,
        audit::{Lines, Tally},
    },
    trace::{Audited, HotLine, Lost, SlotOf},
};
use std::sync::Arc;

/// Lines that are told of one by one.
const HOTTEST: usize = 32;
/// What is gone of a slot counts as lost where it is more than this part of Σ|δ|: less is rounding.
const ROUNDING: [(usize, f64); 2] = [(8, 1e-9), (4, 1e-4)];

/// What the books of all workers share.
#[derive(Debug)]
pub struct Ledgers {
    replicas: Vec<Arc<Lines>>,
    width: usize,
}

impl Ledgers {
    /// For the replicas of `plan`, of `width` slots of `slot_bytes` each.
    pub fn new(plan: &Plan, width: usize, slot_bytes: usize) -> Self {
        let lines = |replica: &crate::placement::ReplicaPlan| {
            Arc::new(Lines::new(width, slot_bytes, &plan.site(&replica.home)))
        };
        Ledgers { replicas: plan.replicas.iter().map(lines).collect(), width }
    }

    /// Empty books for `worker`.
    pub(super) fn books(&self, plan: &Plan, worker: usize) -> Audit {
        let lines = self.replicas[plan.workers[worker].replica].clone();
        let far = (0..plan.workers.len()).map(|other| far(plan, worker, other)).collect();
        let (rank, of) = plan.rank_in_replica(worker);
        Audit::new(worker, lines, far, share(self.width, rank, of), &plan.site_of_worker(worker))
    }
}

impl<D: Matrix> Run<'_, D> {
    /// Runs `window` with the books open. Where replicas are drawn together while updates go on, nobody could say what they
    /// moved by.
    pub(super) fn audited(&self, crew: &Crew<'_>, window: impl FnOnce()) {
        if self.task.ledgers.is_none() || self.mixing.is_some() {
            return window();
        }
        crew.phase(|worker| self.engine.note_mass(worker, true), || ());
        window();
        crew.phase(|_| (), || ());
        crew.phase(|worker| self.engine.note_mass(worker, false), || ());
    }

    /// What all books say.
    pub(super) fn audit(&self) -> Option<Audited> {
        self.task.ledgers?;
        let mut sums = Sums::default();
        for (replica, of) in self.task.plan.replicas.iter().enumerate() {
            sums.add(replica, self.of_replica(&of.workers));
        }
        Some(sums.audited(self.updates(), self.mixing.is_none(), |slot| self.named_slot(slot), self.slot_of()))
    }

    fn of_replica(&self, workers: &[usize]) -> Vec<Audit> {
        workers.iter().filter_map(|&worker| self.engine.take_books(worker)).collect()
    }

    fn slot_of(&self) -> SlotOf {
        match (self.task.form, D::FIXED) {
            (Form::Columns, _) => SlotOf::Row,
            (_, false) => SlotOf::Factor,
            _ => SlotOf::Column,
        }
    }

    fn named_slot(&self, slot: usize) -> Option<usize> {
        let Frame { slots, .. } = self.task.frame;
        if self.slot_of() == SlotOf::Column { slots.column(slot) } else { Some(slot) }
    }
}

/// What is added up over replicas.
#[derive(Default)]
struct Sums {
    tally: Tally,
    lost_mass: f64,
    gross: f64,
    lost_squares: f64,
    pairs: f64,
    lines: Vec<(usize, usize, HotLine)>,
    lines_shared: u64,
}

impl Sums {
    fn add(&mut self, replica: usize, books: Vec<Audit>) {
        let Some(first) = books.first() else { return };
        let (per_line, width) = (first.per_line(), first.added.len());
        let rounding = ROUNDING.iter().find(|(bytes, _)| 64 / bytes == per_line).map_or(0.0, |found| found.1);
        for book in &books {
            self.tally = plus(self.tally, book.tally);
            let (range, moved) = book.moved();
            for (slot, moved) in range.zip(moved) {
                self.slot(&books, slot, *moved, rounding);
            }
        }
        for line in 0..width.div_ceil(per_line) {
            let taken: u64 = books.iter().map(|book| u64::from(book.taken[line])).sum();
            self.lines_shared += u64::from(taken > 0);
            if taken > 0 {
                self.keep(replica, line, taken, &books);
            }
        }
    }

    fn slot(&mut self, books: &[Audit], slot: usize, moved: f64, rounding: f64) {
        let added: f64 = books.iter().map(|book| book.added[slot]).sum();
        let gross: f64 = books.iter().map(|book| book.gross[slot]).sum();
        let lost = added - moved;
        self.gross += gross;
        self.pairs += added * added;
        if lost.abs() > rounding * gross {
            self.lost_mass += lost.abs();
            self.lost_squares += lost * lost;
        }
    }

    /// Keeps the hottest: a few more than are told of, so that sorting them is rare.
    fn keep(&mut self, replica: usize, line: usize, taken: u64, books: &[Audit]) {
        let per_line = books[0].per_line();
        let slots = line * per_line..((line + 1) * per_line).min(books[0].added.len());
        let count = |of: fn(&Audit) -> &[u32]| books.iter().map(|book| u64::from(of(book)[line])).sum();
        let writes = |slot: usize| books.iter().map(|book| u64::from(book.writes[slot])).sum::<u64>();
        let wrote = |book: &&Audit| slots.clone().any(|slot| book.writes[slot] > 0);
        let mut coordinates: Vec<_> = slots.clone().map(|slot| (Some(slot), writes(slot))).collect();
        coordinates.retain(|(_, writes)| *writes > 0);
        coordinates.sort_by_key(|(_, writes)| std::cmp::Reverse(*writes));
        let hot = HotLine {
            replica,
            first_slot: slots.start,
            taken,
            taken_far: count(|book| &book.taken_far),
            taken_false: count(|book| &book.taken_false),
            writers: books.iter().filter(wrote).count(),
            coordinates,
        };
        self.lines.push((replica, line, hot));
        if self.lines.len() >= 8 * HOTTEST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.lines.sort_by_key(|(replica, line, hot)| (std::cmp::Reverse(hot.taken), *replica, *line));
        self.lines.truncate(HOTTEST);
    }

    fn audited(
        mut self,
        updates: u64,
        told: bool,
        coordinate: impl Fn(usize) -> Option<usize>,
        slot_of: SlotOf,
    ) -> Audited {
        self.cut();
        let named = |(_, _, mut hot): (usize, usize, HotLine)| {
            hot.coordinates.iter_mut().for_each(|(slot, _)| *slot = slot.and_then(&coordinate));
            hot
        };
        let Tally { entries_written, squares, .. } = self.tally;
        let share = share_lost(squares, self.pairs - squares, self.lost_squares);
        let lost = Lost {
            share_of_mass: if self.gross > 0.0 { self.lost_mass / self.gross } else { 0.0 },
            share_of_writes: share,
            writes: share * entries_written as f64,
        };
        Audited {
            updates,
            entries_read: self.tally.entries_read,
            entries_written,
            compared: self.tally.compared,
            conflicted: self.tally.conflicted,
            values_changed: self.tally.values_changed,
            lines_taken: self.tally.lines_taken,
            lines_taken_far: self.tally.lines_taken_far,
            lines_taken_false: self.tally.lines_taken_false,
            lost: told.then_some(lost),
            hottest: self.lines.into_iter().map(named).collect(),
            lines_shared: self.lines_shared,
            slot_of,
        }
    }
}

/// The p of 0..=1 with p a + p² b = c: the share of writes lost, of which each is as likely to be.
fn share_lost(a: f64, b: f64, c: f64) -> f64 {
    if c <= 0.0 || a <= 0.0 {
        return 0.0;
    }
    // b may be less than 0 where additions to a slot cancel; then the smaller root is the one that grows from 0 with c.
    let root = (a * a + 4.0 * b * c).max(0.0).sqrt();
    (2.0 * c / (a + root)).clamp(0.0, 1.0)
}

fn plus(one: Tally, other: Tally) -> Tally {
    Tally {
        entries_read: one.entries_read + other.entries_read,
        entries_written: one.entries_written + other.entries_written,
        compared: one.compared + other.compared,
        conflicted: one.conflicted + other.conflicted,
        values_changed: one.values_changed + other.values_changed,
        lines_taken: one.lines_taken + other.lines_taken,
        lines_taken_far: one.lines_taken_far + other.lines_taken_far,
        lines_taken_false: one.lines_taken_false + other.lines_taken_false,
        squares: one.squares + other.squares,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::matrix::{Row, SparseRow},
        os::memory::Site,
        store::{Replica, Shared, View},
        sync::{Lossless, Lossy, Merge, SharedF64},
    };
    use std::cell::RefCell;

    const WRITES: u64 = 1000;

    /// Two workers that add 1 to slot 3 of 16 so many times each; once in `planted` times the second's whole update falls between
    /// the load and the store of the first's.
    fn books<M: Merge + 'static>(planted: u64) -> Audited {
        let (site, width) = (Site::default(), 16);
        let replica = Shared::<SharedF64, M>::placed(width, &site);
        let lines = Arc::new(Lines::new(width, 8, &site));
        let books = |worker: usize| {
            let far = vec![worker != 0, worker != 1].into();
            RefCell::new(Audit::new(worker, lines.clone(), far, share(width, worker, 2), &site))
        };
        let own = [books(0), books(1)];
        own.iter().for_each(|books| books.borrow_mut().open(|start, out| replica.read(start, out)));
        let row = Row::Sparse(SparseRow::new(&[3], &[1.0], width));
        let (mut first, mut second) = ((), ());
        let (one, other) =
            (replica.audited(&mut first, Some(&own[0])), replica.audited(&mut second, Some(&own[1])));
        for k in 0..WRITES {
            let mut between = k.is_multiple_of(planted);
            if !between {
                other.axpy(1.0, row);
            }
            one.map(3..4, |_, value| {
                if std::mem::take(&mut between) {
                    other.axpy(1.0, row);
                }
                value + 1.0
            });
        }
        own.iter().for_each(|books| books.borrow_mut().close(|start, out| replica.read(start, out)));
        let mut sums = Sums::default();
        sums.add(0, own.into_iter().map(RefCell::into_inner).collect());
        sums.audited(2 * WRITES, true, Some, SlotOf::Column)
    }

    #[test]
    fn planted_losses_are_counted_to_the_write() {
        for planted in [2, 10, 100] {
            let audited = books::<Lossy>(planted);
            let (lost, gone) = (audited.lost.expect("told"), (WRITES / planted) as f64);
            assert_eq!(lost.share_of_mass, gone / (2 * WRITES) as f64);
            assert!((lost.writes - gone).abs() <= 1.0, "{planted}: {lost:?}");
            assert_eq!(audited.lines_taken, audited.lines_taken_far);
            assert_eq!((audited.hottest[0].writers, audited.hottest[0].coordinates[0]), (2, (Some(3), 2 * WRITES)));
        }
    }

    #[test]
    fn what_a_compare_exchange_tries_again_is_not_lost() {
        let lost = books::<Lossless>(10).lost.expect("told");
        assert_eq!((lost.share_of_mass, lost.writes), (0.0, 0.0));
        assert!(crate::sync::retries::take() >= WRITES / 10);
    }

    #[test]
    fn the_share_of_writes_lost_solves_its_equation() {
        // N writes of 1 to one slot, of which pN are gone: Σδ² = N, (Σδ)² = N², lost² = (pN)².
        for (n, p) in [(1e6, 0.5), (1e5, 0.01), (100.0, 1.0)] {
            let found: f64 = share_lost(n, n * n - n, (p * n) * (p * n));
            assert!((found - p).abs() < 0.02 * p + 1.0 / n, "{n} {p}: {found}");
        }
        // Signs that cancel: Σδ = 0, and each loss is as likely to be of either.
        let found = share_lost(1000.0, -1000.0, 0.1 * 1000.0 - 0.01 * 1000.0);
        assert!((found - 0.1).abs() < 1e-12, "{found}");
        assert_eq!([share_lost(0.0, 0.0, 0.0), share_lost(5.0, 20.0, 0.0)], [0.0, 0.0]);
    }
}
