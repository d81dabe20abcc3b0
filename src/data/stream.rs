//! Seeded random numbers that are the same everywhere.
//!
//! Stream (seed, use, index) is xoshiro256++ seeded with four outputs of SplitMix64 started at
//! mix(mix(seed) + use) + index, mix being SplitMix64's finaliser. A uniform number is the upper 53 bits of an output
//! times 2⁻⁵³; a normal one is √(−2 ln u) cos 2πv of two uniform ones (Box and Muller); a logistic one is ln(u/(1 − u)).
//! A u of 0 counts as 2⁻⁵⁴.

use crate::mix::{STEP, mix, unit};
use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

/// What a stream is for: no two uses share numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// By row: its length and columns; for dense data, its values.
    Rows = 1,
    /// By row: hot columns.
    Hot = 2,
    /// By row: values.
    Values = 3,
    /// By row: noise.
    Noise = 4,
    /// Once: the names of columns.
    Names = 5,
    /// Once: x*.
    Truth = 6,
    /// Once: pairs of rows whose conflict is tried.
    Pairs = 7,
    /// Once: the order of column scales.
    Scales = 8,
    /// By reflection: directions of the eigenvectors.
    Directions = 9,
    /// Once: which rows a sample has.
    Sample = 10,
    /// Once: where an iteration starts.
    Start = 11,
    /// By row, then by column: the factors of a matrix.
    Factors = 12,
}

/// One stream of random numbers.
#[derive(Debug)]
pub(super) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    pub(super) fn new(seed: u64, purpose: Use, index: u64) -> Self {
        let start = mix(mix(seed).wrapping_add(purpose as u64)).wrapping_add(index);
        let mut bytes = [0; 32];
        for (k, word) in bytes.chunks_exact_mut(8).enumerate() {
            let state = start.wrapping_add(STEP.wrapping_mul(k as u64 + 1));
            word.copy_from_slice(&mix(state).to_le_bytes());
        }
        Stream(Xoshiro256PlusPlus::from_seed(bytes))
    }

    /// Uniform in [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        unit(self.0.next_u64())
    }

    /// Uniform in 0..n.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n - 1)
    }

    fn positive(&mut self) -> f64 {
        self.uniform().max(2_f64.powi(-54))
    }

    /// Standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(self.positive())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Standard logistic.
    pub(super) fn logistic(&mut self) -> f64 {
        let u = self.positive();
        libm::log(u / (1.0 - u))
    }

    /// 0..n in a random order (Fisher and Yates).
    pub(super) fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n).map(|k| k as u32).collect();
        for k in (1..n).rev() {
            order.swap(k, self.below(k + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_moments_of_their_laws() {
        let mut stream = Stream::new(7, Use::Rows, 0);
        let n = 200_000;
        let moments = |mut draw: Box<dyn FnMut() -> f64 + '_>| {
            let (mut sum, mut squares) = (0.0, 0.0);
            (0..n).for_each(|_| {
                let x = draw();
                sum += x;
                squares += x * x;
            });
            (sum / n as f64, squares / n as f64)
        };
        let (mean, square) = moments(Box::new(|| stream.uniform()));
        assert!((mean - 0.5).abs() < 0.003 && (square - 1.0 / 3.0).abs() < 0.004);
        let (mean, square) = moments(Box::new(|| stream.normal()));
        assert!(mean.abs() < 0.01 && (square - 1.0).abs() < 0.02);
        let (mean, square) = moments(Box::new(|| stream.logistic()));
        let variance = std::f64::consts::PI.powi(2) / 3.0;
        assert!(mean.abs() < 0.02 && (square - variance).abs() < 0.08);
    }

    #[test]
    fn a_permutation_holds_each_number_once() {
        let mut order = Stream::new(1, Use::Names, 0).permutation(1000);
        assert_ne!(order, (0..1000).collect::<Vec<u32>>());
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<u32>>());
    }

    #[test]
    fn a_stream_is_the_documented_one() {
        // By an implementation of xoshiro256++ and SplitMix64 in Python.
        let expected = [0.18467682512037487, 0.2774956778820742, 0.9645497594142117, 0.8136933928293839];
        let mut stream = Stream::new(7, Use::Rows, 3);
        assert_eq!(expected.map(|_| stream.uniform()), expected);
        let normal = Stream::new(7, Use::Rows, 3).normal();
        assert!((normal - -0.31595893528042734).abs() < 1e-14, "{normal}");
    }
}
