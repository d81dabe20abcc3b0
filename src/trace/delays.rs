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

/// Ranges of coordinates that are told apart.
pub const BLOCKS: usize = 16;

/// The delays of one worker's sampled updates.
#[derive(Clone, Debug)]
pub struct DelayTally {
    /// In updates of all other workers of the replica.
    pub all: Delays,
    /// In those of workers on other nodes.
    pub far: Delays,
    /// [`DelayTally::all`] of the updates that touch each of [`BLOCKS`] equal ranges of slots.
    pub blocks: Vec<Delays>,
    width: usize,
}

impl DelayTally {
    /// None yet, on `width` slots.
    pub fn new(width: usize) -> Self {
        let none = Delays::default;
        DelayTally { all: none(), far: none(), blocks: (0..BLOCKS).map(|_| none()).collect(), width }
    }

    /// Counts an update during which workers of its node wrote `near` others and those of other nodes `far`; it touches the
    /// slots `touched`.
    pub fn count(&mut self, near: u64, far: u64, touched: impl Iterator<Item = usize>) {
        self.all.count(near + far);
        self.far.count(far);
        let mut met = [false; BLOCKS];
        touched.for_each(|slot| met[(slot * BLOCKS / self.width.max(1)).min(BLOCKS - 1)] = true);
        let blocks = self.blocks.iter_mut().zip(met);
        blocks.filter(|(_, met)| *met).for_each(|(block, _)| block.count(near + far));
    }

    /// Adds what another counted.
    pub fn add(&mut self, other: &DelayTally) {
        self.all.add(&other.all);
        self.far.add(&other.far);
        self.blocks.iter_mut().zip(&other.blocks).for_each(|(block, more)| block.add(more));
    }
}

/// What became of the delays of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelaySummary {
    /// By which order updates are numbered: `after write`, the order in which they come to their writes. An update's delay is
    /// the number of updates of its replica that came before it in this order and had not landed when it began to read.
    /// `sampled`: the number of updates of its replica that other workers finished between its read and the end of its write.
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

    /// How many updates were delayed so long: pairs of a delay, exact below 64 and else the longest of a cell, and a count
    /// above 0.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let cells = self.cells.iter().enumerate().filter(|(_, count)| **count > 0);
        cells.map(|(cell, &count)| (largest(cell), count))
    }

    /// The same over the powers of two, 0, 1, 2 to 3, 4 to 7, and so on: pairs of the longest delay of an octave and a count
    /// above 0.
    pub fn histogram(&self) -> Vec<(u64, u64)> {
        let mut octaves: Vec<(u64, u64)> = Vec::new();
        for (delay, count) in self.counts() {
            let upto = delay.checked_ilog2().map_or(0, |octave| (2 << octave) - 1);
            match octaves.last_mut() {
                Some(last) if last.0 == upto => last.1 += count,
                _ => octaves.push((upto, count)),
            }
        }
        octaves
    }

    /// `None` where nothing was counted; `label` as in [`DelaySummary::label`].
    pub fn summary(&self, label: &'static str) -> Option<DelaySummary> {
        let rank = self.updates - self.updates / 100;
        let mut seen = 0;
        let reached = |count: &u64| {
            seen += count;
            seen >= rank
        };
        let cell = self.cells.iter().position(reached)?;
        (self.updates > 0).then(|| DelaySummary {
            label,
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
    fn a_histogram_goes_by_octaves() {
        let mut delays = Delays::default();
        [0, 0, 1, 2, 3, 3, 64, 127, 128, 1000].iter().for_each(|&delay| delays.count(delay));
        assert_eq!(delays.histogram(), [(0, 2), (1, 1), (3, 3), (127, 2), (255, 1), (1023, 1)]);
        assert_eq!(Delays::default().histogram(), []);
    }

    #[test]
    fn a_tally_tells_far_from_near_and_block_from_block() {
        let mut tally = DelayTally::new(160);
        tally.count(2, 1, [0, 9, 10].into_iter());
        tally.count(5, 0, [159].into_iter());
        let longest = |delays: &Delays| delays.summary("sampled").map(|summary| summary.max);
        assert_eq!((longest(&tally.all), longest(&tally.far)), (Some(5), Some(1)));
        let blocks: Vec<_> = tally.blocks.iter().map(longest).collect();
        assert_eq!((blocks[0], blocks[1], blocks[2], blocks[15]), (Some(3), Some(3), None, Some(5)));
    }

    #[test]
    fn a_summary_is_of_all_that_was_counted() {
        assert_eq!(Delays::default().summary("after write"), None);
        let (mut all, mut other) = (Delays::default(), Delays::default());
        (0..990).for_each(|_| all.count(3));
        (0..10).for_each(|_| other.count(1000));
        all.add(&other);
        let summary = all.summary("after write").expect("counted");
        assert_eq!((summary.updates, summary.p99, summary.max), (1000, 3, 1000));
        assert!((summary.mean - 12.97).abs() < 1e-12);
    }
}
