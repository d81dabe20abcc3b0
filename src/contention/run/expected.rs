//! Conflicts that the data make one expect, beside those seen.
//!
//! An update conflicts if, between its read and its write, another writes a coordinate of its row. With the average conflict
//! degree Δ̄ of the data's rows (Mania et al., SIOPT 2017), another row that is drawn by chance shares a column with probability
//! Δ̄/(n − 1), so of updates during which τ others are written, 1 − (1 − Δ̄/(n − 1))^τ are expected to conflict: averaged over
//! the delays that were measured, since a few long ones say nothing about the rest.

use crate::{
    data::statistics::{ConflictDegrees, Estimate, Rows, conflict_degrees, degrees},
    solve::Outcome,
    trace::{Audited, Delays, Seen, SlotOf},
};
use serde::Serialize;

/// Steps that counting shared columns may take: a second or so.
const STEPS: u64 = 200_000_000;

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub struct Expected {
    /// Ω: the most entries of a row.
    pub omega: u64,
    /// Δ: the largest share of the rows that one column is in.
    pub delta: f64,
    /// ρ: the largest share of the rows that meet one row.
    pub rho: Estimate,
    /// Δ̄: how many other rows a row meets on average.
    pub conflict_degree: Estimate,
    /// τ: the mean delay of the audited run, in which conflicts were counted.
    pub delay: Option<f64>,
    /// The share of updates that are expected to conflict.
    pub conflicts: Option<f64>,
    /// The share that was seen to.
    pub conflicts_seen: Option<f64>,
    /// Why there is no expectation, or nothing was seen, where that is so.
    pub reason: Option<String>,
}

impl Expected {
    /// Of the rows, with what an audited run noted.
    pub(super) fn new(rows: &Rows, outcome: &Outcome, audited: Option<&(Audited, Seen)>) -> Self {
        let ConflictDegrees { rho, conflict_degree } = conflict_degrees(rows, STEPS, 1);
        let degrees = degrees(rows, 1);
        let others = rows.shape().rows.saturating_sub(1).max(1) as f64;
        let meets = (conflict_degree.value() / others).min(1.0);
        let delays = audited.map(|(_, seen)| seen.all_delays());
        let delay = delays.as_ref().and_then(|delays| delays.summary("")).map(|summary| summary.mean);
        let by_rows = audited.is_some_and(|(audited, _)| audited.slot_of == SlotOf::Column);
        let seen = audited
            .filter(|(audited, _)| audited.compared > 0)
            .map(|(audited, _)| audited.conflicted as f64 / audited.compared as f64);
        let reason = match (audited, seen) {
            (None, _) => Some(format!("method {} kept no books", outcome.method)),
            (_, None) => Some("updates of several rows are not held against their reads".into()),
            _ if !by_rows => Some("the constants are of rows, and updates go by columns or blocks".into()),
            _ => None,
        };
        Expected {
            omega: degrees.omega as u64,
            delta: degrees.delta,
            rho,
            conflict_degree,
            delay,
            conflicts: delays.filter(|_| by_rows).and_then(|delays| expected(meets, &delays)),
            conflicts_seen: seen,
            reason,
        }
    }
}

/// E[1 − (1 − meets)^τ] over the delays; `None` without any.
fn expected(meets: f64, delays: &Delays) -> Option<f64> {
    let counts: Vec<(u64, u64)> = delays.counts().collect();
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let conflict = |tau: u64| 1.0 - (1.0 - meets).powf(tau as f64);
    let sum: f64 = counts.iter().map(|&(tau, count)| conflict(tau) * count as f64).sum();
    (all > 0).then(|| sum / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_delay_counts_as_one_conflict_at_most() {
        let mut delays = Delays::default();
        assert_eq!(expected(0.5, &delays), None);
        [0, 1, 2, 1_000_000].iter().for_each(|&delay| delays.count(delay));
        let found: f64 = expected(0.5, &delays).expect("some");
        assert!((found - (0.0 + 0.5 + 0.75 + 1.0) / 4.0).abs() < 1e-12, "{found}");
        assert_eq!(expected(1.0, &delays), Some(0.75));
    }
}
