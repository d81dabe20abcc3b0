//! The words of a line of LIBSVM text, and what to say of one that does not do.

use super::super::number::{decimal, integer};
use memchr::memchr;

/// What a line looks like.
pub(super) const ACCEPTED: &str = "a line is `label index:value index:value …` with indices in ascending order";

/// A fault at a place in the slab; the line is counted when it is reported.
pub(super) struct Misfit {
    pub(super) at: usize,
    pub(super) what: String,
    pub(super) remedy: String,
}

impl Misfit {
    #[cold]
    pub(super) fn new(at: usize, what: String, remedy: impl Into<String>) -> Self {
        Misfit { at, what, remedy: remedy.into() }
    }
}

pub(super) type Parsed<T> = std::result::Result<T, Misfit>;

#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[inline]
pub(super) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while is_blank(text[at]) {
        at += 1;
    }
    at
}

/// Whether a number may end before this byte.
#[inline]
pub(super) fn ends_token(byte: u8) -> bool {
    is_blank(byte) || byte == b'\n' || byte == b'#'
}

/// The token around `at`, for messages: shortened, unprintable bytes escaped.
#[cold]
pub(super) fn token(text: &[u8], at: usize) -> String {
    let start = text[..at].iter().rposition(|b| ends_token(*b)).map_or(0, |before| before + 1);
    let end = at + text[at..].iter().position(|b| ends_token(*b)).unwrap_or(0);
    let shown = &text[start..end.min(start + 40)];
    format!("`{}{}`", shown.escape_ascii(), if end > start + 40 { "…" } else { "" })
}

pub(super) fn end_of_line(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)
}

/// The label at `at`, and its end.
#[inline]
pub(super) fn label(text: &[u8], at: usize) -> Parsed<(f64, usize)> {
    let number = decimal(text, at);
    if let Some(number) = number
        && ends_token(text[number.end])
    {
        let label = number.f64(text, at);
        if label.is_finite() {
            return Ok((label, number.end));
        }
    }
    Err(not_a_label(text, at, number.map(|number| text[number.end])))
}

#[cold]
pub(super) fn not_a_label(text: &[u8], at: usize, after: Option<u8>) -> Misfit {
    let seen = token(text, at);
    match after {
        Some(b':') => Misfit::new(at, format!("no label: the line begins with {seen}"), ACCEPTED),
        Some(b',') => {
            let what = format!("{seen} is not a label: several labels, or CSV");
            Misfit::new(at, what, "one number begins the line; for CSV give `--format csv`")
        }
        _ => Misfit::new(at, format!("the label {seen} is not a finite number"), ACCEPTED),
    }
}

/// The value at `at`, and its end.
#[inline]
pub(super) fn value(text: &[u8], at: usize) -> Parsed<(f32, usize)> {
    if let Some(number) = decimal(text, at)
        && ends_token(text[number.end])
    {
        let value = number.f32(text, at);
        if value.is_finite() {
            return Ok((value, number.end));
        }
        let what = format!("the value in {} is too large", token(text, at));
        return Err(Misfit::new(at, what, "values are stored in single precision, up to 3.4e38; scale the data"));
    }
    let what = format!("the value in {} is not a finite number", token(text, at));
    Err(Misfit::new(at, what, "values are decimal numbers such as 3, -0.5 or 1e-4; blanks between entries"))
}

/// Skips `qid:N`.
#[cold]
pub(super) fn query(text: &[u8], at: usize) -> Parsed<usize> {
    match integer(text, at + 4) {
        Some((_, end)) if ends_token(text[end]) => Ok(end),
        _ => Err(Misfit::new(at, format!("{} is not a query number", token(text, at)), "`qid:` takes an integer")),
    }
}

#[cold]
pub(super) fn not_an_entry(text: &[u8], at: usize) -> Misfit {
    let seen = token(text, at);
    let what = match seen.contains(':') {
        true if text[at] == b'-' => format!("the index in {seen} is negative"),
        true => format!("{seen} does not begin with an index"),
        false => format!("{seen} has no colon"),
    };
    Misfit::new(at, what, "after the label every entry is `index:value`, the index an integer ≥ 0")
}
