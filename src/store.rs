//! Where parameters live, and how two writes meet: a [`Replica`] for each group of workers that the plan names (one,
//! the master, for `replicas = "machine"`), seen by a worker through a [`View`].

use crate::data::matrix::{Pair, Row, SparseRow};
use crate::os::memory::{Asking, Residency, Site};
use crate::sync::{Held, Merge, Slot};
use std::{cell::RefCell, marker::PhantomData, ops::Range};

pub mod audit;
mod kernel;
mod pair;
mod plain;
mod shared;

pub use audit::Audit;
pub use plain::Plain;
pub use shared::Shared;

/// One worker's window on a replica. Nobody but a view writes a parameter.
///
/// Below a_j is what the row says of parameter j, ∂z/∂x_j of the margin z. For a [`Row::Pair`] that is the partner of x_j in
/// the other block, as it is when x_j is read.
pub trait View {
    /// Number of parameters.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// z: Σ_j a_j x_j, or uᵀv of a pair. Reads the row once, in order, and one parameter an entry.
    fn dot(&self, row: Row<'_>) -> f64;
    /// x_j ← x_j + scale a_j. One read and one write an entry; of a pair both partners are read before either is written.
    fn axpy(&self, scale: f64, row: Row<'_>);
    /// out_j ← out_j + scale a_j: what a multiple of ∂z/∂x is. One read and one write an entry in `out`; x is read for a
    /// pair alone.
    fn expand(&self, scale: f64, row: Row<'_>, out: &mut [f64]);
    /// Σ_j f(j, x_j, a_j), over both blocks of a pair.
    fn fold(&self, row: Row<'_>, f: impl FnMut(usize, f64, f64) -> f64) -> f64;
    /// x_j ← f(j, x_j, y_j, d_j, a_j) by the merge, where y is what `beside` shows and d are `weights`, both by coordinate;
    /// then y_j ← y_j + add a_j, such that no other addition is lost. One read and one write an entry in x, and unless `add`
    /// is 0 in y.
    ///
    /// # Panics
    /// On a pair: y is a sum of multiples of lines, and means nothing where lines move.
    fn update_beside(
        &self,
        row: Row<'_>,
        beside: &Self,
        weights: &[f64],
        add: f64,
        f: impl FnMut(usize, f64, f64, f64, f64) -> f64,
    );
    /// x_j ← f(j, x_j) over a range: a dense sweep.
    fn map(&self, range: Range<usize>, f: impl FnMut(usize, f64) -> f64);
    /// x_j ← f(j, x_j, y_j) over all coordinates, where y is what `beside` shows: a dense sweep of two vectors.
    fn map_beside(&self, beside: &Self, f: impl FnMut(usize, f64, f64) -> f64);
    /// Copies x into `out`, all of it: a snapshot, whose coordinates are read one after the other while others write. Not in the
    /// books of an audited run. Reads x once, in order.
    fn snapshot(&self, out: &mut [f64]);
    /// The locks of the row's coordinates, held until the guard is dropped; `None` unless the merge is `locked`.
    fn hold(&self, row: Row<'_>) -> Option<Held<'_>>;
}

/// One replica of the parameters.
pub trait Replica: Send + Sync + Sized + 'static {
    /// A worker's access for a while; exclusive for plain memory.
    type Open<'a>
    where
        Self: 'a;
    /// The window it gives.
    type View<'a>: View
    where
        Self: 'a;
    /// The window that may keep books.
    type Audited<'a>: View
    where
        Self: 'a;
    /// `len` zeros whose pages are to lie at `site`; none is touched.
    fn placed(len: usize, site: &Site) -> Self;
    /// The same with stripes, that an update holds from its read to its write, so that those that share a coordinate are serial
    /// (PASSCoDe-Lock). Without effect on plain memory, which has one writer.
    fn with_stripes(self) -> Self {
        self
    }
    /// `len` zeros, each page where the thread runs that writes it first.
    fn zeros(len: usize) -> Self {
        Self::placed(len, &Site::default())
    }
    /// Touches the pages of the coordinates in `range`. Several threads may do so at once.
    fn populate(&self, range: Range<usize>);
    /// Where its pages lie.
    fn residency(&self, asking: Asking) -> Residency;
    /// `value` as a slot of the replica keeps it, rounded to the slot's type.
    fn kept(value: f64) -> f64;
    /// Opens the replica.
    fn open(&self) -> Self::Open<'_>;
    /// The window of an open replica.
    fn view<'a, 'o: 'a>(&'a self, open: &'a mut Self::Open<'o>) -> Self::View<'a>;
    /// The same, all of whose reads and writes are noted in `books`, if there are any.
    fn audited<'a, 'o: 'a>(
        &'a self,
        open: &'a mut Self::Open<'o>,
        books: Option<&'a RefCell<Audit>>,
    ) -> Self::Audited<'a>;
    /// Bytes of a slot.
    const SLOT_BYTES: usize;
    /// Copies x[start..] into `out`. For between the phases, when no worker has the replica open.
    fn read(&self, start: usize, out: &mut [f64]);
    /// Puts `values` at x[start..]. As [`Replica::read`].
    fn write(&self, start: usize, values: &[f64]);
    /// Copies the slots of `runs`, one run behind the other, into `out`. As [`Replica::read`] of each, with one look at the lock
    /// of plain memory, whose line moves between those who read.
    fn gather(&self, runs: impl Iterator<Item = Range<usize>>, out: &mut [f64]);
    /// Puts `values` at the slots of `runs`. As [`Replica::gather`].
    fn scatter(&self, runs: impl Iterator<Item = Range<usize>>, values: &[f64]);
}

/// Whether a window keeps books. A type, and not a question that each operation asks: asked in the plain loop it cost 3 % of the
/// instructions of an update, and up to 7 % of the time on short rows.
pub trait Books: Copy {
    /// The books, if there are any.
    fn books(&self) -> Option<&RefCell<Audit>>;
}

/// None, ever.
#[derive(Clone, Copy, Debug)]
pub struct NoBooks;

impl Books for NoBooks {
    #[inline(always)]
    fn books(&self) -> Option<&RefCell<Audit>> {
        None
    }
}

impl Books for Option<&RefCell<Audit>> {
    #[inline(always)]
    fn books(&self) -> Option<&RefCell<Audit>> {
        *self
    }
}

/// A view on slots of one kind with one merge.
#[derive(Clone, Copy)]
pub struct Window<'a, S, M, B = NoBooks> {
    slots: &'a [S],
    stripes: Option<&'a crate::sync::Stripes>,
    books: B,
    merge: PhantomData<M>,
}

impl<S: Slot, M: Merge, B: Books> View for Window<'_, S, M, B> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    fn dot(&self, row: Row<'_>) -> f64 {
        if let Some(books) = self.books.books() {
            return audit::dot(self.slots, row, books);
        }
        match row {
            Row::Sparse(row) => kernel::dot(self.slots, row),
            Row::Dense(values) => kernel::dot_dense(&self.slots[..values.len()], values),
            Row::Pair(pair) => pair::dot(self.slots, pair),
        }
    }

    #[inline(always)]
    fn axpy(&self, scale: f64, row: Row<'_>) {
        if let Some(books) = self.books.books() {
            return audit::axpy::<S, M>(self.slots, scale, row, books);
        }
        match row {
            Row::Sparse(row) => kernel::axpy::<S, M>(self.slots, scale, row),
            Row::Dense(values) => {
                for (slot, &value) in self.slots[..values.len()].iter().zip(values) {
                    M::add(slot, scale * f64::from(value));
                }
            }
            Row::Pair(pair) => pair::axpy::<S, M>(self.slots, scale, pair),
        }
    }

    #[inline(always)]
    fn expand(&self, scale: f64, row: Row<'_>, out: &mut [f64]) {
        if scale == 0.0 {
            return;
        }
        match row {
            Row::Pair(pair) => {
                pair::fold(self.slots, pair, |j, _, partner| {
                    out[j] += scale * partner;
                    0.0
                });
            }
            fixed => add_fixed(out, scale, fixed),
        }
    }

    #[inline(always)]
    fn fold(&self, row: Row<'_>, mut f: impl FnMut(usize, f64, f64) -> f64) -> f64 {
        if let Some(books) = self.books.books() {
            return audit::fold(self.slots, row, books, f);
        }
        match row {
            Row::Sparse(row) => sparse_fold(self.slots, row, f),
            Row::Dense(values) => {
                let slots = self.slots[..values.len()].iter();
                slots.zip(values).enumerate().map(|(j, (slot, &value))| f(j, slot.read(), f64::from(value))).sum()
            }
            Row::Pair(pair) => pair::fold(self.slots, pair, f),
        }
    }

    #[inline(always)]
    fn update_beside(
        &self,
        row: Row<'_>,
        beside: &Self,
        weights: &[f64],
        add: f64,
        mut f: impl FnMut(usize, f64, f64, f64, f64) -> f64,
    ) {
        if let Some(books) = self.books.books() {
            audit::update_row::<S, M>(self.slots, row, books, |j, x, a| {
                f(j, x, beside.slots[j].read(), weights[j], a)
            });
            if add != 0.0 {
                row.entries().for_each(|(j, a)| beside.slots[j].add(add * a));
            }
            return;
        }
        match row {
            Row::Sparse(row) => kernel::update_beside::<S, M>(self.slots, beside.slots, weights, (row, add), f),
            Row::Dense(values) => {
                let pairs = self.slots[..values.len()].iter().zip(&beside.slots[..values.len()]);
                for (j, (((x, y), &d), &a)) in pairs.zip(&weights[..values.len()]).zip(values).enumerate() {
                    let a = f64::from(a);
                    M::update(x, |x| f(j, x, y.read(), d, a));
                    if add != 0.0 {
                        y.add(add * a);
                    }
                }
            }
            Row::Pair(_) => unreachable!("a method with a vector beside the parameters has fixed lines"),
        }
    }

    #[inline]
    fn map(&self, range: Range<usize>, mut f: impl FnMut(usize, f64) -> f64) {
        let mut at = range.start;
        while at < range.end {
            // A stripe's coordinates at a time where updates hold stripes, else all at once.
            let holds = self.stripes.is_some();
            let end = if holds { range.end.min(crate::sync::Stripes::end_of(at)) } else { range.end };
            let held = self.stripes.map(|stripes| stripes.hold(std::iter::once(at)));
            if let Some(books) = self.books.books() {
                audit::map::<S, M>(self.slots, at..end, books, &mut f);
                at = end;
                continue;
            }
            for (k, slot) in self.slots[at..end].iter().enumerate() {
                M::update(slot, |value| f(at + k, value));
            }
            drop(held);
            at = end;
        }
    }

    #[inline]
    fn map_beside(&self, beside: &Self, mut f: impl FnMut(usize, f64, f64) -> f64) {
        if let Some(books) = self.books.books() {
            let all = 0..self.slots.len();
            return audit::map::<S, M>(self.slots, all, books, |j, x| f(j, x, beside.slots[j].read()));
        }
        for (j, (x, y)) in self.slots.iter().zip(beside.slots).enumerate() {
            M::update(x, |x| f(j, x, y.read()));
        }
    }

    #[inline]
    fn snapshot(&self, out: &mut [f64]) {
        read(self.slots, 0, out);
    }

    #[inline(always)]
    fn hold(&self, row: Row<'_>) -> Option<Held<'_>> {
        self.stripes.map(|stripes| match row {
            Row::Pair(pair) => stripes.hold(pair.left().chain(pair.right())),
            fixed => stripes.hold(fixed.entries().map(|(column, _)| column)),
        })
    }
}

/// vector ← vector + scale · row, on plain memory. One read and one write an entry.
///
/// # Panics
/// On a pair, whose values are parameters: [`View::expand`] has them.
#[inline(always)]
pub fn add_fixed(vector: &mut [f64], scale: f64, row: Row<'_>) {
    if scale == 0.0 {
        return;
    }
    match row {
        Row::Sparse(row) => {
            for (&column, &value) in row.columns().iter().zip(row.values()) {
                vector[column as usize] += scale * f64::from(value);
            }
        }
        Row::Dense(values) => {
            vector.iter_mut().zip(values).for_each(|(sum, &value)| *sum += scale * f64::from(value));
        }
        Row::Pair(_) => unreachable!("a multiple of a pair needs the parameters"),
    }
}

#[inline(always)]
fn sparse_fold<S: Slot>(slots: &[S], row: SparseRow<'_>, mut f: impl FnMut(usize, f64, f64) -> f64) -> f64 {
    let entries = row.columns().iter().zip(row.values());
    entries.map(|(&column, &value)| f(column as usize, slots[column as usize].read(), f64::from(value))).sum()
}

fn read<S: Slot>(slots: &[S], start: usize, out: &mut [f64]) {
    for (value, slot) in out.iter_mut().zip(&slots[start..]) {
        *value = slot.read();
    }
}

fn gather<S: Slot>(slots: &[S], runs: impl Iterator<Item = Range<usize>>, mut out: &mut [f64]) {
    for run in runs {
        let (own, rest) = out.split_at_mut(run.len());
        read(slots, run.start, own);
        out = rest;
    }
}

fn scatter<S: Slot>(slots: &[S], runs: impl Iterator<Item = Range<usize>>, mut values: &[f64]) {
    for run in runs {
        let (own, rest) = values.split_at(run.len());
        write(slots, run.start, own);
        values = rest;
    }
}

fn write<S: Slot>(slots: &[S], start: usize, values: &[f64]) {
    for (&value, slot) in values.iter().zip(&slots[start..]) {
        slot.put(value);
    }
}
