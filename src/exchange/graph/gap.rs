//! |λ₂| of a column-stochastic matrix W, by squaring.
//!
//! The vectors of sum 0 are mapped to such vectors, and on them the largest eigenvalue is λ₂. So with B = W(I − 11ᵀ/n)
//! it is lim ‖B^k‖^(1/k), which holds for pairs of complex eigenvalues too; k = 2³⁰ leaves an error of about 10⁻⁸.

use super::Graph;

const SQUARINGS: u32 = 30;
/// A square of norm 1 matrices below this is 0 but for rounding: the mean is exact.
const NOTHING: f64 = 1e-13;

/// 1 − |λ₂| of a period.
pub(super) fn of(graph: &Graph) -> f64 {
    let n = graph.replicas();
    let mut power = period(graph);
    for row in power.chunks_mut(n) {
        let mean = row.iter().sum::<f64>() / n as f64;
        row.iter_mut().for_each(|entry| *entry -= mean);
    }
    // ln ‖B^k‖, and k.
    let (mut logarithm, mut k) = (0.0, 1.0);
    for squaring in 0..=SQUARINGS {
        let norm = power.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        if norm < NOTHING {
            return 1.0;
        }
        logarithm += norm.ln();
        if squaring == SQUARINGS {
            break;
        }
        power.iter_mut().for_each(|entry| *entry /= norm);
        power = product(&power, &power, n);
        (logarithm, k) = (2.0 * logarithm, 2.0 * k);
    }
    1.0 - (logarithm / k).exp()
}

/// The product of a period's mixing matrices, the first applied first, by rows.
pub(super) fn period(graph: &Graph) -> Vec<f64> {
    let n = graph.replicas();
    let mut all: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
    for round in 0..graph.period() {
        // Few entries of a round's matrix differ from 0: each sends its row of the product on.
        let mut next = vec![0.0; n * n];
        for from in 0..n {
            let peers = graph.out_peers(from, round);
            let share = 1.0 / (peers.len() + 1) as f64;
            for &to in peers.iter().chain([&from]) {
                for column in 0..n {
                    next[to * n + column] += share * all[from * n + column];
                }
            }
        }
        all = next;
    }
    all
}

fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut product = vec![0.0; n * n];
    for (row, out) in a.chunks(n).zip(product.chunks_mut(n)) {
        for (&entry, b) in row.iter().zip(b.chunks(n)) {
            out.iter_mut().zip(b).for_each(|(out, b)| *out += entry * b);
        }
    }
    product
}
