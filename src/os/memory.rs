//! Arrays in whole pages of their own, and where those pages lie.
//!
//! An array names its home when it is made ([`Site`]): the kernel is told before a page is touched, what it made of that is
//! read back, and where pages came to lie can be asked at any time ([`Residency`]). Nothing here fails because memory
//! cannot be placed, and nothing prints: what was refused is kept with the array.
//!
//! Freed pages go back to the kernel at once.

// Memory of the kernel's is seen as values of a type, and policies are system calls without a safe wrapper.
#![allow(unsafe_code)]

mod apart;
mod home;
pub mod huge;
pub mod nodes;
mod policy;
mod region;
mod residency;
mod stack;

pub use apart::Apart;
pub use home::{Home, Site};
pub use residency::{Asking, Residency};
pub use stack::stack_to;

use crate::sync::{Line, Owner, Rest, SharedF32, SharedF64, touched::Word};
use region::Region;
use std::{
    fmt, io,
    marker::PhantomData,
    ops::{Deref, DerefMut, Range},
    ptr::NonNull,
    slice,
};

/// Types of which bytes that are all zero are a value, aligned to at most a page, of at least one byte, and with nothing
/// to drop.
///
/// # Safety
/// All four must hold.
pub unsafe trait Zeroed {}

macro_rules! zeroed {
    ($($type:ty),+) => {
        // SAFETY: numbers, and cells of the size and validity of a number: zero bytes are 0, nothing is dropped.
        $(unsafe impl Zeroed for $type {})+
    };
}

zeroed!(u8, u32, u64, f32, f64, SharedF32, SharedF64, Line, Owner, Rest, Word);

/// A fixed-length array of zeros to begin with, aligned to a page, and to 2 MiB if it was placed and has as much. Cloning and growing are
/// not offered: it is placed once.
pub struct Pages<T> {
    start: NonNull<T>,
    len: usize,
    region: Region,
    owned: PhantomData<T>,
}

// SAFETY: an array owns its elements as a `Box<[T]>` does, and hands them out by the same rules.
unsafe impl<T: Send> Send for Pages<T> {}
// SAFETY: as above; what `&Pages<T>` does beside giving `&[T]` is asked of the kernel and changes no byte.
unsafe impl<T: Sync> Sync for Pages<T> {}

impl<T: Zeroed> Pages<T> {
    /// `len` zeros, each page where it is touched first, in whatever pages the kernel likes: for what lives a short while. No
    /// page is touched.
    ///
    /// # Panics
    /// If the address space is exhausted, as a failed allocation does.
    pub fn zeroed(len: usize) -> Self {
        Pages::of(len, Region::plain(len, size_of::<T>()))
    }

    /// `len` zeros whose pages are to lie at `site`. No page is touched. What the kernel refuses is kept
    /// ([`Pages::refused`]) and leaves the pages to the first thread that touches them.
    ///
    /// # Panics
    /// As [`Pages::zeroed`].
    pub fn placed(len: usize, site: &Site) -> Self {
        Pages::of(len, Region::new(len, size_of::<T>(), site))
    }

    fn of(len: usize, region: Region) -> Self {
        let start = if len == 0 { NonNull::dangling() } else { region.start().cast() };
        Pages { start, len, region, owned: PhantomData }
    }

    /// A copy of `values`, touched by this thread.
    pub fn copied(values: &[T]) -> Self
    where
        T: Copy,
    {
        let mut pages = Pages::zeroed(values.len());
        pages.copy_from_slice(values);
        pages
    }

    /// A copy of `values` at `site`, written by this thread.
    pub fn copied_to(values: &[T], site: &Site) -> Self
    where
        T: Copy,
    {
        let mut pages = Pages::placed(values.len(), site);
        pages.copy_from_slice(values);
        pages
    }
}

impl<T: Copy> Pages<T> {
    /// `len` values at `site`, written by this thread: the i-th is `value(i)`.
    ///
    /// # Panics
    /// As [`Pages::zeroed`], and if `value` does.
    pub fn filled(len: usize, site: &Site, mut value: impl FnMut(usize) -> T) -> Self {
        const { assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0, "values have a size, and pages align them") };
        let region = Region::new(len, size_of::<T>(), site);
        let start: NonNull<T> = if len == 0 { NonNull::dangling() } else { region.start().cast() };
        for i in 0..len {
            // SAFETY: the region has room for `len` values from its start, a page's, which is aligned enough by the
            // assertion above; nobody else knows of it yet.
            unsafe { start.add(i).write(value(i)) };
        }
        Pages { start, len, region, owned: PhantomData }
    }
}

impl<T> Pages<T> {
    /// Where its pages were to lie.
    pub fn home(&self) -> &Home {
        self.region.home()
    }

    /// What the kernel refused or silently left out when the array was placed, and why.
    pub fn refused(&self) -> Option<&str> {
        self.region.refused()
    }

    /// The bytes, in whole pages from the array's start, that lie on the node named `run`-th in [`Home::Runs`]: elements
    /// `len·run/k .. len·(run+1)/k`, both bounds rounded down to pages and the last up. Any other home is one run.
    ///
    /// # Panics
    /// If there are not that many runs.
    pub fn run_bytes(&self, run: usize) -> Range<usize> {
        self.region.run(run)
    }

    /// Takes the pages of these elements now, as the calling thread's writes would, and leaves their values as they are.
    /// A page on a bound belongs to the range that begins in it, so threads that share out the elements also share out the
    /// pages. Elements that the array does not have are passed over.
    ///
    /// # Errors
    /// The kernel's, such as that the node is out of memory. Then pages come when they are written.
    pub fn populate(&self, elements: Range<usize>) -> io::Result<()> {
        let bytes = |element: usize| element.min(self.len) * size_of::<T>();
        self.region.populate(bytes(elements.start)..bytes(elements.end), bytes(self.len))
    }

    /// Moves pages that lie away from their home to it, and records where up to `pages_max` of them are after that.
    pub fn gather_home(&self, pages_max: usize) -> Residency {
        self.region.gather(pages_max)
    }

    /// Where pages lie; if `asking` says so, after those that were found away from their home were moved to it.
    pub fn settle(&self, asking: Asking) -> Residency {
        let residency = self.record(asking.pages_max);
        let moves = asking.moves && residency.bytes_misplaced > 0;
        if moves { self.gather_home(asking.pages_max) } else { residency }
    }

    /// Where up to `pages_max` pages lie, spaced evenly if there are more: 0.2 µs a page asked.
    pub fn record(&self, pages_max: usize) -> Residency {
        self.region.record(pages_max, self.refused())
    }
}

impl<T: Zeroed> Default for Pages<T> {
    /// No values.
    fn default() -> Self {
        Pages::zeroed(0)
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the region has `len` values' bytes from `start`, page-aligned, initialised (zero to begin with, a value
        // of T by `Zeroed`; written as T since), and is borrowed with `self`; an empty array's start is aligned.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Pages<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and borrowed mutably with `self`.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
