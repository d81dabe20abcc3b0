//! γₖ = γ′/(τₖ + 1) (staleness-aware SGD: Zhang, Gupta, Lian, Liu, IJCAI 2016). **Unsafe**: it looks at one delay alone, not at
//! what was moved since the read, and can diverge where delays vary, as they do with τₖ = k mod 40 on x²/2. It is here to be
//! compared with; a run says so in its warnings.

pub(super) struct NaiveDelay;

impl super::DelayRule for NaiveDelay {
    fn length(&self, full: f64, _spent: f64, delay: u64) -> f64 {
        full / (delay as f64 + 1.0)
    }
}
