//! `[gradients]`.

use crate::{
    config::{Gradients, GradientsOn, GradientsValues, Settings, entry::Bound, keys::Named, settings::Entry},
    error::Result,
};
use toml::Value;

pub(super) fn gradients(settings: &Settings) -> Result<Gradients> {
    let get = |key| settings.get("gradients", key);
    let on = settings.choice_or("gradients", "on", GradientsOn::Cpu)?;
    let has: &[&str] = match on {
        GradientsOn::Cpu => &[],
        GradientsOn::Gpu => &["adapter", "fallback", "rows", "values"],
        GradientsOn::Both => &["adapter", "fallback", "rows", "values", "share"],
    };
    for key in ["adapter", "fallback", "rows", "values", "share"] {
        settings.belongs(get(key), get("on"), &format!("gradients.on = \"{}\"", on.name()), has)?;
    }
    let in_force = |key| get(key).filter(|_| has.contains(&key));
    Ok(Gradients {
        on,
        adapter: in_force("adapter").map_or(Ok(None), |entry| entry.unless("auto", adapter))?,
        fallback: in_force("fallback").map_or(Ok(false), Entry::flag)?,
        rows: in_force("rows").map_or(Ok(None), |entry| {
            entry.unless("auto", |entry| Ok(entry.whole(1, u32::MAX.into(), "\"auto\"")? as usize))
        })?,
        values: match on {
            GradientsOn::Cpu => GradientsValues::F32,
            _ => settings.choice_or("gradients", "values", GradientsValues::F32)?,
        },
        share: in_force("share").map_or(Ok(None), |entry| {
            entry.unless("auto", |entry| entry.number_or(Bound::BelowOne, "\"auto\" (by speed)"))
        })?,
    })
}

fn adapter(entry: &Entry) -> Result<String> {
    let name = match &entry.value {
        // A flag may name a card by its number alone.
        Value::Integer(number) => Some(number.to_string()),
        Value::String(name) => Some(name.trim().to_string()),
        _ => None,
    };
    name.filter(|name| !name.is_empty())
        .ok_or_else(|| entry.refuse("\"auto\", or a part of an adapter's name (farrow gpu list)"))
}
