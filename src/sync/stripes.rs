//! Striped locks over the coordinates of one replica.

use super::{AtomicBool, Ordering};
use crossbeam_utils::{Backoff, CachePadded};

const WORDS: usize = 8;
/// Number of locks.
const STRIPES: usize = WORDS * 64;
/// log₂ of the coordinates that share a stripe in turn: eight f64 are a cache line.
const LINE: u32 = 3;

/// 512 spin locks; coordinate j belongs to stripe ⌊j/8⌋ mod 512.
#[derive(Debug)]
pub struct Stripes(Box<[CachePadded<AtomicBool>]>);

impl Default for Stripes {
    fn default() -> Self {
        Stripes((0..STRIPES).map(|_| CachePadded::new(AtomicBool::new(false))).collect())
    }
}

/// The locked stripes of one update; dropping it releases them.
#[derive(Debug)]
pub struct Held<'a> {
    stripes: &'a Stripes,
    set: [u64; WORDS],
    waits: u32,
}

impl Held<'_> {
    /// How many of the stripes another update held when this one came.
    pub fn waits(&self) -> u32 {
        self.waits
    }
}

impl Stripes {
    /// The first coordinate behind `j` that is not next to it in its stripe.
    pub fn end_of(j: usize) -> usize {
        ((j >> LINE) + 1) << LINE
    }

    /// Locks the stripes of `columns`. Stripes are taken in ascending order, so two updates cannot wait for each other
    /// in a ring. The set lives on the stack: nothing is allocated.
    pub fn hold(&self, columns: impl Iterator<Item = usize>) -> Held<'_> {
        let mut set = [0u64; WORDS];
        for column in columns {
            let stripe = (column >> LINE) % STRIPES;
            set[stripe / 64] |= 1 << (stripe % 64);
        }
        let mut waits = 0;
        for stripe in members(set) {
            let backoff = Backoff::new();
            // Acquire pairs with the Release of the holder before: its writes to the parameters are visible.
            let mut waited = 0;
            while self.0[stripe].swap(true, Ordering::Acquire) {
                waited = 1;
                backoff.snooze();
            }
            waits += waited;
        }
        Held { stripes: self, set, waits }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        for stripe in members(self.set) {
            self.stripes.0[stripe].store(false, Ordering::Release);
        }
    }
}

fn members(set: [u64; WORDS]) -> impl Iterator<Item = usize> {
    (0..WORDS).flat_map(move |word| {
        let mut bits = set[word];
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(word * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{Lossy, Merge, SharedF64, Slot};

    #[test]
    fn whoever_finds_a_stripe_held_counts_it() {
        let stripes = Stripes::default();
        let first = stripes.hold([0, 800].into_iter());
        let waits = std::thread::scope(|scope| {
            let second = scope.spawn(|| stripes.hold([800, 0, 16].into_iter()).waits());
            std::thread::sleep(std::time::Duration::from_millis(50));
            drop(first);
            second.join().expect("no panic")
        });
        // It stood before the first of the two; by the time it came to the other that was free.
        assert_eq!(waits, 1);
        assert_eq!(stripes.hold([0].into_iter()).waits(), 0);
    }

    #[test]
    fn holders_of_a_common_stripe_lose_no_plain_update() {
        let (stripes, slot) = (Stripes::default(), SharedF64::new(0.0));
        std::thread::scope(|scope| {
            for first in [0, 8, 4096] {
                let (stripes, slot) = (&stripes, &slot);
                scope.spawn(move || {
                    for _ in 0..2000 {
                        let _held = stripes.hold([first, 100].into_iter());
                        Lossy::add(slot, 1.0);
                    }
                });
            }
        });
        assert_eq!(slot.read(), 6000.0);
    }
}
