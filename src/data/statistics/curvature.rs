//! L and μ of F(x) = (1/Σw) Σ wᵢ φ(aᵢᵀx, bᵢ) + (λ₂/2)‖x‖², from the spectrum of H = (1/Σw) Σ wᵢ aᵢaᵢᵀ and the curvature of φ.

use super::{Largest, Questions, Rows, degrees::column_counts, largest_eigenvalue, symmetric_eigenvalues};
use crate::loss::Loss;
use serde::Serialize;

/// Largest d whose spectrum is taken in full.
const COLUMNS_MAX: usize = 256;
/// Products of two entries that H may take to make.
const PRODUCTS_MAX: u64 = 4_000_000_000;

/// λmin of H and how it is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Smallest {
    /// λmin; `None` where it was not found.
    pub value: Option<f64>,
    /// How it is known, or why not.
    pub how: String,
}

/// The constants of a loss on a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curvature {
    /// The loss's name.
    pub loss: &'static str,
    /// λ₂.
    pub l2: f64,
    /// sup φ″; `None` for a loss that is not smooth, which has no L.
    pub phi_curvature: Option<f64>,
    /// L of the worst single term: sup φ″ · max‖aᵢ‖² + λ₂.
    pub l_max: Option<f64>,
    /// L of F: sup φ″ · λmax(H) + λ₂, λmax estimated from below.
    pub l: Option<f64>,
    /// λmax(H).
    pub largest: Largest,
    /// λmin(H).
    pub smallest: Smallest,
    /// μ: λ₂ + λmin(H) for the squared loss, whose φ″ is 1 everywhere; λ₂ for the others, whose φ″ comes down to 0.
    /// Where λmin was not found it counts as 0.
    pub mu: f64,
    /// L/μ; `None` where μ is 0 or there is no L.
    pub condition: Option<f64>,
}

/// The constants of `loss` on `rows`, with λ₂, tolerance and seed from `questions`.
pub fn curvature(rows: &Rows, weights: Option<&[f64]>, loss: &Loss, questions: &Questions) -> Curvature {
    let phi = Some(loss.curvature()).filter(|phi| phi.is_finite());
    let l2 = questions.l2;
    let largest = largest_eigenvalue(rows, weights, questions.tolerance, questions.seed);
    let smallest = smallest(rows, weights);
    let steepest = rows.iter().map(|line| line.norm2()).fold(0.0, f64::max);
    let gram = if *loss == Loss::Squared { smallest.value.unwrap_or(0.0) } else { 0.0 };
    let mu = l2 + gram;
    let l = phi.map(|phi| phi * largest.value + l2);
    Curvature {
        loss: loss.name(),
        l2,
        phi_curvature: phi,
        l_max: phi.map(|phi| phi * steepest + l2),
        l,
        largest,
        smallest,
        mu,
        condition: l.filter(|_| mu > 0.0).map(|l| l / mu),
    }
}

fn smallest(rows: &Rows, weights: Option<&[f64]>) -> Smallest {
    let shape = rows.shape();
    let known = |value: f64, how: &str| Smallest { value: Some(value), how: how.into() };
    if shape.columns > shape.rows {
        return known(0.0, "exact: there are more columns than rows");
    }
    if !shape.dense && column_counts(rows).contains(&0) {
        return known(0.0, "exact: a column occurs in no row");
    }
    let products: u64 = rows.iter().map(|line| (line.values.len() as u64).pow(2)).sum();
    if shape.columns > COLUMNS_MAX || products > PRODUCTS_MAX {
        let how = format!("not computed: d above {COLUMNS_MAX}, or more than {PRODUCTS_MAX} products to make H");
        return Smallest { value: None, how };
    }
    let d = shape.columns;
    let values = symmetric_eigenvalues(gram(rows, weights), d);
    // What rounding makes negative is 0.
    known(values.first().copied().unwrap_or(0.0).max(0.0), "all eigenvalues by Jacobi rotations")
}

/// H, row after row.
fn gram(rows: &Rows, weights: Option<&[f64]>) -> Vec<f64> {
    let d = rows.shape().columns;
    let total = weights.map_or(rows.shape().rows as f64, |weights| weights.iter().sum());
    let mut h = vec![0.0; d * d];
    for (i, line) in rows.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[i]) / total;
        for (j, value) in line.entries() {
            line.add_to(&mut h[j * d..(j + 1) * d], weight * value);
        }
    }
    h
}
