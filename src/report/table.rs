//! The table of a run for people: 80 columns of plain text.

use super::{Report, describe, gpu, short};
use crate::{
    os::memory::Residency,
    placement::{Label, Plan, actual::Actual, team::Standing},
    run::{Exchanged, Waits},
    topology::cpulist,
    trace::{CertificateKind, DelaySummary, StopReason},
};
use std::fmt::Write;

const WIDTH: usize = 80;
const NAME_WIDTH: usize = 12;

/// The table, with a newline at its end.
pub fn table(report: &Report<'_>) -> String {
    let (outcome, plan) = (report.outcome, report.plan);
    let (shape, seconds) = (outcome.shape, outcome.seconds);
    let kind = if shape.dense { "dense" } else { "nonzeros" };
    let mut rows = vec![
        (
            "data",
            format!(
                "{}: {} rows × {} columns, {} {kind}",
                report.data.display(),
                shape.rows,
                shape.columns,
                shape.nonzeros
            ),
        ),
        ("problem", describe(&report.setup.problem, &shape)),
        ("method", format!("{}: {}", outcome.method, outcome.why)),
        ("workers", workers(plan, &outcome.placed.workers)),
        (
            "time",
            format!(
                "load {} s, place {} s, solve {} s, evaluate {} s ({})",
                short(seconds.load),
                short(seconds.place),
                short(seconds.solve),
                short(seconds.evaluate),
                label(outcome.label)
            ),
        ),
        (
            "work",
            format!(
                "{} epochs, {} updates, {} nonzeros/s ({})",
                short(outcome.epochs),
                outcome.updates,
                short(outcome.nonzeros_per_s),
                label(outcome.label)
            ),
        ),
        ("objective", format!("{:.10}", outcome.objective)),
        ("certificate", certificate(report)),
        ("stopped", stopped(report)),
    ];
    if let Some(text) = memory(&outcome.placed) {
        rows.insert(4, ("memory", text));
    }
    if let Some(Exchanged { touched, share }) = outcome.exchanged {
        let what = if touched { "what was touched" } else { "all" };
        rows.insert(
            rows.len() - 3,
            ("exchanges", format!("moved {what}: {} % of the slots", short(100.0 * share))),
        );
    }
    if let Some(gpu) = &outcome.gpu {
        rows.insert(4, ("gpu", gpu::in_words(plan, gpu)));
    }
    if let Some(DelaySummary { label, updates, mean, p99, max }) = &outcome.delays {
        rows.push((
            "delays",
            format!(
                "{} updates on average, 99 % up to {p99}, {max} at most ({updates} measured, numbered {label})",
                short(*mean)
            ),
        ));
    }
    if let Some(path) = report.model {
        let model = &outcome.model;
        rows.push((
            "model",
            format!("{}: {} of {} coefficients nonzero", path.display(), model.support(), model.weights.len()),
        ));
    }
    rows.iter().fold(String::new(), |text, (name, value)| text + &entry(name, value))
}

/// Who runs where, one line a worker, requested beside actual.
pub fn plan_table(plan: &Plan, actual: &[Standing]) -> String {
    let mut text = format!(
        "{:>6} {:>4} {:>4} {:>7} {:>5}  {:<20} {}\n",
        "worker", "core", "node", "replica", "shard", "cpus requested", "actual"
    );
    for (number, worker) in plan.workers.iter().enumerate() {
        let node = worker.node.map_or("-".into(), |node| node.to_string());
        let requested = if worker.pinned { cpulist::format(&worker.cpus) } else { "any".into() };
        let found = actual.get(number).map_or("-".into(), |standing| {
            cpulist::format(&standing.binding.actual)
                + &standing.binding.reason.as_ref().map_or(String::new(), |why| format!(" ({why})"))
        });
        let _ = writeln!(
            text,
            "{number:>6} {:>4} {node:>4} {:>7} {:>5}  {requested:<20} {found}",
            worker.core, worker.replica, worker.shard
        );
    }
    text
}

/// What each worker waited for, one line a worker.
pub fn waits_table(waits: &[Waits]) -> String {
    let mut text = format!(
        "{:>6}  {:>17}  {:>15}  {:<18}  {}\n",
        "worker", "s at the gate", "s at exchanges", "stripes waited for", "locks waited for"
    );
    for (number, worker) in waits.iter().enumerate() {
        let Waits { gate_seconds, exchange_seconds, stripes, locks, .. } = worker;
        let _ =
            writeln!(text, "{number:>6}  {gate_seconds:>17.6}  {exchange_seconds:>15.6}  {stripes:<18}  {locks}");
    }
    text
}

fn workers(plan: &Plan, placed: &[Standing]) -> String {
    let refused = placed.iter().filter(|standing| !standing.binding.met()).count();
    let mut cpus: Vec<u32> = plan.workers.iter().flat_map(|worker| worker.cpus.iter().copied()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let pinned = if plan.workers.iter().all(|worker| worker.pinned) { "pinned to" } else { "on" };
    let mut text = format!(
        "{} {pinned} {} {}, {}",
        plan.workers.len(),
        if cpus.len() == 1 { "cpu" } else { "cpus" },
        cpulist::format(&cpus),
        if plan.replicas.len() == 1 { "1 replica".into() } else { format!("{} replicas", plan.replicas.len()) }
    );
    if refused > 0 {
        let _ = write!(text, "; {refused} not pinned as requested (-v shows which and why)");
    }
    text
}

/// Where the pages are that were asked for, where there is more than one node or something is not as planned.
fn memory(placed: &Actual) -> Option<String> {
    let mut all = Residency::default();
    placed.arrays.iter().for_each(|array| all.add(&array.residency));
    let nodes: Vec<u32> = all.bytes_by_node.keys().copied().collect();
    if nodes.len() < 2 && all.met() {
        return None;
    }
    let mut text = match all.bytes_placed() {
        0 => "the kernel does not say where it is".into(),
        bytes => format!(
            "{:.1} % of the pages looked up, on nodes {}, are where the plan puts them",
            100.0 * (bytes - all.bytes_misplaced) as f64 / bytes as f64,
            cpulist::format(&nodes)
        ),
    };
    if !all.refused.is_empty() {
        text += "; the kernel refused to place some or all of it";
    }
    Some(text)
}

fn certificate(report: &Report<'_>) -> String {
    let outcome = report.outcome;
    match (outcome.certificate, outcome.gap) {
        (CertificateKind::Gap, Some(gap)) => {
            format!("duality gap {}, {} of the objective", short(gap), short(outcome.certificate_value))
        }
        (CertificateKind::Gap, None) => format!("relative duality gap {}", short(outcome.certificate_value)),
        (CertificateKind::ProxGradient, _) => {
            let origin = if outcome.model.factors.is_some() { "where its seed starts" } else { "at 0" };
            format!("prox-gradient step {} of its norm {origin}", short(outcome.certificate_value))
        }
    }
}

fn stopped(report: &Report<'_>) -> String {
    let stop = &report.setup.stop;
    let number = |value: Option<f64>| value.map_or("?".into(), short);
    match report.outcome.stop {
        StopReason::Target => format!("target {} reached", number(stop.target)),
        StopReason::Objective => format!("target objective {} reached", number(stop.target_objective)),
        StopReason::MaxEpochs => format!("after {} epochs, the most allowed (--max-epochs)", stop.max_epochs),
        StopReason::MaxSeconds => format!("after {} s, the most allowed (--max-seconds)", number(stop.max_seconds)),
        StopReason::Diverged => "diverged".into(),
        StopReason::DeviceFailed => "the GPU failed; what was fitted until then is kept".into(),
        StopReason::Interrupted => "interrupted".into(),
    }
}

fn label(label: Label) -> &'static str {
    match label {
        Label::Measured => "measured",
        Label::Virtual => "virtual nodes",
        Label::Simulated => "simulated",
    }
}

/// A name and its value, broken at blanks.
pub(super) fn entry(name: &str, value: &str) -> String {
    let mut text = format!("{name:<NAME_WIDTH$}");
    let mut used = NAME_WIDTH;
    let mut fresh = true;
    for word in value.split_whitespace() {
        let length = word.chars().count();
        if !fresh && used + 1 + length > WIDTH {
            let _ = write!(text, "\n{:NAME_WIDTH$}", "");
            (used, fresh) = (NAME_WIDTH, true);
        }
        if !fresh {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        (used, fresh) = (used + length, false);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        os::memory::Home,
        placement::actual::{Array, Owner},
    };

    fn rows(bytes_by_node: &[(u32, u64)], bytes_misplaced: u64, refused: &[&str]) -> Array {
        let residency = Residency {
            bytes_by_node: bytes_by_node.iter().copied().collect(),
            bytes_misplaced,
            refused: refused.iter().map(ToString::to_string).collect(),
            ..Residency::default()
        };
        Array { what: "rows", of: Owner::All, home: Home::Node(0), residency }
    }

    fn told(arrays: Vec<Array>) -> Option<String> {
        memory(&Actual { workers: Vec::new(), arrays })
    }

    #[test]
    fn memory_is_told_of_where_there_are_several_nodes_or_something_is_amiss() {
        assert_eq!(told(vec![rows(&[(0, 8192)], 0, &[])]), None, "one node, all there");
        let spread = told(vec![rows(&[(0, 8192)], 0, &[]), rows(&[(2, 8192)], 4096, &[])]).expect("two nodes");
        assert_eq!(spread, "75.0 % of the pages looked up, on nodes 0,2, are where the plan puts them");
        let refused = told(vec![rows(&[(0, 4096)], 0, &["placement unavailable"])]).expect("a refusal");
        assert!(refused.contains("100.0 %") && refused.contains("refused"), "{refused}");
        assert!(told(vec![rows(&[], 0, &["x"])]).expect("nothing known").contains("does not say"));
    }
}
