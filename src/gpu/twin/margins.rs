//! Margins of rows that are walked through: the twin of `margins.wgsl`.

use super::team;
use crate::gpu::{Cut, Terms};

/// zᵢ = aᵢᵀx + c of `rows`: an invocation takes every T-th entry of its team's row, T invocations a team.
pub(super) fn margins(terms: &Terms, cut: Cut, x: &[f32], constant: f32, rows: &[u32]) -> Vec<f32> {
    let mut lanes = vec![0.0; cut.team()];
    rows.iter().map(|&row| margin(terms, row as usize, x, &mut lanes) + constant).collect()
}

/// aᵀx of one row by a team of as many invocations as `lanes`.
pub(super) fn margin(terms: &Terms, row: usize, x: &[f32], lanes: &mut [f32]) -> f32 {
    lanes.fill(0.0);
    let team = lanes.len();
    terms.row(row).enumerate().for_each(|(k, (slot, value))| lanes[k % team] += value * x[slot]);
    team::sum(lanes)
}
