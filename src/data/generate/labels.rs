//! x*, margins and labels.

use super::{Intercept, Rule, Task};
use crate::data::stream::{Stream, Use};

/// x* before scaling: normal numbers on the support. Half of the support is drawn uniformly, half by `popular`.
pub(super) fn truth(seed: u64, columns: usize, support: f64, popular: impl Fn(&mut Stream) -> usize) -> Vec<f64> {
    let wanted = ((support * columns as f64).round() as usize).clamp(1, columns);
    let mut stream = Stream::new(seed, Use::Truth, 0);
    let mut chosen = vec![wanted == columns; columns];
    let mut count = if wanted == columns { columns } else { 0 };
    while count < wanted {
        let column = if stream.uniform() < 0.5 { stream.below(columns) } else { popular(&mut stream) };
        if !std::mem::replace(&mut chosen[column], true) {
            count += 1;
        }
    }
    chosen.into_iter().map(|on| if on { stream.normal() } else { 0.0 }).collect()
}

/// Labels of rows whose margins without intercept are `margins`; scales x* and gives the intercept. Sums go in row
/// order.
pub(super) fn label(seed: u64, rule: &Rule, truth: &mut [f64], margins: &mut [f64]) -> (Vec<f64>, f64) {
    let n = margins.len() as f64;
    let mean = margins.iter().sum::<f64>() / n;
    let variance = margins.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / n;
    // Rows that all have one margin have no scale to take.
    let scale = if variance > 0.0 { 1.0 / variance.sqrt() } else { 1.0 };
    truth.iter_mut().for_each(|x| *x *= scale);
    margins.iter_mut().for_each(|z| *z *= scale);
    let intercept = match rule.intercept {
        Intercept::Fixed(c) => c,
        Intercept::Balanced => -median(margins),
    };
    let one = |(i, z): (usize, &f64)| {
        let mut stream = Stream::new(seed, Use::Noise, i as u64);
        match rule.task {
            Task::Regression => z + intercept + rule.noise * stream.normal(),
            Task::Classification if z + intercept + rule.noise * stream.logistic() > 0.0 => 1.0,
            Task::Classification => -1.0,
        }
    };
    (margins.iter().enumerate().map(one).collect(), intercept)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}
