//! All eigenvalues of a small symmetric matrix, by cyclic Jacobi rotations (Golub and Van Loan, §8.5).

/// Sweeps after which the rest is rounding; six to ten do in practice.
const SWEEPS_MAX: usize = 60;

/// The eigenvalues of the symmetric `matrix` (d × d, row after row), ascending. O(d³) a sweep.
///
/// # Panics
/// If the matrix does not have d × d entries.
pub fn symmetric_eigenvalues(mut matrix: Vec<f64>, d: usize) -> Vec<f64> {
    assert_eq!(matrix.len(), d * d, "a {d} by {d} matrix");
    let norm2: f64 = matrix.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS_MAX {
        let off = |i: usize| matrix[i * d..i * d + i].iter().map(|x| x * x).sum::<f64>();
        if (0..d).map(off).sum::<f64>() <= 1e-30 * norm2 {
            break;
        }
        for p in 0..d {
            for q in p + 1..d {
                rotate(&mut matrix, d, p, q);
            }
        }
    }
    let mut values: Vec<f64> = (0..d).map(|i| matrix[i * d + i]).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Turns the plane of coordinates p and q so that entry (p, q) becomes 0.
fn rotate(matrix: &mut [f64], d: usize, p: usize, q: usize) {
    let apq = matrix[p * d + q];
    if apq == 0.0 {
        return;
    }
    let theta = (matrix[q * d + q] - matrix[p * d + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..d {
        let (akp, akq) = (matrix[k * d + p], matrix[k * d + q]);
        (matrix[k * d + p], matrix[k * d + q]) = (c * akp - s * akq, s * akp + c * akq);
    }
    for k in 0..d {
        let (apk, aqk) = (matrix[p * d + k], matrix[q * d + k]);
        (matrix[p * d + k], matrix[q * d + k]) = (c * apk - s * aqk, s * apk + c * aqk);
    }
}
