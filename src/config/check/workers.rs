//! `[workers]`.

use crate::{
    config::{Count, Pin, Settings, Smt, WorkerOrder, Workers, keys, location, nodes, settings::Entry},
    cpulist,
    error::Result,
};
use toml::Value;

/// Linux knows at most this many cpus, and a worker above the cpus only waits.
const WORKERS_MAX: u64 = 8192;

pub(super) fn workers(settings: &Settings, default: Workers) -> Result<Workers> {
    let get = |key| settings.get("workers", key);
    let mut ways: Vec<&Entry> = ["count", "cpus", "locations"].into_iter().filter_map(get).collect();
    let latest = ways.iter().map(|entry| entry.layer).max();
    ways.retain(|entry| Some(entry.layer) == latest);
    if let [first, second, ..] = ways[..] {
        return Err(second.because(
            format!("and workers.{} ({}) both say how many workers there are and where", first.key, first.origin),
            "keep one of workers.count, workers.cpus, workers.locations",
        ));
    }
    let way = ways.first().copied();
    let count = match way {
        Some(entry) if entry.key == "count" => count(entry)?,
        Some(entry) if entry.key == "cpus" => Count::On(cpus(entry)?),
        Some(entry) => Count::At(locations(entry)?),
        None => default.count,
    };
    let listed = matches!(count, Count::On(_) | Count::At(_));
    let mut workers = Workers { count, ..default };
    let in_force = |key| {
        let entry = get(key);
        if listed {
            let by = way.map_or(String::new(), |way| format!("workers.{}, which names the cpus itself", way.key));
            settings.belongs(entry, way, &by, &[])?;
            return Ok(None);
        }
        Ok(entry)
    };
    if let Some(entry) = in_force("order")? {
        workers.order = worker_order(entry)?;
    }
    if let Some(entry) = in_force("smt")? {
        workers.smt = entry.choice::<Smt>()?;
    }
    if let Some(entry) = get("pin") {
        workers.pin = entry.choice::<Pin>()?;
    }
    Ok(workers)
}

fn count(entry: &Entry) -> Result<Count> {
    match entry.value.as_str() {
        Some("cores") => Ok(Count::Cores),
        Some("cpus") => Ok(Count::Cpus),
        _ => Ok(Count::Exactly(entry.whole(1, WORKERS_MAX, "\"cores\", or \"cpus\"")? as usize)),
    }
}

/// A cpulist, a number, or an array of either.
fn cpus(entry: &Entry) -> Result<Vec<u32>> {
    let text = parts(&entry.value).map(|parts| parts.join(","));
    let text = text.ok_or_else(|| entry.refuse("a list of cpus such as \"0-15,32-47\" or \"0-30:2\""))?;
    let cpus = cpulist::parse(&text).map_err(|error| entry.because("is no list of cpus", error.to_string()))?;
    if cpus.len() as u64 > WORKERS_MAX {
        return Err(entry.because(format!("lists {} cpus", cpus.len()), format!("at most {WORKERS_MAX} workers")));
    }
    Ok(cpus)
}

/// Locations in one string with spaces between, or in an array.
fn locations(entry: &Entry) -> Result<Vec<location::Location>> {
    let refusal = |why: String| entry.because(why, format!("accepted: {}", location::ACCEPTED));
    let texts = parts(&entry.value).ok_or_else(|| refusal("is not text".into()))?;
    let mut locations = Vec::new();
    for text in texts.iter().flat_map(|text| text.split_whitespace()) {
        let parsed = text.parse::<location::Location>();
        locations.push(parsed.map_err(|why| refusal(format!("is no list of locations: {why}")))?);
    }
    match locations.first() {
        None => Err(refusal("names no location".into())),
        Some(first) if first.removes => {
            Err(refusal(format!("begins with `{first}`, which takes away from nothing")))
        }
        Some(_) => Ok(locations),
    }
}

/// The texts of a string, an integer, or an array of them.
fn parts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Array(values) => values
            .iter()
            .map(|value| if value.is_array() { None } else { parts(value).map(|texts| texts.concat()) })
            .collect(),
        _ => None,
    }
}

fn worker_order(entry: &Entry) -> Result<WorkerOrder> {
    const ACCEPTED: &str =
        "compact, scatter, or nodes to fill in turn: node:0,node:1 or node:0-3 or node:all or node:!0";
    match entry.value.as_str() {
        Some("compact") => Ok(WorkerOrder::Compact),
        Some("scatter") => Ok(WorkerOrder::Scatter),
        Some(text) if text.starts_with("node:") => {
            nodes::parse(text).map_err(|why| entry.because(format!("is no list of nodes: {why}"), ACCEPTED))
        }
        Some(text) => Err(entry.refuse(format!("{ACCEPTED}{}", keys::suggestion(text, &["compact", "scatter"])))),
        None => Err(entry.refuse(ACCEPTED)),
    }
}
