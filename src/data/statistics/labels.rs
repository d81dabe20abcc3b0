//! Labels: how many of each, or how they spread.

use super::Distribution;
use serde::Serialize;
use std::collections::HashMap;

/// More different values than this are no classes.
const CLASSES_MAX: usize = 20;

/// The rows of one label.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Class {
    /// The label.
    pub value: f64,
    /// Rows that have it.
    pub rows: usize,
    /// The same as a fraction.
    pub share: f64,
}

/// Labels, described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Labels {
    /// How many different values.
    pub distinct: usize,
    /// Each value with its rows, ascending; empty where there are more than 20.
    pub classes: Vec<Class>,
    /// How they spread.
    pub distribution: Distribution,
    /// Their standard deviation.
    pub standard_deviation: f64,
}

/// Describes labels. −0 and 0 are one value.
pub fn describe_labels(labels: &[f64]) -> Labels {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    labels.iter().for_each(|&label| *counts.entry((label + 0.0).to_bits()).or_default() += 1);
    let n = labels.len().max(1) as f64;
    let mut classes = Vec::new();
    if counts.len() <= CLASSES_MAX {
        let class =
            |(&bits, &rows): (&u64, &usize)| Class { value: f64::from_bits(bits), rows, share: rows as f64 / n };
        classes.extend(counts.iter().map(class));
        classes.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
    }
    let distribution = Distribution::of(labels.to_vec());
    let variance = labels.iter().map(|label| (label - distribution.mean).powi(2)).sum::<f64>() / n;
    Labels { distinct: counts.len(), classes, distribution, standard_deviation: variance.sqrt() }
}
