//! σ′ follows what the replicas' changes need, and a target that counts as met without a rebuild is met.

use super::solve::{DUAL, data, planned, setup, sparse};
use farrow::{
    config::{Every, ExchangeKind, Granularity, Runner},
    data::{self, Data},
    loss::Loss,
    solve::{Outcome, Start, solve},
    trace::{Silent, StopReason},
};

/// One epoch of dual ascent on four replicas that meet once, at its end.
fn after_one_epoch(data: Data, runner: Runner) -> Outcome {
    let mut setup = setup(DUAL, Loss::Squared);
    setup.exchange = Some(ExchangeKind::Sum { every: Every::Epoch });
    (setup.runner, setup.stop.target, setup.stop.max_epochs) = (runner, None, 1);
    let plan = planned(&mut setup, 4, Granularity::Core);
    solve(data, &setup, &plan, Start::default(), &mut Silent).expect("solved")
}

#[test]
fn replicas_that_move_alike_are_damped_by_their_number_and_those_that_do_not_meet_hardly_at_all() {
    let alike: Vec<Vec<(u32, f32)>> = (0..400).map(|_| vec![(0, 1.0)]).collect();
    let apart: Vec<Vec<(u32, f32)>> = (0..400).map(|row| vec![(row, 1.0)]).collect();
    for runner in [Runner::Threads, Runner::Interleaved] {
        for (rows, columns, damping) in [(&alike, 1, 4.0), (&apart, 400, 1.25)] {
            let data = data::from_rows(rows, &[1.0; 400], columns).expect("valid rows");
            let found = after_one_epoch(data, runner).checkpoint;
            assert!((found.damping - damping).abs() < 1e-9, "{runner:?}: {} for {damping}", found.damping);
            assert_eq!(found.damping_least, 1.0);
        }
    }
}

#[test]
fn sums_of_replicas_reach_the_optimum_of_one_whether_rows_are_alike_or_not() {
    for (rows, columns) in [(300, 40), (300, 8), (60, 400)] {
        let mut of_one = f64::NAN;
        for workers in [1, 2, 4, 8] {
            let mut setup = setup(DUAL, Loss::Hinge);
            (setup.runner, setup.stop.target, setup.stop.max_epochs) = (Runner::Interleaved, Some(1e-7), 20_000);
            let plan = planned(&mut setup, workers, Granularity::Core);
            let found =
                solve(data(rows, columns, true), &setup, &plan, Start::default(), &mut Silent).expect("solved");
            assert_eq!(found.stop, StopReason::Target, "{rows} x {columns}, {workers} workers");
            of_one = if workers == 1 { found.objective } else { of_one };
            assert!((found.objective / of_one - 1.0).abs() < 2e-7, "{rows} x {columns}, {workers} workers");
        }
    }
}

/// The store is not rebuilt from α before a target as loose as this counts as met; the gap that is told must still be that
/// of the model and of α.
#[test]
fn a_gap_that_is_told_is_the_gap_of_what_is_left_behind() {
    let (rows, labels) = sparse(300, 40, true);
    for runner in [Runner::Threads, Runner::Interleaved] {
        let mut setup = setup(DUAL, Loss::Logistic);
        (setup.runner, setup.stop.target) = (runner, Some(1e-6));
        let plan = planned(&mut setup, 1, Granularity::Machine);
        let found = solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved");
        let (n, l2) = (300.0, 1.0 / 300.0);
        let mut v = [0.0; 40];
        let mut dual = 0.0;
        for ((row, &b), &alpha) in rows.iter().zip(&labels).zip(&found.checkpoint.state) {
            row.iter().for_each(|&(j, a)| v[j as usize] += alpha * f64::from(a) / n);
            dual -= Loss::Logistic.conjugate(alpha, b) / n;
        }
        dual -= v.iter().map(|v| v * v).sum::<f64>() / (2.0 * l2);
        let x = &found.model.weights;
        let margin = |row: &[(u32, f32)]| row.iter().map(|&(j, a)| x[j as usize] * f64::from(a)).sum::<f64>();
        let losses = rows.iter().zip(&labels).map(|(row, &b)| Loss::Logistic.value(margin(row), b)).sum::<f64>();
        let primal = losses / n + 0.5 * l2 * x.iter().map(|x| x * x).sum::<f64>();
        let told = found.gap.expect("a gap");
        assert!(((primal - dual) - told).abs() <= 1e-8 * primal, "{:e} told, {:e} found", told, primal - dual);
        assert!(primal - dual <= 1.01e-6 * primal, "{:e}", (primal - dual) / primal);
    }
}
