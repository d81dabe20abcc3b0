//! How smooth F is, for step rules whose first length is h/L.

use super::Placed;
use crate::{data::matrix::Matrix, objective::Linear};

/// What an estimate of the largest eigenvalue from below is multiplied with.
const MARGIN: f64 = 1.1;
/// Products with the matrix, at most; the last two differ by less than [`SETTLED`] if there are fewer.
const PRODUCTS: usize = 50;
const SETTLED: f64 = 1e-2;

impl<D: Matrix> Placed<'_, D> {
    /// L of the mean of b = `rows` terms drawn at random: n(b − 1)/(b(n − 1)) L_F + (n − b)/(b(n − 1)) L_max (expected
    /// smoothness: Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtárik, ICML 2019, Proposition 3.8), where L_max is that of
    /// the worst term, and L_F that of F. Infinite for a loss with a kink.
    pub(super) fn smoothness(&self, rows: usize) -> f64 {
        let n = self.frame.rows.max(2) as f64;
        let b = (rows as f64).min(n);
        let (of_all, of_each) = (n * (b - 1.0) / (b * (n - 1.0)), (n - b) / (b * (n - 1.0)));
        let together = if of_all > 0.0 { of_all * self.smoothness_of_all() } else { 0.0 };
        together + of_each * self.smoothness_of_terms()
    }

    /// L_max = φ″max · max (n/W) wᵢ(‖aᵢ‖² + 1 for a free intercept) + λ₂.
    fn smoothness_of_terms(&self) -> f64 {
        let ones = f64::from(u8::from(self.frame.private_constant));
        let scale = self.frame.rows as f64 / self.frame.total_weight;
        let mut worst = 0.0f64;
        for part in self.shards.once.clone() {
            let f = self.shards.glm(part, &self.frame);
            (0..f.lines()).for_each(|i| worst = worst.max(scale * f.weight(i) * (f.norm2(i) + ones)));
        }
        self.frame.loss.curvature() * worst + self.frame.prox.l2
    }

    /// L_F = φ″max · λmax((1/W) Σ wᵢ aᵢaᵢᵀ) + λ₂, the eigenvalue by power iteration: it comes from below, and is taken a tenth
    /// larger. Each product reads the data once and writes a vector at random; whoever asks again is told what was found.
    pub(super) fn smoothness_of_all(&self) -> f64 {
        *self.smoothness.get_or_init(|| self.by_power_iteration())
    }

    fn by_power_iteration(&self) -> f64 {
        let width = self.frame.slots.width() + 1;
        let mut v = vec![1.0 / (width as f64).sqrt(); width];
        let mut largest = 0.0;
        for _ in 0..PRODUCTS {
            let next = self.product(&v);
            let norm = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            let settled = (norm - largest).abs() <= SETTLED * norm;
            largest = norm;
            if settled {
                break;
            }
            v = next.iter().map(|x| x / norm).collect();
        }
        self.frame.loss.curvature() * MARGIN * largest + self.frame.prox.l2
    }

    /// (1/W) Σ wᵢ aᵢaᵢᵀ v; a free intercept is the last coordinate.
    fn product(&self, v: &[f64]) -> Vec<f64> {
        let (frame, last) = (&self.frame, v.len() - 1);
        let ones = f64::from(u8::from(frame.private_constant));
        let mut out = vec![0.0; v.len()];
        for part in self.shards.once.clone() {
            let f = self.shards.glm(part, frame);
            for i in 0..f.lines() {
                let margin = f.line(i).entries().map(|(j, a)| a * v[j]).sum::<f64>() + ones * v[last];
                let slope = f.weight(i) / frame.total_weight * margin;
                f.line(i).entries().for_each(|(j, a)| out[j] += slope * a);
                out[last] += slope * ones;
            }
        }
        out
    }
}
