//! `data.memory = "replicate"`: every node has all rows, and goes through them in an order of its own (DimmWitted).

use super::solve::{DUAL, data, planned, setup};
use farrow::{
    config::{Constraint, DataMemory, Granularity, Layout, MethodKind, Normalize, Runner, StepKind},
    loss::Loss,
    os::memory::Home,
    placement::plan,
    solve::{Outcome, Start, solve},
    topology::Topology,
    trace::Silent,
};

fn hogwild(memory: DataMemory, workers: usize, epochs: u64, runner: Runner) -> Outcome {
    let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
    (setup.data.memory, setup.runner, setup.problem.normalize) = (memory, runner, Normalize::Columns);
    (setup.stop.target, setup.stop.max_epochs) = (None, epochs);
    setup.step = Some(StepKind::Diminishing { initial: None, half: 10.0 });
    let plan = planned(&mut setup, workers, Granularity::Node);
    assert_eq!(plan.shards.len(), 2);
    solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved")
}

#[test]
fn an_epoch_is_still_n_updates_and_every_row_is_judged_once() {
    for workers in [2, 3, 5] {
        let (shard, copy) = (
            hogwild(DataMemory::Shard, workers, 1, Runner::Interleaved),
            hogwild(DataMemory::Replicate, workers, 1, Runner::Interleaved),
        );
        assert!(copy.updates.abs_diff(300) <= 8, "buckets of 4 rows, cut by 2 shards: {}", copy.updates);
        assert_eq!((shard.updates, shard.epochs, copy.epochs), (300, 1.0, 1.0));
        // F(0) = log 2, over each row once; a row judged twice or not at all would show.
        let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
        (setup.data.memory, setup.stop.target, setup.stop.max_epochs) = (DataMemory::Replicate, None, 1);
        setup.step = Some(StepKind::Constant { initial: Some(1e-300) });
        let plan = planned(&mut setup, workers, Granularity::Node);
        let still = solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved");
        assert!((still.objective - 2f64.ln()).abs() < 1e-12, "{}", still.objective);
    }
}

#[test]
fn both_ways_to_hold_the_data_come_to_the_same_optimum() {
    let best = {
        let mut setup = setup(DUAL, Loss::Logistic);
        setup.problem.normalize = Normalize::Columns;
        let plan = planned(&mut setup, 1, Granularity::Core);
        solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved").objective
    };
    for runner in [Runner::Threads, Runner::Interleaved] {
        for memory in [DataMemory::Shard, DataMemory::Replicate] {
            let off = hogwild(memory, 4, 60, runner).objective / best - 1.0;
            assert!(off < 0.02 && off > -1e-9, "{memory:?} {runner:?}: {off}");
        }
    }
}

#[test]
fn a_certificate_that_balances_its_dual_values_takes_each_row_once() {
    // An intercept needs Σ α = 0 over all rows, a bound needs the dual scaled: both go over the rows a second time.
    for (intercept, constraint) in [(true, Constraint::None), (false, Constraint::Box { lo: -1.0, hi: 1.0 })] {
        let gap = |memory| {
            let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
            (setup.problem.intercept, setup.problem.constraint, setup.data.memory) =
                (intercept, constraint, memory);
            (setup.parameters.layout, setup.stop.target, setup.stop.max_epochs) = (Layout::Frequency, None, 40);
            setup.step = Some(StepKind::Diminishing { initial: None, half: 10.0 });
            let plan = planned(&mut setup, 4, Granularity::Node);
            solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved").gap_relative
        };
        let (shard, copy) = (gap(DataMemory::Shard).unwrap(), gap(DataMemory::Replicate).unwrap());
        assert!(shard > 0.0 && copy > 0.0 && copy < 4.0 * shard && shard < 4.0 * copy, "{shard} {copy}");
    }
}

#[test]
fn auto_takes_the_method_that_keeps_nothing_for_a_row() {
    let mut setup = setup(MethodKind::Auto, Loss::Logistic);
    (setup.data.memory, setup.stop.max_epochs) = (DataMemory::Replicate, 1);
    let plan = planned(&mut setup, 2, Granularity::Node);
    let outcome = solve(data(100, 20, true), &setup, &plan, Start::default(), &mut Silent).expect("solved");
    assert_eq!(outcome.method, "hogwild");
    assert!(outcome.why.contains("all rows"), "{}", outcome.why);
}

#[test]
fn each_copy_is_planned_on_its_own_node() {
    let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
    setup.data.memory = DataMemory::Replicate;
    let plan = plan(&Topology::from_synthetic("pack:4 [numa] core:2 pu:1").unwrap(), &setup).unwrap();
    assert!(plan.replicated && plan.copies() == 4);
    let homes: Vec<&Home> = plan.shards.iter().map(|shard| &shard.home).collect();
    assert_eq!(homes, [0, 1, 2, 3].map(Home::Node).iter().collect::<Vec<_>>());
}
