//! A pass of Hogwild!: the twin of `hogwild.wgsl` where one team is alone.

use super::{Function, margins::margin};
use crate::gpu::Terms;

/// For each of `rows`: xⱼ ← xⱼ − (γ wᵢ φ′(zᵢ, bᵢ)) aᵢⱼ over the row's entries, and c likewise where it is `free`.
pub(super) fn pass(
    terms: &Terms,
    function: &Function,
    x: &mut [f32],
    constant: &mut f32,
    rows: &[u32],
    step: f32,
    free: bool,
) {
    for row in rows.iter().map(|&row| row as usize) {
        let z = margin(terms, row, x, &mut [0.0]) + *constant;
        let change = -step * (terms.weight(row) * function.slope(z, terms.label(row)));
        terms.row(row).for_each(|(slot, value)| x[slot] += change * value);
        if free {
            *constant += change;
        }
    }
}
