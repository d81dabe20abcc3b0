//! A plan beside what became of it: a line a worker, a line an array.

use crate::{
    os::memory::{Home, Residency},
    placement::{
        Plan,
        actual::{Actual, Array},
        costs::size,
    },
    topology::{cpulist, describe::table},
};

/// Up to this many workers have a line each; beyond, those that are where they should be share one.
const ROWS_MAX: usize = 64;

/// Workers and arrays, requested beside actual, and a last line that says whether all is where the plan puts it.
pub fn placement_table(plan: &Plan, actual: &Actual) -> String {
    [workers(plan, actual), arrays(actual), verdict(actual)].join("\n\n")
}

fn workers(plan: &Plan, actual: &Actual) -> String {
    let few = plan.workers.len() <= ROWS_MAX;
    let shown: Vec<usize> = (0..plan.workers.len()).filter(|&i| few || !actual.workers[i].met()).collect();
    let row = |&worker: &usize| {
        let (asked, standing) = (&plan.workers[worker], &actual.workers[worker]);
        let stack = match (&asked.home, &standing.stack) {
            (Home::Node(node), None) => format!("node {node}"),
            (_, None) => "-".into(),
            (_, Some(reason)) => reason.clone(),
        };
        vec![
            worker.to_string(),
            if asked.pinned { cpulist::format(&asked.cpus) } else { "any".into() },
            cpulist::format(&standing.binding.actual),
            standing.binding.running_on.map_or("-".into(), |cpu| cpu.to_string()),
            stack,
            standing.binding.reason.clone().unwrap_or_else(|| yes(standing.met())),
        ]
    };
    let header = ["worker", "cpus requested", "actual", "ran on", "stack", "met"];
    let text = table(&header, shown.iter().map(row));
    match plan.workers.len() - shown.len() {
        0 => text,
        others => format!("{text}\n{others} workers are where they were put and have no line"),
    }
}

fn arrays(actual: &Actual) -> String {
    let few = actual.workers.len() <= ROWS_MAX;
    let shown: Vec<Array> = if few {
        actual.arrays.clone()
    } else {
        actual.kinds().into_iter().chain(actual.arrays.iter().filter(|array| !array.met()).cloned()).collect()
    };
    let row = |array: &Array| {
        let Residency { bytes_untouched, bytes_unknown, .. } = array.residency;
        let mut found: Vec<String> = array
            .residency
            .bytes_by_node
            .iter()
            .map(|(node, &bytes)| format!("node {node}: {}", size(bytes as f64)))
            .collect();
        found.extend((bytes_untouched > 0).then(|| format!("untouched: {}", size(bytes_untouched as f64))));
        found.extend((bytes_unknown > 0).then(|| format!("unknown: {}", size(bytes_unknown as f64))));
        found.extend(array.residency.not_told.clone());
        found.extend(array.residency.refused.iter().cloned());
        vec![array.to_string(), array.home.to_string(), found.join(", "), share(&array.residency)]
    };
    table(&["array", "requested", "actual", "met"], shown.iter().map(row))
}

/// How much of what is in memory lies at home.
fn share(residency: &Residency) -> String {
    let placed = residency.bytes_placed();
    if residency.not_told.is_some() {
        return "unknown".into();
    }
    if placed == 0 {
        return yes(residency.met());
    }
    format!("{:.0} %", (100.0 * (placed - residency.bytes_misplaced) as f64 / placed as f64).floor())
}

fn verdict(actual: &Actual) -> String {
    let (workers, arrays) = (actual.workers.len(), actual.arrays.len());
    let bytes: u64 = actual.arrays.iter().map(|array| array.residency.bytes_placed()).sum();
    if actual.met() {
        return format!(
            "all {workers} workers and {arrays} arrays, {}, are where the plan puts them",
            size(bytes as f64)
        );
    }
    let stray = actual.workers.iter().filter(|standing| !standing.met()).count();
    let misplaced = actual.arrays.iter().filter(|array| !array.met()).count();
    format!("{stray} of {workers} workers and {misplaced} of {arrays} arrays are not where the plan puts them")
}

fn yes(met: bool) -> String {
    if met { "yes" } else { "no" }.into()
}
