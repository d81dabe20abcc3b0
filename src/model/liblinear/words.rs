//! The words of a file, with their lines.

use crate::error::{Error, Result};
use std::{ops::RangeInclusive, path::Path, str::Lines};

/// Words one after the other; where lines end means nothing, as for `fscanf`.
pub(super) struct Words<'a> {
    path: &'a Path,
    rest: Lines<'a>,
    line: std::str::SplitAsciiWhitespace<'a>,
    /// The line of the last word, from 1.
    number: u64,
}

impl<'a> Words<'a> {
    /// # Errors
    /// Bytes that are no text.
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            Error::data(path, None, "a model of LIBLINEAR's with bytes that are no text", "copy the file again")
        })?;
        Ok(Words { path, rest: text.lines(), line: "".split_ascii_whitespace(), number: 0 })
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.line.next() {
                return Some(word);
            }
            self.line = self.rest.next()?.split_ascii_whitespace();
            self.number += 1;
        }
    }

    /// A fault of the last word.
    pub(super) fn error(&self, what: String, remedy: impl Into<String>) -> Error {
        Error::data(self.path, Some(self.number.max(1)), what, remedy)
    }

    /// `word`, the value of `name`, as a number.
    pub(super) fn finite(&self, word: &str, name: &str) -> Result<f64> {
        let value = word.parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| self.error(format!("{name} is {word:?}"), format!("{name} takes a finite number")))
    }

    /// The next word, the value of `name`, as a number of `range`.
    pub(super) fn whole(&mut self, name: &str, range: RangeInclusive<u64>) -> Result<u64> {
        let word = self.next().unwrap_or_default();
        let value = word.parse().ok().filter(|value| range.contains(value));
        value.ok_or_else(|| {
            let remedy = format!("{name} takes a whole number from {} to {}", range.start(), range.end());
            self.error(format!("{name} is {word:?}"), remedy)
        })
    }
}
