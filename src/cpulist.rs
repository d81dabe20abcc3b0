//! Lists of cpus and nodes as the kernel, `taskset -c` and cgroups write them: `0-3,8`, and with a stride `0-10:2`.

use std::{collections::HashSet, fmt::Write};

/// The largest number a list may hold. Linux knows at most 8192 cpus; the bound keeps `0-4294967295` from filling the
/// memory before anybody can say that the machine has no such cpu.
pub const LARGEST: u32 = (1 << 20) - 1;

/// Why a text is no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; a list is numbers and ranges such as 0-3,8 or 0-10:2")]
pub struct Malformed {
    what: String,
}

fn malformed(what: impl Into<String>) -> Malformed {
    Malformed { what: what.into() }
}

/// The numbers of a list in the order written. Spaces round the commas are allowed.
///
/// # Errors
/// [`Malformed`] for an empty text or part, anything that is no number, a range that falls, a stride of 0, a number
/// above [`LARGEST`], and a number listed twice.
pub fn parse(text: &str) -> Result<Vec<u32>, Malformed> {
    if text.trim().is_empty() {
        return Err(malformed("the list is empty"));
    }
    let mut numbers = Vec::new();
    let mut seen = HashSet::new();
    for part in text.split(',') {
        let (first, last, stride) = range(part.trim())?;
        for number in (first..=last).step_by(stride) {
            if !seen.insert(number) {
                return Err(malformed(format!("`{}` lists {number} twice", text.trim())));
            }
            numbers.push(number);
        }
    }
    Ok(numbers)
}

/// First, last and stride of one part.
fn range(part: &str) -> Result<(u32, u32, usize), Malformed> {
    if part.is_empty() {
        return Err(malformed("nothing stands between two commas, or at an end"));
    }
    let Some((first, rest)) = part.split_once('-') else {
        let only = number(part, part)?;
        return Ok((only, only, 1));
    };
    let (last, stride) = match rest.split_once(':') {
        Some((last, stride)) => (last, number(stride, part)? as usize),
        None => (rest, 1),
    };
    let (first, last) = (number(first, part)?, number(last, part)?);
    if first > last {
        return Err(malformed(format!("`{part}` runs from {first} down to {last}")));
    }
    if stride == 0 {
        return Err(malformed(format!("`{part}` has a stride of 0")));
    }
    Ok((first, last, stride))
}

fn number(text: &str, part: &str) -> Result<u32, Malformed> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(malformed(format!("`{part}` is neither a number nor a range")));
    }
    match text.parse() {
        Ok(number) if number <= LARGEST => Ok(number),
        _ => Err(malformed(format!("`{text}` is above {LARGEST}, the largest number taken"))),
    }
}

/// The shortest list without strides of these numbers, ascending: `0-3,8`. An empty slice gives `none`.
pub fn format(numbers: &[u32]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut text = String::new();
    for run in sorted.chunk_by(|a, b| a + 1 == *b) {
        let comma = if text.is_empty() { "" } else { "," };
        let written = match run {
            [only] => write!(text, "{comma}{only}"),
            [first, .., last] => write!(text, "{comma}{first}-{last}"),
            [] => Ok(()),
        };
        written.expect("writing to a string cannot fail");
    }
    if text.is_empty() { "none".into() } else { text }
}
