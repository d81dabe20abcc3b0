//! Who wrote a cache line last, noted beside it while a run is audited.

use super::{AtomicU32, Relaxed};

/// Bits for a slot's place within its line: lines have up to 16 slots of 4 bytes.
const PLACE: u32 = 4;

/// The worker that wrote a line last, and at which slot of it; nobody to begin with. A note can be lost or come late as the
/// write that it notes can: it is a count of transfers that is wanted, not an order.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Owner(AtomicU32);

/// The last write of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastWrite {
    /// Whose.
    pub worker: u32,
    /// At which slot of the line.
    pub place: u32,
}

impl Owner {
    /// Notes a write by `worker`, below 2²⁸ − 1, at slot `place` of the line; gives the write before it.
    #[inline(always)]
    pub fn note(&self, worker: u32, place: u32) -> Option<LastWrite> {
        let before = self.0.load(Relaxed);
        self.0.store((worker + 1) << PLACE | place, Relaxed);
        LastWrite::of(before)
    }

    /// The last write.
    #[inline(always)]
    pub fn last(&self) -> Option<LastWrite> {
        LastWrite::of(self.0.load(Relaxed))
    }
}

impl LastWrite {
    #[inline(always)]
    fn of(note: u32) -> Option<Self> {
        let worker = (note >> PLACE).checked_sub(1)?;
        Some(LastWrite { worker, place: note & ((1 << PLACE) - 1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_knows_who_wrote_it_last_and_where() {
        let owner = Owner::default();
        assert_eq!(owner.last(), None);
        assert_eq!(owner.note(0, 15), None);
        assert_eq!(owner.note(7, 0), Some(LastWrite { worker: 0, place: 15 }));
        assert_eq!(owner.last(), Some(LastWrite { worker: 7, place: 0 }));
    }
}
