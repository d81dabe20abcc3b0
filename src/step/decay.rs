//! γ = γ₀ρᵉ in the e-th epoch, from 0: constant within an epoch, as in Hogwild!'s experiments (Niu et al. 2011, §7).

pub(super) struct Decay {
    pub(super) factor: f64,
}

impl super::Rule for Decay {
    fn factor(&self, epoch: f64) -> f64 {
        self.factor.powf(epoch.floor())
    }
}
