//! What a data set is like for a method that updates coordinates without locks: its degrees, Hogwild!'s constants Ω, Δ
//! and ρ, the degree of its conflict graph, its hottest columns, and the constants L and μ of a loss on it.
//!
//! Two rows conflict if they share a column. With n rows, row i having mᵢ entries and column j being in cⱼ rows:
//!
//! * Ω = max mᵢ, Δ = max cⱼ/n, ρ = the largest fraction of the rows that meet one row, itself among them (Niu, Recht,
//!   Ré, Wright: Hogwild!, 2011);
//! * the average conflict degree Δ̄ = the mean over the rows of how many *other* rows each meets (Mania and others:
//!   Perturbed iterate analysis, 2017).

use super::{Data, Shape, room};
use crate::{error::Result, loss::Loss};
use serde::Serialize;

mod conflict;
mod curvature;
mod degrees;
mod eigen;
mod labels;
mod power;
mod rows;

pub use conflict::{ConflictDegrees, Estimate, conflict_degrees};
pub use curvature::{Curvature, Smallest, curvature};
pub use degrees::{Degrees, Distribution, HotColumn, degrees};
pub use eigen::symmetric_eigenvalues;
pub use labels::{Class, Labels, describe_labels};
pub use power::{Largest, largest_eigenvalue};
pub use rows::Rows;

/// What is to be found out, and for how much work.
#[derive(Clone, Copy, Debug)]
pub struct Questions {
    /// Steps that the conflict degrees may take: a step looks at one row that shares one column. Beyond, rows are
    /// sampled.
    pub conflict_steps: u64,
    /// How many of the hottest columns are listed.
    pub hottest: usize,
    /// The loss whose L and μ are wanted.
    pub loss: Option<Loss>,
    /// λ₂.
    pub l2: f64,
    /// The power iteration stops at this relative residual.
    pub tolerance: f64,
    /// Seed of samples and starting points.
    pub seed: u64,
}

impl Default for Questions {
    fn default() -> Self {
        Questions { conflict_steps: 1_000_000_000, hottest: 10, loss: None, l2: 0.0, tolerance: 1e-3, seed: 1 }
    }
}

/// All that [`inspect`] finds.
#[derive(Clone, Debug, Serialize)]
pub struct Statistics {
    /// n.
    pub n: usize,
    /// d.
    pub d: usize,
    /// Stored entries.
    pub nnz: u64,
    /// nnz/(n d).
    pub density: f64,
    /// Whether rows are stored densely.
    pub dense: bool,
    /// Degrees of rows and columns, Ω, Δ, hottest columns.
    #[serde(flatten)]
    pub degrees: Degrees,
    /// ρ and Δ̄.
    #[serde(flatten)]
    pub conflict: ConflictDegrees,
    /// Labels, as in the file.
    pub labels: Labels,
    /// Weights, where there are any.
    pub weights: Option<Distribution>,
    /// ‖aᵢ‖.
    pub row_norms: Distribution,
    /// L and μ, where a loss was named.
    pub curvature: Option<Curvature>,
}

/// Finds out all of `questions` about `data`, whose rows are taken into memory.
///
/// # Errors
/// Rows or labels that cannot be had, or more columns than there is memory to count.
pub fn inspect(data: &Data, questions: &Questions) -> Result<Statistics> {
    check_room(data)?;
    let labels = describe_labels(&data.source.labels()?);
    let rows = Rows::take(data.source.as_ref())?;
    let Shape { rows: n, columns: d, nonzeros: nnz, dense } = rows.shape();
    let norms: Vec<f64> = rows.iter().map(|row| row.norm2().sqrt()).collect();
    let weights = data.weights.as_deref();
    Ok(Statistics {
        n,
        d,
        nnz,
        density: nnz as f64 / (n as f64 * d as f64).max(1.0),
        dense,
        degrees: degrees(&rows, questions.hottest),
        conflict: conflict_degrees(&rows, questions.conflict_steps, questions.seed),
        labels,
        weights: weights.map(|weights| Distribution::of(weights.to_vec())),
        row_norms: Distribution::of(norms),
        curvature: questions.loss.map(|loss| curvature(&rows, weights, &loss, questions)),
    })
}

/// All rows are held, with a transpose of them for the conflicts; and some vectors of n and of d numbers.
///
/// # Errors
/// If that is more than may be taken.
fn check_room(data: &Data) -> Result<()> {
    let Shape { rows, columns, nonzeros, dense } = data.source.shape();
    let entry = if dense { 4.0 } else { 8.0 };
    let held = if data.source.held_bytes().is_empty() { entry * nonzeros as f64 } else { 0.0 };
    let vectors = 8.0 * (4.0 * rows as f64 + 6.0 * columns as f64);
    let transpose = if dense { 0.0 } else { 4.0 * nonzeros as f64 };
    room::check(
        &data.path,
        held + transpose + vectors,
        &format!("{rows} rows and {columns} columns to be looked into"),
    )
}
