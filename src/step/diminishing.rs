//! γ = γ₀/(1 + e/half) after e epochs: the 1/k rule of stochastic approximation (Robbins and Monro 1951), in epochs.

pub(super) struct Diminishing {
    pub(super) half: f64,
}

impl super::Rule for Diminishing {
    fn factor(&self, epoch: f64) -> f64 {
        1.0 / (1.0 + epoch / self.half)
    }
}
