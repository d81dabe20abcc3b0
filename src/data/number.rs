//! Decimal numbers in text, eight digits at a time. A value that is stored as `f32` is the `f32` nearest to the decimal
//! as written; labels and weights are the nearest `f64`.
//!
//! The fast road: mantissa m < 2⁶⁴ and exponent |e| ≤ 22 give m·10ᵉ in double precision with at most two roundings
//! (Clinger 1990: none in m below 2⁵³, none in 10ᵉ), so an error below 2 units in the last place. Rounding that to
//! `f32` is right unless it lies within those 2 units of the midpoint of two `f32`; then, and for anything longer,
//! the slow and exact parser decides.

/// Line ends that follow a text that is scanned in place, so that eight bytes can be loaded anywhere in it and a scan
/// needs no test for its end. A short text such as one field needs no padding, it is only slower.
pub(super) const PADDING: usize = 16;

/// A decimal that was scanned and not yet rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    negative: bool,
    mantissa: u64,
    exponent: i64,
    /// Whether `mantissa` holds all digits.
    whole: bool,
    /// Where it ends in the text.
    pub(super) end: usize,
}

/// 10⁰ to 10²², all exact in double precision.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
    1e20, 1e21, 1e22,
];
const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Eight characters `0`.
const ZEROS: u64 = 0x3030_3030_3030_3030;

#[inline]
fn eight(text: &[u8], at: usize) -> u64 {
    match text.get(at..at + 8) {
        Some(_) => word(text, at),
        None => last(text, at),
    }
}

/// The eight bytes at `at`, the first lowest.
///
/// # Panics
/// If there are fewer.
#[inline]
pub(super) fn word(text: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(text[at..at + 8].try_into().expect("eight bytes"))
}

/// The fewer than eight bytes that are left, zeros after them.
#[cold]
fn last(text: &[u8], at: usize) -> u64 {
    text.get(at..).unwrap_or_default().iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

/// The value of the digits that `word` (eight characters, the first lowest) begins with, and how many they are.
#[inline]
fn digits(word: u64) -> (u64, usize) {
    // A byte b is a digit iff its high half is 3 and adding 6 leaves it so; otherwise its high half here is not zero.
    let wrong = (word ^ ZEROS) | ((word ^ ZEROS) & 0x7f7f_7f7f_7f7f_7f7f).wrapping_add(0x0606_0606_0606_0606);
    let count = ((wrong & 0xf0f0_f0f0_f0f0_f0f0).trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // The digits move to the top, zeros before them.
    (joined((word ^ ZEROS) << (64 - 8 * count)), count)
}

/// The value of the first `count` ≤ 8 characters of `word` as digits, 0 of none; and 0 if digits is what they are.
#[inline]
pub(super) fn digits_of(word: u64, count: usize) -> (u64, u64) {
    // In two steps, since a shift by 64 is none.
    let shift = 4 * (8 - count);
    let v = (word ^ ZEROS) << shift << shift;
    // A byte above 9 has its top bit set, or sets it when 0x76 is added; what it carries over only adds to that.
    let strange = (v | v.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    (joined(v), strange)
}

/// Eight digits, each a byte and the first of them lowest, as one number.
#[inline]
fn joined(v: u64) -> u64 {
    let v = v.wrapping_mul(10).wrapping_add(v >> 8);
    ((v & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064))
        .wrapping_add(((v >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001))
        >> 32
}

/// An unsigned integer at `at`: its value and its end; `None` if there is no digit or it passes 2⁶⁴.
#[inline]
pub(super) fn integer(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let (mut value, mut count) = digits(eight(text, at));
    if count == 0 {
        return None;
    }
    let mut end = at + count;
    while count == 8 {
        let more;
        (more, count) = digits(eight(text, end));
        value = value.checked_mul(TENS[count])?.checked_add(more)?;
        end += count;
    }
    Some((value, end))
}

/// Runs of digits are added to `mantissa`; gives the end.
#[inline]
fn run(text: &[u8], mut at: usize, mantissa: &mut u64) -> usize {
    loop {
        let (value, count) = digits(eight(text, at));
        *mantissa = mantissa.wrapping_mul(TENS[count]).wrapping_add(value);
        at += count;
        if count < 8 {
            return at;
        }
    }
}

/// A decimal number at `at`: sign, digits with or without a point, exponent. Not `inf`, not `nan`, not hexadecimal.
#[inline]
pub(super) fn decimal(text: &[u8], mut at: usize) -> Option<Decimal> {
    let byte = |at: usize| text.get(at).copied().unwrap_or(b'\n');
    let negative = byte(at) == b'-';
    if negative || byte(at) == b'+' {
        at += 1;
    }
    let mut mantissa = 0;
    let first = at;
    at = run(text, at, &mut mantissa);
    let mut count = at - first;
    let mut exponent = 0;
    if byte(at) == b'.' {
        let point = at + 1;
        at = run(text, point, &mut mantissa);
        exponent = -((at - point) as i64);
        count += at - point;
    }
    if count == 0 {
        return None;
    }
    if byte(at) | 0x20 == b'e' {
        let minus = byte(at + 1) == b'-';
        let (power, end) = power(text, at + 1 + usize::from(minus || byte(at + 1) == b'+'))?;
        exponent += if minus { -power } else { power };
        at = end;
    }
    Some(Decimal { negative, mantissa, exponent, whole: count <= 19 || significant(text, first) <= 19, end: at })
}

/// The digits of an exponent; ones so large that they decide alone are cut to 10⁶.
fn power(text: &[u8], at: usize) -> Option<(i64, usize)> {
    let end = at + text.get(at..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    let power = text[at..end].iter().fold(0i64, |power, b| (power * 10 + i64::from(b - b'0')).min(1_000_000));
    (end > at).then_some((power, end))
}

/// Digits from the first that is not zero.
#[cold]
fn significant(text: &[u8], first: usize) -> usize {
    let number = text[first..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.');
    number.filter(|b| **b != b'.').skip_while(|b| **b == b'0').count()
}

impl Decimal {
    /// ±mantissa·10^exponent, its digits all in the mantissa, written up to `end`.
    #[inline]
    pub(super) fn new(negative: bool, mantissa: u64, exponent: i64, end: usize) -> Self {
        Decimal { negative, mantissa, exponent, whole: true, end }
    }

    /// m·10ᵉ within 2 units in the last place, if the fast road is open.
    #[inline]
    fn near(&self) -> Option<f64> {
        if !self.whole {
            return None;
        }
        let m = self.mantissa as f64;
        match self.exponent {
            0 => Some(m),
            -22..0 => Some(m / POWERS[-self.exponent as usize]),
            1..=22 => Some(m * POWERS[self.exponent as usize]),
            _ => None,
        }
    }

    /// The nearest `f32`; infinite where the decimal is too large. `text` and `start` are those it was scanned from.
    #[inline]
    pub(super) fn f32(&self, text: &[u8], start: usize) -> f32 {
        match self.near() {
            Some(near) if self.mantissa == 0 || (near.to_bits() & 0x1fff_ffff).abs_diff(0x1000_0000) > 2 => {
                if self.negative { -near as f32 } else { near as f32 }
            }
            _ => slow(text, start, self.end).unwrap_or(f32::NAN),
        }
    }

    /// The nearest `f64`; infinite where the decimal is too large.
    #[inline]
    pub(super) fn f64(&self, text: &[u8], start: usize) -> f64 {
        match self.near() {
            Some(near) if self.mantissa < 1 << 53 => {
                if self.negative {
                    -near
                } else {
                    near
                }
            }
            _ => slow(text, start, self.end).unwrap_or(f64::NAN),
        }
    }
}

/// A field that holds one number and blanks: the number.
pub(super) fn field(text: &[u8]) -> Option<(Decimal, &[u8])> {
    let text = text.trim_ascii();
    let number = decimal(text, 0)?;
    (number.end == text.len()).then_some((number, text))
}

/// The exact parser, for a number that [`decimal`] has found well formed.
#[cold]
fn slow<T: fast_float2::FastFloat>(text: &[u8], start: usize, end: usize) -> Option<T> {
    let plus = usize::from(text[start] == b'+');
    fast_float2::parse(&text[start + plus..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(number: &str) -> Option<(f32, f64, usize)> {
        let mut text = number.as_bytes().to_vec();
        let short = decimal(&text, 0).map(|d| (d.f32(&text, 0), d.f64(&text, 0), d.end));
        text.resize(text.len() + PADDING, b'\n');
        let padded = decimal(&text, 0).map(|d| (d.f32(&text, 0), d.f64(&text, 0), d.end));
        assert_eq!(short, padded, "{number}");
        padded
    }

    #[test]
    fn numbers_agree_with_the_standard_library_to_the_bit() {
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 20
        };
        let mut seen = 0;
        for _ in 0..200_000 {
            let sign = ["", "-", "+"][(draw() % 3) as usize];
            let (a, b) = (draw() % 10u64.pow((draw() % 9) as u32), draw() % 10u64.pow((1 + draw() % 12) as u32));
            let width = (draw() % 22) as usize;
            let number = match draw() % 4 {
                0 => format!("{sign}{a}.{b:0width$}"),
                1 => format!("{sign}.{b:0width$}"),
                2 => format!("{sign}{a}"),
                _ => format!("{sign}{a}.{b:0width$}e{}", draw() as i64 % 90 - 45),
            };
            let (single, double, end) = scan(&number).expect(&number);
            assert_eq!(single.to_bits(), number.parse::<f32>().unwrap().to_bits(), "{number}");
            assert_eq!(double.to_bits(), number.parse::<f64>().unwrap().to_bits(), "{number}");
            assert_eq!(end, number.len(), "{number}");
            seen += 1;
        }
        assert_eq!(seen, 200_000);
    }

    #[test]
    fn the_midpoint_of_two_singles_is_rounded_to_even() {
        for number in
            ["16777217", "16777219", "1.000000059604644775390625", "16777217.000000001", "9007199254740993"]
        {
            let (single, double, _) = scan(number).unwrap();
            assert_eq!(single, number.parse::<f32>().unwrap(), "{number}");
            assert_eq!(double, number.parse::<f64>().unwrap(), "{number}");
        }
    }

    #[test]
    fn what_is_no_number_is_none_and_what_follows_is_left() {
        for bad in ["", "+", "-", ".", "e5", "nan", "inf", "1e", "1e+", "--1", "+-1"] {
            assert!(scan(bad).is_none(), "{bad:?}");
        }
        assert_eq!(scan("0x10").unwrap().2, 1);
        assert_eq!(scan("1.5.6").unwrap().2, 3);
        assert!(scan("1e999").unwrap().0.is_infinite());
        assert_eq!(scan("1e-99999999999999999999").unwrap().0, 0.0);
        assert_eq!(scan("-0").unwrap().0.to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn an_integer_is_read_whole_or_not_at_all() {
        let read = |number: &str| integer(format!("{number}:{:16}", "").as_bytes(), 0);
        assert_eq!(read("0"), Some((0, 1)));
        assert_eq!(read("12345678"), Some((12_345_678, 8)));
        assert_eq!(read("4294967296"), Some((1 << 32, 10)));
        assert_eq!(read("18446744073709551615"), Some((u64::MAX, 20)));
        assert_eq!(read("18446744073709551616"), None);
        assert_eq!(read("x"), None);
    }
}
