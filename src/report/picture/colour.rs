//! Colours that are told apart with any colour vision.

/// The scale of heat maps, low to high: viridis (S. van der Walt and N. Smith, 2015, in the public domain) from its
/// light end, nine of its colours. Brightness falls evenly, so that it reads in grey, too.
const SCALE: [[u8; 3]; 9] = [
    [253, 231, 37],
    [173, 220, 48],
    [94, 201, 98],
    [40, 174, 128],
    [33, 145, 140],
    [44, 114, 142],
    [59, 82, 139],
    [71, 45, 123],
    [68, 1, 84],
];

/// Colours of curves on white: those of M. Okabe and K. Ito (2008) without their yellow, then darker ones of P.
/// Tol's.
pub(super) const CURVES: [[u8; 3]; 12] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [0, 0, 0],
    [86, 180, 233],
    [230, 159, 0],
    [51, 34, 136],
    [136, 34, 85],
    [128, 128, 0],
    [119, 119, 119],
    [102, 17, 0],
];

/// How many colours a heat map has: more than are told apart, and few enough to be compressed well.
pub(super) const STEPS: usize = 64;

/// The colour at `share` of the scale, 0 (low) to 1 (high).
pub(super) fn at(share: f64) -> [u8; 3] {
    let step = (share.clamp(0.0, 1.0) * (STEPS - 1) as f64).round() / (STEPS - 1) as f64;
    let place = step * (SCALE.len() - 1) as f64;
    let below = (place.floor() as usize).min(SCALE.len() - 2);
    let part = place - below as f64;
    std::array::from_fn(|channel| {
        let (low, high) = (f64::from(SCALE[below][channel]), f64::from(SCALE[below + 1][channel]));
        (low + part * (high - low)).round() as u8
    })
}

/// `#rrggbb`.
pub(super) fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The relative luminance of a colour, 0 to 1 (Web Content Accessibility Guidelines 2.1).
fn luminance(colour: [u8; 3]) -> f64 {
    let linear = |channel: u8| match f64::from(channel) / 255.0 {
        dark @ ..=0.04045 => dark / 12.92,
        light => ((light + 0.055) / 1.055).powf(2.4),
    };
    0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
}

/// Black or white, whichever has the higher contrast on `ground`: they are equal at a luminance of 0.179.
pub(super) fn ink(ground: [u8; 3]) -> &'static str {
    if luminance(ground) > 0.179 { "#000" } else { "#fff" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_grows_darker_all_the_way() {
        let brightness: Vec<f64> = (0..STEPS).map(|step| luminance(at(step as f64 / (STEPS - 1) as f64))).collect();
        assert!(brightness.is_sorted_by(|low, high| low > high), "{brightness:?}");
        assert_eq!((at(-1.0), at(2.0)), (SCALE[0], SCALE[8]));
        assert_eq!((ink(at(0.0)), ink(at(1.0))), ("#000", "#fff"));
        assert_eq!(hex([1, 16, 255]), "#0110ff");
    }

    #[test]
    fn curves_have_distinct_colours_that_show_on_white() {
        for (i, one) in CURVES.iter().enumerate() {
            assert!(luminance(*one) < 0.5, "{one:?}");
            assert!(CURVES[..i].iter().all(|other| other != one), "{one:?}");
        }
    }
}
