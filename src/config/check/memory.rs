//! `[data]`, and where and how the parameters lie.

use super::NODES_MAX;
use crate::{
    config::{DataMemory, DataPlacement, ParameterMemory, Settings, keys::suggestion, settings::Entry},
    error::Result,
};

pub(super) fn data(settings: &Settings, default: DataPlacement) -> Result<DataPlacement> {
    let words = [
        ("shard", DataMemory::Shard),
        ("replicate", DataMemory::Replicate),
        ("interleave", DataMemory::Interleave),
        ("first-touch", DataMemory::FirstTouch),
    ];
    Ok(DataPlacement {
        memory: match settings.get("data", "memory") {
            Some(entry) => memory(entry, &words, DataMemory::Node)?,
            None => default.memory,
        },
        huge_pages: settings.choice_or("data", "huge_pages", default.huge_pages)?,
    })
}

pub(super) fn parameters(settings: &Settings, default: ParameterMemory) -> Result<ParameterMemory> {
    let words = [
        ("local", ParameterMemory::Local),
        ("interleave", ParameterMemory::Interleave),
        ("sharded", ParameterMemory::Sharded),
        ("first-touch", ParameterMemory::FirstTouch),
    ];
    settings.get("parameters", "memory").map_or(Ok(default), |entry| memory(entry, &words, ParameterMemory::Node))
}

/// One of `words`, or `node:N`.
fn memory<T: Copy>(entry: &Entry, words: &[(&'static str, T)], node: impl Fn(u32) -> T) -> Result<T> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    let refuse = |close: String| entry.refuse(format!("{}, node:N{close}", names.join(", ")));
    let Some(text) = entry.value.as_str() else { return Err(refuse(String::new())) };
    if let Some((_, value)) = words.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let Some(number) = text.strip_prefix("node:") else { return Err(refuse(suggestion(text, &names))) };
    let number = number.parse().ok().filter(|&number| u64::from(number) < NODES_MAX);
    number.map(node).ok_or_else(|| entry.refuse(format!("node:N with N from 0 to {}", NODES_MAX - 1)))
}
