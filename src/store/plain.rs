//! A replica of one worker: plain memory, that the compiler may keep in registers and vectorise.
//!
//! The lock is never contended: its worker holds it while it updates, and lets go before a gate; other workers read
//! between gates only. It is what makes that protocol checked instead of promised.

use super::{Audit, NoBooks, Replica, Window, scatter, write};
use crate::os::memory::{Pages, Residency, Site, Zeroed};
use crate::sync::{Lossy, Slot};
use std::{
    cell::{Cell, RefCell},
    marker::PhantomData,
    ops::Range,
    sync::{RwLock, RwLockWriteGuard},
};

/// Plain `T`s.
#[derive(Debug)]
pub struct Plain<T: Zeroed>(RwLock<Pages<T>>);

impl<T: Zeroed + Copy + Send + Sync + 'static> Replica for Plain<T>
where
    Cell<T>: Slot,
{
    type Open<'a>
        = RwLockWriteGuard<'a, Pages<T>>
    where
        Self: 'a;
    type View<'a>
        = Window<'a, Cell<T>, Lossy>
    where
        Self: 'a;
    type Audited<'a>
        = Window<'a, Cell<T>, Lossy, Option<&'a RefCell<Audit>>>
    where
        Self: 'a;

    fn placed(len: usize, site: &Site) -> Self {
        Plain(RwLock::new(Pages::placed(len, site)))
    }

    fn populate(&self, range: Range<usize>) {
        // Where it cannot be done now, the first write does it.
        let _ = self.0.read().expect(POISONED).populate(range);
    }

    fn residency(&self, pages_max: usize) -> Residency {
        self.0.read().expect(POISONED).settle(pages_max)
    }

    #[inline(always)]
    fn kept(value: f64) -> f64 {
        <Cell<T> as Slot>::new(value).read()
    }

    fn open(&self) -> Self::Open<'_> {
        self.0.write().expect(POISONED)
    }

    #[inline(always)]
    fn view<'a, 'o: 'a>(&'a self, open: &'a mut Self::Open<'o>) -> Self::View<'a> {
        let slots = Cell::from_mut(&mut open[..]).as_slice_of_cells();
        Window { slots, stripes: None, books: NoBooks, merge: PhantomData }
    }

    #[inline(always)]
    fn audited<'a, 'o: 'a>(
        &'a self,
        open: &'a mut Self::Open<'o>,
        books: Option<&'a RefCell<Audit>>,
    ) -> Self::Audited<'a> {
        Window {
            slots: Cell::from_mut(&mut open[..]).as_slice_of_cells(),
            stripes: None,
            books,
            merge: PhantomData,
        }
    }

    const SLOT_BYTES: usize = size_of::<T>();

    fn read(&self, start: usize, out: &mut [f64]) {
        let values = self.0.read().expect(POISONED);
        for (out, &value) in out.iter_mut().zip(&values[start..]) {
            *out = Cell::new(value).read();
        }
    }

    fn write(&self, start: usize, values: &[f64]) {
        let mut open = self.open();
        write(Cell::from_mut(&mut open[..]).as_slice_of_cells(), start, values);
    }

    fn gather(&self, runs: impl Iterator<Item = Range<usize>>, out: &mut [f64]) {
        let values = self.0.read().expect(POISONED);
        let mut out = out.iter_mut();
        for run in runs {
            values[run].iter().zip(&mut out).for_each(|(&value, out)| *out = Cell::new(value).read());
        }
    }

    fn scatter(&self, runs: impl Iterator<Item = Range<usize>>, values: &[f64]) {
        let mut open = self.open();
        scatter(Cell::from_mut(&mut open[..]).as_slice_of_cells(), runs, values);
    }
}

const POISONED: &str = "a worker panicked while it held its replica";
