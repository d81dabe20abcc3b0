//! The power law by which columns are drawn.

use crate::data::stream::Stream;

/// Which column is drawn: k with probability ∝ 1/(k + shift)^power, by inversion. A table of starting points
/// keeps the search short.
pub(super) struct Popularity {
    cumulative: Vec<f64>,
    guide: Vec<u32>,
}

impl Popularity {
    pub(super) fn new(columns: usize, power: f64, shift: f64) -> Self {
        let mut total = 0.0;
        let mut cumulative: Vec<f64> = (0..columns)
            .map(|k| {
                total += libm::exp(-power * libm::log((k as f64 + shift) / shift));
                total
            })
            .collect();
        cumulative.iter_mut().for_each(|sum| *sum /= total);
        let mut k = 0;
        let guide = (0..columns).map(|cell| {
            while k + 1 < columns && cumulative[k] <= cell as f64 / columns as f64 {
                k += 1;
            }
            k as u32
        });
        let guide = guide.collect();
        Popularity { cumulative, guide }
    }

    /// A column.
    pub(super) fn draw(&self, stream: &mut Stream) -> usize {
        let u = stream.uniform();
        let columns = self.cumulative.len();
        let cell = ((u * columns as f64) as usize).min(columns - 1);
        // Rounding can put the start a cell too far; from 0 it is right in any case.
        let start = self.guide[cell] as usize;
        let start = if start > 0 && self.cumulative[start - 1] > u { 0 } else { start };
        let found = self.cumulative[start..].iter().position(|&sum| sum > u);
        found.map_or(columns - 1, |k| start + k)
    }

    /// How many columns can be drawn.
    pub(super) fn columns(&self) -> usize {
        self.cumulative.len()
    }
}
