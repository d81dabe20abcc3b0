//! Delays, measured and injected, the steps that adapt to them, and updates of several rows.
//!
//! Where a closed form is wanted the rows are all alike: one column of ones and labels of 1 under the squared loss, so that
//! F = (x − 1)²/2, every update moves x by γ (1 − x̂), and every state of a run follows from its log of steps.

use super::solve::{DUAL, data, planned, setup};
use farrow::{
    config::{
        DelayKind, Granularity, Injection, L2, MergeKind, MethodKind, OrderKind, Runner, Setup, StepKind, Straggler,
    },
    data::{self, Data},
    error::{Error, Result},
    loss::Loss,
    solve::{Outcome, Start, solve},
    trace::{Continue, Observer, Sample, Silent, Snapshot, StepLog, StepTaken, StopReason},
};

/// Keeps every step.
#[derive(Default)]
pub(super) struct Steps(pub(super) Vec<StepTaken>);

impl Observer for Steps {
    fn wants_steps(&self) -> bool {
        true
    }

    fn steps(&mut self, steps: &[StepTaken]) -> Result<()> {
        self.0.extend_from_slice(steps);
        Ok(())
    }

    fn sample(&mut self, _: &Sample, _: &dyn Snapshot) -> Result<Continue> {
        Ok(Continue::Yes)
    }
}

const FULL: Option<f64> = Some(1.0);
const ADAPTIVE1: StepKind = StepKind::Adaptive1 { initial: FULL, alpha: 0.9 };
const ADAPTIVE2: StepKind = StepKind::Adaptive2 { initial: FULL };
const NAIVE: StepKind = StepKind::NaiveDelay { initial: FULL };

pub(super) fn alike(rows: usize) -> Data {
    data::from_rows(&vec![vec![(0, 1.0)]; rows], &vec![1.0; rows], 1).expect("valid rows")
}

/// One epoch over rows that are alike.
fn one_epoch(method: MethodKind, step: StepKind, runner: Runner) -> Setup {
    let mut setup = setup(method, Loss::Squared);
    (setup.problem.l2, setup.step, setup.runner) = (L2::Value(0.0), Some(step), runner);
    (setup.stop.target, setup.stop.max_epochs, setup.order) = (None, 1, OrderKind::Rows);
    setup
}

fn logged(data: Data, setup: &mut Setup, workers: usize) -> (Outcome, Vec<StepTaken>) {
    let plan = planned(setup, workers, Granularity::Machine);
    let mut steps = Steps::default();
    let outcome = solve(data, setup, &plan, Start::default(), &mut steps).expect("solved");
    (outcome, steps.0)
}

#[test]
fn one_workers_measured_delays_are_those_that_were_injected() {
    for runner in [Runner::Threads, Runner::Interleaved] {
        for method in [MethodKind::Hogwild, MethodKind::Minibatch { rows: 3 }] {
            let mut setup = one_epoch(method.clone(), ADAPTIVE1, runner);
            setup.injection.delay = DelayKind::Sawtooth(40);
            let (outcome, steps) = logged(alike(3000), &mut setup, 1);
            let updates = if method == MethodKind::Hogwild { 3000 } else { 1000 };
            assert_eq!((outcome.updates, steps.len()), (3000, updates), "{method:?} {runner:?}");
            for (k, step) in steps.iter().enumerate() {
                let expected = (k as u64, k as u64 % 40, 0, 0, 0);
                assert_eq!((step.k, step.delay, step.worker, step.replica, step.epoch), expected);
            }
            let delays = outcome.delays.expect("measured");
            assert_eq!((delays.label, delays.updates, delays.max), ("after write", updates as u64, 39));
            assert!((delays.mean - 19.5).abs() < 0.3 && delays.p99 == 39, "{delays:?}");
        }
    }
}

#[test]
fn on_sawtooth_delays_the_naive_rule_diverges_and_the_others_converge() {
    for runner in [Runner::Threads, Runner::Interleaved] {
        let ended = |step| {
            let mut setup = one_epoch(MethodKind::Hogwild, step, runner);
            setup.injection.delay = DelayKind::Sawtooth(40);
            let plan = planned(&mut setup, 1, Granularity::Machine);
            solve(alike(4000), &setup, &plan, Start::default(), &mut Silent).expect("solved")
        };
        let naive = ended(NAIVE);
        assert_eq!(naive.stop, StopReason::Diverged, "{runner:?}");
        assert!(naive.warnings.iter().any(|warning| warning.contains("naive-delay")), "{:?}", naive.warnings);
        for step in [ADAPTIVE1, ADAPTIVE2, StepKind::FixedDelay { initial: FULL, delay: 39 }] {
            let found = ended(step);
            assert!(found.objective < 1e-10, "{step:?} {runner:?}: {}", found.objective);
            assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        }
    }
}

#[test]
fn the_step_log_says_how_far_rules_go_on_rare_long_delays() {
    let total = |step| {
        let mut setup = one_epoch(MethodKind::Hogwild, step, Runner::Interleaved);
        setup.injection.delay = DelayKind::Rare(64);
        let (_, steps) = logged(alike(20_000), &mut setup, 1);
        steps.iter().map(|step| step.step).sum::<f64>()
    };
    let fixed = StepKind::FixedDelay { initial: FULL, delay: 64 };
    for (step, expected) in [(ADAPTIVE1, 5403.0), (ADAPTIVE2, 4480.0), (fixed, 310.0)] {
        let total = total(step);
        assert!((total / expected - 1.0).abs() < 0.3, "{step:?}: {total} for {expected}");
    }
}

/// At each turn one of W workers reads or writes, so half of the others are between the two at any time, and as many write
/// between a worker's read and its write.
#[test]
fn the_mean_delay_is_the_number_of_updates_of_others_under_way() {
    for workers in [2, 4, 8] {
        let mut setup = one_epoch(MethodKind::Hogwild, ADAPTIVE2, Runner::Interleaved);
        let (outcome, steps) = logged(alike(8000), &mut setup, workers);
        let delays = outcome.delays.expect("measured");
        let expected = (workers - 1) as f64 / 2.0;
        assert!((delays.mean / expected - 1.0).abs() < 0.1, "{workers} workers: {delays:?}");
        let mean = steps.iter().map(|step| step.delay as f64).sum::<f64>() / steps.len() as f64;
        assert!((delays.mean - mean).abs() < 1e-9 && delays.updates == 8000);
        assert!(delays.p99 as f64 > delays.mean && delays.max >= delays.p99);
    }
}

/// x after the updates of a log, each by the gradient at the state τₖ updates before.
fn replayed(steps: &[StepTaken]) -> f64 {
    let mut x = vec![0.0f64];
    for (k, step) in steps.iter().enumerate() {
        assert_eq!(step.k, k as u64);
        x.push(x[k] + step.step * (1.0 - x[k - step.delay as usize]));
    }
    x[steps.len()]
}

#[test]
fn consistent_reads_are_of_a_state_that_existed_and_the_others_are_not() {
    let off = |merge, rows| {
        let mut setup = one_epoch(
            MethodKind::Minibatch { rows },
            StepKind::Constant { initial: Some(0.02) },
            Runner::Interleaved,
        );
        setup.parameters.merge = merge;
        let (outcome, steps) = logged(alike(512), &mut setup, 4);
        assert_eq!(steps.len(), 512 / rows);
        (outcome.model.weights[0] - replayed(&steps)).abs()
    };
    assert!(off(MergeKind::Consistent, 8) < 1e-12);
    assert!(off(MergeKind::Lossless, 1) < 1e-12, "one read cannot be torn");
    assert!(off(MergeKind::Lossless, 8) > 1e-6);
}

#[test]
fn minibatches_come_to_the_optimum_however_they_are_merged() {
    let best = {
        let mut setup = setup(DUAL, Loss::Logistic);
        let plan = planned(&mut setup, 1, Granularity::Core);
        solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved").objective
    };
    let decay = Some(StepKind::Diminishing { initial: None, half: 10.0 });
    let adaptive = Some(StepKind::Adaptive1 { initial: Some(0.1), alpha: 0.9 });
    for runner in [Runner::Threads, Runner::Interleaved] {
        for workers in [1, 2] {
            for (merge, step) in
                [(MergeKind::Lossy, decay), (MergeKind::Lossless, adaptive), (MergeKind::Consistent, adaptive)]
            {
                let mut setup = setup(MethodKind::Minibatch { rows: 8 }, Loss::Logistic);
                (setup.runner, setup.parameters.merge, setup.step) = (runner, merge, step);
                (setup.stop.target, setup.stop.max_epochs) = (None, 200);
                let plan = planned(&mut setup, workers, Granularity::Machine);
                let found =
                    solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved");
                let off = found.objective / best - 1.0;
                assert!(off > -1e-9 && off < 1e-2, "{runner:?} {workers} workers {merge:?} {step:?}: {off}");
                assert_eq!((found.updates, found.epochs), (60_000, 200.0));
                assert_eq!(found.delays.is_some(), step == adaptive);
            }
        }
    }
}

#[test]
fn replicas_of_minibatches_that_meet_after_every_batch_are_the_synchronous_method() {
    // Four workers, batches of 4 of 16 rows alike: each window is one batch a worker, from a common x, averaged.
    let mut setup =
        one_epoch(MethodKind::Minibatch { rows: 4 }, StepKind::Constant { initial: Some(0.5) }, Runner::Threads);
    setup.exchange = Some(farrow::config::ExchangeKind::Average { every: farrow::config::Every::Updates(1) });
    let plan = planned(&mut setup, 4, Granularity::Core);
    let found = solve(alike(4 * 16), &setup, &plan, Start::default(), &mut Silent).expect("solved");
    // 1 − x halves in each of the four windows.
    assert!((found.model.weights[0] - (1.0 - 0.5f64.powi(4))).abs() < 1e-12, "{:?}", found.model);
}

/// Of the updates before the first worker is done, how many are worker 0's for one of worker 1's.
fn share_of_first(straggler: Straggler) -> f64 {
    let mut setup = one_epoch(MethodKind::Hogwild, StepKind::Constant { initial: Some(1e-3) }, Runner::Interleaved);
    setup.injection.straggler = straggler;
    let (_, steps) = logged(alike(4000), &mut setup, 2);
    let last = steps.iter().rposition(|step| step.worker == 1).expect("it works");
    let first = steps[..last].iter().filter(|step| step.worker == 0).count();
    first as f64 / (last - first) as f64
}

#[test]
fn stragglers_do_as_small_a_share_of_the_updates_as_told() {
    let slow = share_of_first(Straggler::Slow { worker: 0, factor: 4.0 });
    assert!((slow / 0.25 - 1.0).abs() < 0.1, "{slow}");
    let stalls = share_of_first(Straggler::Stall { worker: 0, every: 10, updates: 40 });
    assert!((stalls / 0.2 - 1.0).abs() < 0.1, "{stalls}");
}

#[test]
fn on_threads_the_others_wait_for_a_straggler_at_the_gate() {
    for straggler in
        [Straggler::Slow { worker: 1, factor: 60.0 }, Straggler::Stall { worker: 1, every: 5, updates: 300 }]
    {
        let mut setup = one_epoch(MethodKind::Hogwild, StepKind::Constant { initial: Some(1e-3) }, Runner::Threads);
        (setup.injection.straggler, setup.stop.max_epochs) = (straggler, 20);
        let plan = planned(&mut setup, 2, Granularity::Machine);
        let found = solve(alike(4000), &setup, &plan, Start::default(), &mut Silent).expect("solved");
        let waits: Vec<f64> = found.waits.iter().map(|waits| waits.gate_seconds).collect();
        assert!(waits[0] > 2.0 * waits[1], "{straggler:?}: {waits:?}");
        assert_eq!(found.updates, 80_000);
    }
}

fn injected() -> Injection {
    Injection {
        delay: DelayKind::Heavy(50),
        workers: Some(vec![0, 2]),
        blocks: vec![1.0, 0.5, 0.1],
        straggler: Straggler::Stall { worker: 1, every: 7, updates: 3 },
        ..Injection::none()
    }
}

#[test]
fn a_run_with_everything_injected_replays_to_the_bit() {
    for method in [MethodKind::Hogwild, MethodKind::Minibatch { rows: 5 }, DUAL, MethodKind::Bcd] {
        let steps = || {
            let mut setup = setup(method.clone(), Loss::Logistic);
            (setup.runner, setup.injection) = (Runner::Interleaved, injected());
            (setup.stop.target, setup.stop.max_epochs) = (None, 5);
            logged(data(300, 40, true), &mut setup, 3)
        };
        let ((first, mut log), (second, again)) = (steps(), steps());
        assert_eq!(first.model, second.model, "{method:?}");
        assert_eq!(first.delays, second.delays);
        // Without a step γₖ is NaN, which no value equals.
        log.iter_mut().zip(&again).filter(|(step, _)| step.step.is_nan()).for_each(|(step, _)| step.step = 0.0);
        let again: Vec<_> = again
            .iter()
            .map(|step| StepTaken { step: if step.step.is_nan() { 0.0 } else { step.step }, ..*step })
            .collect();
        assert_eq!(log, again);
        assert!(first.delays.expect("measured").max >= 10, "{method:?}");
    }
}

#[test]
fn one_worker_does_the_same_under_both_runners_whatever_is_injected() {
    for method in [MethodKind::Hogwild, MethodKind::Minibatch { rows: 5 }, DUAL, MethodKind::Bcd] {
        let found = |runner| {
            let mut setup = setup(method.clone(), Loss::Logistic);
            (setup.runner, setup.injection) = (runner, injected());
            (setup.injection.straggler, setup.injection.workers) = (Straggler::None, None);
            (setup.stop.target, setup.stop.max_epochs) = (None, 5);
            let (outcome, steps) = logged(data(300, 40, true), &mut setup, 1);
            (outcome.model, steps.iter().map(|step| (step.k, step.delay, step.epoch)).collect::<Vec<_>>())
        };
        assert_eq!(found(Runner::Threads), found(Runner::Interleaved), "{method:?}");
    }
}

#[test]
fn only_the_workers_and_blocks_that_are_named_are_delayed() {
    let delays_of = |workers: Option<Vec<u32>>, blocks: Vec<f64>| {
        let mut setup = one_epoch(MethodKind::Hogwild, StepKind::Constant { initial: Some(1e-3) }, Runner::Threads);
        setup.order = OrderKind::File;
        setup.injection = Injection { delay: DelayKind::Fixed(30), workers, blocks, ..Injection::none() };
        logged(alike(1000), &mut setup, 1).1.iter().map(|step| step.delay).collect::<Vec<_>>()
    };
    assert!(delays_of(Some(vec![0]), Vec::new())[30..].iter().all(|&delay| delay == 30));
    let blocks = delays_of(None, vec![0.0, 1.0]);
    assert!(blocks[..500].iter().all(|&delay| delay == 0) && blocks[530..].iter().all(|&delay| delay == 30));
    let mut setup = one_epoch(MethodKind::Hogwild, StepKind::Constant { initial: Some(1e-3) }, Runner::Interleaved);
    setup.injection = Injection { delay: DelayKind::Fixed(30), workers: Some(vec![1]), ..Injection::none() };
    let (_, steps) = logged(alike(1000), &mut setup, 2);
    let mean = |worker| {
        let own: Vec<f64> = steps.iter().filter(|s| s.worker == worker).map(|s| s.delay as f64).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    // Thirty of its own and as many of the other's.
    assert!(mean(0) < 2.0 && mean(1) > 50.0, "{} {}", mean(0), mean(1));
}

#[test]
fn a_worker_that_the_plan_does_not_have_is_refused_by_name() {
    for (key, injection) in [
        (
            "injection.delay_workers",
            Injection { delay: DelayKind::Fixed(1), workers: Some(vec![0, 2]), ..Injection::none() },
        ),
        (
            "injection.straggler",
            Injection { straggler: Straggler::Slow { worker: 2, factor: 2.0 }, ..Injection::none() },
        ),
    ] {
        let mut setup = one_epoch(MethodKind::Hogwild, ADAPTIVE1, Runner::Threads);
        setup.injection = injection;
        let plan = planned(&mut setup, 2, Granularity::Machine);
        let error = solve(alike(10), &setup, &plan, Start::default(), &mut Silent).expect_err("worker 2 of 2");
        let text = error.to_string();
        assert!(
            matches!(error, Error::Unmet { .. }) && text.contains(key) && text.contains("from 0 to 1"),
            "{text}"
        );
    }
}

#[test]
fn newton_has_no_steps_to_log() {
    let mut setup = setup(MethodKind::Newton, Loss::Logistic);
    let plan = planned(&mut setup, 1, Granularity::Machine);
    let error = solve(data(300, 10, true), &setup, &plan, Start::default(), &mut Steps::default());
    assert!(error.expect_err("no updates").to_string().contains("--log-steps"));
}

#[test]
fn a_log_of_steps_is_csv_with_a_head() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steps.csv");
    std::fs::write(&path, "what stood there before, and is longer than what comes").unwrap();
    let mut log = StepLog::open(&path).unwrap();
    let step = StepTaken { k: 7, step: 0.25, delay: 3, worker: 1, replica: 0, epoch: 2 };
    log.write(&[step]).unwrap();
    log.write(&[StepTaken { step: f64::NAN, k: 8, ..step }]).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "k,gamma_k,tau_k,worker,replica,epoch\n7,2.5e-1,3,1,0,2\n8,,3,1,0,2\n");
}

#[test]
fn a_rule_by_delay_takes_h_over_l_where_no_length_is_given() {
    // ‖a‖² = 1 in all rows and φ″ = 1, so L = 1 for terms and for their mean.
    for method in [MethodKind::Hogwild, MethodKind::Minibatch { rows: 4 }] {
        let kind = StepKind::Adaptive1 { initial: None, alpha: 0.9 };
        let mut setup = one_epoch(method.clone(), kind, Runner::Threads);
        let plan = planned(&mut setup, 1, Granularity::Machine);
        let found = solve(alike(400), &setup, &plan, Start::default(), &mut Silent).expect("solved");
        let initial = found.step_initial.expect("a step");
        assert!(initial <= 0.9 + 1e-12 && initial > 0.8, "{method:?}: {initial}");
    }
}

/// A sweep takes the stripes one after the other, which an update must have given back by then.
#[test]
fn locked_updates_sweep_without_waiting_for_themselves() {
    for runner in [Runner::Threads, Runner::Interleaved] {
        let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
        (setup.parameters.merge, setup.runner) = (MergeKind::Locked, runner);
        setup.step = Some(StepKind::Adaptive2 { initial: Some(0.1) });
        (setup.stop.target, setup.stop.max_epochs) = (None, 60);
        let (found, steps) = logged(data(300, 40, true), &mut setup, 2);
        assert_eq!((found.updates, steps.len()), (18_000, 18_000));
        assert!(found.objective < 0.9 * 2f64.ln(), "{runner:?}: {}", found.objective);
    }
}
