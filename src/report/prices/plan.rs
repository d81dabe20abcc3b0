//! What a survey would ask, without asking it.

use super::{page::wrap, short};
use crate::{
    contention::machine::{Section, Survey},
    topology::{Topology, describe::table},
};
use std::fmt::Write;

/// The page of a survey of `topology`: questions, workers and seconds of each section, and what is left out.
pub fn survey_page(survey: &Survey, topology: &Topology) -> String {
    let mut text = String::new();
    wrap(
        &format!(
            "Survey of {}: {} cpus on {} cores, {} nodes, {} L3 caches; {} questions in {} passes, {} s of the {} s allowed",
            topology.name(),
            survey.machine.cpus.len(),
            survey.machine.cores,
            survey.machine.nodes.len(),
            survey.machine.l3s.len(),
            survey.items.len(),
            survey.passes,
            short(survey.seconds_expected),
            short(survey.budget_s),
        ),
        &mut text,
    );
    let rows = Section::ALL.into_iter().filter_map(|section| {
        let items = || survey.items.iter().filter(|item| item.question.section() == section);
        let seconds: f64 = items().map(|item| item.seconds()).sum();
        let most = items().map(|item| item.cpus.len()).max()?;
        let times = f64::from(survey.passes);
        Some(vec![section.name().into(), items().count().to_string(), most.to_string(), short(times * seconds)])
    });
    let _ = writeln!(text, "\n{}", table(&["section", "questions", "most workers", "seconds"], rows));
    let missing = survey.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.reason));
    for (heading, lines) in
        [("Left out to fit the time", survey.left_out.clone()), ("Not asked", missing.collect())]
    {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{heading}");
            lines.iter().for_each(|line| wrap(&format!("  {line}"), &mut text));
        }
    }
    text
}
