//! Arrays in memory that are filled once and used by many questions.

use super::chase::Trail;
use crate::{
    machine::PageSize,
    os::{
        capacity,
        memory::{Home, Pages, Site, huge},
    },
};
use std::collections::BTreeMap;

/// Pages of an array that are looked at to see whether it lies where it was to.
const PAGES_ASKED: usize = 64;

/// The arrays of a survey, by node of memory.
#[derive(Default)]
pub(super) struct Pool {
    chases: BTreeMap<(u32, PageSize), Chase>,
    streams: BTreeMap<u32, [Pages<u64>; 2]>,
    sets: BTreeMap<PageSize, Pages<u64>>,
}

/// A chase that was laid out, and the line to which it was followed: who follows it from its begin each time finds that in
/// the cache.
pub(super) struct Chase {
    trail: Trail<Pages<u64>>,
    bytes: u64,
    at: usize,
}

impl Chase {
    /// Follows it from where it was left: what follows is told where that is, and says where it came to.
    pub(super) fn follow<T>(
        &mut self,
        follow: impl FnOnce(&Trail<Pages<u64>>, usize) -> Result<(T, usize), String>,
    ) -> Result<T, String> {
        let (answer, at) = follow(&self.trail, self.at)?;
        self.at = at;
        Ok(answer)
    }
}

impl Pool {
    /// A chase over `bytes` of memory of a node, laid out.
    ///
    /// # Errors
    /// Why it cannot lie there.
    pub(super) fn chase(&mut self, node: u32, bytes: u64, pages: PageSize) -> Result<&mut Chase, String> {
        if self.chases.get(&(node, pages)).is_none_or(|chase| chase.bytes != bytes) {
            self.chases.remove(&(node, pages));
            let mut words = placed(Home::Node(node), bytes, pages)?;
            words.fill(0);
            settled(&words)?;
            self.chases.insert((node, pages), Chase { trail: Trail::lay(words, 1), bytes, at: 0 });
        }
        Ok(self.chases.get_mut(&(node, pages)).expect("put there above"))
    }

    /// Two arrays of `bytes` each on a node, written to.
    ///
    /// # Errors
    /// As [`Pool::chase`].
    pub(super) fn streams(&mut self, node: u32, bytes: u64) -> Result<&mut [Pages<u64>; 2], String> {
        if self.streams.get(&node).is_none_or(|arrays| arrays[0].len() as u64 * 8 != bytes) {
            self.streams.remove(&node);
            let make = || {
                let mut array = placed(Home::Node(node), bytes, PageSize::Huge).or_else(|reason| {
                    // Without huge pages it is a stream as well.
                    if huge::withheld().is_some() {
                        placed(Home::Node(node), bytes, PageSize::Small)
                    } else {
                        Err(reason)
                    }
                })?;
                array.fill(1);
                settled(&array)?;
                Ok::<_, String>(array)
            };
            self.streams.insert(node, [make()?, make()?]);
        }
        Ok(self.streams.get_mut(&node).expect("put there above"))
    }

    /// Both at once: a chase and an array of the same node.
    ///
    /// # Errors
    /// As [`Pool::chase`].
    pub(super) fn loaded(&mut self, node: u32, bytes: (u64, u64)) -> Result<(&mut Chase, &[u64]), String> {
        self.chase(node, bytes.0, PageSize::Huge)?;
        self.streams(node, bytes.1)?;
        let chase = self.chases.get_mut(&(node, PageSize::Huge)).expect("made above");
        Ok((chase, &self.streams[&node][0]))
    }

    /// Room for a working set of `bytes`, to be laid out by the thread that walks it. Sets share memory, which is taken
    /// with room for larger ones: what is not touched costs nothing.
    ///
    /// # Errors
    /// As [`Pool::chase`].
    pub(super) fn set(&mut self, bytes: u64, pages: PageSize) -> Result<&mut [u64], String> {
        if self.sets.get(&pages).is_none_or(|array| (array.len() as u64) < bytes / 8) {
            self.sets.remove(&pages);
            self.sets.insert(pages, placed(Home::FirstTouch, 2 * bytes, pages)?);
        }
        Ok(&mut self.sets.get_mut(&pages).expect("put there above")[..bytes as usize / 8])
    }
}

/// An array that nobody has touched yet.
fn placed(home: Home, bytes: u64, pages: PageSize) -> Result<Pages<u64>, String> {
    if pages == PageSize::Huge
        && let Some(reason) = huge::withheld()
    {
        return Err(reason);
    }
    let mib = |bytes: u64| bytes >> 20;
    // What does not fit ends the process, not the array.
    if let Some(capacity) = capacity::memory_allowed()
        && capacity.bytes < bytes + bytes / 2
    {
        return Err(format!(
            "{} MiB do not fit: limited by {} to {} MiB",
            mib(bytes),
            capacity.limited_by,
            mib(capacity.bytes)
        ));
    }
    if let Home::Node(node) = home
        && let Some(free) = capacity::node_available(node)
        && free < bytes + bytes / 4
    {
        return Err(format!("{} MiB do not fit on node {node}, which has {} MiB free", mib(bytes), mib(free)));
    }
    let array = Pages::placed(bytes as usize / 8, &Site { home, huge_pages: pages == PageSize::Huge });
    match array.refused() {
        Some(reason) => Err(format!("the memory cannot be placed: {reason}")),
        None => Ok(array),
    }
}

/// Whether a filled array lies at its home.
fn settled(array: &Pages<u64>) -> Result<(), String> {
    let residency = array.record(PAGES_ASKED);
    match residency.bytes_misplaced {
        0 => Ok(()),
        _ => Err(format!("pages lie away from {}: {:?}", array.home(), residency.bytes_by_node)),
    }
}
