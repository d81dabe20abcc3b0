//! The gradient of a batch of dense rows, each read once: the twin of `dense.wgsl`.

use super::{Function, Reduction, team};
use crate::gpu::{Cut, Sums, Terms, cut::ROWS};

/// Adds g = Σ wᵢ φ′ aᵢ over `rows` to `out`. A team keeps a gradient of its own over all its turns; the teams of a workgroup are
/// added in order, then the workgroups by [`Reduction`].
pub(super) fn gradient(
    terms: &Terms,
    function: &Function,
    cut: Cut,
    x: &[f32],
    constant: f32,
    rows: &[u32],
    out: &mut [f32],
) -> Sums {
    let width = terms.width();
    let mut reduction = Reduction::new(width + 2);
    let mut own = vec![0.0f32; width + 2];
    let mut products = vec![0.0f32; 4 * cut.team()];
    for group in 0..cut.groups(rows.len()) {
        let mut partial = vec![0.0f32; width + 2];
        for team in 0..cut.teams() {
            own.fill(0.0);
            for turn in 0..cut.turns(rows.len()) {
                let positions = cut.positions(rows.len(), turn, group, team);
                debug_assert!(positions.len() <= ROWS);
                for &row in &rows[positions] {
                    let row = row as usize;
                    let a = &terms.values()[terms.range(row)];
                    let z = margin(a, x, &mut products) + constant;
                    let (b, w) = (terms.label(row), terms.weight(row));
                    let slope = w * function.slope(z, b);
                    own.iter_mut().zip(a).for_each(|(g, a)| *g += slope * a);
                    own[width] += w * function.value(z, b);
                    own[width + 1] += slope;
                }
            }
            partial.iter_mut().zip(&own).for_each(|(sum, n)| *sum += n);
        }
        reduction.add(partial);
    }
    let sums = reduction.finish(out);
    Sums { loss: sums[0].into(), slope: sums[1].into() }
}

/// aᵀx: an invocation has four vectors of four, which it adds as vectors, then (first + second) + (third + fourth).
fn margin(a: &[f32], x: &[f32], products: &mut [f32]) -> f32 {
    products.fill(0.0);
    let length = products.len();
    for (a, x) in a.chunks(length).zip(x.chunks(length)) {
        products.iter_mut().zip(a.iter().zip(x)).for_each(|(sum, (a, x))| *sum += a * x);
    }
    let lanes = length / 4;
    for lane in 0..lanes {
        let four = &products[4 * lane..4 * lane + 4];
        products[lane] = (four[0] + four[1]) + (four[2] + four[3]);
    }
    team::sum(&products[..lanes])
}
