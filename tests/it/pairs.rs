//! Any method with any exchange from two lines of a config: each pair reaches the optimum of another method, or is refused with
//! the theorem or the quantity that it lacks. `pairs.md` is the table; `FARROW_WRITE_PAIRS=1 cargo test pairs` writes it anew.

use super::solve::{DUAL, data, planned, setup, sparse};
use farrow::{
    config::{Granularity, L2, MethodKind, Normalize, Runner, Settings, Setup, StepKind},
    error::Result,
    loss::Loss,
    solve::{Start, solve},
    trace::{Continue, Observer, Sample, Silent, Snapshot},
};
use std::{fmt::Write, path::Path};

const EXCHANGES: [&str; 7] = ["average", "sum", "allreduce", "sgp", "osgp", "adpsgd", "ring"];

/// What the two lines say, for replicas that meet or send often.
fn said(method: &str, exchange: &str) -> Result<Setup> {
    let text = format!("[method]\nkind = \"{method}\"\n[exchange]\nkind = \"{exchange}\"\nevery = 16\n");
    let mut settings = Settings::new();
    settings.text("pair.toml", &text)?;
    settings.check()
}

fn problem(setup: &mut Setup) {
    (setup.problem.loss, setup.problem.l2) = (Loss::Logistic, L2::Value(0.01));
    (setup.problem.normalize, setup.stop.target) = (Normalize::Columns, None);
}

fn best() -> f64 {
    let mut setup = setup(DUAL, Loss::Logistic);
    problem(&mut setup);
    setup.stop.target = Some(1e-9);
    let plan = planned(&mut setup, 1, Granularity::Core);
    solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).unwrap().objective
}

/// How far from `best` a pair comes at worst, on nodes of two workers and on a replica a worker, under both runners.
fn off(method: &str, exchange: &str, best: f64) -> f64 {
    let mut worst = 0.0f64;
    for runner in [Runner::Interleaved, Runner::Threads] {
        for granularity in [Granularity::Node, Granularity::Core] {
            let mut setup = said(method, exchange).unwrap();
            problem(&mut setup);
            (setup.runner, setup.stop.max_epochs) = (runner, if method == "piag" { 600 } else { 80 });
            setup.stop.evaluate_every = Some(setup.stop.max_epochs);
            if ["hogwild", "minibatch"].contains(&method) {
                setup.step = Some(StepKind::Diminishing { initial: None, half: 8.0 });
            }
            let plan = planned(&mut setup, 4, granularity);
            let found = solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).unwrap();
            worst = worst.max((found.objective / best - 1.0).abs());
        }
    }
    worst
}

#[test]
fn every_pair_reaches_the_optimum_or_is_refused_with_the_reason() {
    let best = best();
    let mut table = String::from(
        "# Methods and exchanges\n\nEvery method with every exchange: *reached* means within 1 % of the optimum of a small problem, on two replicas of two\nworkers and on four of one, under both runners. Else why it is refused. `tests/it/pairs.rs` holds this table.\n\n",
    );
    let _ = writeln!(table, "| | {} |\n|---|{}", EXCHANGES.join(" | "), "---|".repeat(EXCHANGES.len()));
    let mut reasons: Vec<String> = Vec::new();
    for (method, _) in MethodKind::NAMES.iter().filter(|(name, _)| *name != "auto") {
        let _ = write!(table, "| {method} |");
        for exchange in EXCHANGES {
            match said(method, exchange) {
                Ok(_) => {
                    let off = off(method, exchange, best);
                    assert!(off < 0.01, "{method} with {exchange}: {off}");
                    table.push_str(" reached |");
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(&format!("\"{method}\"")) && text.contains("pair.toml:4"), "{text}");
                    let what =
                        text.lines().next().unwrap().replace("pair.toml:4: ", "").replace(" (pair.toml:2)", "");
                    let what = what.replace(&format!("exchange.kind = \"{exchange}\""), "the exchange");
                    let what = what.replace(&format!("method.kind = \"{method}\""), "the method");
                    let known = reasons.iter().position(|reason| *reason == what).unwrap_or_else(|| {
                        reasons.push(what);
                        reasons.len() - 1
                    });
                    let _ = write!(table, " refused ({}) |", known + 1);
                }
            }
        }
        table.push('\n');
    }
    table.push('\n');
    for (number, reason) in reasons.iter().enumerate() {
        let _ = writeln!(table, "{}. {reason}.", number + 1);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pairs.md");
    if std::env::var_os("FARROW_WRITE_PAIRS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), table);
    for method in ["hogwild", "minibatch", "proxasaga", "svrg", "dense-svrg"] {
        let row = table.lines().find(|line| line.starts_with(&format!("| {method} |"))).unwrap();
        assert_eq!(row.matches("reached").count(), 6, "{row}");
    }
    let dual = table.lines().find(|line| line.starts_with("| dual |")).unwrap();
    assert_eq!(dual.matches("reached").count(), 3, "{dual}");
}

/// Holds the average over the replicas, what is on its way included, against the table of memos at every sample.
struct Audit {
    rows: Vec<Vec<(u32, f32)>>,
    norms: Vec<f64>,
    samples: usize,
}

impl Observer for Audit {
    fn sample(&mut self, _sample: &Sample, state: &dyn Snapshot) -> Result<Continue> {
        let state = state.checkpoint();
        let d = self.norms.len();
        let mut sums = vec![0.0; d];
        for (row, memo) in self.rows.iter().zip(&state.state) {
            row.iter().for_each(|&(c, v)| sums[c as usize] += f64::from(v) * memo / self.rows.len() as f64);
        }
        assert_eq!(state.parameters.len(), 2 * d + 1);
        for ((sum, average), norm) in sums.iter().zip(&state.parameters[d + 1..]).zip(&self.norms) {
            assert!((sum * norm - average).abs() < 1e-6, "{average} for {}", sum * norm);
        }
        self.samples += 1;
        Ok(Continue::Yes)
    }
}

#[test]
fn the_tables_of_all_replicas_and_their_averages_agree_whatever_the_exchange() {
    let (rows, _) = sparse(300, 40, true);
    let mut squares = vec![0.0; 40];
    rows.iter().flatten().for_each(|&(c, v)| squares[c as usize] += f64::from(v) * f64::from(v));
    let norms: Vec<f64> = squares.iter().map(|square| (300.0 / square).sqrt()).collect();
    for exchange in EXCHANGES.into_iter().filter(|exchange| *exchange != "sum") {
        for runner in [Runner::Interleaved, Runner::Threads] {
            let mut setup = said("proxasaga", exchange).unwrap();
            problem(&mut setup);
            (setup.runner, setup.stop.max_epochs, setup.stop.evaluate_every) = (runner, 20, Some(1));
            let plan = planned(&mut setup, 4, Granularity::Core);
            let mut audit = Audit { rows: rows.clone(), norms: norms.clone(), samples: 0 };
            solve(data(300, 40, true), &setup, &plan, Start::default(), &mut audit).unwrap();
            assert_eq!(audit.samples, 20, "{exchange} {runner:?}");
        }
    }
}
