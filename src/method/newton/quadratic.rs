//! The least point of gᵀδ + ½δᵀHδ + r(x + δ) for a small matrix H.

use crate::{prox::Prox, vectors::on_vectors};

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

/// Rows that are worked on together: each row above is read once for all of them, and their sums do not wait for each
/// other.
const TOGETHER: usize = 4;

/// The lower triangle becomes its Cholesky factor; false where it has none. Reads d³/(6 · 4) numbers of the rows above.
fn cholesky(a: &mut [f64], d: usize) -> bool {
    on_vectors(
        #[inline(always)]
        |_| {
            for first in (0..d).step_by(TOGETHER) {
                let count = TOGETHER.min(d - first);
                let (above, rows) = a.split_at_mut(first * d);
                let rows = &mut rows[..count * d];
                if count == TOGETHER {
                    for k in 0..first {
                        let other = &above[k * d..k * d + k + 1];
                        let sums = dots(rows, d, &other[..k]);
                        for (row, sum) in rows.chunks_exact_mut(d).zip(sums) {
                            row[k] = (row[k] - sum) / other[k];
                        }
                    }
                }
                let known = if count == TOGETHER { first } else { 0 };
                if !(0..count).all(|row| finish(above, rows, d, first, row, known)) {
                    return false;
                }
            }
            true
        },
    )
}

/// Row `first + row`, whose entries before `known` are known. The rows before it stand in `above`, and from `first` on in
/// `rows`.
#[inline(always)]
fn finish(above: &[f64], rows: &mut [f64], d: usize, first: usize, row: usize, known: usize) -> bool {
    let (before, rest) = rows.split_at_mut(row * d);
    let (j, row) = (first + row, &mut rest[..d]);
    for k in known..j {
        let other = if k < first { &above[k * d..=k * d + k] } else { &before[(k - first) * d..=(k - first) * d + k] };
        row[k] = (row[k] - dot(&row[..k], &other[..k])) / other[k];
    }
    let rest = row[j] - dot(&row[..j], &row[..j]);
    // Digits of a pivot that is this much smaller than what it was are rounding.
    let real = rest > 1e-14 * row[j];
    row[j] = rest.max(0.0).sqrt();
    real
}

/// The inner products of `other` with the heads of `TOGETHER` rows of `d`.
#[inline(always)]
fn dots(rows: &[f64], d: usize, other: &[f64]) -> [f64; TOGETHER] {
    let heads: [&[f64]; TOGETHER] = std::array::from_fn(|row| &rows[row * d..row * d + other.len()]);
    let mut sums = [[0.0; 4]; TOGETHER];
    let (chunks, rest) = other.as_chunks::<4>();
    for (c, other) in chunks.iter().enumerate() {
        for (sums, head) in sums.iter_mut().zip(heads) {
            let head = &head[4 * c..4 * c + 4];
            for lane in 0..4 {
                sums[lane] += head[lane] * other[lane];
            }
        }
    }
    let start = 4 * chunks.len();
    std::array::from_fn(|row| {
        let tail = heads[row][start..].iter().zip(rest).map(|(a, b)| a * b).sum::<f64>();
        sums[row].iter().sum::<f64>() + tail
    })
}

/// Four sums side by side.
#[inline(always)]
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
