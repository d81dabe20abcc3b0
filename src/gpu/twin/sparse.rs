//! The gradient of a batch of sparse rows: the twin of `sparse.wgsl`.

use super::{Function, Reduction, margins::margin};
use crate::gpu::{Cut, Sums, Terms};

/// Adds g = Σ wᵢ φ′ aᵢ over `rows` to `out`. A device adds to a slot in any order; here it is the order of teams.
pub(super) fn gradient(
    terms: &Terms,
    function: &Function,
    cut: Cut,
    x: &[f32],
    constant: f32,
    rows: &[u32],
    out: &mut [f32],
) -> Sums {
    let mut lanes = vec![0.0; cut.team()];
    let mut reduction = Reduction::new(2);
    for group in 0..cut.groups(rows.len()) {
        let mut partial = [0.0f32; 2];
        for team in 0..cut.teams() {
            let mut own = [0.0f32; 2];
            for turn in 0..cut.turns(rows.len()) {
                for &row in &rows[cut.positions(rows.len(), turn, group, team)] {
                    let row = row as usize;
                    let z = margin(terms, row, x, &mut lanes) + constant;
                    let (b, w) = (terms.label(row), terms.weight(row));
                    let slope = w * function.slope(z, b);
                    terms.row(row).for_each(|(slot, value)| out[slot] += slope * value);
                    own[0] += w * function.value(z, b);
                    own[1] += slope;
                }
            }
            partial.iter_mut().zip(own).for_each(|(sum, n)| *sum += n);
        }
        reduction.add(partial);
    }
    let sums = reduction.finish(&mut []);
    Sums { loss: sums[0].into(), slope: sums[1].into() }
}
