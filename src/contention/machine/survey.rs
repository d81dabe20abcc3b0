//! Which questions are asked: a plan of measurements that fits the seconds given, as an inert value.

use super::{
    Item, Only, Section, Sizes, View,
    share::{Shared, share_out},
    topics,
};
use crate::{
    machine::{Digest, Missing},
    placement::Label,
    topology::Topology,
};
use serde::Serialize;

/// Of the seconds given, so much is planned; the rest is for asking disturbed questions again and for what takes longer
/// than it should.
const PLANNED: f64 = 0.8;

/// A plan of measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survey {
    /// How its figures are got.
    pub label: Label,
    /// The machine in short.
    pub machine: Digest,
    /// The system's numbers of the cpus in the order in which workers are added.
    pub worker_cpus: Vec<u32>,
    /// Seconds allowed.
    pub budget_s: f64,
    /// Seconds that it is expected to take, without asking anything twice.
    pub seconds_expected: f64,
    /// How often each question is asked.
    pub passes: u32,
    /// The questions, in the order of a pass.
    pub items: Vec<Item>,
    /// What was cut to fit the seconds, a sentence each.
    pub left_out: Vec<String>,
    /// Fields of the price list that no question is about, and why.
    pub missing: Vec<Missing>,
}

/// Chooses what is asked of `topology` in at most `budget_s` seconds, of the sections that are wanted. On a machine too
/// large for all pairs of cpus, it takes one cpu a core, then pairs within an L3 and some across, then one pair for each two
/// L3s, then one for each relation; and likewise for the rest.
pub fn survey(topology: &Topology, budget_s: f64, only: &Only) -> Survey {
    let view = View::of(topology);
    let budget_s = if budget_s.is_finite() { budget_s.max(0.0) } else { 0.0 };
    let passes = passes(budget_s);
    let mut barred: Vec<topics::Barred> = Vec::new();
    let (sizes, cut) = Sizes::of(&view, budget_s);
    let fills =
        [Section::Latency, Section::Bandwidth, Section::Loaded].into_iter().any(|section| only.wants(section));
    let nodes = view.memory_nodes().len().max(1) as f64;
    let filling_s = sizes.filter(|_| fills).map_or(0.0, |sizes| sizes.filling_s(nodes));
    let wanted = Section::ALL.into_iter().filter(|&section| only.wants(section) && !view.cpus.is_empty());
    let topics: Vec<_> = wanted.flat_map(|section| topics::of(section, &view, sizes, &mut barred)).collect();
    let seconds = (PLANNED * budget_s - filling_s).max(0.0) / f64::from(passes);
    let Shared { items, left_out, empty } = share_out(topics, seconds);
    let mut left_out: Vec<String> = left_out.iter().map(|(topics, what)| format!("{topics}: {what}")).collect();
    left_out.extend(cut.filter(|_| fills));
    let asked: Vec<&str> = items.iter().flat_map(|item| fields(item.question.section())).copied().collect();
    barred.extend(empty.into_iter().map(|field| (field, format!("{budget_s:.1} s do not do for it"))));
    let missing = missing(only, &asked, &barred, &items);
    Survey {
        label: if topology.virtual_nodes { Label::Virtual } else { Label::Measured },
        machine: Digest::of(topology),
        worker_cpus: view.workers().iter().map(|cpu| cpu.os).collect(),
        budget_s,
        seconds_expected: filling_s + f64::from(passes) * items.iter().map(Item::seconds).sum::<f64>(),
        passes,
        items,
        left_out,
        missing,
    }
}

/// A median of passes and their spread want three, and five where there is time.
fn passes(budget_s: f64) -> u32 {
    match budget_s {
        ..2.0 => 1,
        2.0..60.0 => 3,
        _ => 5,
    }
}

/// The fields of the price list that a section fills.
pub(super) fn fields(section: Section) -> &'static [&'static str] {
    match section {
        Section::Timer => &[],
        Section::Transfer => &["transfer_ns"],
        Section::Latency => &["latency_by_working_set_ns", "latency_by_node_ns"],
        Section::Bandwidth => &["bandwidth_by_node_gb_per_s", "bandwidth_by_threads_gb_per_s"],
        Section::Loaded => &["loaded_latency_ns", "loaded_bandwidth_gb_per_s"],
        Section::Line => &["contended_line_ns"],
        Section::Sharing => &["false_sharing_ns"],
        Section::Update => &["update_ns", "update_lost_share"],
        Section::Handover => &["handover_ns"],
        Section::Alpha => &["alpha_write_ns", "alpha_read_ns", "alpha"],
    }
}

/// Every field that no question is about, with its reason.
fn missing(only: &Only, asked: &[&str], barred: &[topics::Barred], items: &[Item]) -> Vec<Missing> {
    let mut missing = Vec::new();
    for section in Section::ALL {
        for &field in fields(section) {
            let found = barred.iter().find(|(barred, _)| *barred == field).map(|(_, reason)| reason.clone());
            let any = items.iter().any(|item| super::gather::fills(&item.question, field));
            let reason = match found {
                Some(reason) if !any => reason,
                _ if any => continue,
                _ if !only.wants(section) => format!("not asked for: --only does not name {section}"),
                _ if asked.is_empty() && items.is_empty() => "no cpu is usable, or there is no time at all".into(),
                _ => "the seconds allowed do not do for it".into(),
            };
            missing.push(Missing { what: field.into(), reason });
        }
    }
    missing
}
