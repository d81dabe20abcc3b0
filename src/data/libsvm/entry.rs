//! The common kind of entry, `index:value` in plain digits, without a scan of each number in turn: one look at 32 bytes
//! finds where the entry ends, so the next one can begin before this one's digits are worth anything. All else (signs of
//! plus, exponents, more than 19 digits, remarks, faults) is left to the general parser, which a test holds this one to.

use super::{
    super::{
        memory::SparseBuilder,
        number::{Decimal, digits_of, word},
    },
    kernel::{SPAN, places},
};

/// Bytes that are read: digits are taken eight at a time, also past the entry's end.
const READ: usize = SPAN + 16;
/// Digits of an index, and of a value before its point.
const EIGHT: usize = 8;
/// Digits that a mantissa of 64 bits always holds.
const DIGITS_MAX: usize = 19;

/// Puts the common entries from `at` on into `rows`, as long as each has a greater index than the one before it and the
/// first at least `floor`; gives where it stopped.
#[inline]
pub(super) fn common_run(text: &[u8], mut at: usize, mut floor: u64, rows: &mut SparseBuilder) -> usize {
    while let Some((index, value, end)) = common(text, at) {
        if index < floor {
            break;
        }
        // Eight digits fit 32 bits.
        rows.push(index as u32, value);
        floor = index + 1;
        at = end;
    }
    at
}

/// Index, value and end of the entry at `at`, a blank after it taken with it; `None` if it is not of the common kind, or
/// not well formed.
#[inline]
fn common(text: &[u8], at: usize) -> Option<(u64, f32, usize)> {
    let bytes: &[u8; READ] = text.get(at..at + READ)?.try_into().ok()?;
    let places = places(bytes.first_chunk().expect("48 bytes have 32"));
    let (colon, length) = (places.colons.trailing_zeros() as usize, places.ends.trailing_zeros() as usize);
    if colon.wrapping_sub(1) >= EIGHT || length <= colon || length == SPAN {
        return None;
    }
    let end = at
        + length
        + match bytes[length] {
            b' ' => 1,
            b'\n' | b'\t' | b'\r' => 0,
            _ => return None,
        };
    let (index, strange) = digits_of(word(bytes, 0), colon);
    if strange != 0 {
        return None;
    }
    let digit = bytes[colon + 1].wrapping_sub(b'0');
    if length == colon + 2 && digit < 10 {
        return Some((index, f32::from(digit), end));
    }
    let value = value(bytes, colon + 1, length, places.points, text, at)?;
    Some((index, value, end))
}

/// The value at `bytes[start..end]`, in which the first point is that of `points`; `text[at..]` are the bytes.
#[inline]
fn value(bytes: &[u8; READ], start: usize, end: usize, points: u32, text: &[u8], at: usize) -> Option<f32> {
    let negative = bytes[start] == b'-';
    let first = start + usize::from(negative);
    let point = (points.trailing_zeros() as usize).min(end);
    let (whole, fraction) = (point.checked_sub(first)?, end.checked_sub(point)?.saturating_sub(1));
    if whole > EIGHT || whole + fraction == 0 || whole + fraction > DIGITS_MAX {
        return None;
    }
    let (mut mantissa, mut strange) = digits_of(word(bytes, first), whole);
    if fraction > 0 {
        let count = fraction.min(EIGHT);
        strange |= append(&mut mantissa, word(bytes, point + 1), count);
        if fraction > EIGHT {
            // The third word is taken even where it is not needed: how many digits there are is hard to foretell.
            let count = (fraction - EIGHT).min(EIGHT);
            strange |= append(&mut mantissa, word(bytes, point + 1 + EIGHT), count);
            strange |= append(&mut mantissa, word(bytes, point + 1 + 2 * EIGHT), fraction - EIGHT - count);
        }
    }
    if strange != 0 {
        return None;
    }
    Some(Decimal::new(negative, mantissa, -(fraction as i64), at + end).f32(text, at + start))
}

/// Puts the first `count` digits of `word` behind those of `mantissa`; not 0 if one is no digit.
#[inline]
fn append(mantissa: &mut u64, word: u64, count: usize) -> u64 {
    const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let (value, strange) = digits_of(word, count);
    *mantissa = mantissa.wrapping_mul(TENS[count]).wrapping_add(value);
    strange
}

#[cfg(test)]
mod tests {
    use super::{
        super::{super::Duplicates, Next, Rules, word::skip_blanks},
        *,
    };
    use proptest::prelude::*;

    /// Both parsers on one entry: the index, the bits of the value and where the next thing begins; `None` for a fault.
    fn both(entry: &str, rest: &str) -> [Option<(u64, u32, usize)>; 2] {
        let text = format!("{entry}{rest}{}", "\n".repeat(READ)).into_bytes();
        let rules = Rules { base: None, duplicates: Duplicates::Error, sort: false };
        let general = match rules.next(&text, 0) {
            Ok(Next::Entry(index, value, end)) => {
                Some((u64::from(index), value.to_bits(), skip_blanks(&text, end)))
            }
            _ => None,
        };
        let common = common(&text, 0);
        [common.map(|(index, value, end)| (index, value.to_bits(), skip_blanks(&text, end))), general]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn an_entry_in_plain_digits_is_taken_and_is_what_the_general_parser_reads(
            entry in "[0-9]{1,8}:-?([0-9]{1,8}|[0-9]{0,3}\\.[0-9]{1,12}|0\\.[0-9]{15,18}|[0-9]\\.)",
            rest in "[ \t\r]{1,3}([0-9]{1,3}:[0-9.]{1,20})?|\n1 1:1",
        ) {
            let [common, general] = both(&entry, &rest);
            prop_assert!(common.is_some(), "{entry:?} was left to the general parser");
            prop_assert_eq!(common, general);
        }

        #[test]
        fn whatever_is_taken_is_what_the_general_parser_reads(
            entry in "([0-9]{0,11}:?)?[-+]{0,2}[0-9]{0,22}(\\.[0-9]{0,26})?([eE][-+]?[0-9]{0,4})?",
            junk in "[0-9:.+e#x\u{0}\u{b}\u{e9}-]{0,2}",
            rest in "[ \t\r\n\u{b}#][0-9:. \n]{0,40}",
        ) {
            let [common, general] = both(&format!("{entry}{junk}"), &rest);
            if common.is_some() {
                prop_assert_eq!(common, general);
            }
        }
    }

    #[test]
    fn values_that_lie_between_two_singles_are_rounded_as_the_general_parser_does() {
        for value in ["16777217", "16777219", "1.00000005960464477", "0.000000059604644775", "-8388608.5", "-0"] {
            let [common, general] = both(&format!("7:{value}"), " ");
            assert!(common.is_some() && common == general, "{value}: {common:?} {general:?}");
        }
    }

    #[test]
    fn what_is_not_in_plain_digits_is_left_to_the_general_parser() {
        for entry in [
            "1:",
            ":1",
            "1:+1",
            "1:1e3",
            "1:x",
            "1:1:1",
            "123456789:1",
            "1:.",
            "1:1.2.3",
            "1:0.12345678901234567890",
        ] {
            assert_eq!(both(entry, " ")[0], None, "{entry}");
        }
        for end in ["#", "\u{b}", "\u{0}"] {
            assert_eq!(both("1:1", end)[0], None, "{end:?}");
        }
    }
}
