//! `[injection]`.

use crate::{
    config::{DelayKind, Injection, Settings, StepKind, Straggler, keys::suggestion, settings::Entry},
    cpulist,
    error::Result,
};
use toml::Value;

const DELAYS: [&str; 6] = ["none", "fixed:D", "uniform:D", "sawtooth:P", "heavy:D", "rare:D"];
const STRAGGLERS: &str = "none, slow:WORKER:FACTOR (1 or more), stall:WORKER:EVERY:UPDATES (1 or more each)";
/// Workers are counted up to here elsewhere.
const WORKERS_MAX: u64 = 8192;
/// Runs of lines that delays may differ by.
const BLOCKS_MAX: usize = 4096;

pub(super) fn injection(settings: &Settings) -> Result<Injection> {
    let get = |key| settings.get("injection", key);
    let delay = get("delay").map_or(Ok(DelayKind::None), delay)?;
    let (workers, blocks) = if delay == DelayKind::None {
        for key in ["delay_workers", "delay_blocks"] {
            settings.belongs(get(key), get("delay"), "injection.delay = \"none\"", &[])?;
        }
        (None, Vec::new())
    } else {
        let workers = get("delay_workers").map_or(Ok(None), |entry| entry.unless("all", workers))?;
        (workers, get("delay_blocks").map_or(Ok(Vec::new()), blocks)?)
    };
    let straggler = get("straggler").map_or(Ok(Straggler::None), straggler)?;
    Ok(Injection { delay, workers, blocks, straggler, messages: super::exchange::messages(settings)? })
}

/// `none`, or a name and a number of updates.
fn delay(entry: &Entry) -> Result<DelayKind> {
    let text = entry.value.as_str().unwrap_or_default();
    if text == "none" {
        return Ok(DelayKind::None);
    }
    let most = StepKind::DELAY_MAX;
    let (name, number) = text.split_once(':').unwrap_or((text, ""));
    let kind: fn(u64) -> DelayKind = match name {
        "fixed" => DelayKind::Fixed,
        "uniform" => DelayKind::Uniform,
        "sawtooth" => DelayKind::Sawtooth,
        "heavy" => DelayKind::Heavy,
        "rare" => DelayKind::Rare,
        _ => {
            let names = DELAYS.map(|name| name.split(':').next().unwrap_or(name));
            return Err(entry.refuse(format!("{}{}", DELAYS.join(", "), suggestion(name, &names))));
        }
    };
    let number = number.parse().ok().filter(|number| (1..=most).contains(number));
    number.map(kind).ok_or_else(|| entry.refuse(format!("{name}:N with a whole number N of updates, 1 to {most}")))
}

/// A list such as `0,2-3`, or an array of numbers.
fn workers(entry: &Entry) -> Result<Vec<u32>> {
    let text = match &entry.value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Array(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(","),
        _ => String::new(),
    };
    let accepted = "\"all\", or workers by number from 0, such as \"0,2-3\"";
    cpulist::parse(&text).map_err(|error| entry.because(format!("is no list of workers: {error}"), accepted))
}

fn blocks(entry: &Entry) -> Result<Vec<f64>> {
    let refusal =
        || entry.refuse(format!("an array of 1 to {BLOCKS_MAX} numbers from 0 to 1, such as [1, 0.3, 0.1]"));
    let values =
        entry.value.as_array().filter(|values| (1..=BLOCKS_MAX).contains(&values.len())).ok_or_else(refusal)?;
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    let within = |value| number(value).filter(|factor| (0.0..=1.0).contains(factor));
    values.iter().map(within).collect::<Option<_>>().ok_or_else(refusal)
}

fn straggler(entry: &Entry) -> Result<Straggler> {
    let refusal = || entry.refuse(STRAGGLERS);
    let text = entry.value.as_str().ok_or_else(refusal)?;
    let parts: Vec<&str> = text.split(':').collect();
    let whole = |text: &str, least| text.parse().ok().filter(|number| *number >= least);
    let worker = |text| whole(text, 0).filter(|worker| *worker < WORKERS_MAX).map(|worker| worker as usize);
    let read = || match parts[..] {
        ["none"] => Some(Straggler::None),
        ["slow", who, factor] => {
            let factor = factor.parse().ok().filter(|factor| (1.0..=1e6).contains(factor))?;
            Some(Straggler::Slow { worker: worker(who)?, factor })
        }
        ["stall", who, every, updates] => {
            let updates = whole(updates, 1).filter(|updates| *updates <= 1 << 32)?;
            Some(Straggler::Stall { worker: worker(who)?, every: whole(every, 1)?, updates })
        }
        _ => None,
    };
    read().ok_or_else(refusal)
}
