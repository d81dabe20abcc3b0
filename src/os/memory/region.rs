//! A mapping of its own for one array: its pages, where they are to lie, and what the kernel said to that.

use super::{
    Home, Residency, Site,
    policy::{self, MOVES_APART, MOVES_MAX, Present},
    residency::Query,
};
use memmap2::{Advice, MmapMut, MmapRaw};
use std::{io, ops::Range, ptr::NonNull, thread};

/// The size of a transparent huge page on x86 and on ARM with small pages of 4 KiB.
const HUGE_BYTES: usize = 2 << 20;

/// Pages that are locked at once where the kernel cannot populate: the least that a process may lock is 64 KiB.
const LOCK_BYTES: usize = 64 << 10;

/// Anonymous memory, zero to begin with. Its bytes belong to whoever holds the region and knows what is in them; nothing
/// here reads or writes one.
pub(super) struct Region {
    /// What is mapped: the array's pages, after slack that brings them to a huge page's bound and is never touched.
    map: Option<MmapRaw>,
    /// Bytes of slack before the array.
    offset: usize,
    /// Where runs begin and end, in bytes from the array's start, in whole pages: first 0, last the array's pages.
    bounds: Vec<usize>,
    home: Home,
    refused: Option<String>,
}

impl Region {
    /// Room for `len` elements of `size` bytes at `site`. No page is touched.
    ///
    /// # Panics
    /// If the address space is exhausted, as a failed allocation does.
    pub(super) fn new(len: usize, size: usize, site: &Site) -> Self {
        let mut region = Region::mapped(len, size, &site.home, HUGE_BYTES);
        region.advise(site.huge_pages);
        region.refused = region.home.apply(region.address(), &region.bounds, Present::Stay).err();
        region
    }

    /// The same without a word to the kernel, for many arrays that live a short while: neighbours are one mapping to it,
    /// and it grants a process 65530.
    ///
    /// # Panics
    /// As [`Region::new`].
    pub(super) fn plain(len: usize, size: usize) -> Self {
        Region::mapped(len, size, &Home::FirstTouch, policy::page_bytes())
    }

    /// A mapping for an array that begins at a multiple of `alignment` bytes if it has as many.
    fn mapped(len: usize, size: usize, home: &Home, alignment: usize) -> Self {
        let page = policy::page_bytes();
        let bytes = len.checked_mul(size).and_then(|bytes| bytes.checked_next_multiple_of(page));
        let bytes = bytes.expect("array size overflows the address space");
        let slack = if bytes >= alignment { alignment - page } else { 0 };
        let mapped = bytes.checked_add(slack).expect("array size overflows the address space");
        let map =
            (bytes > 0).then(|| MmapRaw::from(MmapMut::map_anon(mapped).expect("cannot map anonymous memory")));
        let offset = map.as_ref().filter(|_| slack > 0).map_or(0, |map| {
            let address = map.as_mut_ptr() as usize;
            address.next_multiple_of(alignment) - address
        });
        let bounds = bounds(len, size, page, home);
        Region { map, offset, bounds, home: home.clone(), refused: None }
    }

    /// Huge pages for the whole ones of the array and small ones for what is left of it and for the slack behind, so that
    /// no huge page reaches over the array's end. A kernel without huge pages refuses; small pages do as well, only slower.
    fn advise(&self, huge_pages: bool) {
        let Some(map) = self.map.as_ref().filter(|_| self.bytes() >= HUGE_BYTES || !huge_pages) else {
            return;
        };
        let body = if huge_pages { self.bytes() / HUGE_BYTES * HUGE_BYTES } else { 0 };
        let rest = self.offset + body;
        if body > 0 {
            let _ = map.advise_range(Advice::HugePage, self.offset, body);
        }
        if map.len() > rest {
            let _ = map.advise_range(Advice::NoHugePage, rest, map.len() - rest);
        }
    }

    /// Where the array begins: whole pages of its own, and aligned to 2 MiB if it has as much; dangling if it is empty.
    pub(super) fn start(&self) -> NonNull<u8> {
        match &self.map {
            // SAFETY: the offset is less than what was mapped beyond the array's bytes, so within the mapping.
            Some(map) => NonNull::new(unsafe { map.as_mut_ptr().add(self.offset) }).expect("mappings lie above 0"),
            None => NonNull::dangling(),
        }
    }

    fn address(&self) -> usize {
        self.start().as_ptr() as usize
    }

    /// The array's pages, in bytes.
    fn bytes(&self) -> usize {
        self.bounds[self.bounds.len() - 1]
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    pub(super) fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// The bytes of a run, in whole pages.
    pub(super) fn run(&self, run: usize) -> Range<usize> {
        self.bounds[run]..self.bounds[run + 1]
    }

    /// Takes the pages of these bytes now; both bounds are rounded down to pages, save at the array's end. Bytes keep their
    /// values.
    ///
    /// # Errors
    /// The kernel's; then pages come when they are written.
    pub(super) fn populate(&self, bytes: Range<usize>, end: usize) -> io::Result<()> {
        let page = policy::page_bytes();
        let last = if bytes.end >= end { self.bytes() } else { bytes.end / page * page };
        let first = (bytes.start / page * page).min(last);
        let Some(map) = self.map.as_ref().filter(|_| first < last) else {
            return Ok(());
        };
        match map.advise_range(Advice::PopulateWrite, self.offset + first, last - first) {
            // Before Linux 5.14.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => self.lock_once(first..last),
            told => told,
        }
    }

    /// Locks pages in memory and lets them go, which takes them as writing would: unlike a write of ours, it cannot meet
    /// another thread's access to the same bytes.
    fn lock_once(&self, bytes: Range<usize>) -> io::Result<()> {
        for first in bytes.clone().step_by(LOCK_BYTES) {
            let length = LOCK_BYTES.min(bytes.end - first);
            let address = (self.address() + first) as *const libc::c_void;
            // SAFETY: the range lies within the mapping; locking changes no byte and takes no page away.
            if unsafe { libc::mlock(address, length) } != 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: as above; what is let go of stays in memory until the kernel is short of it.
            unsafe { libc::munlock(address, length) };
        }
        Ok(())
    }

    /// Moves what lies elsewhere to its home, then asks where up to `pages_max` pages are.
    pub(super) fn gather(&self, pages_max: usize) -> Residency {
        let refused = self.home.apply(self.address(), &self.bounds, Present::Move).err();
        let record = || self.record(pages_max, refused.as_deref().or(self.refused()));
        let mut residency = record();
        for _ in 0..MOVES_MAX {
            if refused.is_some() || residency.bytes_misplaced == 0 {
                break;
            }
            self.query(usize::MAX).send_home();
            thread::sleep(MOVES_APART);
            residency = record();
        }
        residency
    }

    /// Where up to `pages_max` pages are, with `refused` among the reasons.
    pub(super) fn record(&self, pages_max: usize, refused: Option<&str>) -> Residency {
        self.query(pages_max).ask(refused)
    }

    fn query(&self, pages_max: usize) -> Query<'_> {
        Query { start: self.address(), bytes: self.bytes(), bounds: &self.bounds, home: &self.home, pages_max }
    }
}

/// Run i of k is elements `len·i/k .. len·(i+1)/k`; without runs, all of them.
fn bounds(len: usize, size: usize, page: usize, home: &Home) -> Vec<usize> {
    let runs = match home {
        Home::Runs(nodes) => nodes.len().max(1),
        _ => 1,
    };
    let whole = (len * size).next_multiple_of(page);
    let begin = |run: usize| (len as u128 * run as u128 / runs as u128) as usize * size / page * page;
    (0..runs).map(begin).chain([whole]).collect()
}
