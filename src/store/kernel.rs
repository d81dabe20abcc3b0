//! The loops that a sparse update is: a gather and a scatter.
//!
//! Why `unsafe`: the columns of a row are checked once, when its matrix is made, and not again for each of the two
//! accesses an entry; `benches/update.rs` has the cost of checking. The plain twins are in the tests below.
#![allow(unsafe_code)]

use crate::data::matrix::SparseRow;
use crate::sync::{Merge, Slot};

/// Σ_k v_k x[c_k]. Per entry: 8 bytes of the row in order, one slot at random. Four sums run side by side, since an
/// addition takes four cycles to finish and two can start in each.
#[inline(always)]
pub(super) fn dot<S: Slot>(slots: &[S], row: SparseRow<'_>) -> f64 {
    assert!(row.bound() <= slots.len());
    let (columns, values) = (row.columns(), row.values());
    // SAFETY: `c` is a column of `row`, all of which are below `row.bound()` (SparseRow's invariant, established where
    // the matrix was made), and the bound is at most `slots.len()` (asserted above).
    let term = |c: u32, v: f32| unsafe { slots.get_unchecked(c as usize) }.read() * f64::from(v);
    let mut sums = [0.0; 4];
    let (column_chunks, column_rest) = columns.as_chunks::<4>();
    let (value_chunks, value_rest) = values.as_chunks::<4>();
    for (c, v) in column_chunks.iter().zip(value_chunks) {
        for lane in 0..4 {
            sums[lane] += term(c[lane], v[lane]);
        }
    }
    for (lane, (&c, &v)) in column_rest.iter().zip(value_rest).enumerate() {
        sums[lane] += term(c, v);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// x[c_k] ← x[c_k] + scale v_k. Per entry: 8 bytes of the row (in L1 since [`dot`]), one slot read and written.
#[inline(always)]
pub(super) fn axpy<S: Slot, M: Merge>(slots: &[S], scale: f64, row: SparseRow<'_>) {
    assert!(row.bound() <= slots.len());
    for (&c, &v) in row.columns().iter().zip(row.values()) {
        // SAFETY: as in `dot`.
        let slot = unsafe { slots.get_unchecked(c as usize) };
        M::add(slot, scale * f64::from(v));
    }
}

/// x[c_k] ← f(c_k, x[c_k], y[c_k], d[c_k], v_k) by the merge, then y[c_k] ← y[c_k] + add v_k, unless `add` is 0, such that no
/// other addition is lost. Per entry: 8 bytes of the row (in L1 since [`dot`]), a slot of x read and written, one of y read and
/// written, one of d read.
#[inline(always)]
pub(super) fn update_beside<S: Slot, M: Merge>(
    x: &[S],
    y: &[S],
    d: &[f64],
    (row, add): (SparseRow<'_>, f64),
    mut f: impl FnMut(usize, f64, f64, f64, f64) -> f64,
) {
    assert!(row.bound() <= x.len() && row.bound() <= y.len() && row.bound() <= d.len());
    for (&c, &v) in row.columns().iter().zip(row.values()) {
        let (c, v) = (c as usize, f64::from(v));
        // SAFETY: as in `dot`, for each of the three, whose lengths are asserted above.
        let (x, y, d) = unsafe { (x.get_unchecked(c), y.get_unchecked(c), *d.get_unchecked(c)) };
        M::update(x, |x| f(c, x, y.read(), d, v));
        if add != 0.0 {
            y.add(add * v);
        }
    }
}

/// Σ_k v_k x[k] over all of `slots`, in two sums of four lanes: as two vectors, which eight lanes in a row do not become.
/// Safe: it is here to stand beside [`dot`].
#[inline(always)]
pub(super) fn dot_dense<S: Slot>(slots: &[S], values: &[f32]) -> f64 {
    let mut sums = [[0.0; 4]; 2];
    let (slot_fours, slot_rest) = slots.as_chunks::<4>();
    let (value_fours, value_rest) = values.as_chunks::<4>();
    let (slot_pairs, slot_last) = slot_fours.as_chunks::<2>();
    let (value_pairs, value_last) = value_fours.as_chunks::<2>();
    for (x, v) in slot_pairs.iter().zip(value_pairs) {
        for half in 0..2 {
            for lane in 0..4 {
                sums[half][lane] += x[half][lane].read() * f64::from(v[half][lane]);
            }
        }
    }
    for (x, v) in slot_last.iter().zip(value_last) {
        (0..4).for_each(|lane| sums[0][lane] += x[lane].read() * f64::from(v[lane]));
    }
    for (lane, (x, &v)) in slot_rest.iter().zip(value_rest).enumerate() {
        sums[1][lane] += x.read() * f64::from(v);
    }
    let [first, second] = sums.map(|sum| (sum[0] + sum[1]) + (sum[2] + sum[3]));
    first + second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{Lossless, Lossy, SharedF64};
    use proptest::prelude::*;
    use std::cell::Cell;

    fn slots<S: Slot>(values: &[f64]) -> Vec<S> {
        values.iter().map(|&value| S::new(value)).collect()
    }

    proptest! {
        #[test]
        fn kernels_equal_their_plain_twins(
            x in prop::collection::vec(-1e3..1e3f64, 1..40),
            entries in prop::collection::btree_map(0usize..40, -1e3..1e3f32, 0..40),
            scale in -10.0..10.0f64,
        ) {
            let kept: Vec<(u32, f32)> =
                entries.iter().filter(|(c, _)| **c < x.len()).map(|(&c, &v)| (c as u32, v)).collect();
            let (columns, values): (Vec<u32>, Vec<f32>) = kept.iter().copied().unzip();
            let row = SparseRow::new(&columns, &values, x.len());
            let plain: f64 = kept.iter().map(|&(c, v)| x[c as usize] * f64::from(v)).sum();
            let size: f64 = kept.iter().map(|&(c, v)| (x[c as usize] * f64::from(v)).abs()).sum();
            prop_assert!((dot(&slots::<Cell<f64>>(&x), row) - plain).abs() <= 1e-14 * size);
            prop_assert!((dot(&slots::<SharedF64>(&x), row) - plain).abs() <= 1e-14 * size);
            let mut expected = x.clone();
            for &(c, v) in &kept {
                expected[c as usize] += scale * f64::from(v);
            }
            let (lossy, lossless) = (slots::<Cell<f64>>(&x), slots::<SharedF64>(&x));
            axpy::<_, Lossy>(&lossy, scale, row);
            axpy::<_, Lossless>(&lossless, scale, row);
            prop_assert!(lossy.iter().map(Slot::read).eq(expected.iter().copied()));
            prop_assert!(lossless.iter().map(Slot::read).eq(expected.iter().copied()));
            let (beside, d): (Vec<f64>, Vec<f64>) = x.iter().map(|x| (2.0 - x, 1.0 + x * x)).unzip();
            let step = |c: usize, x: f64, y: f64, d: f64, v: f64| c as f64 + x - scale * v * y / d;
            let (mut stepped, mut moved) = (x.clone(), beside.clone());
            for &(c, v) in &kept {
                let (c, v) = (c as usize, f64::from(v));
                stepped[c] = step(c, x[c], beside[c], d[c], v);
                moved[c] += scale * v;
            }
            let (own, near) = (slots::<Cell<f64>>(&x), slots::<Cell<f64>>(&beside));
            update_beside::<_, Lossy>(&own, &near, &d, (row, scale), step);
            prop_assert!(own.iter().map(Slot::read).eq(stepped.iter().copied()));
            prop_assert!(near.iter().map(Slot::read).eq(moved.iter().copied()));
            let (own, near) = (slots::<SharedF64>(&x), slots::<SharedF64>(&beside));
            update_beside::<_, Lossless>(&own, &near, &d, (row, 0.0), step);
            prop_assert!(own.iter().map(Slot::read).eq(stepped.iter().copied()));
            prop_assert!(near.iter().map(Slot::read).eq(beside.iter().copied()));
            let dense: Vec<f32> = (0..x.len()).map(|j| entries.get(&j).copied().unwrap_or(0.0)).collect();
            prop_assert!((dot_dense(&slots::<Cell<f64>>(&x), &dense) - plain).abs() <= 1e-14 * size);
        }
    }
}
