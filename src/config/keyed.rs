//! Kinds of a section that have keys of their own: what methods and exchanges are lists of. A key has a type and a default; a
//! kind is read by its name and writes its keys again.

use super::GraphKind;
use crate::error::Result;
use serde::Serialize;

/// The keys of a section, as written, or their defaults.
pub trait Keys {
    /// Whether.
    fn flag(&self, key: &'static str, default: bool) -> Result<bool>;
    /// How many: 1 to `limit.most`.
    fn count(&self, key: &'static str, default: u64, limit: Limit) -> Result<u64>;
    /// How much, 0 or more.
    fn amount(&self, key: &'static str, default: f64) -> Result<f64>;
    /// Who sends to whom.
    fn graph(&self, key: &'static str, default: GraphKind) -> Result<GraphKind>;
}

/// A value of such a key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Whether.
    Flag(bool),
    /// How many.
    Count(u64),
    /// How much.
    Amount(f64),
    /// Who sends to whom.
    Graph(GraphKind),
}

/// Up to what a number counts.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The largest.
    pub most: u64,
    /// What stands for a number out of the range, if anything does, to follow "or".
    pub others: &'static str,
}

impl Limit {
    /// What a type can hold, and nothing else.
    pub const NONE: Limit = Limit { most: u64::MAX, others: "" };

    fn within(self, most: u64) -> Self {
        Limit { most: self.most.min(most), ..self }
    }
}

/// A type of such values.
pub trait Key: Copy {
    /// What is set, or `default`; of a number that counts within `limit`.
    fn read(keys: &dyn Keys, key: &'static str, default: Self, limit: Limit) -> Result<Self>;
    /// As a value.
    fn value(self) -> Value;
}

impl Key for bool {
    fn read(keys: &dyn Keys, key: &'static str, default: bool, _limit: Limit) -> Result<bool> {
        keys.flag(key, default)
    }

    fn value(self) -> Value {
        Value::Flag(self)
    }
}

impl Key for u64 {
    fn read(keys: &dyn Keys, key: &'static str, default: u64, limit: Limit) -> Result<u64> {
        keys.count(key, default, limit.within(1 << 53))
    }

    fn value(self) -> Value {
        Value::Count(self)
    }
}

impl Key for usize {
    fn read(keys: &dyn Keys, key: &'static str, default: usize, limit: Limit) -> Result<usize> {
        Ok(keys.count(key, default as u64, limit.within(u32::MAX.into()))? as usize)
    }

    fn value(self) -> Value {
        Value::Count(self as u64)
    }
}

impl Key for f64 {
    fn read(keys: &dyn Keys, key: &'static str, default: f64, _limit: Limit) -> Result<f64> {
        keys.amount(key, default)
    }

    fn value(self) -> Value {
        Value::Amount(self)
    }
}

impl Key for GraphKind {
    fn read(keys: &dyn Keys, key: &'static str, default: GraphKind, _limit: Limit) -> Result<GraphKind> {
        keys.graph(key, default)
    }

    fn value(self) -> Value {
        Value::Graph(self)
    }
}

/// The limit of a key: what the list says, or none.
macro_rules! limit {
    () => {
        crate::config::keyed::Limit::NONE
    };
    ($most:literal, $others:literal) => {
        crate::config::keyed::Limit { most: $most, others: $others }
    };
}

pub(crate) use limit;
