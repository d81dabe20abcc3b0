//! The least point of gᵀδ + ½δᵀHδ + r(x + δ) for a small matrix H.

use crate::{
    prox::Prox,
    vectors::{multiply_add, on_vectors},
};

/// Sweeps of coordinate descent, at most.
const SWEEPS: usize = 1000;

/// gᵀδ + ½δᵀHδ.
pub(super) struct Model<'a> {
    /// `weight` times H below its diagonal, row by row.
    pub(super) matrix: &'a [f64],
    pub(super) weight: f64,
    /// That of H.
    pub(super) diagonal: &'a [f64],
    /// g.
    pub(super) gradient: &'a [f64],
}

impl Model<'_> {
    /// The Cholesky factor of H + diag(ridge), and of that plus a diagonal where it is not positive definite. `None` where
    /// H is no number.
    pub(super) fn factor(&self, ridge: &[f64]) -> Option<Factor> {
        let d = ridge.len();
        let mean = self.diagonal.iter().zip(ridge).map(|(h, ridge)| h + ridge).sum::<f64>() / d.max(1) as f64;
        if !mean.is_finite() {
            return None;
        }
        let mut more = 0.0;
        loop {
            let mut factor = vec![0.0; d * d];
            for j in 0..d {
                let below = j * d..j * d + j;
                factor[below.clone()].iter_mut().zip(&self.matrix[below]).for_each(|(f, m)| *f = m / self.weight);
                factor[j * d + j] = self.diagonal[j] + ridge[j] + more;
            }
            if cholesky(&mut factor, d) {
                return Some(Factor(factor));
            }
            more = (10.0 * more).max(1e-12 * mean.max(f64::MIN_POSITIVE));
        }
    }

    /// δ by coordinate descent, for r given by `proxes` each coordinate, until a sweep gains a thousandth of what all did.
    pub(super) fn descend(&self, x: &[f64], proxes: &[Prox]) -> Vec<f64> {
        let d = x.len();
        // Both triangles: a step reads a whole row.
        let mut h = vec![0.0; d * d];
        for j in 0..d {
            for k in 0..j {
                let value = self.matrix[j * d + k] / self.weight;
                (h[j * d + k], h[k * d + j]) = (value, value);
            }
            h[j * d + j] = self.diagonal[j];
        }
        let (mut delta, mut slope) = (vec![0.0; d], self.gradient.to_vec());
        let mut gained = 0.0;
        for _ in 0..SWEEPS {
            let mut gain = 0.0;
            for (j, prox) in proxes.iter().enumerate() {
                let (curvature, old) = (self.diagonal[j], x[j] + delta[j]);
                // Where no row has the column r alone speaks, and is least at 0.
                let new =
                    if curvature > 0.0 { prox.prox(old - slope[j] / curvature, 1.0 / curvature) } else { 0.0 };
                let step = new - old;
                if step != 0.0 {
                    gain -= slope[j] * step + 0.5 * curvature * step * step + prox.value(new) - prox.value(old);
                    delta[j] += step;
                    slope.iter_mut().zip(&h[j * d..(j + 1) * d]).for_each(|(slope, h)| *slope += step * h);
                }
            }
            gained += gain;
            // A gain that is no number ends it too.
            let worth = gain > 1e-3 * gained;
            if !worth {
                break;
            }
        }
        delta
    }
}

/// L with L Lᵀ a positive definite matrix, row by row.
pub(super) struct Factor(Vec<f64>);

impl Factor {
    /// (L Lᵀ)⁻¹ b in place of b.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let (d, l) = (b.len(), &self.0);
        for j in 0..d {
            b[j] = (b[j] - dot(&l[j * d..j * d + j], &b[..j])) / l[j * d + j];
        }
        for j in (0..d).rev() {
            b[j] /= l[j * d + j];
            let value = b[j];
            b[..j].iter_mut().zip(&l[j * d..j * d + j]).for_each(|(b, l)| *b -= value * l);
        }
    }
}

/// Rows that are worked on together: a row above is read once for all of them, and no sum waits for itself.
const TOGETHER: usize = 8;

/// The lower triangle becomes its Cholesky factor; false where it has none. Row by row, [`TOGETHER`] at a time, which stand
/// side by side in `strip` while they are worked on: reads d³/(6 [`TOGETHER`]) numbers of the rows above.
fn cholesky(a: &mut [f64], d: usize) -> bool {
    let mut strip = vec![[0.0; TOGETHER]; d];
    (0..d).step_by(TOGETHER).all(|first| {
        let (above, rows) = a.split_at_mut(first * d);
        let count = TOGETHER.min(d - first);
        let rows = &mut rows[..count * d];
        for (r, row) in rows.chunks_exact(d).enumerate() {
            strip.iter_mut().zip(&row[..=first + r]).for_each(|(side, value)| side[r] = *value);
        }
        on_vectors(
            #[inline(always)]
            |fused| eliminate(above, &mut strip, d, fused),
        );
        let real = finish(&mut strip, first, count);
        for (r, row) in rows.chunks_exact_mut(d).enumerate() {
            row[..=first + r].iter_mut().zip(&strip).for_each(|(value, side)| *value = side[r]);
        }
        real
    })
}

/// The columns of `strip` for which `above` has a row, of `d` entries each.
#[inline(always)]
fn eliminate(above: &[f64], strip: &mut [[f64; TOGETHER]], d: usize, fused: bool) {
    for (k, row) in above.chunks_exact(d).enumerate() {
        let (known, rest) = strip.split_at_mut(k);
        let (mut even, mut odd) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        let (pairs, last) = known.as_chunks::<2>();
        let (row_pairs, row_last) = row[..k].as_chunks::<2>();
        for (pair, l) in pairs.iter().zip(row_pairs) {
            for r in 0..TOGETHER {
                even[r] = multiply_add(fused, pair[0][r], l[0], even[r]);
                odd[r] = multiply_add(fused, pair[1][r], l[1], odd[r]);
            }
        }
        for (side, l) in last.iter().zip(row_last) {
            (0..TOGETHER).for_each(|r| even[r] += side[r] * l);
        }
        let inverse = 1.0 / row[k];
        (0..TOGETHER).for_each(|r| rest[0][r] = (rest[0][r] - (even[r] + odd[r])) * inverse);
    }
}

/// The square at the end of `count` rows from `first` on.
fn finish(strip: &mut [[f64; TOGETHER]], first: usize, count: usize) -> bool {
    (0..count).all(|r| {
        for c in 0..r {
            let sum: f64 = strip[..first + c].iter().map(|side| side[r] * side[c]).sum();
            let pivot = strip[first + c][c];
            let side = &mut strip[first + c];
            side[r] = (side[r] - sum) / pivot;
        }
        let whole = strip[first + r][r];
        let rest = whole - strip[..first + r].iter().map(|side| side[r] * side[r]).sum::<f64>();
        strip[first + r][r] = rest.max(0.0).sqrt();
        // Digits of a pivot that is this much smaller than what it was are rounding.
        rest > 1e-14 * whole
    })
}

/// Four sums side by side.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_chunks, a_rest) = a.as_chunks::<4>();
    let (b_chunks, b_rest) = b.as_chunks::<4>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    proptest! {
        /// Of every number of rows, also those that are no multiple of what is worked on together.
        #[test]
        fn a_factor_solves_what_it_was_made_of(d in 1usize..40, seed: u64) {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let root: Vec<f64> = (0..d * d).map(|_| random.random_range(-1.0..1.0)).collect();
            let matrix: Vec<f64> =
                (0..d * d).map(|at| dot(&root[at / d * d..][..d], &root[at % d * d..][..d])).collect();
            let diagonal: Vec<f64> = (0..d).map(|j| matrix[j * d + j]).collect();
            let x: Vec<f64> = (0..d).map(|_| random.random_range(-1.0..1.0)).collect();
            let ridge = vec![0.5; d];
            let mut b: Vec<f64> = (0..d).map(|j| dot(&matrix[j * d..][..d], &x) + 0.5 * x[j]).collect();
            let model = Model { matrix: &matrix, weight: 1.0, diagonal: &diagonal, gradient: &b };
            model.factor(&ridge).unwrap().solve(&mut b);
            for (got, want) in b.iter().zip(&x) {
                prop_assert!((got - want).abs() < 1e-9, "{got} {want}");
            }
        }

        #[test]
        fn what_is_not_positive_definite_has_no_factor(d in 2usize..40, at in 1usize..40) {
            let at = at % d;
            let mut a = vec![0.0; d * d];
            (0..d).for_each(|j| a[j * d + j] = if j == at { -1.0 } else { 1.0 });
            prop_assert!(!cholesky(&mut a, d));
        }
    }
}
