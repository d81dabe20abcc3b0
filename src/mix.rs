//! A hash for what is drawn by number instead of in order: any thread finds the k-th number without those before it.

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection whose every output bit depends on all of z.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What SplitMix64 adds to its state at each step: 2⁶⁴ over the golden ratio, odd.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The upper 53 of random bits as a number in [0, 1).
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * 2f64.powi(-53)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_made_of_it_gives_the_published_numbers() {
        // SplitMix64 from state 1234567: the values that its reference program prints.
        let draw = |k: u64| mix(STEP.wrapping_mul(k).wrapping_add(1_234_567));
        assert_eq!(
            [1, 2, 3].map(draw),
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        assert!(unit(u64::MAX) < 1.0 && unit(0) == 0.0);
    }
}
