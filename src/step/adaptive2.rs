//! Delay-adaptive 2 (Wu, Magnússon, Feyzmahdavian, Johansson, ICML 2022): γₖ = γ′/(τₖ + 1) if the room that the steps since the
//! read have left is as large, γ′ − Σ γₜ over k − τₖ ≤ t < k, else 0.

/// By how much of γ′ the room may be smaller: while the delay is constant the two are equal, and differ by rounding.
const SLACK: f64 = 1e-9;

pub(super) struct Adaptive2;

impl super::DelayRule for Adaptive2 {
    fn length(&self, full: f64, spent: f64, delay: u64) -> f64 {
        let length = full / (delay as f64 + 1.0);
        if length <= full - spent + SLACK * full { length } else { 0.0 }
    }
}
