//! The conflict graph: rows are its vertices, two that share a column are joined.

use super::{Rows, degrees::column_counts};
use crate::data::stream::{Stream, Use};
use serde::Serialize;

/// Rows whose columns are the most frequent, tried for ρ beside a sample.
const SUSPECTS: usize = 16;
/// Rows of a sample, at the least.
const SAMPLE_MIN: u64 = 100;
/// A column that more than one row in so many has is kept as a bit a row: 4 bytes an entry of the data at most.
const DENSE_ONE_IN: u64 = 32;

/// A number and how it was got.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Estimate {
    /// Counted in full.
    Exact {
        /// The number.
        value: f64,
    },
    /// The mean of a sample without replacement.
    Sampled {
        /// The mean.
        value: f64,
        /// Its standard error.
        standard_error: f64,
        /// Rows in the sample.
        rows: usize,
    },
    /// Known to lie between two bounds.
    Between {
        /// Reached by a row that was looked at.
        value: f64,
        /// Not exceeded by any.
        at_most: f64,
    },
}

impl Estimate {
    /// The number itself: exact, the mean, or the lower bound.
    pub fn value(&self) -> f64 {
        match *self {
            Estimate::Exact { value } | Estimate::Sampled { value, .. } | Estimate::Between { value, .. } => value,
        }
    }
}

/// What the conflict graph says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConflictDegrees {
    /// ρ.
    pub rho: Estimate,
    /// Δ̄, the average degree.
    pub conflict_degree: Estimate,
}

/// ρ and Δ̄ of `rows`: exact if that takes at most `steps` steps, else Δ̄ from a sample of rows that takes about so many,
/// and ρ between the greatest that was met, in the sample or in the 16 rows whose columns are the most
/// frequent, and max over the rows of Σⱼ cⱼ/n. Dense rows all meet.
///
/// A step marks one row that shares a column, or 64 rows at once for a column that more than one row in 32 has: about
/// Σⱼ cⱼ min(cⱼ, n/64) steps, and n/32 for each row that has such a column.
pub fn conflict_degrees(rows: &Rows, steps: u64, seed: u64) -> ConflictDegrees {
    let shape = rows.shape();
    let n = shape.rows;
    if shape.dense || n == 0 {
        let rho = Estimate::Exact { value: if n == 0 { 0.0 } else { 1.0 } };
        return ConflictDegrees { rho, conflict_degree: Estimate::Exact { value: n.saturating_sub(1) as f64 } };
    }
    let graph = Graph::new(rows);
    let work = graph.steps(rows);
    let exact = work <= u128::from(steps);
    let mut seen = Seen { last: vec![0; n], question: 0, bits: vec![0; n.div_ceil(64)] };
    let mut meets: Vec<u64> = Vec::new();
    let mut sample: Vec<u32> = (0..n as u32).collect();
    if !exact {
        let size = (u128::from(steps) * n as u128 / work).max(u128::from(SAMPLE_MIN)).min(n as u128);
        sample = Stream::new(seed, Use::Sample, 0).permutation(n);
        sample.truncate(size as usize);
    }
    meets.extend(sample.iter().map(|&i| graph.meets(rows, i, &mut seen)));
    let greatest = meets.iter().copied().max().unwrap_or(0);
    if sample.len() == n {
        let mean = meets.iter().map(|&meets| others(meets)).sum::<f64>() / n as f64;
        let rho = Estimate::Exact { value: greatest as f64 / n as f64 };
        return ConflictDegrees { rho, conflict_degree: Estimate::Exact { value: mean } };
    }
    let (suspects, bound) = graph.suspects(rows);
    let greatest = suspects.iter().map(|&i| graph.meets(rows, i, &mut seen)).fold(greatest, u64::max);
    let (value, at_most) = (greatest as f64 / n as f64, bound as f64 / n as f64);
    let rho = if value == at_most { Estimate::Exact { value } } else { Estimate::Between { value, at_most } };
    ConflictDegrees { rho, conflict_degree: mean_of(&meets, n) }
}

/// Rows met other than the row itself; an empty row meets none, not even itself.
fn others(meets: u64) -> f64 {
    meets.saturating_sub(1) as f64
}

/// The mean of a sample without replacement from n, and its standard error.
fn mean_of(meets: &[u64], n: usize) -> Estimate {
    let size = meets.len() as f64;
    let mean = meets.iter().map(|&meets| others(meets)).sum::<f64>() / size;
    let squares = meets.iter().map(|&meets| (others(meets) - mean).powi(2)).sum::<f64>();
    let variance = squares / (size - 1.0).max(1.0) / size * (1.0 - size / n as f64);
    Estimate::Sampled { value: mean, standard_error: variance.sqrt(), rows: meets.len() }
}

/// Which rows were counted.
struct Seen {
    /// The last question in which each row was counted one by one.
    last: Vec<u64>,
    question: u64,
    /// Rows counted 64 at once, a bit a row.
    bits: Vec<u64>,
}

/// The rows of every column.
struct Graph {
    counts: Vec<u64>,
    starts: Vec<usize>,
    rows: Vec<u32>,
    /// For the columns of many rows, the same as a bit a row; empty for the others.
    bits: Vec<Vec<u64>>,
    /// Rows that have entries: no row meets more.
    alive: u64,
}

impl Graph {
    fn new(data: &Rows) -> Self {
        let counts = column_counts(data);
        let mut starts = vec![0];
        counts.iter().for_each(|&count| starts.push(starts[starts.len() - 1] + count as usize));
        let mut rows = vec![0; starts[counts.len()]];
        let mut next = starts.clone();
        for (i, line) in data.iter().enumerate() {
            for &j in line.columns.unwrap_or(&[]) {
                rows[next[j as usize]] = i as u32;
                next[j as usize] += 1;
            }
        }
        let n = data.shape().rows;
        let many = |j: usize| counts[j] * DENSE_ONE_IN > n as u64;
        let bits_of = |j: usize| {
            let mut bits = vec![0; if many(j) { n.div_ceil(64) } else { 0 }];
            if many(j) {
                rows[starts[j]..starts[j + 1]].iter().for_each(|&k| mark(&mut bits, k));
            }
            bits
        };
        let bits = (0..counts.len()).map(bits_of).collect();
        let alive = data.iter().filter(|line| !line.values.is_empty()).count() as u64;
        Graph { counts, starts, rows, bits, alive }
    }

    /// Steps that it takes to ask about every row.
    fn steps(&self, data: &Rows) -> u128 {
        let words = data.shape().rows.div_ceil(64) as u128;
        let column = |j: &u32| match self.bits[*j as usize].is_empty() {
            true => u128::from(self.counts[*j as usize]),
            false => words,
        };
        let row = |columns: &[u32]| {
            let many = columns.iter().any(|&j| !self.bits[j as usize].is_empty());
            columns.iter().map(column).sum::<u128>() + if many { 2 * words } else { 0 }
        };
        data.iter().map(|line| row(line.columns.unwrap_or(&[]))).sum()
    }

    /// How many rows meet row `i`, itself among them.
    fn meets(&self, data: &Rows, i: u32, seen: &mut Seen) -> u64 {
        let columns = data.line(i as usize).columns.unwrap_or(&[]);
        match columns.iter().any(|&j| !self.bits[j as usize].is_empty()) {
            true => self.meets_by_bits(columns, &mut seen.bits),
            false => self.meets_one_by_one(columns, seen),
        }
    }

    fn meets_by_bits(&self, columns: &[u32], met: &mut [u64]) -> u64 {
        met.fill(0);
        for &j in columns {
            let bits = &self.bits[j as usize];
            if bits.is_empty() {
                self.rows_of(j).iter().for_each(|&k| mark(met, k));
            } else {
                met.iter_mut().zip(bits).for_each(|(met, bits)| *met |= bits);
            }
        }
        met.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn meets_one_by_one(&self, columns: &[u32], seen: &mut Seen) -> u64 {
        seen.question += 1;
        let mut count = 0;
        for &j in columns {
            for &k in self.rows_of(j) {
                let last = std::mem::replace(&mut seen.last[k as usize], seen.question);
                count += u64::from(last != seen.question);
            }
        }
        count
    }

    fn rows_of(&self, j: u32) -> &[u32] {
        &self.rows[self.starts[j as usize]..self.starts[j as usize + 1]]
    }

    /// The rows that may meet the most others, and a bound of what any row meets.
    fn suspects(&self, data: &Rows) -> (Vec<u32>, u64) {
        let reach = |columns: &[u32]| columns.iter().map(|&j| self.counts[j as usize]).sum::<u64>();
        let mut reaches: Vec<(u64, u32)> =
            data.iter().zip(0..).map(|(line, i)| (reach(line.columns.unwrap_or(&[])), i)).collect();
        reaches.sort_unstable_by_key(|&(reach, i)| (std::cmp::Reverse(reach), i));
        let bound = reaches.first().map_or(0, |first| first.0).min(self.alive);
        (reaches.iter().take(SUSPECTS).map(|reach| reach.1).collect(), bound)
    }
}

fn mark(bits: &mut [u64], row: u32) {
    bits[row as usize / 64] |= 1 << (row % 64);
}
