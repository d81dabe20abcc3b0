//! The worker that feeds a GPU: where it is put, what it writes, and how late. The cpu stands in for the device, so that these
//! run everywhere; that a device works the same gradients out is tested with the kernels.
//!
//! Where a closed form is wanted rows are few or all alike, as with delays.

use super::{
    delays::{Steps, alike},
    solve::{data, setup},
};
use farrow::{
    config::{
        Count, Every, ExchangeKind, Gradients, GradientsOn, GradientsValues, Granularity, L2, MergeKind,
        MethodKind, OrderKind, Pin, Runner, Setup, StepKind,
    },
    data::{self, Data},
    error::Error,
    loss::Loss,
    placement::{Plan, plan},
    solve::{Outcome, Start, solve},
    topology::Topology,
    trace::{Silent, StepTaken, StopReason},
};

mod command;
#[cfg(feature = "gpu")]
mod device;
mod even;
mod failing;
mod placed;
mod refused;

/// Settings of a GPU worker that the cpu stands in for: batches of `rows` rows.
fn feeding(on: GradientsOn, rows: usize) -> Setup {
    let mut setup = setup(MethodKind::Minibatch { rows: 4 }, Loss::Logistic);
    setup.gradients = Gradients { on, fallback: true, rows: Some(rows), ..Gradients::cpu() };
    setup.workers.pin = Pin::None;
    setup
}

fn planned(setup: &mut Setup, workers: usize) -> Plan {
    setup.workers.count = Count::Exactly(workers);
    plan(&Topology::from_synthetic("pack:1 [numa] l3:1 core:8 pu:1").expect("a description"), setup)
        .expect("a plan")
}

fn logged(data: Data, setup: &mut Setup, workers: usize) -> (Outcome, Vec<StepTaken>) {
    let plan = planned(setup, workers);
    let mut steps = Steps::default();
    let outcome = solve(data, setup, &plan, Start::default(), &mut steps).expect("solved");
    (outcome, steps.0)
}

fn ended(data: Data, setup: &mut Setup, workers: usize) -> Outcome {
    let plan = planned(setup, workers);
    solve(data, setup, &plan, Start::default(), &mut Silent).expect("solved")
}

#[test]
fn a_run_with_a_gpu_worker_replays_to_the_bit() {
    for step in [
        None,
        Some(StepKind::Adaptive1 { initial: None, alpha: 0.9 }),
        Some(StepKind::Constant { initial: Some(0.2) }),
    ] {
        let found = || {
            let mut setup = feeding(GradientsOn::Both, 24);
            (setup.runner, setup.step) = (Runner::Interleaved, step);
            (setup.stop.target, setup.stop.max_epochs) = (None, 6);
            logged(data(300, 40, true), &mut setup, 3)
        };
        let ((first, log), (second, again)) = (found(), found());
        assert_eq!(first.model, second.model, "{step:?}");
        assert_eq!(log, again);
        let fed = first.gpu.expect("a GPU worker").fed;
        assert!(fed.delays.as_ref().is_some_and(|delays| delays.max > 0), "others wrote in between: {fed:?}");
        assert_eq!(Some(fed), second.gpu.map(|gpu| gpu.fed));
    }
}

/// x after the batches of one worker, two in flight: batch k is worked out at the x that k − 1 batches had made, for the next is
/// sent before the one before it is taken.
#[test]
fn a_gpu_alone_takes_the_mini_batch_steps_that_a_hand_would() {
    let (rows, b, gamma, lambda) = (10, 4, 0.25, 0.5);
    let (a, labels): (Vec<f64>, Vec<f64>) = (0..rows).map(|i| (1.0 + i as f64 / 8.0, i as f64 - 3.0)).unzip();
    for runner in [Runner::Threads, Runner::Interleaved] {
        let mut setup = feeding(GradientsOn::Gpu, b);
        setup.problem.loss = Loss::Squared;
        (setup.problem.l2, setup.order, setup.runner) = (L2::Value(lambda), OrderKind::File, runner);
        setup.step = Some(StepKind::Constant { initial: Some(gamma) });
        (setup.stop.target, setup.stop.max_epochs) = (None, 3);
        let lines: Vec<Vec<(u32, f32)>> = a.iter().map(|&a| vec![(0, a as f32)]).collect();
        let found = ended(data::from_rows(&lines, &labels, 1).expect("rows"), &mut setup, 1);

        let gradient = |x: f64, batch: &[usize]| -> f64 {
            batch.iter().map(|&i| (a[i] * x - labels[i]) * a[i]).sum::<f64>() / b as f64
        };
        let batches: Vec<Vec<usize>> = (0..rows).collect::<Vec<_>>().chunks(b).map(<[usize]>::to_vec).collect();
        let mut x = 0.0f64;
        for _ in 0..3 {
            // R0 R1 W0 R2 W1 W2, and after each the regulariser, for as many lines as there were.
            let mut seen = [x, x, 0.0];
            let mut lines = 0;
            for (k, batch) in batches.iter().enumerate() {
                x -= gamma * gradient(seen[k], batch);
                lines += batch.len();
                if lines >= sweep_after(rows) || k + 1 == batches.len() {
                    x /= 1.0 + lines as f64 / b as f64 * gamma * lambda;
                    lines = 0;
                }
                if k + 2 < batches.len() {
                    seen[k + 2] = x;
                }
            }
        }
        // The device rounds to f32.
        assert!(
            (found.model.weights[0] - x).abs() < 1e-5 * x.abs(),
            "{runner:?}: {} for {x}",
            found.model.weights[0]
        );
        assert_eq!((found.updates, found.epochs), (3 * rows as u64, 3.0));
        let fed = found.gpu.expect("a GPU worker").fed;
        assert_eq!((fed.lines, fed.share_of_lines, fed.share_of_way, fed.weight), (30, 1.0, 1.0, 1.0));
        assert_eq!(fed.delays.map(|delays| (delays.updates, delays.max)), Some((9, 1)));
    }
}

/// Lines between sweeps on n rows of one column of one entry: a sixteenth of an epoch, or what a sweep costs, 1/0.3 rows.
fn sweep_after(rows: usize) -> usize {
    3usize.clamp(rows.div_ceil(16), rows.div_ceil(2))
}

/// All rows are alike, so that x moves by γ(1 − x̂), and every x follows from the log: by weight and delay.
#[test]
fn every_state_follows_from_the_logged_steps_and_delays() {
    for merge in [MergeKind::Consistent, MergeKind::Lossless] {
        for step in [
            StepKind::Constant { initial: Some(0.01) },
            StepKind::Adaptive1 { initial: Some(0.5), alpha: 0.9 },
            StepKind::Adaptive2 { initial: Some(0.5) },
            StepKind::NaiveDelay { initial: Some(0.05) },
        ] {
            let mut setup = feeding(GradientsOn::Both, 16);
            setup.problem.loss = Loss::Squared;
            (setup.problem.l2, setup.parameters.merge) = (L2::Value(0.0), merge);
            setup.method = MethodKind::Minibatch { rows: 1 };
            (setup.step, setup.runner, setup.order) = (Some(step), Runner::Interleaved, OrderKind::Rows);
            (setup.stop.target, setup.stop.max_epochs) = (None, 2);
            let (found, steps) = logged(alike(600), &mut setup, 3);
            let feeder = found.gpu.as_ref().expect("a GPU worker").fed.worker as u32;
            let mut x = vec![0.0f64];
            for (k, step) in steps.iter().enumerate() {
                let lines = if step.worker == feeder { lines_of(&steps, k, feeder) } else { 1.0 };
                assert_eq!(step.k, k as u64);
                x.push(x[k] + step.step * lines * (1.0 - x[k - step.delay as usize]));
            }
            let last = *x.last().expect("steps");
            assert!(
                (found.model.weights[0] - last).abs() < 1e-6,
                "{merge:?} {step:?}: {} for {last}",
                found.model.weights[0]
            );
            let own = steps.iter().filter(|step| step.worker == feeder);
            assert!(own.clone().any(|step| step.delay > 2), "the others wrote in between");
            assert_eq!(own.count(), 2 * 200usize.div_ceil(16));
        }
    }
}

/// The part of a full batch of 16 that step k's was: 200 lines an epoch are 12 batches and 8 lines.
fn lines_of(steps: &[StepTaken], k: usize, feeder: u32) -> f64 {
    let before = steps[..k].iter().filter(|step| step.worker == feeder && step.epoch == steps[k].epoch).count();
    if before == 12 { 8.0 / 16.0 } else { 1.0 }
}

/// The updates between a batch's snapshot and its write are counted by hand from the log: whoever's number lies between.
#[test]
fn the_delays_of_a_gpu_worker_are_those_that_a_hand_counts() {
    let mut setup = feeding(GradientsOn::Both, 50);
    setup.runner = Runner::Interleaved;
    (setup.stop.target, setup.stop.max_epochs, setup.parameters.merge) = (None, 4, MergeKind::Consistent);
    let (found, steps) = logged(data(400, 30, true), &mut setup, 2);
    let fed = found.gpu.expect("a GPU worker").fed;
    let own: Vec<&StepTaken> = steps.iter().filter(|step| step.worker as usize == fed.worker).collect();
    let delays = fed.delays.expect("measured");
    let mean = own.iter().map(|step| step.delay as f64).sum::<f64>() / own.len() as f64;
    assert_eq!(
        (delays.updates as usize, delays.max),
        (own.len(), own.iter().map(|step| step.delay).max().unwrap())
    );
    assert!((delays.mean - mean).abs() < 1e-12);
    // Two are in flight: of an epoch's batches every one but the first two was sent after the write of the last but one before it,
    // so that its delay is the number of updates since that write.
    let mut counted = 0;
    for epoch in 0..4 {
        let own: Vec<&&StepTaken> = own.iter().filter(|step| step.epoch == epoch).collect();
        assert_eq!(own.len(), 4, "200 lines in batches of 50");
        for three in own.windows(3) {
            let [before, between, this] = [three[0].k, three[1].k, three[2].k];
            assert!(between - before < this - before);
            assert!(three[2].delay < this - before, "{three:?}");
            assert!(
                three[2].delay >= this - between,
                "the batch between was written after this one's snapshot: {three:?}"
            );
            counted += 1;
        }
    }
    assert_eq!(counted, 8);
}

/// Rows of ones, or of minus ones in the other class, under a loss whose slope is ∓1 there: every line moves x by as much, whatever
/// it reads, so that the sum is known and a lost update would show.
#[test]
fn no_update_is_lost_where_the_merge_loses_none() {
    for merge in [MergeKind::Lossless, MergeKind::Consistent] {
        let rows = 20_000;
        let (sign, labels): (Vec<f32>, Vec<f64>) =
            (0..rows).map(|i| if i % 2 == 0 { (1.0, 1.0) } else { (-1.0, -1.0) }).unzip();
        let lines: Vec<_> = sign.iter().map(|&a| vec![(0, a), (1, a), (3, a)]).collect();
        let mut setup = feeding(GradientsOn::Both, 256);
        setup.problem.loss = Loss::Hinge;
        (setup.problem.l2, setup.parameters.merge) = (L2::Value(0.0), merge);
        // 2⁻²⁰, over batches of powers of two: sums are exact. The margin stays below 1.
        let gamma = 2f64.powi(-20);
        setup.step = Some(StepKind::Constant { initial: Some(gamma) });
        (setup.stop.target, setup.stop.max_epochs) = (None, 5);
        let data = data::from_rows(&lines, &labels, 4);
        let (found, steps) = logged(data.expect("rows"), &mut setup, 4);
        let fed = found.gpu.as_ref().expect("a GPU worker").fed.clone();
        assert_eq!(found.updates, 5 * rows as u64);
        assert_eq!(fed.weight, 1.0, "a loss with a kink");
        let by_lines = |lines: u64, batch: f64| gamma * lines as f64 / batch;
        let expected = by_lines(fed.lines, 256.0) + by_lines(found.updates - fed.lines, 4.0);
        assert!(3.0 * expected < 1.0, "the slope is −1 throughout: {expected}");
        let of = |j: usize| found.model.weights[j];
        assert_eq!([of(0), of(1), of(2), of(3)], [expected, expected, 0.0, expected], "{merge:?} {}", steps.len());
        assert!(fed.lines > 0 && fed.lines < found.updates);
    }
}

/// On threads, to the target, on dense and on sparse rows; and the regulariser, which is put off, is applied for all updates.
#[test]
fn a_gpu_alone_and_beside_cpus_comes_to_a_gap_of_a_ten_thousandth() {
    for dense in [true, false] {
        for (on, workers) in [(GradientsOn::Gpu, 1), (GradientsOn::Both, 2)] {
            for loss in [Loss::Logistic, Loss::SquaredHinge] {
                let found = to_a_gap(dense, loss, &mut feeding(on, 128), workers);
                let device = found.gpu.expect("a GPU worker").device;
                let told = found.warnings.iter().any(|warning| warning.contains("cpu works"));
                assert_eq!(told, device.software, "{device:?} {:?}", found.warnings);
            }
        }
    }
}

/// The outcome on a dense set or on a sparse one, which is held to a gap of 1e-4.
fn to_a_gap(dense: bool, loss: Loss, setup: &mut Setup, workers: usize) -> Outcome {
    let rows = if dense {
        let rows: Vec<Vec<(u32, f32)>> = dense_rows(4000, 24);
        let right = |row: &Vec<(u32, f32)>| row[0].1 + 0.5 * row[1].1 + row[2].1 * row[3].1 > 0.0;
        let labels: Vec<f64> = rows.iter().map(|row| if right(row) { 1.0 } else { -1.0 }).collect();
        data::from_rows(&rows, &labels, 24).expect("rows")
    } else {
        data(4000, 60, true)
    };
    (setup.problem.loss, setup.problem.l2) = (loss, L2::Value(1e-2));
    (setup.stop.target, setup.stop.max_epochs) = (Some(1e-4), 3000);
    // On 24 columns lossy writes lose so many that what is left has another optimum.
    setup.parameters.merge = MergeKind::Lossless;
    let on = setup.gradients.on;
    let found = ended(rows, setup, workers);
    let what = format!("dense {dense} {on:?} {loss:?}: {:?} {:?}", found.gap_relative, found.gpu);
    assert_eq!(found.stop, StopReason::Target, "{what}");
    assert!(found.gap_relative.is_some_and(|gap| (0.0..=1e-4).contains(&gap)), "{what}");
    found
}

fn dense_rows(rows: usize, columns: u32) -> Vec<Vec<(u32, f32)>> {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(11);
    let mut row = || (0..columns).map(|j| (j, random.random_range(-1.0f32..1.0))).collect();
    (0..rows).map(|_| row()).collect()
}

/// 1 + 2⁻¹² is a number of four bytes, and of two it is 1: the first batch's gradient at 0 tells which was kept.
#[test]
fn values_of_two_bytes_are_those_that_gradients_are_worked_out_from() {
    let a = 1.0 + 2f64.powi(-12);
    for (values, kept) in [(GradientsValues::F32, a), (GradientsValues::F16, 1.0)] {
        let mut setup = feeding(GradientsOn::Gpu, 4);
        setup.gradients.values = values;
        (setup.problem.loss, setup.problem.l2) = (Loss::Squared, L2::Value(0.0));
        setup.step = Some(StepKind::Constant { initial: Some(0.5) });
        (setup.stop.target, setup.stop.max_epochs) = (None, 1);
        let rows = vec![vec![(0, a as f32)]; 4];
        let found = ended(data::from_rows(&rows, &[1.0; 4], 1).expect("rows"), &mut setup, 1);
        assert_eq!(found.model.weights, [0.5 * kept], "{values:?}");
        // What is reported is of the rows as they are.
        let objective = 0.5 * (a * 0.5 * kept - 1.0).powi(2);
        assert!((found.objective - objective).abs() < 1e-12, "{values:?} {}", found.objective);
    }
    let mut setup = feeding(GradientsOn::Gpu, 4);
    setup.gradients.values = GradientsValues::F16;
    let data = data::from_rows(&[vec![(0, 1e5)], vec![(0, 1.0)]], &[1.0, -1.0], 1).expect("rows");
    let refused = refusal(data, &mut setup, 1);
    assert!(refused.contains("100000") && refused.contains("65504"), "{refused}");
}

#[test]
fn a_share_that_is_set_is_kept_and_all_lines_are_visited_once() {
    for (share, workers) in [(0.75, 2), (0.1, 3)] {
        let mut setup = feeding(GradientsOn::Both, 16);
        setup.gradients.share = Some(share);
        (setup.stop.target, setup.stop.max_epochs, setup.order) = (None, 8, OrderKind::Rows);
        let found = ended(data(1000, 40, true), &mut setup, workers);
        let fed = found.gpu.expect("a GPU worker").fed;
        assert_eq!(found.updates, 8000);
        assert_eq!(fed.lines, (8000.0 * share) as u64);
        assert!((fed.share_of_lines - share).abs() < 1e-9);
    }
}

/// The intercept of a worker is its own, and the feeder's moves by the sum of the slopes.
#[test]
fn an_intercept_is_fitted_by_a_gpu_too() {
    let mut setup = feeding(GradientsOn::Gpu, 8);
    setup.problem.loss = Loss::Squared;
    (setup.problem.intercept, setup.problem.l2) = (true, L2::Value(0.0));
    setup.step = Some(StepKind::Constant { initial: Some(0.2) });
    (setup.stop.target, setup.stop.max_epochs) = (None, 60);
    // b = 3 + 2a.
    let a: Vec<f32> = (0..64).map(|i| (i % 8) as f32 / 4.0 - 1.0).collect();
    let rows: Vec<Vec<(u32, f32)>> = a.iter().map(|&a| vec![(0, a)]).collect();
    let labels: Vec<f64> = a.iter().map(|&a| 3.0 + 2.0 * f64::from(a)).collect();
    let found = ended(data::from_rows(&rows, &labels, 1).expect("rows"), &mut setup, 1);
    assert!(
        (found.model.weights[0] - 2.0).abs() < 1e-3 && (found.model.intercept - 3.0).abs() < 1e-3,
        "{:?}",
        found.model
    );
}

/// Replicas that are averaged, one of them the feeder's own: its updates are late by its own pipeline alone.
#[test]
fn a_gpu_worker_has_a_replica_of_its_own_where_one_is_asked_for() {
    let mut setup = feeding(GradientsOn::Both, 16);
    setup.parameters.replicas = Some(Granularity::Core);
    setup.exchange = Some(ExchangeKind::Average { every: Every::Updates(50) });
    setup.problem.l2 = L2::Value(1e-2);
    (setup.stop.target, setup.stop.max_epochs) = (Some(1e-3), 2000);
    let found = ended(data(1000, 40, true), &mut setup, 3);
    assert_eq!(found.stop, StopReason::Target, "{:?}", found.gap_relative);
    assert_eq!(found.gpu.expect("a GPU worker").fed.delays.expect("measured").max, 1);
}

#[test]
fn a_run_that_is_to_end_ends_with_nothing_in_flight() {
    let mut setup = feeding(GradientsOn::Gpu, 64);
    (setup.stop.target, setup.stop.max_seconds, setup.stop.max_epochs) = (None, Some(0.05), 1 << 40);
    let found = ended(data(4000, 40, true), &mut setup, 1);
    assert_eq!(found.stop, StopReason::MaxSeconds);
    let fed = found.gpu.expect("a GPU worker").fed;
    assert!(fed.lines > 0 && fed.lines == found.updates);

    let plan = planned(&mut setup, 1);
    setup.stop.max_seconds = None;
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let interrupted = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 20;
    let start = Start { interrupted: Some(&interrupted), ..Start::default() };
    let found = solve(data(4000, 40, true), &setup, &plan, start, &mut Silent).expect("solved");
    assert_eq!(found.stop, StopReason::Interrupted);
    assert!(found.updates < 4000 && found.gpu.expect("a GPU worker").fed.lines == found.updates);
}

fn refusal(data: Data, setup: &mut Setup, workers: usize) -> String {
    let plan = planned(setup, workers);
    let error = solve(data, setup, &plan, Start::default(), &mut Silent).expect_err("refused");
    assert!(matches!(error, Error::Unmet { .. } | Error::Device { .. }), "{error}");
    error.to_string()
}
