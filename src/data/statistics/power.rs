//! The largest eigenvalue of H = (1/Σw) Σ wᵢ aᵢaᵢᵀ (AᵀA/n without weights) by power iteration.

use super::Rows;
use crate::data::stream::{Stream, Use};
use serde::Serialize;

/// Entries that the iteration looks at before it gives up.
const ENTRIES_MAX: u64 = 4_000_000_000;

/// An estimate of λmax.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Largest {
    /// vᵀHv for a unit v: never above λmax.
    pub value: f64,
    /// ‖Hv − λv‖/λ: some eigenvalue lies within λ times this.
    pub residual: f64,
    /// Products with H.
    pub iterations: usize,
    /// Whether the residual came down to the tolerance.
    pub converged: bool,
}

/// H v, and Σwᵢ(aᵢᵀv)²/Σw.
fn product(rows: &Rows, weights: Option<&[f64]>, v: &[f64], out: &mut [f64]) -> f64 {
    out.fill(0.0);
    let total = weights.map_or(rows.shape().rows as f64, |weights| weights.iter().sum());
    let mut quotient = 0.0;
    for (i, line) in rows.iter().enumerate() {
        let margin = line.dot(v);
        let slope = weights.map_or(1.0, |weights| weights[i]) * margin / total;
        quotient += slope * margin;
        line.add_to(out, slope);
    }
    quotient
}

/// λmax of H from a random start, until the relative residual is at most `tolerance` or 4·10⁹ entries were looked at.
/// O(nnz) an iteration.
pub fn largest_eigenvalue(rows: &Rows, weights: Option<&[f64]>, tolerance: f64, seed: u64) -> Largest {
    let shape = rows.shape();
    let mut stream = Stream::new(seed, Use::Start, 0);
    let mut v: Vec<f64> = (0..shape.columns).map(|_| stream.normal()).collect();
    normalise(&mut v);
    let mut next = vec![0.0; shape.columns];
    let limit = (ENTRIES_MAX / (2 * shape.nonzeros + shape.columns as u64).max(1)).clamp(10, 100_000);
    let mut found = Largest { value: 0.0, residual: 0.0, iterations: 0, converged: false };
    while !found.converged && found.iterations < limit as usize {
        let value = product(rows, weights, &v, &mut next);
        let off = next.iter().zip(&v).map(|(h, x)| (h - value * x).powi(2)).sum::<f64>().sqrt();
        let residual = if value > 0.0 { off / value } else { 0.0 };
        let iterations = found.iterations + 1;
        found = Largest { value, residual, iterations, converged: residual <= tolerance };
        std::mem::swap(&mut v, &mut next);
        normalise(&mut v);
    }
    found
}

fn normalise(v: &mut [f64]) {
    let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 {
        v.iter_mut().for_each(|x| *x /= norm);
    }
}
