//! PIAG: against a plain twin, against optima of other methods, its table against its sum, and with a worker ten times as
//! slow as the others.

use super::solve::{DUAL, data, planned, setup, sparse};
use farrow::{
    config::{Constraint, Granularity, L2, MergeKind, MethodKind, Normalize, Runner, Setup, StepKind, Straggler},
    error::Result,
    loss::Loss,
    solve::{Outcome, Start, solve},
    trace::{Continue, Observer, Sample, Silent, Snapshot, StepTaken, StopReason},
};

fn piag(runner: Runner) -> Setup {
    let mut setup = setup(MethodKind::Piag, Loss::Logistic);
    (setup.runner, setup.problem.l2, setup.problem.normalize) = (runner, L2::Value(0.05), Normalize::Rows);
    setup.stop.target = Some(1e-6);
    setup.stop.max_epochs = 40_000;
    setup.stop.evaluate_every = Some(20);
    setup
}

fn run(setup: &mut Setup, workers: usize, granularity: Granularity) -> Outcome {
    let plan = planned(setup, workers, granularity);
    solve(data(300, 40, true), setup, &plan, Start::default(), &mut Silent).unwrap()
}

#[test]
fn one_worker_takes_proximal_gradient_steps() {
    let (n, d, step, l1) = (60, 12, 0.4, 0.02);
    let (rows, labels) = sparse(n, d, true);
    let mut x = vec![0.0; d as usize];
    for _ in 0..7 {
        let mut gradient = vec![0.0; d as usize];
        for (row, label) in rows.iter().zip(&labels) {
            let z: f64 = row.iter().map(|&(c, v)| x[c as usize] * f64::from(v)).sum();
            let slope = -label / (1.0 + (label * z).exp());
            row.iter().for_each(|&(c, v)| gradient[c as usize] += slope * f64::from(v) / n as f64);
        }
        for (x, g) in x.iter_mut().zip(&gradient) {
            let moved = *x - step * g;
            *x = moved.signum() * (moved.abs() - step * l1).max(0.0);
        }
    }
    let mut setup = setup(MethodKind::Piag, Loss::Logistic);
    (setup.problem.l1, setup.problem.l2) = (l1, L2::Value(0.0));
    setup.step = Some(StepKind::Constant { initial: Some(step) });
    (setup.stop.target, setup.stop.max_epochs) = (None, 7);
    let plan = planned(&mut setup, 1, Granularity::Machine);
    let found = solve(data(n, d, true), &setup, &plan, Start::default(), &mut Silent).unwrap();
    assert!(x.iter().any(|x| *x != 0.0));
    for (found, x) in found.model.weights.iter().zip(&x) {
        assert!((found - x).abs() < 1e-12, "{found} for {x}");
    }
}

#[test]
fn every_runner_and_step_leads_to_the_optimum_of_other_methods() {
    let mut of_dual = piag(Runner::Interleaved);
    (of_dual.method, of_dual.stop.target) = (DUAL, Some(1e-9));
    let best = run(&mut of_dual, 1, Granularity::Core).objective;
    for runner in [Runner::Threads, Runner::Interleaved] {
        for workers in [1, 2, 5] {
            for step in [None, Some(StepKind::Adaptive2 { initial: None })] {
                let mut setup = piag(runner);
                setup.step = step;
                let found = run(&mut setup, workers, Granularity::Machine);
                let what = format!("{runner:?} {workers} {step:?}: {:?} {}", found.stop, found.objective);
                assert_eq!(found.stop, StopReason::Target, "{what}");
                assert!((found.objective / best - 1.0).abs() < 2e-6, "{what}");
            }
        }
    }
}

#[test]
fn replicas_bounds_and_an_intercept_hold_the_optimum_of_descent_by_columns() {
    let problem = |setup: &mut Setup| {
        setup.problem.constraint = Constraint::Box { lo: -0.4, hi: 0.3 };
        (setup.problem.intercept, setup.problem.l1) = (true, 0.002);
    };
    let mut by_columns = piag(Runner::Interleaved);
    (by_columns.method, by_columns.stop.evaluate_every) = (MethodKind::Bcd, None);
    problem(&mut by_columns);
    let best = run(&mut by_columns, 1, Granularity::Machine);
    for granularity in [Granularity::Machine, Granularity::Node] {
        let mut setup = piag(Runner::Interleaved);
        problem(&mut setup);
        let found = run(&mut setup, 4, granularity);
        assert_eq!(found.stop, StopReason::Target, "{granularity:?}");
        assert!((found.objective / best.objective - 1.0).abs() < 2e-6, "{granularity:?}");
        assert!((found.model.intercept - best.model.intercept).abs() < 0.01);
    }
}

/// Holds every sample's table against its sum, and takes the steps that were told.
struct Audit {
    rows: Vec<Vec<(u32, f32)>>,
    samples: usize,
    steps: Vec<StepTaken>,
}

impl Observer for Audit {
    fn wants_steps(&self) -> bool {
        true
    }

    fn steps(&mut self, steps: &[StepTaken]) -> Result<()> {
        self.steps.extend_from_slice(steps);
        Ok(())
    }

    fn sample(&mut self, _sample: &Sample, state: &dyn Snapshot) -> Result<Continue> {
        let state = state.checkpoint();
        let d = (state.parameters.len() - 1) / 2;
        let mut sums = vec![0.0; d];
        for (row, memo) in self.rows.iter().zip(&state.state) {
            row.iter().for_each(|&(c, v)| sums[c as usize] += f64::from(v) * memo / self.rows.len() as f64);
        }
        for (sum, average) in sums.iter().zip(&state.parameters[d + 1..]) {
            assert!((sum - average).abs() < 1e-13, "{average} for {sum}");
        }
        self.samples += 1;
        Ok(Continue::Yes)
    }
}

/// Eight workers of which one takes ten times as long, by the interleaver: updates until the gap is at 1e-6, the longest
/// delay met, and the steps.
fn with_a_slow_worker(step: StepKind) -> (usize, u64) {
    let mut setup = piag(Runner::Interleaved);
    setup.problem.normalize = Normalize::None;
    setup.step = Some(step);
    setup.injection.straggler = Straggler::Slow { worker: 3, factor: 10.0 };
    (setup.problem.l2, setup.stop.evaluate_every) = (L2::Value(0.003), Some(10));
    let (rows, _) = sparse(300, 40, true);
    let mut audit = Audit { rows, samples: 0, steps: Vec::new() };
    let plan = planned(&mut setup, 8, Granularity::Machine);
    let found = solve(data(300, 40, true), &setup, &plan, Start::default(), &mut audit).unwrap();
    assert_eq!(found.stop, StopReason::Target, "{step:?}: {}", found.certificate_value);
    assert!(audit.samples > 2);
    let longest = audit.steps.iter().map(|step| step.delay).max().unwrap();
    (audit.steps.len(), longest)
}

#[test]
fn steps_that_adapt_beat_the_one_that_fears_the_longest_delay_when_a_worker_is_slow() {
    let (adaptive1, longest) = with_a_slow_worker(StepKind::Adaptive1 { initial: None, alpha: 0.9 });
    // The slow worker's gradients are as old as all that the others did meanwhile.
    assert!(longest > 40, "{longest}");
    let (adaptive2, _) = with_a_slow_worker(StepKind::Adaptive2 { initial: None });
    let (fixed, _) = with_a_slow_worker(StepKind::FixedDelay { initial: None, delay: longest });
    // A simulation on quadratics took 7153, 12 777 and 28 297 updates, of which each is so many times the one before.
    let factors = [adaptive2 as f64 / adaptive1 as f64, fixed as f64 / adaptive2 as f64];
    for (factor, simulated) in factors.into_iter().zip([12_777.0 / 7153.0, 28_297.0 / 12_777.0]) {
        assert!(
            (factor / simulated - 1.0).abs() < 0.3,
            "{adaptive1} {adaptive2} {fixed}: {factor} for {simulated}"
        );
    }
}

#[test]
fn a_consistent_merge_may_be_said_and_the_others_change_nothing() {
    let weights = |merge| {
        let mut setup = piag(Runner::Interleaved);
        (setup.parameters.merge, setup.stop.target, setup.stop.max_epochs) = (merge, None, 40);
        run(&mut setup, 3, Granularity::Machine).model.weights
    };
    assert_eq!(weights(MergeKind::Lossy), weights(MergeKind::Consistent));
}
