//! γ = γ₀: converges to a ball whose radius grows with γ₀.

pub(super) struct Constant;

impl super::Rule for Constant {
    fn factor(&self, _epoch: f64) -> f64 {
        1.0
    }
}
