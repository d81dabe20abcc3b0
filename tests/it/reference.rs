//! The program against optima that independent solvers found (`reference.json`, made and bracketed by
//! `tests/reference/optima.py`), and against F recomputed from the data file and the model.

mod reached;
mod recomputed;

use crate::shared;
use farrow::{
    config::{Settings, Setup},
    data,
    placement::plan,
    solve::{self, Outcome, Start},
    topology::Topology,
    trace::{Continue, Observer, Sample, Snapshot},
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One problem with its answer: `dual` ≤ F* ≤ `objective`.
#[derive(Clone, Debug, serde::Deserialize)]
struct Optimum {
    set: String,
    problem: String,
    loss: String,
    l1: f64,
    l2: Value,
    lo: Option<f64>,
    hi: Option<f64>,
    intercept: bool,
    balanced: bool,
    objective: f64,
    dual: f64,
}

#[derive(serde::Deserialize)]
struct Table {
    sets: std::collections::BTreeMap<String, Set>,
    optima: Vec<Optimum>,
}

#[derive(serde::Deserialize)]
struct Set {
    file: String,
}

fn table() -> Table {
    serde_json::from_str(include_str!("reference.json")).expect("reference.json is what optima.py writes")
}

/// All problems on `set`.
fn optima(set: &str) -> Vec<Optimum> {
    table().optima.into_iter().filter(|optimum| optimum.set == set).collect()
}

/// The data file of `set`, if it is on this machine.
fn file(test: &str, set: &str) -> Option<PathBuf> {
    let file = &table().sets[set].file;
    match file.strip_prefix("../shared/") {
        Some(name) => shared::file(test, name),
        None => Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)),
    }
}

impl Optimum {
    fn has_l2(&self) -> bool {
        self.l2 != 0.0
    }

    /// λ₂ on n rows.
    fn l2(&self, n: usize) -> f64 {
        self.l2.as_f64().unwrap_or(1.0 / n as f64)
    }

    /// The problem as settings: what stands behind `--set`.
    fn settings(&self) -> Vec<String> {
        let l2 = self.l2.as_str().map_or_else(|| self.l2.to_string(), str::to_string);
        let mut settings = vec![format!("problem.loss={}", self.loss), format!("problem.l1={}", self.l1)];
        settings.push(format!("problem.l2={l2}"));
        match (self.lo, self.hi) {
            (None, None) => {}
            (Some(0.0), None) => settings.push("problem.prox=non-negative".into()),
            (lo, hi) => {
                let (lo, hi) = (lo.unwrap_or(f64::NEG_INFINITY), hi.unwrap_or(f64::INFINITY));
                settings.push(format!("problem.prox=box:{lo}:{hi}"));
            }
        }
        if self.intercept {
            settings.push("problem.intercept=true".into());
        }
        if self.balanced {
            settings.push("problem.class_weight=balanced".into());
        }
        settings
    }

    /// What is wrong with an outcome that ought to be within `slack`, relative, of the optimum.
    fn complaint(&self, outcome: &Outcome, slack: f64) -> Option<String> {
        let rounding = 1e-10 * self.objective.abs();
        let objective = outcome.objective;
        if objective.is_nan() || objective < self.dual - rounding {
            return Some(format!("F = {objective}, and F* ≥ {}", self.dual));
        }
        if objective > self.objective + slack * self.objective.abs() {
            return Some(format!(
                "F = {objective} is {:.2e} above F* = {}, relative, after {} epochs",
                objective / self.objective - 1.0,
                self.objective,
                outcome.epochs
            ));
        }
        let dual = outcome.gap.map(|gap| objective - gap)?;
        (dual > self.objective + rounding).then(|| {
            format!("the dual value {dual} is above F* ≤ {} by {:.2e}", self.objective, dual - self.objective)
        })
    }
}

struct Silent;

impl Observer for Silent {
    fn sample(&mut self, _: &Sample, _: &dyn Snapshot) -> farrow::error::Result<Continue> {
        Ok(Continue::Yes)
    }
}

/// Reads `data` and solves it as `settings` say.
fn solve(data: &Path, settings: &[String]) -> Result<Outcome, String> {
    let run = || {
        let mut written = Settings::new();
        settings.iter().try_for_each(|setting| written.set(setting))?;
        let setup: Setup = written.check()?;
        let plan = plan(&Topology::of_host()?, &setup)?;
        let data = data::read(data, &Default::default(), 2)?;
        solve::solve(data, &setup, &plan, Start::default(), &mut Silent)
    };
    run().map_err(|error| error.to_string())
}
