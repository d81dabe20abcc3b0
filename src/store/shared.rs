//! A replica that several workers write at once.

use super::{Replica, Window, read, write};
use crate::sync::{Merge, Slot, Stripes};
use std::marker::PhantomData;

/// Slots shared by the workers of a replica, written by merge `M`.
#[derive(Debug)]
pub struct Shared<S, M> {
    slots: Box<[S]>,
    stripes: Option<Stripes>,
    merge: PhantomData<M>,
}

impl<S: Slot + Send + Sync + 'static, M: Merge + 'static> Replica for Shared<S, M> {
    type Open<'a>
        = ()
    where
        Self: 'a;
    type View<'a>
        = Window<'a, S, M>
    where
        Self: 'a;
    const HOLDS: bool = M::HOLDS;

    fn zeros(len: usize) -> Self {
        let slots = (0..len).map(|_| S::new(0.0)).collect();
        Shared { slots, stripes: M::HOLDS.then(Stripes::default), merge: PhantomData }
    }

    fn open(&self) {}

    #[inline(always)]
    fn view<'a, 'o: 'a>(&'a self, _open: &'a mut Self::Open<'o>) -> Self::View<'a> {
        Window { slots: &self.slots, stripes: self.stripes.as_ref(), merge: PhantomData }
    }

    fn read(&self, start: usize, out: &mut [f64]) {
        read(&self.slots, start, out);
    }

    fn write(&self, start: usize, values: &[f64]) {
        write(&self.slots, start, values);
    }
}
