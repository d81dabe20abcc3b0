//! Bills of runs whose answer is known: conflicts, shared lines, false sharing, lost writes and slow workers are planted, found,
//! and sized.

use super::solve::{planned, setup};
use farrow::{
    config::{Granularity, L2, Layout, MergeKind, MethodKind, OrderKind, Runner, Setup, StepKind, Straggler},
    contention::run::{Bill, Cause, Look, Told, Weight, bill},
    data::{self, Data, Repeated},
    loss::Loss,
    placement::Label,
    solve::{Outcome, Start, Watching, solve},
    topology::Topology,
    trace::{Audited, Silent, SlotOf},
};

const BOTH: Watching = Watching { delays: true, audit: true };

/// Plain gradient steps of the squared loss, so short that no write is ever of nothing.
fn steps(runner: Runner, epochs: u64) -> Setup {
    let mut setup = setup(MethodKind::Hogwild, Loss::Squared);
    setup.problem.l2 = L2::Value(0.0);
    setup.step = Some(StepKind::Constant { initial: Some(1e-4) });
    (setup.runner, setup.order) = (runner, OrderKind::Rows);
    (setup.stop.target, setup.stop.max_epochs) = (None, epochs);
    setup
}

fn audited(data: Data, setup: &mut Setup, workers: usize, replicas: Granularity) -> (Audited, Outcome) {
    let plan = planned(setup, workers, replicas);
    let start = Start { watching: BOTH, ..Start::default() };
    let outcome = solve(data, setup, &plan, start, &mut Silent).expect("solved");
    (outcome.seen.audited.clone().expect("an audited run"), outcome)
}

/// Rows of one entry; row i has column `column(i)`.
fn singles(rows: usize, columns: usize, column: impl Fn(usize) -> u32) -> Data {
    let rows: Vec<_> = (0..rows).map(|i| vec![(column(i), 1.0)]).collect();
    data::from_rows(&rows, &vec![1.0; rows.len()], columns).expect("valid rows")
}

fn near(found: f64, planted: f64, within: f64) {
    assert!((found / planted - 1.0).abs() <= within, "found {found}, planted {planted}");
}

/// Rows that have column 0 with probability 1/10 and another of their own else, so that two meet with probability 1/100.
fn one_in_ten(rows: usize) -> Data {
    singles(rows, rows + 1, |i| if i.is_multiple_of(10) { 0 } else { i as u32 + 1 })
}

#[test]
fn a_planted_conflict_rate_is_seen_and_expected() {
    for workers in [2, 4] {
        let mut setup = steps(Runner::Interleaved, 10);
        let data = Repeated::new(one_in_ten(4000)).expect("taken");
        let (audited, outcome) = audited(data.again(), &mut setup, workers, Granularity::Machine);
        assert_eq!(audited.compared, 40_000);
        // While one row is between its read and its write, τ others are written, each of which meets it with 1/100.
        let tau = outcome.seen.all_delays().summary("after write").expect("measured").mean;
        near(tau, 0.5 * (workers - 1) as f64, 0.05);
        let seen = audited.conflicted as f64 / audited.compared as f64;
        near(seen, 0.01 * tau, 0.2);
        assert_eq!(audited.values_changed, audited.conflicted, "a row has one entry");
        assert_eq!(audited.hottest[0].coordinates.first(), Some(&(Some(0), 4000)));
    }
}

/// How likely a write is to find another's before it: each worker takes turns by chance, a read and then a write, so that in units of
/// its own turns the time to its next write is T of density t e^−t, in which each other writes with probability 1 − e^−T (1 + T/2).
/// ∫ t e^−t (e^−t (1 + t/2))^(W−1) dt, expanded, is Σ_k C(W−1, k) 2^−k (k+1)! / W^(k+2).
fn taken(workers: usize) -> f64 {
    let others = (workers - 1) as f64;
    let (mut term, mut alone) = (1.0 / (workers * workers) as f64, 0.0);
    for k in 0..workers {
        alone += term;
        let k = k as f64;
        term *= (others - k) / (k + 1.0) * 0.5 * (k + 2.0) / workers as f64;
    }
    1.0 - alone
}

#[test]
fn a_ring_of_workers_on_one_line_takes_it_from_another_all_but_once_in_as_many() {
    for workers in [2usize, 3, 8] {
        let mut setup = steps(Runner::Interleaved, 5);
        let (audited, outcome) = audited(singles(4000, 1, |_| 0), &mut setup, workers, Granularity::Machine);
        near(audited.lines_taken as f64, outcome.updates as f64 * taken(workers), 0.05);
        assert_eq!((audited.lines_taken_false, audited.lines_shared), (0, 1), "one slot is all there is");
        let line = &audited.hottest[0];
        assert_eq!(
            (line.taken, line.writers, &line.coordinates[..]),
            (audited.lines_taken, workers, &[(Some(0), 20_000)][..])
        );
    }
}

#[test]
fn false_sharing_is_told_from_sharing_and_gone_where_columns_are_apart() {
    // Eight columns on one line, each as often: of the lines taken, 7/8 are for another slot.
    let data = Repeated::new(singles(4000, 8, |i| (i % 8) as u32)).expect("taken");
    let mut setup = steps(Runner::Interleaved, 5);
    let (together, _) = audited(data.again(), &mut setup, 2, Granularity::Machine);
    near(together.lines_taken as f64, 20_000.0 * taken(2), 0.05);
    near(together.lines_taken_false as f64, 7.0 / 8.0 * together.lines_taken as f64, 0.05);
    assert_eq!(together.lines_shared, 1);
    setup.parameters.layout = Layout::Padded;
    let (apart, _) = audited(data.again(), &mut setup, 2, Granularity::Machine);
    assert_eq!((apart.lines_taken_false, apart.lines_shared), (0, 8));
}

#[test]
fn workers_of_other_nodes_are_told_from_neighbours() {
    let mut setup = steps(Runner::Interleaved, 5);
    setup.parameters.replicas = Some(Granularity::Machine);
    let topology = Topology::from_synthetic("pack:2 [numa] core:4 pu:1").expect("a topology");
    let plan = farrow::placement::plan(&topology, &setup).expect("a plan");
    let start = Start { watching: BOTH, ..Start::default() };
    let outcome = solve(singles(4000, 1, |_| 0), &setup, &plan, start, &mut Silent).expect("solved");
    let audited = outcome.seen.audited.expect("an audited run");
    // Of the seven others four are on the other node.
    near(audited.lines_taken_far as f64, 4.0 / 7.0 * audited.lines_taken as f64, 0.05);
}

#[test]
fn no_write_is_lost_where_none_can_be_whatever_method_merge_and_layout() {
    let rows = 600;
    let sparse: Vec<_> = (0..rows).map(|i| vec![(0, 1.0), (1 + i % 40, 0.5), (41 + i % 7, -1.0)]).collect();
    let labels: Vec<f64> = (0..rows).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let data = Repeated::new(data::from_rows(&sparse, &labels, 48).expect("rows")).expect("taken");
    let methods = [
        MethodKind::Hogwild,
        MethodKind::Dual { penalize_intercept: false },
        MethodKind::Bcd,
        MethodKind::ProxAsaga,
    ];
    for (k, method) in methods.into_iter().enumerate() {
        for (runner, merge) in [
            (Runner::Threads, MergeKind::Lossless),
            (Runner::Threads, MergeKind::Locked),
            (Runner::Interleaved, MergeKind::Lossy),
        ] {
            for replicas in [Granularity::Machine, Granularity::Core] {
                let mut setup = setup(method.clone(), Loss::Logistic);
                (setup.runner, setup.parameters.merge) = (runner, merge);
                setup.parameters.layout = if k % 2 == 0 { Layout::Plain } else { Layout::Scatter };
                (setup.stop.target, setup.stop.max_epochs) = (None, 3);
                let (audited, _) = audited(data.again(), &mut setup, 3, replicas);
                let what = format!("{method:?} {runner:?} {merge:?} {replicas:?}");
                let lost = audited.lost.expect("replicas meet");
                assert!(audited.entries_written > 1000 && audited.compared > 0, "{what}: {audited:?}");
                assert_eq!((lost.share_of_mass, lost.writes), (0.0, 0.0), "{what}");
                if replicas == Granularity::Core {
                    assert_eq!((audited.lines_taken, audited.conflicted), (0, 0), "{what}");
                }
                let by = if k == 2 { SlotOf::Row } else { SlotOf::Column };
                assert_eq!(audited.slot_of, by);
            }
        }
    }
}

#[test]
fn an_audited_run_ends_at_the_bits_of_one_that_is_not() {
    let sparse: Vec<_> = (0..300u32).map(|i| vec![(i % 11, 1.0), (11 + i % 5, 0.5)]).collect();
    let labels: Vec<f64> = (0..300).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let data = Repeated::new(data::from_rows(&sparse, &labels, 16).expect("rows")).expect("taken");
    for method in [
        MethodKind::Hogwild,
        MethodKind::Dual { penalize_intercept: false },
        MethodKind::Bcd,
        MethodKind::ProxAsaga,
    ] {
        let mut setup = setup(method, Loss::Logistic);
        setup.runner = Runner::Interleaved;
        (setup.stop.target, setup.stop.max_epochs) = (None, 4);
        let plan = planned(&mut setup, 3, Granularity::Machine);
        let weights = |watching| {
            let start = Start { watching, ..Start::default() };
            solve(data.again(), &setup, &plan, start, &mut Silent).expect("solved").model.weights
        };
        let (plain, watched) = (weights(Watching::default()), weights(BOTH));
        let apart = plain.iter().zip(&watched).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // The slow path of a dot product adds in one sum what the fast one adds in four.
        assert!(apart <= 1e-12, "{:?}: {apart}", setup.method);
    }
}

#[test]
fn sampled_delays_are_of_all_workers_that_share_a_replica_and_of_no_others() {
    for (replicas, shared) in [(Granularity::Machine, true), (Granularity::Core, false)] {
        let mut setup = steps(Runner::Threads, 40);
        let plan = planned(&mut setup, 2, replicas);
        let start = Start { watching: Watching { delays: true, audit: false }, ..Start::default() };
        let outcome = solve(one_in_ten(4000), &setup, &plan, start, &mut Silent).expect("solved");
        let all = outcome.seen.all_delays().summary("sampled").expect("sampled");
        // One update in 128 a worker of the replica.
        let every = if shared { 256.0 } else { 128.0 };
        near(all.updates as f64, 160_000.0 / every, 0.02);
        assert!(shared || all.max == 0, "{all:?}");
        assert!(outcome.delays.is_none(), "nothing was numbered for it");
    }
}

fn look() -> Look {
    Look { rounds: 3, trial_seconds: 0.05, audit_epochs: 1 }
}

fn billed(data: Data, setup: &Setup, topology: &Topology) -> Bill {
    let data = Repeated::new(data).expect("taken");
    let mut stages = Vec::new();
    let told = |stage: &str| stages.push(stage.to_string());
    let (bill, outcome) = bill(&data, setup, topology, look(), (&mut Silent, &|| false), told).expect("billed");
    assert!(stages.len() >= 3 && outcome.updates == bill.updates, "{stages:?}");
    bill
}

/// Cores of this host, as far as it has them, for tests that need threads on two.
fn host() -> Topology {
    Topology::of_host().expect("a host")
}

#[test]
fn a_bill_has_a_figure_or_a_reason_everywhere_and_its_causes_add_up() {
    let mut setup = steps(Runner::Threads, 20);
    setup.workers.count = farrow::config::Count::Exactly(2);
    setup.parameters.replicas = Some(Granularity::Machine);
    let bill = billed(one_in_ten(2000), &setup, &host());
    let Told::Figure(trials) = &bill.trials else { panic!("{:?}", bill.trials) };
    let parts = [trials.private_alone_ns, trials.merge_ns, trials.shared_memory_ns, trials.shared_lines_ns];
    assert!(trials.asked_ns.median > 0.0 && trials.private_alone_ns.low > 0.0);
    assert!(parts.iter().all(|part| part.low <= part.median && part.median <= part.high));
    assert!(bill.delays.figure().is_some() && bill.audited.figure().is_some());
    assert!(bill.expected.conflicts.is_some() && bill.expected.conflicts_seen.is_some());
    let json = serde_json::to_value(&bill).expect("json");
    assert_eq!(json["version"], 1);
    let page = farrow::report::bill_table(&bill);
    assert!(page.contains("verdict") && page.contains("shared lines"), "{page}");
    assert_eq!(bill.label, Label::Measured);
    let wide: Vec<_> = page.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.iter().all(|line| line.contains('#')), "{wide:?}");
}

#[test]
fn what_cannot_be_measured_says_why() {
    let two = Topology::from_synthetic("core:2 pu:1").expect("a topology");
    let mut setup = steps(Runner::Interleaved, 2);
    setup.parameters.replicas = Some(Granularity::Machine);
    let interleaved = billed(one_in_ten(500), &setup, &two);
    let Told::Missing(why) = &interleaved.trials else { panic!("nothing to time") };
    assert!(why.contains("interleaved"), "{why}");
    assert!(interleaved.audited.figure().is_some());
    let mut setup = super::solve::setup(MethodKind::Newton, Loss::Logistic);
    setup.problem.l2 = L2::Value(0.1);
    let rows: Vec<_> = (0..500u32).map(|i| vec![(i % 3, 1.0)]).collect();
    let labels: Vec<f64> = (0..500).map(|i| if i % 7 < 3 { 1.0 } else { -1.0 }).collect();
    let passes = billed(data::from_rows(&rows, &labels, 3).expect("rows"), &setup, &two);
    for told in [format!("{:?}", passes.trials), format!("{:?}", passes.audited), format!("{:?}", passes.delays)] {
        assert!(told.contains("whole passes"), "{told}");
    }
    let mut setup = steps(Runner::Threads, 2);
    setup.workers.count = farrow::config::Count::Exactly(1);
    let alone = billed(one_in_ten(500), &setup, &two);
    assert!(format!("{:?}", alone.trials).contains("nobody to share with"));
    for bill in [interleaved, passes, alone] {
        let page = farrow::report::bill_table(&bill);
        assert!(page.contains("not timed:") && bill.clean, "{page}");
    }
}

#[test]
fn a_planted_slow_worker_is_named() {
    let mut setup = steps(Runner::Threads, 20);
    setup.workers.count = farrow::config::Count::Exactly(2);
    setup.parameters.replicas = Some(Granularity::Core);
    setup.injection.straggler = Straggler::Slow { worker: 1, factor: 6.0 };
    let bill = billed(one_in_ten(20_000), &setup, &host());
    let gate = bill.findings.iter().find(|finding| finding.cause == Cause::Gate).expect("gates are told of");
    // One of two waits five sixths of the time, 42 % on average, and its updates take a sixth of the other's time; where the
    // machine is busy with something else, either may be more.
    let share = gate.share.expect("sized");
    assert!((0.2..0.95).contains(&share), "{gate:?}");
    assert!(bill.each[1].busy_seconds > 2.0 * bill.each[0].busy_seconds, "{:?}", bill.each);
    assert!(gate.why.contains("worker 1") && gate.weight == Weight::Matters, "{gate:?}");
    // The other waits five sixths of its time: alone it would be done sooner.
    assert!(gate.change.iter().any(|line| line.starts_with("workers.cpus")), "{gate:?}");
    assert!(!bill.clean);
}

/// Tries what other work on the machine can spoil up to so many times; the last failure counts.
const TRIES: usize = 6;

fn in_some_try(what: &str, mut attempt: impl FnMut() -> Result<(), String>) {
    let mut said = Vec::new();
    for _ in 0..TRIES {
        match attempt() {
            Ok(()) => return,
            Err(why) => said.push(why),
        }
    }
    panic!("{what}, in none of {TRIES} tries: {said:#?}");
}

/// Rows of one entry in one column, ±1 by turns as their labels are.
fn signed(rows: usize) -> Data {
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0f32 } else { -1.0 };
    let entries: Vec<_> = (0..rows).map(|i| vec![(0, sign(i))]).collect();
    let labels: Vec<f64> = (0..rows).map(|i| f64::from(sign(i))).collect();
    data::from_rows(&entries, &labels, 1).expect("valid rows")
}

const STEP: f64 = 1e-9;

/// Two workers on real threads, gradient steps of the hinge without a penalty: as long as margins are below 1 each update adds the step
/// to its slots, whatever it read.
fn hinge(replicas: Granularity, epochs: u64) -> Setup {
    let mut setup = setup(MethodKind::Hogwild, Loss::Hinge);
    setup.problem.l2 = L2::Value(0.0);
    setup.step = Some(StepKind::Constant { initial: Some(STEP) });
    (setup.runner, setup.order) = (Runner::Threads, OrderKind::Rows);
    (setup.stop.target, setup.stop.max_epochs, setup.stop.evaluate_every) = (None, epochs, Some(epochs));
    (setup.workers.count, setup.parameters.replicas) = (farrow::config::Count::Exactly(2), Some(replicas));
    setup
}

#[test]
fn writes_lost_on_real_threads_are_those_that_the_model_lacks() {
    if host().usable_cpus().len() < 2 {
        eprintln!("skipped: writes_lost_on_real_threads_are_those_that_the_model_lacks: one cpu");
        return;
    }
    // The model is the step times the writes that are not lost.
    let data = Repeated::new(signed(50_000)).expect("taken");
    let setup = hinge(Granularity::Machine, 20);
    let plan = farrow::placement::plan(&host(), &setup).expect("a plan");
    in_some_try("lost writes are counted within 20 %", || {
        let start = Start { watching: BOTH, ..Start::default() };
        let outcome = solve(data.again(), &setup, &plan, start, &mut Silent).expect("solved");
        let audited = outcome.seen.audited.as_ref().expect("an audited run");
        let lacking = outcome.updates as f64 - outcome.model.weights[0] / STEP;
        let lost = audited.lost.expect("one replica");
        let told = format!("{lacking} of {} writes are lacking: {lost:?}", outcome.updates);
        let some = lacking >= 20.0;
        if some && (lost.writes / lacking - 1.0).abs() <= 0.2 { Ok(()) } else { Err(told) }
    });
}

#[test]
fn what_the_rounds_do_not_tell_from_nothing_is_neither_blamed_nor_called_clean() {
    if host().usable_cpus().len() < 2 {
        eprintln!("skipped: what_the_rounds_do_not_tell_from_nothing_is_neither_blamed_nor_called_clean: one cpu");
        return;
    }
    // Two workers on one column, of whose sharing three rounds of trials can be sure of nothing.
    in_some_try("a large cause is seen", || {
        let bill = billed(signed(20_000), &hinge(Granularity::Machine, 10), &host());
        // Trials that another program disturbed can come out the wrong way round: then nothing is found, and nothing to hold it to.
        let Some(lines) = bill.findings.iter().find(|finding| finding.cause == Cause::SharedLines) else {
            return Err(format!("{:?}", bill.findings));
        };
        let page = farrow::report::bill_table(&bill);
        assert!(lines.weight != Weight::Matters && lines.change.is_empty(), "{lines:?}");
        if lines.weight == Weight::Slight {
            return Err(format!("{lines:?}"));
        }
        assert!(!bill.clean && page.contains("not sure:") && !page.contains("clean:"), "{page}");
        Ok(())
    });
}

#[test]
fn a_run_without_sharing_is_accused_of_none() {
    // Rows of sixty entries, a replica a worker. What else the machine does may make workers wait; nothing else may be found.
    let row = |i: u32| sorted((0..60).map(|k| ((i * 7 + k * 31) % 4000, 0.1)).collect());
    let rows: Vec<_> = (0..20_000).map(row).collect();
    let labels: Vec<f64> = (0..rows.len()).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let bill = billed(data::from_rows(&rows, &labels, 4000).expect("rows"), &hinge(Granularity::Core, 10), &host());
    let audited = bill.audited.figure().expect("counted");
    assert_eq!((audited.lines_taken, audited.lines_shared, audited.conflicted), (0, 0, 0));
    assert_eq!((audited.lost.as_ref().expect("replicas meet").writes, bill.memory.bytes_misplaced), (0.0, 0));
    let asking: Vec<Cause> = bill
        .findings
        .iter()
        .filter(|finding| finding.weight == Weight::Matters)
        .map(|finding| finding.cause)
        .collect();
    let of_others = |cause: &Cause| matches!(cause, Cause::Gate | Cause::Exchange | Cause::SharedMemory);
    assert!(asking.iter().all(of_others), "{:?}", bill.findings);
    assert!(bill.findings.iter().all(|finding| finding.cause != Cause::Merge), "{:?}", bill.findings);
    let page = farrow::report::bill_table(&bill);
    assert!(!bill.clean || asking.is_empty(), "{page}");
    assert_eq!(bill.clean, page.contains("clean: no cause"), "{page}");
}

fn sorted(mut row: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
    row.sort_by_key(|&(column, _)| column);
    row.dedup_by_key(|&mut (column, _)| column);
    row
}
