//! Where a run starts.

use crate::mix::{STEP, mix, unit};

/// The point that a run starts from unless it is given another, and whose prox-gradient step a certificate is relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// x = 0.
    Zero,
    /// Every coordinate uniform in [lo, hi], drawn from the seed and its number alone, so that it is the same for any number
    /// of workers. For a bilinear model: 0 is a saddle of it, where every gradient vanishes.
    Drawn {
        /// The seed.
        seed: u64,
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
    },
}

impl Origin {
    /// Uniform in ±c, cut off at the bounds `lo` and `hi` of the coordinates; c⁴ = 9s/k makes E(uᵀv)² = s for u and v of `rank`
    /// k coordinates without bounds, for then each has variance c²/3.
    pub fn pairs(seed: u64, rank: usize, mean_square: f64, lo: f64, hi: f64) -> Self {
        let c = (9.0 * mean_square / rank as f64).powf(0.25);
        Origin::Drawn { seed, lo: lo.max(-c), hi: hi.min(c) }
    }

    /// Coordinate `j` of it.
    pub fn at(&self, j: usize) -> f64 {
        match *self {
            Origin::Zero => 0.0,
            Origin::Drawn { seed, lo, hi } => {
                let drawn = |state: u64| mix(state.wrapping_add(STEP));
                lo + (hi - lo) * unit(drawn(drawn(seed).wrapping_add(j as u64)))
            }
        }
    }

    /// Puts the coordinates from `start` on into `out`.
    pub fn fill(&self, start: usize, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, x)| *x = self.at(start + k));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_drawn_blocks_are_as_large_as_asked() {
        let (rank, pairs) = (5, 20_000);
        let origin = Origin::pairs(3, rank, 0.25, f64::NEG_INFINITY, f64::INFINITY);
        let mut blocks = vec![0.0; 2 * rank * pairs];
        origin.fill(0, &mut blocks);
        let dot = |pair: &[f64]| pair[..rank].iter().zip(&pair[rank..]).map(|(u, v)| u * v).sum::<f64>();
        let squares: f64 = blocks.chunks(2 * rank).map(|pair| dot(pair).powi(2)).sum();
        assert!((squares / pairs as f64 / 0.25 - 1.0).abs() < 0.05, "{}", squares / pairs as f64);
        let mean = blocks.iter().sum::<f64>() / blocks.len() as f64;
        assert!(mean.abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_drawn_point_keeps_within_bounds_and_follows_the_seed() {
        let point = |seed, lo, hi| {
            let mut point = vec![0.0; 1000];
            Origin::pairs(seed, 2, 1.0, lo, hi).fill(7, &mut point);
            point
        };
        let bounded = point(1, 0.0, 0.3);
        assert!(bounded.iter().all(|x| (0.0..=0.3).contains(x)) && bounded.iter().any(|x| *x > 0.2));
        assert_ne!(point(1, -1.0, 1.0), point(2, -1.0, 1.0));
        assert_eq!(point(1, -1.0, 1.0)[3], Origin::pairs(1, 2, 1.0, -1.0, 1.0).at(10));
    }
}
