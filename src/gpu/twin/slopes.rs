//! From margins to slopes, and their sums: the twin of `slopes.wgsl`.

use super::{Function, Reduction, team};
use crate::gpu::{
    Sums, Terms,
    cut::{GROUP, GROUPS_MAX},
};

/// Workgroups for `rows` margins.
pub(in crate::gpu) fn groups(rows: usize) -> usize {
    rows.div_ceil(GROUP).clamp(1, GROUPS_MAX)
}

/// wᵢ φ′(zᵢ, bᵢ) of `rows` with margins `z`, and the sums: an invocation adds up its turns, a workgroup its invocations as a
/// team does.
pub(super) fn slopes(terms: &Terms, function: &Function, z: &[f32], rows: &[u32]) -> (Vec<f32>, Sums) {
    let groups = groups(rows.len());
    let mut slopes = vec![0.0; rows.len()];
    let mut reduction = Reduction::new(2);
    for group in 0..groups {
        let (mut loss, mut slope) = ([0.0f32; GROUP], [0.0f32; GROUP]);
        for first in (group * GROUP..rows.len()).step_by(groups * GROUP) {
            for p in first..(first + GROUP).min(rows.len()) {
                let (b, w) = (terms.label(rows[p] as usize), terms.weight(rows[p] as usize));
                slopes[p] = w * function.slope(z[p], b);
                loss[p - first] += w * function.value(z[p], b);
                slope[p - first] += slopes[p];
            }
        }
        reduction.add([team::sum(&loss), team::sum(&slope)]);
    }
    let sums = reduction.finish(&mut []);
    (slopes, Sums { loss: sums[0].into(), slope: sums[1].into() })
}
