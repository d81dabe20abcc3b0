//! γ = γ′/(τ + ½) for a delay τ that is given: the constant rule h/(L(τ + ½)) of Sun, Hannah and Yin (NIPS 2017), which is safe
//! as long as no delay exceeds τ.

pub(super) struct FixedDelay {
    /// τ.
    pub(super) delay: u64,
}

impl super::Rule for FixedDelay {
    fn factor(&self, _epoch: f64) -> f64 {
        1.0 / (self.delay as f64 + 0.5)
    }
}
