//! How long a line is left alone that did not move when it was visited.

use super::{AtomicU8, Relaxed};

/// Rests of a line in a row after which they grow no longer: the longest is 2³ − 1 visits.
const LEVELS: u8 = 3;

/// The rest of one line: after a visit that did not move it, it is passed over once, then three times, then seven times at
/// a time, until one moves it. A dual variable that has come to its bound mostly stays there, and a visit that finds
/// it there costs as much as one that moves it; LIBLINEAR's shrinking (Hsieh et al., ICML 2008) sets such rows aside by a
/// threshold, and must look at all of them again at the end. Here none is set aside for good.
///
/// One worker visits a line in an epoch, and workers meet between epochs.
#[derive(Debug)]
pub struct Rest(AtomicU8);

impl Rest {
    /// Whether it is to be passed over this time, which counts as one of the times. Without a branch: nobody could foresee
    /// it.
    #[inline(always)]
    pub fn passes(&self) -> bool {
        let now = self.0.load(Relaxed);
        let rests = now & 0x0f != 0;
        self.0.store(now - u8::from(rests), Relaxed);
        rests
    }

    /// Whether its last visit moved it, or none came yet: neither a visit that did not nor a time that it was passed over leaves
    /// level 0.
    #[inline(always)]
    pub fn moved(&self) -> bool {
        self.0.load(Relaxed) == 0
    }

    /// It was visited.
    #[inline(always)]
    pub fn visited(&self, moved: bool) {
        let level = if moved { 0 } else { ((self.0.load(Relaxed) >> 4) + 1).min(LEVELS) };
        self.0.store((level << 4) | ((1 << level) - 1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_moved_after_a_visit_that_moved_it_and_not_while_it_rests() {
        let rest = Rest(AtomicU8::new(0));
        for moved in [false, true, false, false, false, true] {
            rest.visited(moved);
            loop {
                assert_eq!(rest.moved(), moved);
                if !rest.passes() {
                    break;
                }
            }
        }
    }

    #[test]
    fn rests_grow_to_seven_and_end_when_the_line_moves() {
        let rest = Rest(AtomicU8::new(0));
        let rests_after = |moved| {
            rest.visited(moved);
            (0..).take_while(|_| rest.passes()).count()
        };
        assert_eq!([false, false, false, false, true, false].map(rests_after), [1, 3, 7, 7, 0, 1]);
    }
}
