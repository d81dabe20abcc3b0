//! ProxASAGA, sparse SVRG and dense: against a plain twin, against optima of other methods, and their tables against the averages.

use super::solve::{DUAL, data, planned, setup, sparse};
use farrow::{
    checkpoint::Checkpoint,
    config::{CellKind, Constraint, Granularity, L2, MergeKind, MethodKind, OrderKind, Runner, StepKind},
    error::Result,
    loss::Loss,
    solve::{Outcome, Start, solve},
    trace::{Continue, Observer, Sample, Silent, Snapshot, StopReason},
};

const SVRG: MethodKind = MethodKind::Svrg { epochs: 2 };
const DENSE: MethodKind = MethodKind::DenseSvrg { epochs: 2 };

#[test]
fn one_worker_goes_the_way_of_the_formulas() {
    // Rows in the order of the file, so that the twin knows it. What is left between the two is rounding.
    let (n, d, step, l1, l2) = (60, 12, 0.05, 0.01, 0.02);
    let (rows, labels) = sparse(n, d, true);
    let count = |j: u32| rows.iter().filter(|row| row.iter().any(|&(c, _)| c == j)).count();
    let rarity: Vec<f64> = (0..d).map(|j| n as f64 / count(j) as f64).collect();
    let slope = |x: &[f64], i: usize| {
        let z: f64 = rows[i].iter().map(|&(c, v)| x[c as usize] * f64::from(v)).sum();
        -labels[i] / (1.0 + (labels[i] * z).exp())
    };
    for method in [MethodKind::ProxAsaga, SVRG, DENSE] {
        let (mut x, mut average, mut memo) = (vec![0.0; d as usize], vec![0.0; d as usize], vec![0.0; n]);
        for epoch in 0..5 {
            if method != MethodKind::ProxAsaga && epoch % 2 == 0 {
                average.fill(0.0);
                for i in 0..n {
                    memo[i] = slope(&x, i);
                    rows[i].iter().for_each(|&(c, v)| average[c as usize] += memo[i] * f64::from(v) / n as f64);
                }
            }
            for i in 0..n {
                let now = slope(&x, i);
                for j in 0..d as usize {
                    let of_row = rows[i].iter().find(|(c, _)| *c as usize == j).map(|(_, v)| *v);
                    if of_row.is_none() && method != DENSE {
                        continue;
                    }
                    let (v, often) = (of_row.unwrap_or(0.0), if method == DENSE { 1.0 } else { rarity[j] });
                    let moved = x[j] - step * ((now - memo[i]) * f64::from(v) + often * average[j]);
                    let shrunk = moved.signum() * (moved.abs() - step * often * l1).max(0.0);
                    x[j] = shrunk / (1.0 + step * often * l2);
                    if method == MethodKind::ProxAsaga {
                        average[j] += (now - memo[i]) * f64::from(v) / n as f64;
                    }
                }
                if method == MethodKind::ProxAsaga {
                    memo[i] = now;
                }
            }
        }
        let mut setup = setup(method.clone(), Loss::Logistic);
        (setup.problem.l1, setup.problem.l2, setup.order) = (l1, L2::Value(l2), OrderKind::File);
        setup.step = Some(StepKind::Constant { initial: Some(step) });
        (setup.stop.target, setup.stop.max_epochs) = (None, 5);
        let plan = planned(&mut setup, 1, Granularity::Core);
        let found = solve(data(n, d, true), &setup, &plan, Start::default(), &mut Silent).unwrap();
        for (found, x) in found.model.weights.iter().zip(&x) {
            assert!((found - x).abs() < 1e-12, "{method:?}: {found} for {x}");
        }
        assert!(x.iter().any(|x| *x != 0.0));
    }
}

/// Holds every sample's table against its average, which must be (1/n) Σ memo × row whatever the replicas did.
struct Audit {
    rows: Vec<Vec<(u32, f32)>>,
    columns: usize,
    samples: usize,
}

impl Audit {
    fn check(&self, state: &Checkpoint) {
        let mut sums = vec![0.0; self.columns];
        for (row, memo) in self.rows.iter().zip(&state.state) {
            row.iter().for_each(|&(c, v)| sums[c as usize] += f64::from(v) * memo / self.rows.len() as f64);
        }
        let average = &state.parameters[self.columns + 1..];
        assert_eq!(average.len(), self.columns);
        assert!(sums.iter().any(|sum| *sum != 0.0));
        for (average, sum) in average.iter().zip(sums) {
            assert!((average - sum).abs() < 1e-13, "{average} for {sum}");
        }
    }
}

impl Observer for Audit {
    fn sample(&mut self, _sample: &Sample, state: &dyn Snapshot) -> Result<Continue> {
        self.check(&state.checkpoint());
        self.samples += 1;
        Ok(Continue::Yes)
    }
}

const STORES: [(Granularity, MergeKind); 5] = [
    (Granularity::Machine, MergeKind::Lossy),
    (Granularity::Machine, MergeKind::Lossless),
    (Granularity::Machine, MergeKind::Locked),
    (Granularity::Node, MergeKind::Lossy),
    (Granularity::Core, MergeKind::Lossy),
];

#[test]
fn the_average_beside_the_parameters_is_that_of_the_table_at_every_sample() {
    let (rows, _) = sparse(200, 30, true);
    for method in [MethodKind::ProxAsaga, SVRG, DENSE] {
        for (granularity, merge) in STORES {
            for runner in [Runner::Threads, Runner::Interleaved] {
                let mut setup = setup(method.clone(), Loss::Logistic);
                (setup.runner, setup.parameters.merge) = (runner, merge);
                (setup.stop.target, setup.stop.max_epochs) = (None, 12);
                let plan = planned(&mut setup, 4, granularity);
                let mut audit = Audit { rows: rows.clone(), columns: 30, samples: 0 };
                solve(data(200, 30, true), &setup, &plan, Start::default(), &mut audit).unwrap();
                assert_eq!(audit.samples, 12, "{method:?} {granularity:?} {merge:?} {runner:?}");
            }
        }
    }
}

fn solved(method: &MethodKind, change: impl Fn(&mut farrow::config::Setup), granularity: Granularity) -> Outcome {
    let mut setup = setup(method.clone(), Loss::Logistic);
    change(&mut setup);
    let workers = if granularity == Granularity::Core && *method == DUAL { 1 } else { 4 };
    let plan = planned(&mut setup, workers, granularity);
    let classes = setup.problem.loss.is_classification();
    solve(data(300, 40, classes), &setup, &plan, Start::default(), &mut Silent).unwrap()
}

#[test]
fn every_store_and_runner_leads_to_the_optimum_of_other_methods() {
    for loss in [Loss::Logistic, Loss::Squared, Loss::SquaredHinge, Loss::Huber { delta: 0.5 }] {
        let best = solved(&DUAL, |setup| setup.problem.loss = loss, Granularity::Core).objective;
        for method in [MethodKind::ProxAsaga, SVRG, DENSE] {
            for (granularity, merge) in STORES {
                for runner in [Runner::Threads, Runner::Interleaved] {
                    let change = |setup: &mut farrow::config::Setup| {
                        setup.problem.loss = loss;
                        (setup.runner, setup.parameters.merge, setup.stop.target) = (runner, merge, Some(1e-6));
                    };
                    let found = solved(&method, change, granularity);
                    let what = format!(
                        "{loss:?} {method:?} {granularity:?} {merge:?} {runner:?}: {} for {best}",
                        found.objective
                    );
                    assert_eq!(found.stop, StopReason::Target, "{what}");
                    assert!((found.objective / best - 1.0).abs() < 2e-6, "{what}");
                }
            }
        }
    }
}

#[test]
fn penalties_bounds_and_an_intercept_hold_the_optimum_of_descent_by_columns() {
    type Change = fn(&mut farrow::config::Setup);
    let problems: [Change; 4] = [
        |setup| (setup.problem.l1, setup.problem.l2) = (0.01, L2::Value(0.001)),
        |setup| setup.problem.intercept = true,
        |setup| {
            setup.problem.constraint = Constraint::Box { lo: -0.5, hi: 0.3 };
            (setup.problem.intercept, setup.problem.l1) = (true, 0.002);
        },
        |setup| {
            (setup.problem.l2, setup.problem.intercept) = (L2::Value(0.01), true);
            setup.parameters.layout = farrow::config::Layout::Padded;
        },
    ];
    for (number, problem) in problems.into_iter().enumerate() {
        let best = solved(
            &MethodKind::Bcd,
            |setup| {
                problem(setup);
                setup.parameters.layout = farrow::config::Layout::Plain;
            },
            Granularity::Machine,
        );
        for (method, granularity) in [
            (MethodKind::ProxAsaga, Granularity::Machine),
            (MethodKind::ProxAsaga, Granularity::Node),
            (MethodKind::ProxAsaga, Granularity::Core),
            (SVRG, Granularity::Machine),
            (SVRG, Granularity::Core),
            (DENSE, Granularity::Machine),
            (DENSE, Granularity::Node),
            (MethodKind::Newton, Granularity::Machine),
        ] {
            if method == MethodKind::Newton && number == 3 {
                // It has no updates to lay out.
                continue;
            }
            let change = |setup: &mut farrow::config::Setup| {
                problem(setup);
                (setup.runner, setup.stop.target) = (Runner::Interleaved, Some(1e-6));
            };
            let found = solved(&method, change, granularity);
            let what = format!(
                "problem {number} {method:?} {granularity:?}: {:?} {} for {}",
                found.stop, found.objective, best.objective
            );
            assert_eq!(found.stop, StopReason::Target, "{what}");
            assert!((found.objective / best.objective - 1.0).abs() < 2e-6, "{what}");
            assert!((found.model.intercept - best.model.intercept).abs() < 0.01, "{what}");
        }
    }
}

#[test]
fn weights_of_rows_count_as_rows_repeated() {
    let (rows, labels) = sparse(80, 10, true);
    let (mut repeated, mut their_labels) = (rows.clone(), labels.clone());
    for i in (0..80).step_by(4) {
        repeated.push(rows[i].clone());
        their_labels.push(labels[i]);
    }
    let again = || farrow::data::from_rows(&repeated, &their_labels, 10).unwrap();
    for method in [MethodKind::ProxAsaga, SVRG, DENSE] {
        let mut setup = setup(method, Loss::Logistic);
        (setup.problem.l2, setup.stop.target) = (L2::Value(0.01), Some(1e-9));
        let plan = planned(&mut setup, 2, Granularity::Machine);
        let objective = |data| solve(data, &setup, &plan, Start::default(), &mut Silent).unwrap().objective;
        let mut weighed = farrow::data::from_rows(&rows, &labels, 10).unwrap();
        weighed.weights = Some((0..80).map(|i| if i % 4 == 0 { 2.0 } else { 1.0 }).collect());
        let (heavy, full) = (objective(weighed), objective(again()));
        assert!((heavy - full).abs() < 1e-8, "{heavy} {full}");
    }
}

#[test]
fn a_table_of_four_byte_parameters_still_comes_close() {
    let best = solved(&DUAL, |_| (), Granularity::Core).objective;
    for granularity in [Granularity::Machine, Granularity::Core] {
        let change = |setup: &mut farrow::config::Setup| {
            (setup.parameters.cell, setup.stop.target, setup.stop.max_epochs) = (CellKind::F32, Some(1e-4), 400);
        };
        let found = solved(&MethodKind::ProxAsaga, change, granularity);
        assert_eq!(found.stop, StopReason::Target);
        assert!((found.objective / best - 1.0).abs() < 2e-4);
    }
}
