//! Values of two bytes: IEEE half floats, without the numbers too small to be normal, which a device may take for 0.

use crate::error::{Error, Result};

/// The largest half float.
const LARGEST: f32 = 65504.0;

/// The half float nearest to `value`, ties to even; below the smallest normal one, 6.1e-5, it is 0. None beyond the largest.
fn bits(value: f32) -> Option<u16> {
    const REBIAS: u32 = (127 - 15) << 10;
    const NORMAL: u32 = 1 << 10;
    const INFINITE: u32 = 31 << 10;
    let raw = value.to_bits();
    let (sign, magnitude) = ((raw >> 16) as u16 & 0x8000, raw & 0x7fff_ffff);
    let rounded = (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13;
    let half = rounded.saturating_sub(REBIAS);
    match half {
        INFINITE.. => None,
        NORMAL.. => Some(sign | half as u16),
        _ => Some(sign),
    }
}

/// The number that a half float stands for; not for infinities and NaN.
fn number(half: u16) -> f32 {
    let (sign, rest) = (u32::from(half & 0x8000) << 16, u32::from(half & 0x7fff));
    f32::from_bits(sign | if rest < 1 << 10 { 0 } else { (rest << 13) + ((127 - 15) << 23) })
}

/// Rounds each of `values` to the nearest half float.
///
/// # Errors
/// A value beyond ±65504.
pub(super) fn round(values: &mut [f32]) -> Result<()> {
    values.iter_mut().try_for_each(|value| {
        let half = bits(*value).ok_or_else(|| {
            Error::unmet(
                format!("value {value} does not fit two bytes, which hold numbers up to {LARGEST}"),
                "scale the columns (problem.scale), or keep values in four bytes",
            )
        })?;
        *value = number(half);
        Ok(())
    })
}

/// `values`, each a half float already, two to a word, the first in the low half; an odd one is followed by 0.
#[cfg(feature = "gpu")]
pub(super) fn pack(values: &[f32]) -> impl Iterator<Item = u32> + '_ {
    let half = |value: Option<&f32>| u32::from(value.and_then(|&value| bits(value)).unwrap_or(0));
    values.chunks(2).map(move |pair| half(pair.first()) | half(pair.get(1)) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_normal_half_float_survives_both_ways() {
        let normal = |half: &u16| (1 << 10..31 << 10).contains(&(half & 0x7fff));
        let all: Vec<u16> = (0..=u16::MAX).filter(normal).collect();
        assert_eq!(all.len(), 2 * 30 * 1024);
        for half in all {
            assert_eq!(bits(number(half)), Some(half));
        }
    }

    #[test]
    fn values_are_rounded_to_the_nearest_and_ties_to_even() {
        // 1 + 2⁻¹¹ lies between 1 and 1 + 2⁻¹⁰, 1 + 3·2⁻¹¹ between that and 1 + 2⁻⁹.
        for (value, right) in [
            (1.0 + 0.000_488_281_25, 1.0),
            (1.0 + 3.0 * 0.000_488_281_25, 1.0 + 2.0 * 0.000_976_562_5),
            (1.000_49, 1.000_976_6),
            (-0.1, -0.099_975_586),
            (65519.0, LARGEST),
            (6.0e-5, 0.0),
            (6.103_515_6e-5, 6.103_515_6e-5),
        ] {
            let mut values = [value];
            round(&mut values).expect("it fits");
            assert_eq!(values[0], right, "{value}");
        }
        assert!(round(&mut [65520.0]).is_err() && round(&mut [f32::NAN]).is_err());
    }
}
