//! A trace read back, also one of a run that was killed.

use super::Sample;
use crate::error::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// What a trace file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The first line.
    pub header: Value,
    /// The headers of runs that resumed it, in order. Each went on from a checkpoint, which may be older than the last
    /// sample before it: epochs may then stand twice.
    pub resumed: Vec<Value>,
    /// Where the workers stood, if the run came so far.
    pub placed: Option<Value>,
    /// The samples in order.
    pub samples: Vec<Sample>,
    /// The last line; `None` for a run that was killed.
    pub footer: Option<Value>,
    /// True if the last line was cut short, and left out.
    pub cut: bool,
}

/// Reads the trace at `path`.
///
/// # Errors
/// [`Error::Io`]; [`Error::Data`] with the line for a file that is no trace. A last line that was cut short is no error.
pub fn read(path: &Path) -> Result<Recorded> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
    let mut recorded = Recorded {
        header: Value::Null,
        resumed: Vec::new(),
        placed: None,
        samples: Vec::new(),
        footer: None,
        cut: false,
    };
    let whole = match text.rfind('\n') {
        Some(end) => &text[..=end],
        None => "",
    };
    recorded.cut = whole.len() < text.len();
    for (index, line) in whole.lines().enumerate() {
        add(&mut recorded, line).map_err(|what| {
            let remedy = "a trace is what `farrow solve --trace FILE` writes: JSON objects, one a line";
            Error::data(path, Some(index as u64 + 1), what, remedy)
        })?;
    }
    if recorded.header.is_null() {
        return Err(Error::data(path, Some(1), "no header: not a trace", "`farrow solve --trace FILE` writes one"));
    }
    Ok(recorded)
}

fn add(recorded: &mut Recorded, line: &str) -> std::result::Result<(), String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("not a JSON object: {error}"))?;
    match value["record"].as_str() {
        Some("header") if recorded.header.is_null() => recorded.header = value,
        Some("header") => recorded.resumed.push(value),
        Some(_) if recorded.header.is_null() => return Err("the first line is no header".into()),
        Some("placed") => recorded.placed = Some(value),
        Some("sample") => recorded.samples.push(serde_json::from_value(value).map_err(|error| error.to_string())?),
        Some("footer") => recorded.footer = Some(value),
        other => return Err(format!("a line whose `record` is {other:?}")),
    }
    Ok(())
}
