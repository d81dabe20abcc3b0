//! One entry read as a type: every refusal names the origin, the value seen and what is accepted.

use super::{
    keys::{Named, suggestion},
    settings::{Entry, Settings},
};
use crate::error::{Error, Result};
use toml::Value;

impl Settings {
    /// An error of the plan, with the place where the setting was written whose key its sentence names. Other errors,
    /// and those about what nobody wrote, come back as they are.
    pub fn locate(&self, error: Error) -> Error {
        let Error::Unmet { what, remedy } = error else { return error };
        let named = |entry: &&Entry| {
            let key = format!("{}.{}", entry.section, entry.key);
            let end = |rest: &str| !rest.starts_with(|c: char| c == '_' || c.is_alphanumeric());
            what.match_indices(&key).any(|(at, _)| end(&what[at + key.len()..]))
        };
        match self.entries().iter().rfind(named) {
            Some(entry) => Error::Setting { origin: entry.origin.clone(), what, remedy },
            None => Error::Unmet { what, remedy },
        }
    }

    /// The entry in force for a key.
    pub(super) fn get(&self, section: &str, key: &str) -> Option<&Entry> {
        self.entries().iter().rfind(|entry| entry.section == section && entry.key == key)
    }
}

/// Which numbers a key takes.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    /// Any finite number.
    Finite,
    /// Finite and ≥ 0.
    NotNegative,
    /// Finite and > 0.
    Positive,
    /// In [0, 1].
    Probability,
    /// In (0, 1].
    UpToOne,
    /// In (0, 1).
    BelowOne,
}

impl Bound {
    fn holds(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Bound::Finite => true,
                Bound::NotNegative => number >= 0.0,
                Bound::Positive => number > 0.0,
                Bound::Probability => (0.0..=1.0).contains(&number),
                Bound::UpToOne => number > 0.0 && number <= 1.0,
                Bound::BelowOne => number > 0.0 && number < 1.0,
            }
    }

    fn words(self) -> &'static str {
        match self {
            Bound::Finite => "a finite number",
            Bound::NotNegative => "a finite number, 0 or more",
            Bound::Positive => "a finite number above 0",
            Bound::Probability => "a number from 0 to 1",
            Bound::UpToOne => "a number above 0, up to 1",
            Bound::BelowOne => "a number above 0 and below 1",
        }
    }
}

impl Entry {
    /// `section.key = value`, as a person would write it.
    pub(super) fn written(&self) -> String {
        format!("{}.{} = {}", self.section, self.key, self.value)
    }

    /// The error that this value is not among `accepted`.
    pub(super) fn refuse(&self, accepted: impl AsRef<str>) -> Error {
        self.because("is not accepted", format!("accepted: {}", accepted.as_ref()))
    }

    /// The error that this value does not do for the reason `why`.
    pub(super) fn because(&self, why: impl AsRef<str>, remedy: impl Into<String>) -> Error {
        let what = format!("{} {}", self.written(), why.as_ref());
        Error::Setting { origin: self.origin.clone(), what, remedy: remedy.into() }
    }

    /// The name among `names` that the value is.
    pub(super) fn one_of(&self, names: &[&'static str]) -> Result<&'static str> {
        let seen = self.value.as_str();
        names.iter().find(|name| seen == Some(name)).copied().ok_or_else(|| {
            let close = seen.map(|seen| suggestion(seen, names)).unwrap_or_default();
            self.refuse(format!("{}{close}", names.join(", ")))
        })
    }

    /// A value without parameters.
    pub(super) fn choice<T: Named>(&self) -> Result<T> {
        let names: Vec<_> = T::NAMES.iter().map(|(name, _)| *name).collect();
        let name = self.one_of(&names)?;
        let (_, value) =
            T::NAMES.iter().find(|(known, _)| *known == name).expect("one_of returns one of its names");
        Ok(*value)
    }

    pub(super) fn flag(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.refuse("true, false"))
    }

    pub(super) fn number(&self, bound: Bound) -> Result<f64> {
        self.number_or(bound, "")
    }

    /// A number within `bound`; `others` says what else the key takes.
    pub(super) fn number_or(&self, bound: Bound, others: &str) -> Result<f64> {
        let number = match &self.value {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        number.filter(|number| bound.holds(*number)).ok_or_else(|| {
            let or = if others.is_empty() { "" } else { ", or " };
            self.refuse(format!("{}{or}{others}", bound.words()))
        })
    }

    /// A whole number from `least` to `most`; `others` says what else the key takes.
    pub(super) fn whole(&self, least: u64, most: u64, others: &str) -> Result<u64> {
        let number = match &self.value {
            Value::Integer(number) => u64::try_from(*number).ok(),
            // Flags may say 1e3; above 2^53 a float no longer tells neighbours apart.
            Value::Float(number) if number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(number) => {
                Some(*number as u64)
            }
            // TOML's integers end at 2^63 − 1; a larger one is written as text.
            Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        };
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            let or = if others.is_empty() { "" } else { ", or " };
            let range =
                if most == u64::MAX { format!("{least} or more") } else { format!("from {least} to {most}") };
            self.refuse(format!("a whole number, {range}{or}{others}"))
        })
    }

    /// `None` where the value is the word for "not set", else what `read` makes of it.
    pub(super) fn unless<T>(&self, word: &str, read: impl FnOnce(&Self) -> Result<T>) -> Result<Option<T>> {
        if self.value.as_str() == Some(word) { Ok(None) } else { read(self).map(Some) }
    }
}
