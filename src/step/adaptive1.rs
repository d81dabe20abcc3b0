//! Delay-adaptive 1 (Wu, Magnússon, Feyzmahdavian, Johansson, ICML 2022): γₖ = α max(γ′ − Σ γₜ over k − τₖ ≤ t < k, 0), a share
//! α of the room that the steps since the read have left.

pub(super) struct Adaptive1 {
    /// α in (0, 1).
    pub(super) alpha: f64,
}

impl super::DelayRule for Adaptive1 {
    fn length(&self, full: f64, spent: f64, _delay: u64) -> f64 {
        self.alpha * (full - spent).max(0.0)
    }
}
