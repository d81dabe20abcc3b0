//! Which lines of a vector were written since they were last looked at.

use super::{AtomicU64, Relaxed};
use crate::os::memory::{Asking, Pages, Residency, Site};
use std::ops::Range;

/// Slots of a block: eight f64 are a cache line.
pub const BLOCK: usize = 8;
/// Slots of a word of marks.
pub const WORD: usize = 64 * BLOCK;

/// 64 marks.
#[derive(Debug, Default)]
pub struct Word(AtomicU64);

/// A mark for each block of eight slots of a vector: ⌈d/512⌉ words of 8 bytes, a 512th of the vector.
///
/// A mark that is there already is only read, so that of the writers of one line of marks, which stands for 4096 slots, the
/// first few move it between caches and the others share it. What is marked is read by others after a gate, which orders
/// it.
#[derive(Debug)]
pub struct Touched {
    words: Pages<Word>,
    slots: usize,
}

impl Touched {
    /// No mark, for `slots` slots; its pages are to lie at `site`.
    pub fn placed(slots: usize, site: &Site) -> Self {
        Touched { words: Pages::placed(slots.div_ceil(WORD), site), slots }
    }

    /// Marks the block of a slot.
    ///
    /// # Panics
    /// If there is no such slot and none in its word.
    #[inline(always)]
    pub fn mark(&self, slot: usize) {
        self.set(slot / WORD, 1 << (slot / BLOCK % 64));
    }

    /// Marks the blocks of all `slots`; those that the vector does not have are passed over.
    pub fn mark_all(&self, slots: Range<usize>) {
        let end = slots.end.min(self.slots);
        if slots.start >= end {
            return;
        }
        let (first, last) = (slots.start / BLOCK, (end - 1) / BLOCK);
        for word in first / 64..=last / 64 {
            let from = if word == first / 64 { first % 64 } else { 0 };
            let to = if word == last / 64 { last % 64 } else { 63 };
            self.set(word, (u64::MAX << from) & (u64::MAX >> (63 - to)));
        }
    }

    #[inline(always)]
    fn set(&self, word: usize, marks: u64) {
        let word = &self.words[word].0;
        if word.load(Relaxed) & marks != marks {
            word.fetch_or(marks, Relaxed);
        }
    }

    /// Adds the marks from word `first` on to `all`.
    pub fn add_to(&self, first: usize, all: &mut [u64]) {
        all.iter_mut().zip(&self.words[first..]).for_each(|(all, word)| *all |= word.0.load(Relaxed));
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Takes back the marks of these words. For when nobody marks or reads there.
    pub fn clear(&self, words: Range<usize>) {
        self.words[words].iter().for_each(|word| word.0.store(0, Relaxed));
    }

    /// Where its pages lie.
    pub fn residency(&self, asking: Asking) -> Residency {
        self.words.settle(asking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn marked(touched: &Touched) -> BTreeSet<usize> {
        let mut words = vec![0; touched.words()];
        touched.add_to(0, &mut words);
        (0..64 * words.len()).filter(|block| words[block / 64] >> (block % 64) & 1 == 1).collect()
    }

    proptest! {
        #[test]
        fn a_block_is_marked_where_a_slot_of_it_was_and_nowhere_else(
            slots in 1usize..2000,
            one in prop::collection::vec(0usize..2000, 0..30),
            runs in prop::collection::vec((0usize..2100, 0usize..1500), 0..4),
            cleared in 0usize..4,
        ) {
            let touched = Touched::placed(slots, &Site::default());
            let mut expected = BTreeSet::new();
            for slot in one.into_iter().filter(|slot| *slot < slots) {
                touched.mark(slot);
                expected.insert(slot / BLOCK);
            }
            for (start, len) in runs {
                touched.mark_all(start..start + len);
                expected.extend((start..(start + len).min(slots)).map(|slot| slot / BLOCK));
            }
            prop_assert_eq!(&marked(&touched), &expected);
            let words = cleared.min(touched.words())..touched.words();
            touched.clear(words.clone());
            expected.retain(|block| block / 64 < words.start);
            prop_assert_eq!(marked(&touched), expected);
        }
    }

    #[test]
    fn marks_of_several_threads_are_all_there() {
        let touched = Touched::placed(64 * WORD, &Site::default());
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let touched = &touched;
                scope.spawn(move || (thread..64 * 64).step_by(3).for_each(|block| touched.mark(block * BLOCK)));
            }
        });
        assert_eq!(marked(&touched).len(), 64 * 64);
    }
}
