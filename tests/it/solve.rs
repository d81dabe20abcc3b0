//! The solver on small problems: every method on every store under both runners, against closed forms and each other.

use farrow::{
    checkpoint::Checkpoint,
    config::{
        CellKind, ClassWeight, Constraint, Every, ExchangeKind, Granularity, L2, MergeKind, MethodKind, Normalize,
        OrderKind, Runner, Setup, StepKind,
    },
    data::{self, Data},
    error::Error,
    loss::Loss,
    placement::{Plan, plan},
    solve::{Outcome, Start, solve},
    topology::Topology,
    trace::{Silent, StopReason},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// `rows` rows of about 8 entries in `columns` columns, labels by a linear rule with noise: two classes, or real.
pub(super) fn sparse(rows: usize, columns: u32, classes: bool) -> (Vec<Vec<(u32, f32)>>, Vec<f64>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let truth: Vec<f64> = (0..columns).map(|_| random.random_range(-1.0..1.0)).collect();
    let mut all = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..rows {
        let mut row: Vec<(u32, f32)> = Vec::new();
        for column in 0..columns {
            if random.random_bool(8.0 / f64::from(columns)) {
                row.push((column, random.random()));
            }
        }
        let z: f64 = row.iter().map(|&(c, v)| f64::from(v) * truth[c as usize]).sum();
        let noisy = z + 0.3 * random.random_range(-1.0..1.0);
        labels.push(if classes { noisy.signum() } else { noisy });
        all.push(row);
    }
    (all, labels)
}

pub(super) fn data(rows: usize, columns: u32, classes: bool) -> Data {
    let (rows, labels) = sparse(rows, columns, classes);
    data::from_rows(&rows, &labels, columns as usize).expect("valid rows")
}

/// A plan for `workers` workers on a machine of two nodes, unpinned: the machine is not this one.
pub(super) fn planned(setup: &mut Setup, workers: usize, granularity: Granularity) -> Plan {
    let topology = Topology::from_synthetic("pack:2 [numa] l3:1 core:4 pu:1").expect("a valid description");
    setup.workers.count = farrow::config::Count::Exactly(workers);
    setup.workers.order = farrow::config::WorkerOrder::Scatter;
    setup.workers.pin = farrow::config::Pin::None;
    setup.parameters.replicas = Some(granularity);
    plan(&topology, setup).expect("a plan")
}

fn run(data: Data, setup: &mut Setup, workers: usize, granularity: Granularity) -> Outcome {
    let plan = planned(setup, workers, granularity);
    solve(data, setup, &plan, Start::default(), &mut Silent).expect("solved")
}

pub(super) fn setup(method: MethodKind, loss: Loss) -> Setup {
    let mut setup = Setup { method, ..Setup::default() };
    setup.problem.loss = loss;
    setup.stop.target = Some(1e-7);
    setup.stop.max_epochs = 4000;
    setup.order = OrderKind::Buckets { rows: 4 };
    setup
}

pub(super) const DUAL: MethodKind = MethodKind::Dual { penalize_intercept: false };
const LOSSES: [Loss; 5] =
    [Loss::Logistic, Loss::Squared, Loss::Hinge, Loss::SquaredHinge, Loss::Huber { delta: 0.5 }];

#[test]
fn one_column_of_ridge_regression_is_its_closed_form() {
    // x = Σ ab / (Σ a² + nλ).
    let (a, b) = ([1.0f32, 2.0, -3.0, 0.5], [1.0, -1.0, 2.0, 4.0]);
    let rows: Vec<Vec<(u32, f32)>> = a.iter().map(|&a| vec![(0, a)]).collect();
    let (ab, aa) = a
        .iter()
        .zip(b)
        .fold((0.0, 0.0), |(ab, aa), (&a, b)| (ab + f64::from(a) * b, aa + f64::from(a) * f64::from(a)));
    for method in [DUAL, MethodKind::Bcd] {
        let mut setup = setup(method, Loss::Squared);
        setup.problem.l2 = L2::Value(0.25);
        setup.stop.target = Some(1e-12);
        let outcome = run(data::from_rows(&rows, &b, 1).unwrap(), &mut setup, 1, Granularity::Core);
        assert!((outcome.model.weights[0] - ab / (aa + 1.0)).abs() < 1e-6, "{:?}", outcome.model);
    }
}

#[test]
fn every_store_and_runner_leads_dual_and_bcd_to_the_same_objective() {
    let mut seen = 0;
    for loss in LOSSES {
        let classes = loss.is_classification();
        let best = run(data(300, 40, classes), &mut setup(DUAL, loss), 1, Granularity::Core).objective;
        for method in [DUAL, MethodKind::Bcd] {
            if method == MethodKind::Bcd && loss == Loss::Hinge {
                continue;
            }
            for (granularity, merge, cell) in [
                (Granularity::Machine, MergeKind::Lossy, CellKind::F64),
                (Granularity::Machine, MergeKind::Lossless, CellKind::F64),
                (Granularity::Machine, MergeKind::Locked, CellKind::F64),
                (Granularity::Machine, MergeKind::Consistent, CellKind::F64),
                (Granularity::Node, MergeKind::Lossless, CellKind::F64),
                (Granularity::L3, MergeKind::Lossy, CellKind::F64),
                (Granularity::Core, MergeKind::Lossy, CellKind::F64),
                (Granularity::Core, MergeKind::Lossy, CellKind::F32),
                (Granularity::Node, MergeKind::Lossless, CellKind::F32),
            ] {
                for runner in [Runner::Threads, Runner::Interleaved] {
                    let mut setup = setup(method.clone(), loss);
                    (setup.parameters.merge, setup.parameters.cell, setup.runner) = (merge, cell, runner);
                    // Parameters of 4 bytes carry the objective to about their rounding.
                    let target = if cell == CellKind::F32 { 1e-4 } else { 1e-6 };
                    setup.stop.target = Some(target);
                    let outcome = run(data(300, 40, classes), &mut setup, 3, granularity);
                    let what =
                        format!("{loss:?} {method:?} {granularity:?} {merge:?} {cell:?} {runner:?}: {outcome:?}");
                    assert_eq!(outcome.stop, StopReason::Target, "{what}");
                    assert!(outcome.objective <= best + 2.0 * target * best, "{what}");
                    assert!(outcome.objective - outcome.gap.unwrap() <= best * (1.0 + 1e-9), "{what}");
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, (5 + 4) * 9 * 2);
}

#[test]
fn hogwild_comes_within_two_percent_on_every_store_and_runner() {
    for loss in LOSSES {
        let classes = loss.is_classification();
        let best = run(data(300, 40, classes), &mut setup(DUAL, loss), 1, Granularity::Core).objective;
        for (granularity, merge) in [
            (Granularity::Machine, MergeKind::Lossy),
            (Granularity::Node, MergeKind::Lossless),
            (Granularity::Machine, MergeKind::Locked),
            (Granularity::Core, MergeKind::Lossy),
        ] {
            for runner in [Runner::Threads, Runner::Interleaved] {
                let mut setup = setup(MethodKind::Hogwild, loss);
                (setup.parameters.merge, setup.runner) = (merge, runner);
                setup.stop.max_epochs = 60;
                setup.step = Some(StepKind::Diminishing { initial: None, half: 10.0 });
                let outcome = run(data(300, 40, classes), &mut setup, 3, granularity);
                let off = outcome.objective / best - 1.0;
                assert!(off < 0.02 && off > -1e-9, "{loss:?} {granularity:?} {merge:?} {runner:?}: {off}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_under_the_interleaved_runner_and_another_seed_others() {
    for method in [MethodKind::Hogwild, DUAL, MethodKind::Bcd] {
        for granularity in [Granularity::Machine, Granularity::Node, Granularity::Core] {
            let model = |seed| {
                let mut setup = setup(method.clone(), Loss::Logistic);
                (setup.runner, setup.seed, setup.stop.target, setup.stop.max_epochs) =
                    (Runner::Interleaved, seed, None, 3);
                let outcome = run(data(200, 30, true), &mut setup, 4, granularity);
                outcome.model.weights.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(model(1), model(1), "{method:?} {granularity:?}");
            assert_ne!(model(1), model(2), "{method:?} {granularity:?}");
        }
    }
}

/// Methods whose state a checkpoint holds in different ways.
const SAVED: [MethodKind; 6] = [
    MethodKind::Hogwild,
    DUAL,
    MethodKind::Bcd,
    MethodKind::ProxAsaga,
    MethodKind::Svrg { epochs: 2 },
    MethodKind::DenseSvrg { epochs: 2 },
];

#[test]
fn a_run_that_was_saved_goes_on_as_if_it_had_not_stopped() {
    for method in SAVED {
        let go = |epochs, resume: Option<Checkpoint>| {
            let mut setup = setup(method.clone(), Loss::Logistic);
            (setup.runner, setup.stop.target, setup.stop.max_epochs) = (Runner::Interleaved, None, epochs);
            let plan = planned(&mut setup, 3, Granularity::Node);
            let start = Start { resume, ..Start::default() };
            solve(data(200, 30, true), &setup, &plan, start, &mut Silent).expect("solved")
        };
        let whole = go(6, None);
        let resumed = go(6, Some(go(3, None).checkpoint));
        assert_eq!(whole.model, resumed.model, "{method:?}");
        assert_eq!((whole.epochs, whole.updates), (resumed.epochs, resumed.updates), "{method:?}");
    }
}

#[test]
fn an_intercept_is_kept_by_a_checkpoint_and_by_a_warm_start() {
    let penalized = MethodKind::Dual { penalize_intercept: true };
    for method in SAVED.map(|method| if method == DUAL { penalized.clone() } else { method }) {
        let go = |epochs, start: Start<'_>| {
            let mut setup = setup(method.clone(), Loss::Logistic);
            (setup.problem.intercept, setup.runner) = (true, Runner::Interleaved);
            (setup.stop.target, setup.stop.max_epochs) = (None, epochs);
            let plan = planned(&mut setup, 3, Granularity::Node);
            let (rows, _) = sparse(200, 30, true);
            let labels: Vec<f64> = (0..200).map(|i| f64::from(i % 5 != 0)).collect();
            solve(data::from_rows(&rows, &labels, 30).unwrap(), &setup, &plan, start, &mut Silent).expect("solved")
        };
        let (half, whole) = (go(3, Start::default()), go(6, Start::default()));
        assert!(half.model.intercept.abs() > 0.1, "{method:?}: {}", half.model.intercept);
        let resumed = go(6, Start { resume: Some(half.checkpoint), ..Start::default() });
        assert_eq!(whole.model, resumed.model, "{method:?}");
        let long = go(60, Start::default());
        let warm = go(1, Start { warm: Some(long.model), ..Start::default() });
        assert!(warm.objective < 1.05 * long.objective, "{method:?}: {} {}", warm.objective, long.objective);
    }
}

#[test]
fn a_resumed_run_that_has_nothing_left_to_do_says_where_it_was() {
    for method in SAVED {
        let mut setup = setup(method, Loss::Logistic);
        (setup.stop.target, setup.stop.max_epochs) = (None, 3);
        let plan = planned(&mut setup, 2, Granularity::Core);
        let first = solve(data(200, 30, true), &setup, &plan, Start::default(), &mut Silent).unwrap();
        let start = Start { resume: Some(first.checkpoint.clone()), ..Start::default() };
        let second = solve(data(200, 30, true), &setup, &plan, start, &mut Silent).unwrap();
        assert_eq!((second.stop, second.objective), (StopReason::MaxEpochs, first.objective));
        assert_eq!((second.epochs, second.updates), (first.epochs, first.updates));
        assert_eq!(second.checkpoint, first.checkpoint);
    }
}

#[test]
fn the_norm_at_zero_is_the_same_after_a_resume() {
    let go = |epochs, resume| {
        let mut setup = setup(MethodKind::Bcd, Loss::Logistic);
        (setup.problem.l2, setup.problem.constraint) = (L2::Value(0.0), Constraint::NonNegative);
        (setup.runner, setup.stop.target, setup.stop.max_epochs) = (Runner::Interleaved, None, epochs);
        let plan = planned(&mut setup, 2, Granularity::Core);
        let start = Start { resume, ..Start::default() };
        solve(data(200, 30, true), &setup, &plan, start, &mut Silent).unwrap()
    };
    let (whole, resumed) = (go(6, None), go(6, Some(go(3, None).checkpoint)));
    assert_eq!(whole.certificate, farrow::trace::CertificateKind::ProxGradient);
    assert_eq!(whole.certificate_value, resumed.certificate_value);
}

#[test]
fn ascent_that_is_slow_or_overshoots_is_not_taken_for_divergence() {
    // Rows of norms from 1e-3 to 1e3 and hardly a penalty: the primal of one worker's dual ascent is huge on its way.
    let (rows, labels) = sparse(200, 20, true);
    let scaled: Vec<Vec<(u32, f32)>> = (rows.iter().zip(0..))
        .map(|(row, i)| row.iter().map(|&(c, v)| (c, v * 10f32.powi(i % 7 - 3))).collect())
        .collect();
    // Columns that all but agree: workers that share a replica all correct the same error at once.
    let alike: Vec<Vec<(u32, f32)>> = (rows.iter())
        .map(|row| (0..20).map(|c| (c, 3.0 + row.first().map_or(0.0, |&(_, v)| v) * 0.1)).collect())
        .collect();
    for (rows, l2, method, workers, granularity) in [
        (&scaled, 1e-7, DUAL, 1, Granularity::Core),
        (&alike, 1e-3, DUAL, 8, Granularity::Machine),
        (&alike, 1e-3, MethodKind::Bcd, 8, Granularity::Machine),
    ] {
        let mut setup = setup(method.clone(), Loss::Squared);
        (setup.problem.l2, setup.runner) = (L2::Value(l2), Runner::Interleaved);
        (setup.stop.target, setup.stop.max_epochs) = (None, 200);
        let outcome = run(data::from_rows(rows, &labels, 20).unwrap(), &mut setup, workers, granularity);
        assert_eq!(outcome.stop, StopReason::MaxEpochs, "{method:?} {workers}");
        let first = outcome.samples.first().unwrap();
        let bound = |sample: &farrow::trace::Sample| sample.objective - sample.gap.unwrap();
        let last = outcome.samples.last().unwrap();
        assert!(bound(last) >= bound(first) || last.objective <= first.objective, "{method:?} {workers}");
    }
}

#[test]
fn weights_are_part_of_what_a_checkpoint_must_match() {
    let mut setup = setup(DUAL, Loss::Logistic);
    setup.stop.max_epochs = 1;
    let plan = planned(&mut setup, 1, Granularity::Core);
    let go = |weight: f64, resume| {
        let mut weighted = data(100, 20, true);
        weighted.weights = Some((0..100).map(|i| if i < 50 { weight } else { 1.0 }).collect());
        solve(weighted, &setup, &plan, Start { resume, ..Start::default() }, &mut Silent)
    };
    let saved = go(2.0, None).unwrap().checkpoint;
    assert!(go(2.0, Some(saved.clone())).is_ok());
    assert!(matches!(go(3.0, Some(saved)), Err(Error::Unmet { .. })));
}

#[test]
fn a_checkpoint_of_other_data_or_another_problem_is_refused_with_both_named() {
    let mut setup = setup(DUAL, Loss::Logistic);
    setup.stop.max_epochs = 1;
    let saved = run(data(100, 20, true), &mut setup, 1, Granularity::Core).checkpoint;
    let plan = planned(&mut setup, 1, Granularity::Core);
    let resume = || Start { resume: Some(saved.clone()), ..Start::default() };
    let other_data = solve(data(101, 20, true), &setup, &plan, resume(), &mut Silent);
    setup.problem.l1 = 0.5;
    let other_problem = solve(data(100, 20, true), &setup, &plan, resume(), &mut Silent);
    for refused in [other_data, other_problem] {
        let text = refused.expect_err("refused").to_string();
        assert_eq!(text.matches(" nonzeros, labels ").count(), 2, "{text}");
    }
}

#[test]
fn a_warm_start_at_the_optimum_is_at_the_optimum() {
    for method in [MethodKind::Hogwild, DUAL, MethodKind::Bcd] {
        let optimum = run(data(200, 30, true), &mut setup(DUAL, Loss::Logistic), 1, Granularity::Core);
        let mut setup = setup(method.clone(), Loss::Logistic);
        setup.stop.max_epochs = 1;
        setup.step = Some(StepKind::Constant { initial: Some(1e-9) });
        let plan = planned(&mut setup, 2, Granularity::Core);
        let start = Start { warm: Some(optimum.model.clone()), ..Start::default() };
        let warm = solve(data(200, 30, true), &setup, &plan, start, &mut Silent).unwrap();
        assert!((warm.objective / optimum.objective - 1.0).abs() < 1e-6, "{method:?}: {}", warm.objective);
    }
}

#[test]
fn elastic_net_box_and_non_negative_agree_between_the_dual_and_coordinate_descent() {
    for loss in [Loss::Logistic, Loss::Squared] {
        for constraint in [Constraint::None, Constraint::NonNegative, Constraint::Box { lo: -0.05, hi: 0.1 }] {
            let objective = |method| {
                let mut setup = setup(method, loss);
                (setup.problem.l1, setup.problem.l2, setup.problem.constraint) =
                    (0.01, L2::Value(0.01), constraint);
                let outcome = run(data(300, 40, loss.is_classification()), &mut setup, 2, Granularity::Core);
                assert_eq!(outcome.stop, StopReason::Target, "{loss:?} {constraint:?}");
                assert!(outcome.model.weights.contains(&0.0), "the penalty set nothing to zero");
                outcome.objective
            };
            let (dual, bcd) = (objective(DUAL), objective(MethodKind::Bcd));
            assert!((dual / bcd - 1.0).abs() < 2e-7, "{loss:?} {constraint:?}: {dual} {bcd}");
        }
    }
}

#[test]
fn without_a_quadratic_penalty_the_gap_still_brackets_the_optimum() {
    let mut setup = setup(MethodKind::Bcd, Loss::Logistic);
    (setup.problem.l1, setup.problem.l2) = (0.01, L2::Value(0.0));
    let fine = run(data(300, 40, true), &mut setup, 2, Granularity::Core);
    assert_eq!(fine.stop, StopReason::Target);
    setup.stop.target = Some(1e-2);
    let coarse = run(data(300, 40, true), &mut setup, 2, Granularity::Core);
    assert!(coarse.objective - coarse.gap.unwrap() <= fine.objective && fine.objective <= coarse.objective + 1e-12);
}

#[test]
fn with_no_penalty_at_all_the_gradient_certifies() {
    let mut setup = setup(MethodKind::Bcd, Loss::Squared);
    setup.problem.l2 = L2::Value(0.0);
    let outcome = run(data(300, 20, false), &mut setup, 2, Granularity::Machine);
    assert_eq!(outcome.certificate, farrow::trace::CertificateKind::ProxGradient);
    assert_eq!((outcome.stop, outcome.gap), (StopReason::Target, None));
    // The normal equations: Aᵀ(Ax − b) = 0.
    let (rows, labels) = sparse(300, 20, false);
    let mut gradient = [0.0; 20];
    for (row, b) in rows.iter().zip(labels) {
        let z: f64 = row.iter().map(|&(c, v)| f64::from(v) * outcome.model.weights[c as usize]).sum();
        row.iter().for_each(|&(c, v)| gradient[c as usize] += f64::from(v) * (z - b) / 300.0);
    }
    assert!(gradient.iter().all(|g| g.abs() < 1e-6), "{gradient:?}");
}

#[test]
fn an_intercept_takes_up_a_shift_of_the_labels() {
    let (rows, labels) = sparse(300, 20, false);
    let shifted: Vec<f64> = labels.iter().map(|b| b + 7.0).collect();
    let fit = |labels: &[f64], method: MethodKind, epochs| {
        let mut setup = setup(method, Loss::Squared);
        setup.problem.intercept = true;
        setup.stop.max_epochs = epochs;
        run(data::from_rows(&rows, labels, 20).unwrap(), &mut setup, 2, Granularity::Core)
    };
    let (plain, moved) = (fit(&labels, MethodKind::Bcd, 4000), fit(&shifted, MethodKind::Bcd, 4000));
    assert_eq!((plain.stop, moved.stop), (StopReason::Target, StopReason::Target));
    assert!((moved.model.intercept - plain.model.intercept - 7.0).abs() < 1e-2, "{}", moved.model.intercept);
    assert!((plain.objective - moved.objective).abs() < 1e-6 * plain.objective);
    let hogwild = fit(&shifted, MethodKind::Hogwild, 200);
    assert!(hogwild.objective < 1.02 * moved.objective, "{} {}", hogwild.objective, moved.objective);
}

#[test]
fn a_penalised_intercept_is_one_more_column_of_ones() {
    let (rows, labels) = sparse(200, 20, true);
    let mut asked = setup(MethodKind::Dual { penalize_intercept: true }, Loss::Logistic);
    asked.problem.intercept = true;
    let with = run(data::from_rows(&rows, &labels, 20).unwrap(), &mut asked, 2, Granularity::Core);
    let longer: Vec<Vec<(u32, f32)>> =
        rows.iter().map(|row| row.iter().copied().chain([(20, 1.0)]).collect()).collect();
    let by_hand =
        run(data::from_rows(&longer, &labels, 21).unwrap(), &mut setup(DUAL, Loss::Logistic), 2, Granularity::Core);
    assert!((with.objective / by_hand.objective - 1.0).abs() < 1e-6);
    assert!((with.model.intercept - by_hand.model.weights[20]).abs() < 1e-3);
}

#[test]
fn scaled_columns_change_neither_the_model_nor_its_scale_where_nothing_is_penalised() {
    let fit = |normalize, method: MethodKind| {
        let mut setup = setup(method, Loss::Squared);
        (setup.problem.l2, setup.problem.normalize) = (L2::Value(0.0), normalize);
        setup.stop.target = Some(1e-9);
        run(data(300, 20, false), &mut setup, 2, Granularity::Core).model.weights
    };
    let (plain, scaled) = (fit(Normalize::None, MethodKind::Bcd), fit(Normalize::Columns, MethodKind::Bcd));
    assert!(plain.iter().zip(&scaled).all(|(a, b)| (a - b).abs() < 1e-5), "{plain:?} {scaled:?}");
}

#[test]
fn rows_are_scaled_alike_by_rows_and_by_columns() {
    let fit = |method| {
        let mut setup = setup(method, Loss::Logistic);
        setup.problem.normalize = Normalize::Rows;
        run(data(300, 40, true), &mut setup, 2, Granularity::Core)
    };
    let (dual, bcd) = (fit(DUAL), fit(MethodKind::Bcd));
    assert!((dual.objective / bcd.objective - 1.0).abs() < 1e-6);
    assert!(dual.model.normalize_rows && bcd.model.normalize_rows);
}

#[test]
fn a_weight_of_two_is_a_row_given_twice() {
    let (rows, labels) = sparse(100, 15, true);
    let twice: Vec<_> = rows.iter().chain(&rows[..50]).cloned().collect();
    let twice_labels: Vec<_> = labels.iter().chain(&labels[..50]).copied().collect();
    for method in [DUAL, MethodKind::Bcd] {
        let mut asked = setup(method, Loss::Logistic);
        asked.problem.l2 = L2::Value(0.01);
        let by_hand =
            run(data::from_rows(&twice, &twice_labels, 15).unwrap(), &mut asked, 2, Granularity::Core).objective;
        let mut weighted = data::from_rows(&rows, &labels, 15).unwrap();
        weighted.weights = Some((0..100).map(|i| if i < 50 { 2.0 } else { 1.0 }).collect());
        let weighted = run(weighted, &mut asked, 2, Granularity::Core).objective;
        assert!((weighted / by_hand - 1.0).abs() < 1e-6, "{weighted} {by_hand}");
    }
}

#[test]
fn balanced_classes_weigh_the_same() {
    // Two rows of one class and one of the other, without features: an intercept alone. Balanced, the optimum is 0.
    let rows = [vec![(0u32, 1.0f32)], vec![(0, 1.0)], vec![(0, 1.0)]];
    let mut setup = setup(DUAL, Loss::Logistic);
    setup.problem.class_weight = ClassWeight::Balanced;
    let outcome = run(data::from_rows(&rows, &[0.0, 0.0, 1.0], 1).unwrap(), &mut setup, 1, Granularity::Core);
    assert!(outcome.model.weights[0].abs() < 1e-3, "{:?}", outcome.model);
    assert!((outcome.objective - std::f64::consts::LN_2).abs() < 1e-6);
    // And so with weights of the rows on top.
    let mut weighted = data::from_rows(&rows, &[0.0, 0.0, 1.0], 1).unwrap();
    weighted.weights = Some(vec![5.0, 2.0, 1.0]);
    let outcome = run(weighted, &mut setup, 1, Granularity::Core);
    assert!(outcome.model.weights[0].abs() < 1e-3, "{:?}", outcome.model);
}

#[test]
fn a_step_that_is_far_too_long_ends_as_diverged() {
    let mut setup = setup(MethodKind::Hogwild, Loss::Squared);
    setup.step = Some(StepKind::Constant { initial: Some(1e6) });
    let outcome = run(data(100, 20, false), &mut setup, 2, Granularity::Machine);
    assert_eq!(outcome.stop, StopReason::Diverged);
    assert!(!outcome.samples.is_empty());
}

#[test]
fn whoever_interrupts_gets_a_sample_and_a_model() {
    for runner in [Runner::Threads, Runner::Interleaved] {
        let mut setup = setup(DUAL, Loss::Logistic);
        (setup.runner, setup.stop.target) = (runner, None);
        let plan = planned(&mut setup, 2, Granularity::Core);
        let start = Start { interrupted: Some(&|| true), ..Start::default() };
        let outcome = solve(data(3000, 20, true), &setup, &plan, start, &mut Silent).unwrap();
        assert_eq!(outcome.stop, StopReason::Interrupted);
        assert_eq!(outcome.samples.len(), 1);
        assert!(outcome.epochs < 1.0 && outcome.objective.is_finite(), "{}", outcome.epochs);
    }
}

#[test]
fn a_run_with_a_target_evaluates_as_often_as_the_target_needs_or_as_it_is_told() {
    for (method, loss) in [(DUAL, Loss::Hinge), (DUAL, Loss::Logistic), (MethodKind::Newton, Loss::Logistic)] {
        let samples = |every| {
            let mut setup = setup(method.clone(), loss);
            (setup.stop.evaluate_every, setup.order) = (every, OrderKind::Auto);
            let outcome = run(data(400, 20, true), &mut setup, 1, Granularity::Core);
            assert!(outcome.stop == StopReason::Target && outcome.certificate_value <= 1e-7, "{method:?} {loss:?}");
            let epochs: Vec<f64> = outcome.samples.iter().map(|sample| sample.epoch).collect();
            assert_eq!(epochs.last(), Some(&outcome.epochs));
            epochs
        };
        let (each, third, sought) = (samples(Some(1)), samples(Some(3)), samples(None));
        assert!(each.iter().enumerate().all(|(k, &epoch)| epoch == k as f64 + 1.0), "{each:?}");
        assert!(third.windows(2).all(|pair| pair[1] - pair[0] == 3.0), "{third:?}");
        assert!(sought.len() < each.len(), "{sought:?} of {each:?}");
        assert!(sought.windows(2).all(|pair| pair[1] - pair[0] <= 10.0), "{sought:?}");
    }
}

#[test]
fn rows_that_rest_come_back_when_others_have_moved_the_point() {
    // The first rows are satisfied at once and rest; thousands of others then turn x the other way.
    let row = |sign: f32| vec![(0u32, sign), (1, 0.1 * sign)];
    let rows: Vec<_> = (0..40).map(|_| row(1.0)).chain((0..400).map(|_| row(1.0))).collect();
    let labels: Vec<f64> = (0..440).map(|i| if i < 40 { 1.0 } else { -1.0 }).collect();
    for loss in [Loss::Hinge, Loss::SquaredHinge, Loss::Huber { delta: 0.5 }] {
        for runner in [Runner::Threads, Runner::Interleaved] {
            let mut setup = setup(DUAL, loss);
            (setup.runner, setup.order) = (runner, OrderKind::Rows);
            let outcome = run(data::from_rows(&rows, &labels, 2).unwrap(), &mut setup, 1, Granularity::Core);
            assert_eq!(outcome.stop, StopReason::Target, "{loss:?} {runner:?}");
            assert!(outcome.updates < 440 * outcome.epochs as u64 || outcome.epochs <= 2.0, "none rested");
        }
    }
}

#[test]
fn every_stop_has_its_own_reason() {
    let stop = |change: &dyn Fn(&mut Setup)| {
        let mut setup = setup(DUAL, Loss::Logistic);
        setup.stop.target = None;
        change(&mut setup);
        run(data(200, 20, true), &mut setup, 2, Granularity::Core).stop
    };
    assert_eq!(stop(&|setup| setup.stop.target = Some(1e-3)), StopReason::Target);
    assert_eq!(stop(&|setup| setup.stop.target_objective = Some(0.69)), StopReason::Objective);
    assert_eq!(stop(&|setup| setup.stop.max_epochs = 2), StopReason::MaxEpochs);
    assert_eq!(stop(&|setup| setup.stop.max_seconds = Some(0.02)), StopReason::MaxSeconds);
}

#[test]
fn pairs_that_make_no_sense_are_refused_with_the_reason() {
    let refused = |change: &dyn Fn(&mut Setup)| {
        let mut setup = setup(DUAL, Loss::Logistic);
        change(&mut setup);
        let plan = planned(&mut setup, 2, Granularity::Core);
        let error = solve(data(50, 10, true), &setup, &plan, Start::default(), &mut Silent).expect_err("refused");
        assert!(matches!(error, Error::Unmet { .. }), "{error}");
        error.to_string()
    };
    assert!(refused(&|setup| setup.problem.l2 = L2::Value(0.0)).contains("λ₂ > 0"));
    assert!(refused(&|setup| setup.problem.intercept = true).contains("penalize-intercept"));
    assert!(
        refused(&|setup| setup.exchange = Some(ExchangeKind::Ring { every: Every::Epoch, tolerance: 0.0 }))
            .contains("one copy")
    );
    assert!(refused(&|s| (s.method, s.problem.loss) = (MethodKind::Bcd, Loss::Hinge)).contains("smooth"));
}

#[test]
fn every_worker_counts_what_it_waited_where_workers_meet() {
    let mut setup = setup(DUAL, Loss::Logistic);
    (setup.stop.target, setup.stop.max_epochs) = (None, 5);
    let outcome = run(data(200, 20, true), &mut setup, 4, Granularity::Machine);
    assert_eq!(outcome.waits.len(), 4);
    assert!(outcome.waits.iter().all(|waits| waits.gate_seconds > 0.0), "{:?}", outcome.waits);
}

#[test]
fn a_classification_loss_wants_two_classes() {
    let rows = [vec![(0u32, 1.0f32)], vec![(0, 2.0)], vec![(0, 3.0)]];
    let error = |labels: &[f64]| {
        let mut setup = setup(DUAL, Loss::Hinge);
        let plan = planned(&mut setup, 1, Granularity::Core);
        let data = data::from_rows(&rows, labels, 1).unwrap();
        solve(data, &setup, &plan, Start::default(), &mut Silent).expect_err("refused").to_string()
    };
    assert!(error(&[1.0, 1.0, 1.0]).contains("two classes"));
    assert!(error(&[1.0, 2.0, 3.0]).contains("third value"));
}

#[test]
fn more_coefficients_than_memory_holds_are_refused_with_the_arithmetic() {
    let rows: Vec<Vec<(u32, f32)>> = vec![vec![(0, 1.0)], vec![(1, 1.0)]];
    let data = data::from_rows(&rows, &[1.0, -1.0], 1 << 45).unwrap();
    let mut setup = setup(DUAL, Loss::Logistic);
    let plan = planned(&mut setup, 2, Granularity::Core);
    let error = solve(data, &setup, &plan, Start::default(), &mut Silent).expect_err("refused").to_string();
    assert!(error.contains("GiB") && error.contains("35184372088832"), "{error}");
}

#[test]
fn odd_but_valid_data_are_solved() {
    let rows: Vec<Vec<(u32, f32)>> = vec![vec![], vec![(0, 1.0), (999_999, 2.0)], vec![(7, 1.0)], vec![(0, 1.0)]];
    let labels = [1.0, -1.0, 1.0, -1.0];
    for method in [DUAL, MethodKind::Bcd, MethodKind::Hogwild] {
        for workers in [1, 4] {
            let mut setup = setup(method.clone(), Loss::Logistic);
            setup.stop.max_epochs = 30;
            let data = data::from_rows(&rows, &labels, 1_000_000).unwrap();
            let outcome = run(data, &mut setup, workers, Granularity::Core);
            assert!(outcome.objective < std::f64::consts::LN_2, "{method:?} {workers}: {}", outcome.objective);
        }
    }
}

#[test]
fn empty_rows_keep_no_gap_open() {
    let rows: Vec<Vec<(u32, f32)>> = vec![vec![], vec![(0, 1.0)], vec![(0, 1.0)], vec![]];
    for loss in LOSSES {
        let mut setup = setup(DUAL, loss);
        setup.problem.l2 = L2::Value(1.0);
        setup.stop.max_epochs = 50;
        let outcome =
            run(data::from_rows(&rows, &[1.0, -1.0, 1.0, -1.0], 1).unwrap(), &mut setup, 1, Granularity::Core);
        assert_eq!(outcome.stop, StopReason::Target, "{loss:?}: {:?}", outcome.gap);
    }
}

#[test]
fn hogwild_stays_in_its_set_on_every_store() {
    for constraint in [Constraint::NonNegative, Constraint::Box { lo: -0.2, hi: 0.3 }] {
        for (granularity, cell) in [
            (Granularity::Machine, CellKind::F64),
            (Granularity::Machine, CellKind::F32),
            (Granularity::Core, CellKind::F32),
        ] {
            for runner in [Runner::Threads, Runner::Interleaved] {
                let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
                (setup.problem.constraint, setup.parameters.cell, setup.runner) = (constraint, cell, runner);
                setup.stop.max_epochs = 5;
                let outcome = run(data(300, 40, true), &mut setup, 3, granularity);
                assert_eq!(
                    outcome.stop,
                    StopReason::MaxEpochs,
                    "{constraint:?} {granularity:?} {cell:?} {runner:?}"
                );
                let (lo, hi) = match constraint {
                    Constraint::Box { lo, hi } => (lo, hi),
                    _ => (0.0, f64::INFINITY),
                };
                assert!(outcome.model.weights.iter().all(|x| (lo..=hi).contains(x)), "{:?}", outcome.model);
            }
        }
    }
}

#[test]
fn dense_data_are_solved_as_the_same_sparse_data() {
    let (rows, labels) = sparse(200, 13, true);
    let mut dense = ndarray::Array2::<f32>::zeros((200, 13));
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(c, v)| dense[[i, c as usize]] = v);
    }
    for method in [DUAL, MethodKind::Bcd] {
        let objective =
            |data| run(data, &mut setup(method.clone(), Loss::Logistic), 2, Granularity::Core).objective;
        let (a, b) = (
            objective(data::from_rows(&rows, &labels, 13).unwrap()),
            objective(data::from_dense(dense.view(), &labels).unwrap()),
        );
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    }
}
