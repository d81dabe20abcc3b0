//! A run told to a person, as a table, or to a program, as JSON.

use crate::{
    config::{ClassWeight, Constraint, L2, Normalize, Problem, Setup},
    data::Shape,
    placement::Plan,
    solve::Outcome,
};
use std::path::Path;

mod bill;
mod gpu;
mod json;
pub mod picture;
mod placement;
pub mod prices;
mod progress;
mod table;
mod verdict;

pub use bill::{bill_bars, bill_table, delays_csv, lines_csv};
pub use json::json;
pub use placement::placement_table;
pub use progress::{TimeLeft, time_left};
pub use table::{plan_table, table, waits_table};
pub use verdict::{verdict_json, verdict_table};

/// All that a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The data file, `-` for standard input.
    pub data: &'a Path,
    /// The settings.
    pub setup: &'a Setup,
    /// The plan as requested; what became of it is in the outcome.
    pub plan: &'a Plan,
    /// The run.
    pub outcome: &'a Outcome,
    /// Where the model was written, if it was.
    pub model: Option<&'a Path>,
}

/// The problem in one line, such as `logistic, l1 = 0.001, l2 = 1/n = 3.07e-5, intercept`, on data of
/// `shape`.
pub fn describe(problem: &Problem, shape: &Shape) -> String {
    let mut parts = vec![match problem.loss {
        crate::loss::Loss::Huber { delta } => format!("huber, delta = {delta}"),
        loss => loss.name().to_string(),
    }];
    if let Some(rank) = problem.rank {
        parts.push(format!("rank {rank}"));
    }
    if problem.l1 != 0.0 {
        parts.push(format!("l1 = {}", short(problem.l1)));
    }
    match problem.l2 {
        L2::Value(0.0) => {}
        L2::Value(value) => parts.push(format!("l2 = {}", short(value))),
        L2::OneOverN => parts.push(format!("l2 = 1/n = {}", short(problem.prox(problem.terms(shape)).l2))),
    }
    match problem.constraint {
        Constraint::None => {}
        Constraint::Box { lo, hi } => parts.push(format!("coefficients in [{lo}, {hi}]")),
        Constraint::NonNegative => parts.push("coefficients ≥ 0".into()),
    }
    if problem.intercept {
        parts.push("intercept".into());
    }
    if problem.class_weight == ClassWeight::Balanced {
        parts.push("classes balanced".into());
    }
    match problem.normalize {
        Normalize::None => {}
        Normalize::Rows => parts.push("rows normalized".into()),
        Normalize::Columns => parts.push("columns normalized".into()),
    }
    parts.join(", ")
}

/// About four digits, without an exponent where that is as short.
fn short(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&value.abs()) {
        let text = format!("{value:.*}", (4 - value.abs().log10().floor() as i32).clamp(0, 7) as usize);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    } else {
        format!("{value:.3e}")
    }
}
