//! A replica that several workers write at once.

use super::{Audit, NoBooks, Replica, Window, gather, read, scatter, write};
use crate::os::memory::{Pages, Residency, Site, Zeroed};
use crate::sync::{Merge, Slot, Stripes};
use std::{cell::RefCell, marker::PhantomData, ops::Range};

/// Slots shared by the workers of a replica, written by merge `M`.
#[derive(Debug)]
pub struct Shared<S: Zeroed, M> {
    slots: Pages<S>,
    stripes: Option<Stripes>,
    merge: PhantomData<M>,
}

impl<S: Slot + Zeroed + Send + Sync + 'static, M: Merge + 'static> Replica for Shared<S, M> {
    type Open<'a>
        = ()
    where
        Self: 'a;
    type View<'a>
        = Window<'a, S, M>
    where
        Self: 'a;
    type Audited<'a>
        = Window<'a, S, M, Option<&'a RefCell<Audit>>>
    where
        Self: 'a;

    fn placed(len: usize, site: &Site) -> Self {
        Shared { slots: Pages::placed(len, site), stripes: None, merge: PhantomData }
    }

    fn with_stripes(self) -> Self {
        Shared { stripes: Some(Stripes::default()), ..self }
    }

    fn populate(&self, range: Range<usize>) {
        // Where it cannot be done now, the first write does it.
        let _ = self.slots.populate(range);
    }

    fn residency(&self, pages_max: usize) -> Residency {
        self.slots.settle(pages_max)
    }

    #[inline(always)]
    fn kept(value: f64) -> f64 {
        S::new(value).read()
    }

    fn open(&self) {}

    #[inline(always)]
    fn view<'a, 'o: 'a>(&'a self, _open: &'a mut Self::Open<'o>) -> Self::View<'a> {
        Window { slots: &self.slots, stripes: self.stripes.as_ref(), books: NoBooks, merge: PhantomData }
    }

    #[inline(always)]
    fn audited<'a, 'o: 'a>(
        &'a self,
        _open: &'a mut Self::Open<'o>,
        books: Option<&'a RefCell<Audit>>,
    ) -> Self::Audited<'a> {
        Window { slots: &self.slots, stripes: self.stripes.as_ref(), books, merge: PhantomData }
    }

    const SLOT_BYTES: usize = size_of::<S>();

    fn read(&self, start: usize, out: &mut [f64]) {
        read(&self.slots, start, out);
    }

    fn write(&self, start: usize, values: &[f64]) {
        write(&self.slots, start, values);
    }

    fn gather(&self, runs: impl Iterator<Item = Range<usize>>, out: &mut [f64]) {
        gather(&self.slots, runs, out);
    }

    fn scatter(&self, runs: impl Iterator<Item = Range<usize>>, values: &[f64]) {
        scatter(&self.slots, runs, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::matrix::{Row, SparseRow},
        store::View,
        sync::{Lossless, Lossy, SharedF64},
    };

    /// Two threads that add, one that sweeps without changing anything: what was added must all be there.
    fn added_beside_a_sweep<M: Merge + 'static>(replica: Shared<SharedF64, M>) -> f64 {
        let row = Row::Sparse(SparseRow::new(&[3, 9, 17], &[1.0, 1.0, 1.0], 20));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut open = ();
                    let x = replica.view(&mut open);
                    for _ in 0..20_000 {
                        let _held = x.hold(row);
                        x.axpy(1.0, row);
                    }
                });
            }
            scope.spawn(|| {
                let mut open = ();
                let x = replica.view(&mut open);
                (0..4_000).for_each(|_| x.map(0..20, |_, value| value));
            });
        });
        let mut values = [0.0; 20];
        replica.read(0, &mut values);
        values.iter().sum()
    }

    #[test]
    fn sweeps_lose_no_update_of_a_locked_or_lossless_merge() {
        let locked = Shared::<SharedF64, Lossy>::zeros(20).with_stripes();
        assert_eq!(added_beside_a_sweep(locked), 3.0 * 40_000.0);
        assert_eq!(added_beside_a_sweep(Shared::<SharedF64, Lossless>::zeros(20)), 3.0 * 40_000.0);
    }
}
