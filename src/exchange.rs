//! How replicas are drawn together. A rule is one file below and two lines here.
//!
//! All workers meet after the same number of updates. Each combines its range of the coordinates over all replicas into
//! what is *agreed*, and each replica then takes over what is agreed: 8(K + 1)d/W bytes read and 8d/W written a worker for
//! the first, 8d for the second, W workers and K replicas.

use crate::config::{Every, ExchangeKind};

mod average;
mod sum;

/// A rule for one block of coordinates.
trait Rule {
    /// agreed ← what follows from `agreed` (where all replicas started) and where each is now.
    fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>]);
}

/// Updates between exchanges such that exchanges cost about a twentieth of the time of the updates between them, by rough
/// prices: 4 µs to meet and 5 ns a coordinate, which moves between caches twice; 20 ns an update and 2.2 ns an entry, or
/// 0.3 ns in a dense line.
fn paced(width: usize, line_nonzeros: f64, dense: bool) -> usize {
    let entry_ns = if dense { 0.3 } else { 2.2 };
    let (meeting_ns, update_ns) = (4000.0 + 5.0 * width as f64, 20.0 + entry_ns * line_nonzeros);
    (20.0 * meeting_ns / update_ns).ceil() as usize
}

/// A rule with its numbers.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    kind: ExchangeKind,
}

impl Exchange {
    /// As set.
    pub fn new(kind: ExchangeKind) -> Self {
        Exchange { kind }
    }

    /// Updates of one worker between two exchanges; `None` is once an epoch. `width` parameters, lines of
    /// `line_nonzeros` entries, which may be `dense`.
    pub fn every(&self, width: usize, line_nonzeros: f64, dense: bool) -> Option<usize> {
        let (ExchangeKind::Average { every } | ExchangeKind::Sum { every }) = self.kind;
        match every {
            Every::Auto => Some(paced(width, line_nonzeros, dense)),
            Every::Epoch => None,
            Every::Updates(updates) => Some(updates),
        }
    }

    /// Whether all replicas' changes are added, so that they may move too far together.
    pub fn sums(&self) -> bool {
        matches!(self.kind, ExchangeKind::Sum { .. })
    }

    /// agreed ← what the rule makes of it and of the replicas, all on the same coordinates; `damping` is σ′.
    pub fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>], damping: f64) {
        match self.kind {
            ExchangeKind::Average { .. } => average::Average.combine(agreed, replicas),
            ExchangeKind::Sum { .. } => sum::Sum { damping }.combine(agreed, replicas),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_of_its_own_is_a_twentieth_of_the_time() {
        let every = |every| Exchange::new(ExchangeKind::Sum { every }).every(1000, 50.0, false);
        // 20 (4000 + 5 · 1000) ns over 20 + 2.2 · 50 ns.
        assert_eq!(every(Every::Auto), Some(1385));
        let dense = Exchange::new(ExchangeKind::Sum { every: Every::Auto }).every(1000, 1000.0, true);
        // 9000 ns over 20 + 0.3 · 1000 ns.
        assert_eq!(dense, Some(563));
        assert_eq!((every(Every::Epoch), every(Every::Updates(7))), (None, Some(7)));
    }

    #[test]
    fn each_rule_follows_its_formula() {
        let replicas = [vec![1.0, 4.0], vec![3.0, 0.0]];
        let combined = |kind| {
            let mut agreed = vec![1.0, 2.0];
            Exchange::new(kind).combine(&mut agreed, &replicas, 2.0);
            agreed
        };
        assert_eq!(combined(ExchangeKind::Average { every: Every::Epoch }), [2.0, 2.0]);
        // 1 + (0 + 2)/2 and 2 + (2 − 2)/2.
        assert_eq!(combined(ExchangeKind::Sum { every: Every::Epoch }), [2.0, 2.0]);
    }
}
