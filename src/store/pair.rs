//! The loops that an update of a pair is: two runs of parameters, each the other's derivative. Bounds are checked once a
//! run, so that nothing here needs more than slices.

use crate::data::matrix::Pair;
use crate::sync::{Merge, Slot};

#[inline(always)]
fn blocks<S>(slots: &[S], pair: Pair) -> (&[S], &[S]) {
    (&slots[pair.left()], &slots[pair.right()])
}

/// uᵀv. Reads 2k slots in two runs, into four sums side by side.
#[inline(always)]
pub(super) fn dot<S: Slot>(slots: &[S], pair: Pair) -> f64 {
    let (left, right) = blocks(slots, pair);
    let mut sums = [0.0; 4];
    let (left_fours, left_rest) = left.as_chunks::<4>();
    let (right_fours, right_rest) = right.as_chunks::<4>();
    for (u, v) in left_fours.iter().zip(right_fours) {
        (0..4).for_each(|lane| sums[lane] += u[lane].read() * v[lane].read());
    }
    for (lane, (u, v)) in left_rest.iter().zip(right_rest).enumerate() {
        sums[lane] += u.read() * v.read();
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// u ← u + scale v and v ← v + scale u, of the u and v that were there. Reads and writes 2k slots in two runs.
#[inline(always)]
pub(super) fn axpy<S: Slot, M: Merge>(slots: &[S], scale: f64, pair: Pair) {
    let (left, right) = blocks(slots, pair);
    for (left, right) in left.iter().zip(right) {
        let (u, v) = (left.read(), right.read());
        M::add(left, scale * v);
        M::add(right, scale * u);
    }
}

/// Σ f(slot, value, partner) over both runs. Reads 2k slots in two runs.
#[inline(always)]
pub(super) fn fold<S: Slot>(slots: &[S], pair: Pair, mut f: impl FnMut(usize, f64, f64) -> f64) -> f64 {
    let (left, right) = blocks(slots, pair);
    let mut sum = 0.0;
    for (k, (u, v)) in left.iter().zip(right).enumerate() {
        let (u, v) = (u.read(), v.read());
        sum += f(pair.left().start + k, u, v) + f(pair.right().start + k, v, u);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::matrix::Row,
        store::{Plain, Replica, View},
        sync::{Lossless, Lossy, SharedF64},
    };
    use proptest::prelude::*;

    proptest! {
        /// Central differences of a polynomial of degree two are exact but for rounding.
        #[test]
        fn an_expanded_pair_is_the_derivative_of_its_margin(
            x in prop::collection::vec(-3.0..3.0f64, 24),
            rank in 1usize..=7,
            gap in 0usize..=10,
            scale in -2.0..2.0f64,
        ) {
            let pair = Pair::new(0, rank + gap, rank);
            let margin = |x: &[f64]| dot(&x.iter().map(|&v| SharedF64::new(v)).collect::<Vec<_>>(), pair);
            let replica = Plain::<f64>::zeros(x.len());
            replica.write(0, &x);
            let mut out = vec![0.0; x.len()];
            let mut open = replica.open();
            let view = replica.view(&mut open);
            view.expand(scale, Row::Pair(pair), &mut out);
            let folded = view.fold(Row::Pair(pair), |_, x, a| a * x);
            prop_assert!((folded - 2.0 * margin(&x)).abs() <= 1e-12);
            for j in 0..x.len() {
                let (mut up, mut down) = (x.clone(), x.clone());
                (up[j], down[j]) = (x[j] + 0.5, x[j] - 0.5);
                prop_assert!((out[j] - scale * (margin(&up) - margin(&down))).abs() <= 1e-10, "{j}: {out:?}");
            }
        }

        #[test]
        fn every_merge_adds_to_both_blocks_what_the_other_was(
            x in prop::collection::vec(-3.0..3.0f64, 20),
            rank in 1usize..=10,
            scale in -2.0..2.0f64,
        ) {
            let pair = Pair::new(0, rank, rank);
            let mut expected = x.clone();
            for k in 0..rank {
                expected[k] += scale * x[rank + k];
                expected[rank + k] += scale * x[k];
            }
            let slots = || x.iter().map(|&v| SharedF64::new(v)).collect::<Vec<_>>();
            let (lossy, lossless) = (slots(), slots());
            axpy::<_, Lossy>(&lossy, scale, pair);
            axpy::<_, Lossless>(&lossless, scale, pair);
            prop_assert!(lossy.iter().map(Slot::read).eq(expected.iter().copied()));
            prop_assert!(lossless.iter().map(Slot::read).eq(expected.iter().copied()));
        }
    }

    #[test]
    #[should_panic(expected = "the values of a pair are parameters")]
    fn a_pair_has_no_norm_to_be_asked_for() {
        Row::Pair(Pair::new(0, 3, 3)).norm2();
    }
}
