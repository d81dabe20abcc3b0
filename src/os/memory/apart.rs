//! One value in pages of its own.

use super::{Home, Residency, Site, region::Region};
use std::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// One value of any type in pages of its own, at a site: for what workers read in every update and the allocator would
/// put anywhere, next to anything. What the value itself points to stays where it is.
pub struct Apart<T> {
    place: NonNull<T>,
    region: Region,
    owned: PhantomData<T>,
}

// SAFETY: an `Apart` owns its value as a `Box` does, and hands it out by the same rules; the region is shared with nobody.
unsafe impl<T: Send> Send for Apart<T> {}
// SAFETY: as above; `&Apart<T>` gives no more than `&T` and what the kernel says of the pages.
unsafe impl<T: Sync> Sync for Apart<T> {}

impl<T> Apart<T> {
    /// Moves `value` into pages at `site`, touched by this thread.
    ///
    /// # Panics
    /// If the address space is exhausted, as a failed allocation does.
    pub fn new(value: T, site: &Site) -> Self {
        const { assert!(align_of::<T>() <= 4096, "a page is aligned to 4 KiB at least") };
        let region = Region::new(1, size_of::<T>(), site);
        let place = if size_of::<T>() == 0 { NonNull::dangling() } else { region.start().cast::<T>() };
        // SAFETY: the region has room for one T, at a page's start, which is aligned enough by the assertion above, and
        // nobody else knows of it; a type without size needs an aligned place only.
        unsafe { place.write(value) };
        Apart { place, region, owned: PhantomData }
    }

    /// Where it was to lie.
    pub fn home(&self) -> &Home {
        self.region.home()
    }

    /// What the kernel refused or silently left out when it was placed, and why.
    pub fn refused(&self) -> Option<&str> {
        self.region.refused()
    }

    /// Where it lies: see [`Pages::record`](super::Pages::record).
    pub fn record(&self, pages_max: usize) -> Residency {
        self.region.record(pages_max, self.refused())
    }
}

impl<T> Deref for Apart<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: written in `new`, dropped only with `self`, which is borrowed.
        unsafe { self.place.as_ref() }
    }
}

impl<T> DerefMut for Apart<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and borrowed mutably with `self`.
        unsafe { self.place.as_mut() }
    }
}

impl<T> Drop for Apart<T> {
    fn drop(&mut self) {
        // SAFETY: written in `new` and not used after this; the region, dropped next, still holds its memory.
        unsafe { self.place.drop_in_place() };
    }
}

impl<T: fmt::Debug> fmt::Debug for Apart<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
