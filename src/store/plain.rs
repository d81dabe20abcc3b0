//! A replica of one worker: plain memory, that the compiler may keep in registers and vectorise.
//!
//! The lock is never contended: its worker holds it while it updates, and lets go before a gate; other workers read
//! between gates only. It is what makes that protocol checked instead of promised.

use super::{Replica, Window, write};
use crate::os::memory::{Pages, Residency, Site, Zeroed};
use crate::sync::{Lossy, Slot};
use std::{
    cell::Cell,
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

    fn open(&self) -> Self::Open<'_> {
        self.0.write().expect(POISONED)
    }

    #[inline(always)]
    fn view<'a, 'o: 'a>(&'a self, open: &'a mut Self::Open<'o>) -> Self::View<'a> {
        Window { slots: Cell::from_mut(&mut open[..]).as_slice_of_cells(), stripes: None, merge: PhantomData }
    }

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
}

const POISONED: &str = "a worker panicked while it held its replica";
