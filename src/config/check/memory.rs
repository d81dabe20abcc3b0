//! `[data]`, and where the parameters lie.

use super::NODES_MAX;
use crate::{
    config::{
        DataMemory, DataPlacement, ParameterMemory, Settings,
        keys::{Named, suggestion},
        settings::Entry,
    },
    error::Result,
};

pub(super) fn data(settings: &Settings, default: DataPlacement) -> Result<DataPlacement> {
    Ok(DataPlacement {
        memory: settings
            .get("data", "memory")
            .map_or(Ok(default.memory), |entry| memory(entry, DataMemory::Node))?,
        huge_pages: settings.choice_or("data", "huge_pages", default.huge_pages)?,
    })
}

pub(super) fn parameters(settings: &Settings, default: ParameterMemory) -> Result<ParameterMemory> {
    settings.get("parameters", "memory").map_or(Ok(default), |entry| memory(entry, ParameterMemory::Node))
}

/// A value with a name, or `node:N`.
fn memory<T: Named>(entry: &Entry, node: impl Fn(u32) -> T) -> Result<T> {
    let names: Vec<&str> = T::NAMES.iter().map(|(name, _)| *name).collect();
    let text = entry.value.as_str().unwrap_or_default();
    if let Some((_, value)) = T::NAMES.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let Some(number) = text.strip_prefix("node:") else {
        return Err(entry.refuse(format!("{}, node:N{}", names.join(", "), suggestion(text, &names))));
    };
    let number = number.parse().ok().filter(|&number| u64::from(number) < NODES_MAX);
    number.map(node).ok_or_else(|| entry.refuse(format!("node:N with N from 0 to {}", NODES_MAX - 1)))
}
