//! The gradient of dense rows too wide for a team to hold, from their slopes: the twin of `columns.wgsl`.

use super::Reduction;
use crate::gpu::Terms;

/// Numbers that all partial gradients together have at most.
const PARTIALS: usize = 1 << 23;

/// Partial gradients of `rows` rows of `width` slots.
pub(in crate::gpu) fn groups(rows: usize, width: usize) -> usize {
    rows.div_ceil(16).clamp(1, (PARTIALS / width.max(1)).clamp(1, 256))
}

/// Adds Σ sᵢ aᵢ over `rows` with slopes s to `out`: partial gradient k takes every K-th row from the k-th on, K in all.
pub(super) fn gradient(terms: &Terms, slopes: &[f32], rows: &[u32], out: &mut [f32]) {
    let groups = groups(rows.len(), terms.width());
    let mut reduction = Reduction::new(terms.width());
    for group in 0..groups {
        let mut partial = vec![0.0f32; terms.width()];
        for p in (group..rows.len()).step_by(groups) {
            let a = &terms.values()[terms.range(rows[p] as usize)];
            partial.iter_mut().zip(a).for_each(|(g, a)| *g += slopes[p] * a);
        }
        reduction.add(partial);
    }
    reduction.finish(out);
}
