//! Arrays in whole pages of their own: freed pages go back to the kernel at once, and the first thread to write a page
//! decides where it lies.

use bytemuck::Pod;
use memmap2::{Advice, MmapMut};
use std::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

/// Arrays of at least this size ask for transparent huge pages of 2 MiB: fewer misses of the address cache where buckets
/// of rows are visited in shuffled order, and at most one such page wasted an array.
const HUGE_BYTES_MIN: usize = 16 << 20;

/// A fixed-length array of zeros to begin with, page-aligned. Cloning and growing are not offered: it is placed once.
pub struct Pages<T: Pod> {
    map: Option<MmapMut>,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Pod> Pages<T> {
    /// `len` zeros. No page is touched.
    ///
    /// # Panics
    /// If the address space is exhausted, as a failed allocation does.
    pub fn zeroed(len: usize) -> Self {
        let bytes = len.checked_mul(size_of::<T>()).expect("array size overflows the address space");
        let map = (bytes > 0).then(|| MmapMut::map_anon(bytes).expect("cannot map anonymous memory"));
        if let Some(map) = map.as_ref().filter(|_| bytes >= HUGE_BYTES_MIN) {
            // A kernel without huge pages says so; small pages do as well, only slower.
            let _ = map.advise(Advice::HugePage);
        }
        Pages { map, len, kind: PhantomData }
    }

    /// A copy of `values`, touched by this thread.
    pub fn copied(values: &[T]) -> Self {
        let mut pages = Pages::zeroed(values.len());
        pages.copy_from_slice(values);
        pages
    }
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match &self.map {
            Some(map) => bytemuck::cast_slice(&map[..self.len * size_of::<T>()]),
            None => &[],
        }
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.map {
            Some(map) => bytemuck::cast_slice_mut(&mut map[..self.len * size_of::<T>()]),
            None => &mut [],
        }
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
