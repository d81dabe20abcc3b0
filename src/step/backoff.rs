//! The back-off of Hogwild! (Niu et al. 2011, §5): γ is constant for a phase, then multiplied by ρ, and the next phase is
//! 1/ρ times as long. Sums to the 1/k rate without knowing the strong convexity.

pub(super) struct Backoff {
    pub(super) factor: f64,
    /// Length of the first phase.
    pub(super) epochs: f64,
}

impl super::Rule for Backoff {
    /// Phase m starts after `epochs` (ρ⁻ᵐ − 1)/(ρ⁻¹ − 1) epochs; the largest m that has started counts.
    fn factor(&self, epoch: f64) -> f64 {
        let growth = 1.0 / self.factor;
        let phase = (1.0 + epoch / self.epochs * (growth - 1.0)).ln() / growth.ln();
        // The logarithm of an exact power may come out just below it.
        self.factor.powf((phase + 1e-12).floor())
    }
}
