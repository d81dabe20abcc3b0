//! What the kernel and the cpu count of a thread and of the machine: each figure on its own, and none of them ever
//! fails a run. A figure that could not be had is absent with a reason that says what to do about it.
//!
//! * [`Counters`]: events of the cpu, of the calling thread, by `perf_event_open`.
//! * [`ThreadUsage`]: what the kernel keeps of every thread anyway: times, switches, migrations, faults, the wait for a cpu.
//! * [`MachineUsage`]: steal, pressure, where pages went, pages moved, of the whole machine.
//!
//! All three give [`Reading`]s of what happened between two moments; [`sum`] adds those of several threads.

mod encoding;
mod event;
mod machine;
mod perf;
mod refusal;
mod thread;

pub use encoding::{Cpu, Encoding};
pub use event::Event;
pub use machine::{MachineUsage, stolen_s};
pub use perf::Counters;
pub use thread::ThreadUsage;

use serde::Serialize;

/// One figure: a value, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// What was counted, such as `instructions`.
    pub name: &'static str,
    /// The node whose count it is; `None` for a thread or the whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// Its unit, such as `events`, `s` or `pages`.
    pub unit: &'static str,
    /// By what it was counted: the event as the vendor names it, the system call, or the file.
    pub by: String,
    /// How many, between the two moments.
    pub value: Option<f64>,
    /// The share of the time, 0 to 1, during which an event had one of the cpu's counters. Below 1 the value is the
    /// count divided by this share: an estimate, right only as far as the rest of the time was like the counted
    /// part. `None` where nothing is shared, or nothing was counted.
    pub scaled: Option<f64>,
    /// Why there is no value, and what to do about it.
    pub reason: Option<String>,
}

impl Reading {
    fn of(name: &'static str, unit: &'static str, by: impl Into<String>, value: Result<f64, String>) -> Self {
        let (value, reason) = match value {
            Ok(value) => (Some(value), None),
            Err(reason) => (None, Some(reason)),
        };
        Reading { name, node: None, unit, by: by.into(), value, scaled: None, reason }
    }
}

/// The readings of several threads added, name by name, in the order of the first thread.
///
/// A sum has a value only if every thread has one; else its reason says of how many threads it is missing and
/// quotes the first of their reasons. Its `scaled` is the least of the threads', its `by` the first's, followed by
/// the others' where threads differ.
pub fn sum(threads: &[Vec<Reading>]) -> Vec<Reading> {
    let mut names: Vec<&Reading> = Vec::new();
    for reading in threads.iter().flatten() {
        if !names.iter().any(|seen| (seen.name, seen.node) == (reading.name, reading.node)) {
            names.push(reading);
        }
    }
    names.into_iter().map(|first| sum_of(first, threads)).collect()
}

/// The sum of the readings that are named as `first` is.
fn sum_of(first: &Reading, threads: &[Vec<Reading>]) -> Reading {
    let is_it = |reading: &&Reading| (reading.name, reading.node) == (first.name, first.node);
    let found: Vec<&Reading> = threads.iter().filter_map(|readings| readings.iter().find(is_it)).collect();
    let values: Vec<f64> = found.iter().filter_map(|reading| reading.value).collect();
    let missing = threads.len() - values.len();
    let mut by: Vec<&str> = Vec::new();
    for reading in &found {
        if !by.contains(&reading.by.as_str()) {
            by.push(&reading.by);
        }
    }
    let value = if missing == 0 {
        Ok(values.iter().sum())
    } else {
        let why = found.iter().find_map(|reading| reading.reason.as_deref()).unwrap_or("not asked for there");
        Err(if missing == threads.len() {
            why.to_string()
        } else {
            format!("missing of {missing} of {} threads: {why}", threads.len())
        })
    };
    let scaled = found.iter().filter_map(|reading| reading.scaled).reduce(f64::min);
    Reading {
        node: first.node,
        scaled: scaled.filter(|_| missing == 0),
        ..Reading::of(first.name, first.unit, by.join("; "), value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(value: f64, scaled: f64) -> Reading {
        Reading { scaled: Some(scaled), ..Reading::of("cycles", "events", "perf", Ok(value)) }
    }

    #[test]
    fn readings_of_all_threads_add_up_and_the_least_share_of_time_is_kept() {
        let total = sum(&[vec![counted(5.0, 1.0)], vec![counted(7.0, 0.25)], vec![counted(30.0, 0.5)]]);
        assert_eq!(total, [counted(42.0, 0.25)]);
    }

    #[test]
    fn a_sum_of_which_a_thread_is_missing_has_no_value_and_says_of_how_many() {
        let refused = Reading::of("cycles", "events", "perf", Err("no such event".into()));
        let total = sum(&[vec![counted(5.0, 1.0)], vec![refused.clone()], vec![refused.clone()]]);
        assert_eq!((total[0].value, total[0].scaled), (None, None));
        assert_eq!(total[0].reason.as_deref(), Some("missing of 2 of 3 threads: no such event"));
        let none = sum(&[vec![refused.clone()], vec![refused]]);
        assert_eq!(none[0].reason.as_deref(), Some("no such event"));
        let absent = sum(&[vec![counted(5.0, 1.0)], vec![]]);
        assert_eq!(absent[0].reason.as_deref(), Some("missing of 1 of 2 threads: not asked for there"));
        assert_eq!(sum(&[]), []);
    }

    #[test]
    fn counts_of_two_nodes_and_ways_of_counting_are_kept_apart() {
        let of_node =
            |node, value| Reading { node: Some(node), ..Reading::of("numa_hit", "pages", "file", Ok(value)) };
        let total = sum(&[vec![of_node(0, 1.0), of_node(1, 10.0)], vec![of_node(0, 2.0), of_node(1, 20.0)]]);
        assert_eq!(total, [of_node(0, 3.0), of_node(1, 30.0)]);
        let other = Reading { by: "getrusage".into(), ..counted(1.0, 1.0) };
        assert_eq!(sum(&[vec![counted(1.0, 1.0)], vec![other]])[0].by, "perf; getrusage");
    }
}
