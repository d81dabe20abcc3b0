//! `parameters.layout` changes where coordinates lie and nothing else.

use super::solve::{DUAL, data, planned, setup, sparse};
use farrow::{
    checkpoint::Checkpoint,
    config::{Constraint, Granularity, L2, Layout, MethodKind, Normalize, Runner, StepKind},
    data,
    loss::Loss,
    solve::{Outcome, Start, solve},
    trace::{Silent, StopReason},
};

const LAYOUTS: [Layout; 4] = [Layout::Plain, Layout::Frequency, Layout::Scatter, Layout::Padded];

#[test]
fn every_layout_leads_to_the_same_coefficients() {
    for (constraint, l1, normalize) in [
        (Constraint::None, 0.0, Normalize::None),
        (Constraint::None, 0.01, Normalize::Columns),
        (Constraint::Box { lo: -0.05, hi: 0.1 }, 0.001, Normalize::Rows),
    ] {
        let model = |layout, granularity| {
            let mut setup = setup(DUAL, Loss::Squared);
            (setup.problem.constraint, setup.problem.l1, setup.problem.normalize) = (constraint, l1, normalize);
            (setup.problem.l2, setup.parameters.layout) = (L2::Value(0.05), layout);
            setup.stop.target = Some(1e-12);
            let plan = planned(&mut setup, 3, granularity);
            let outcome =
                solve(data(300, 40, false), &setup, &plan, Start::default(), &mut Silent).expect("solved");
            assert_eq!(outcome.stop, StopReason::Target, "{layout:?} {constraint:?} {granularity:?}");
            outcome.model.weights
        };
        for granularity in [Granularity::Machine, Granularity::Core] {
            let plain = model(Layout::Plain, granularity);
            for layout in LAYOUTS {
                let other = model(layout, granularity);
                let far = plain.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(far < 1e-5, "{layout:?} {constraint:?} {granularity:?}: {far}");
            }
        }
    }
}

#[test]
fn hogwild_takes_the_same_steps_in_every_layout() {
    let model = |layout, constraint| {
        let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
        (setup.parameters.layout, setup.problem.constraint, setup.runner) =
            (layout, constraint, Runner::Interleaved);
        (setup.problem.intercept, setup.stop.target, setup.stop.max_epochs) = (true, None, 8);
        // Where workers share a replica the layout says which of them sweeps a coordinate, and so when.
        let plan = planned(&mut setup, 4, Granularity::Core);
        solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved")
    };
    for constraint in [Constraint::None, Constraint::Box { lo: -0.2, hi: 0.3 }, Constraint::NonNegative] {
        let plain = model(Layout::Plain, constraint);
        for layout in LAYOUTS {
            let other = model(layout, constraint);
            // Sums over a row go in another order, nothing else differs.
            let far = plain.model.weights.iter().zip(&other.model.weights).map(|(a, b)| (a - b).abs());
            assert!(far.fold(0.0, f64::max) < 1e-12, "{layout:?} {constraint:?}");
            assert!((plain.model.intercept - other.model.intercept).abs() < 1e-12);
            let (a, b) = (plain.samples.last().unwrap(), other.samples.last().unwrap());
            assert!(
                (a.objective - b.objective).abs() < 1e-12 && a.support == b.support,
                "{layout:?} {constraint:?}"
            );
            assert!((a.certificate / b.certificate - 1.0).abs() < 1e-6, "{layout:?} {constraint:?}");
        }
    }
}

#[test]
fn a_search_for_a_step_counts_no_slot_that_no_column_has() {
    for constraint in [Constraint::None, Constraint::Box { lo: -0.2, hi: 0.3 }] {
        let step = |layout| {
            let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
            (setup.parameters.layout, setup.problem.constraint) = (layout, constraint);
            setup.step = Some(StepKind::Constant { initial: None });
            setup.stop.max_epochs = 1;
            let plan = planned(&mut setup, 2, Granularity::Node);
            solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved").step_initial
        };
        let plain = step(Layout::Plain);
        assert!(plain.is_some() && LAYOUTS.iter().all(|&layout| step(layout) == plain));
    }
}

#[test]
fn a_checkpoint_of_one_layout_goes_on_in_another() {
    for method in [MethodKind::Hogwild, MethodKind::Dual { penalize_intercept: true }] {
        let go = |layout, epochs, resume: Option<Checkpoint>| -> Outcome {
            let mut setup = setup(method.clone(), Loss::Logistic);
            (setup.problem.intercept, setup.parameters.layout, setup.runner) = (true, layout, Runner::Interleaved);
            (setup.stop.target, setup.stop.max_epochs) = (None, epochs);
            let plan = planned(&mut setup, 3, Granularity::Core);
            let (rows, _) = sparse(200, 30, true);
            let labels: Vec<f64> = (0..200).map(|i| f64::from(i % 5 != 0)).collect();
            let data = data::from_rows(&rows, &labels, 30).expect("valid rows");
            solve(data, &setup, &plan, Start { resume, ..Start::default() }, &mut Silent).expect("solved")
        };
        let whole = go(Layout::Plain, 6, None);
        for layout in LAYOUTS {
            let resumed = go(layout, 6, Some(go(Layout::Scatter, 3, None).checkpoint));
            let pairs = whole.model.weights.iter().zip(&resumed.model.weights);
            let far = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-9 && whole.model.intercept.abs() > 0.1, "{method:?} {layout:?}: {far}");
            assert!((whole.model.intercept - resumed.model.intercept).abs() < 1e-9, "{method:?} {layout:?}");
        }
    }
}

#[test]
fn dense_rows_touch_every_coordinate_and_have_no_layout() {
    let matrix = ndarray::Array2::from_shape_fn((40, 5), |(i, j)| ((i * 7 + j * 3) % 11) as f32 - 5.0);
    let labels: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let mut setup = setup(DUAL, Loss::Squared);
    setup.parameters.layout = Layout::Scatter;
    let plan = planned(&mut setup, 2, Granularity::Node);
    let data = data::from_dense(matrix.view(), &labels).expect("valid rows");
    let error = solve(data, &setup, &plan, Start::default(), &mut Silent).expect_err("no layout").to_string();
    assert!(error.contains("parameters.layout") && error.contains("every row touches every"), "{error}");
}
