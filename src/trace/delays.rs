//! How long updates were delayed, as a histogram that a worker fills without allocating.

use serde::Serialize;

/// Delays below this are counted one by one.
const EXACT: u64 = 64;
/// Above, each octave has so many cells: a cell's largest value is at most 1/32 more than its least.
const CELLS: usize = 32;
/// Octaves from [`EXACT`] to 2³².
const OCTAVES: usize = 26;

/// Counts of delays.
#[derive(Clone, Debug)]
pub struct Delays {
    cells: Box<[u64]>,
    updates: u64,
    sum: f64,
    max: u64,
}

/// What became of the delays of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelaySummary {
    /// By which order updates are numbered: `after write`, the order in which they come to their writes. An update's delay is
    /// the number of updates of its replica that came before it in this order and had not landed when it began to read.
    pub label: &'static str,
    /// Updates measured; an update of `minibatch` is one, whatever its rows.
    pub updates: u64,
    /// Their mean, τ_avg.
    pub mean: f64,
    /// 99 % are no longer than this, exact below 64 and to a thirty-second above.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

impl Default for Delays {
    fn default() -> Self {
        Delays { cells: vec![0; EXACT as usize + OCTAVES * CELLS].into(), updates: 0, sum: 0.0, max: 0 }
    }
}

fn cell(delay: u64) -> usize {
    if delay < EXACT {
        return delay as usize;
    }
    let octave = (delay.ilog2() - EXACT.ilog2()) as usize;
    let within = (delay >> (delay.ilog2() - CELLS.ilog2())) as usize % CELLS;
    if octave < OCTAVES { EXACT as usize + octave * CELLS + within } else { EXACT as usize + OCTAVES * CELLS - 1 }
}

/// The largest delay of a cell.
fn largest(cell: usize) -> u64 {
    let Some(above) = cell.checked_sub(EXACT as usize) else { return cell as u64 };
    let width = EXACT / CELLS as u64 * (1 << (above / CELLS));
    (CELLS + above % CELLS + 1) as u64 * width - 1
}

impl Delays {
    /// Counts one more.
    pub fn count(&mut self, delay: u64) {
        self.cells[cell(delay)] += 1;
        self.updates += 1;
        self.sum += delay as f64;
        self.max = self.max.max(delay);
    }

    /// Adds what another counted.
    pub fn add(&mut self, other: &Delays) {
        self.cells.iter_mut().zip(&other.cells).for_each(|(cell, more)| *cell += more);
        self.updates += other.updates;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// `None` where nothing was counted.
    pub fn summary(&self) -> Option<DelaySummary> {
        let rank = self.updates - self.updates / 100;
        let mut seen = 0;
        let reached = |count: &u64| {
            seen += count;
            seen >= rank
        };
        let cell = self.cells.iter().position(reached)?;
        (self.updates > 0).then(|| DelaySummary {
            label: "after write",
            updates: self.updates,
            mean: self.sum / self.updates as f64,
            p99: largest(cell).min(self.max),
            max: self.max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_holds_what_is_within_a_thirty_second_of_its_largest() {
        let mut before = None;
        for delay in (0..5000).chain([1 << 20, (1 << 31) + 12345, u64::from(u32::MAX)]) {
            let top = largest(cell(delay));
            assert!(top >= delay && (top - delay) as f64 <= delay as f64 / 32.0, "{delay}: {top}");
            assert!(before <= Some(cell(delay)));
            before = Some(cell(delay));
        }
    }

    #[test]
    fn a_summary_is_of_all_that_was_counted() {
        assert_eq!(Delays::default().summary(), None);
        let (mut all, mut other) = (Delays::default(), Delays::default());
        (0..990).for_each(|_| all.count(3));
        (0..10).for_each(|_| other.count(1000));
        all.add(&other);
        let summary = all.summary().expect("counted");
        assert_eq!((summary.updates, summary.p99, summary.max), (1000, 3, 1000));
        assert!((summary.mean - 12.97).abs() < 1e-12);
    }
}
