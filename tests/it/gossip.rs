//! Exchanges between replicas, with the solver around them: every kind under both runners, what is judged and saved, what
//! is shown of graphs, and what is injected.

use super::solve::{DUAL, data, planned, setup};
use farrow::{
    checkpoint::Checkpoint,
    config::{
        CellKind, Constraint, Every, ExchangeKind, Granularity, GraphKind, L2, MergeKind, MessageFaults,
        MethodKind, Normalize, Runner, Setup, StepKind,
    },
    loss::Loss,
    placement::plan,
    solve::{Outcome, Start, solve},
    topology::Topology,
    trace::{Silent, StopReason},
};

const EVERY: Every = Every::Updates(16);

/// Every kind that goes with hogwild, on several graphs.
fn kinds() -> Vec<ExchangeKind> {
    let every = EVERY;
    let osgp = |graph, overlap| ExchangeKind::Osgp { every, graph, overlap, biased: false };
    vec![
        ExchangeKind::Average { every },
        ExchangeKind::Allreduce { every },
        ExchangeKind::Sgp { every, graph: GraphKind::Exponential },
        ExchangeKind::Sgp { every, graph: GraphKind::Ring },
        osgp(GraphKind::Exponential, 1),
        osgp(GraphKind::Complete, 2),
        ExchangeKind::Adpsgd { every, graph: GraphKind::Bipartite },
        ExchangeKind::Adpsgd { every, graph: GraphKind::Hardware },
        ExchangeKind::Ring { every, tolerance: 0.0 },
    ]
}

fn hogwild(exchange: ExchangeKind, runner: Runner, epochs: u64) -> Setup {
    let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
    (setup.exchange, setup.runner, setup.problem.normalize) = (Some(exchange), runner, Normalize::Columns);
    (setup.stop.target, setup.stop.max_epochs, setup.stop.evaluate_every) = (None, epochs, Some(10));
    setup.problem.l2 = L2::Value(0.01);
    setup.step = Some(StepKind::Diminishing { initial: None, half: 8.0 });
    setup
}

fn run(setup: &mut Setup, workers: usize, granularity: Granularity) -> Outcome {
    let plan = planned(setup, workers, granularity);
    assert!(plan.replicas.len() > 1);
    solve(data(300, 40, true), setup, &plan, Start::default(), &mut Silent).expect("solved")
}

fn best() -> f64 {
    let mut setup = setup(DUAL, Loss::Logistic);
    (setup.problem.normalize, setup.problem.l2) = (Normalize::Columns, L2::Value(0.01));
    let plan = planned(&mut setup, 1, Granularity::Core);
    solve(data(300, 40, true), &setup, &plan, Start::default(), &mut Silent).expect("solved").objective
}

#[test]
fn hogwild_comes_within_a_hundredth_under_every_exchange_and_runner() {
    let best = best();
    for exchange in kinds() {
        for runner in [Runner::Interleaved, Runner::Threads] {
            for (workers, granularity) in [(2, Granularity::Node), (4, Granularity::Core), (4, Granularity::Node)] {
                let outcome = run(&mut hogwild(exchange, runner, 60), workers, granularity);
                let off = outcome.objective / best - 1.0;
                assert!(off < 0.01 && off > -1e-9, "{exchange:?} {runner:?} {workers} {granularity:?}: {off}");
                let consensus = outcome.samples.last().unwrap().consensus.expect("several replicas");
                assert!(consensus < 0.5, "{exchange:?} {runner:?} {workers} {granularity:?}: {consensus}");
            }
        }
    }
}

#[test]
fn merges_and_cells_of_every_kind_take_what_others_write_at_an_exchange() {
    let best = best();
    for exchange in kinds() {
        for (merge, cell) in [(MergeKind::Lossless, CellKind::F32), (MergeKind::Locked, CellKind::F64)] {
            let mut setup = hogwild(exchange, Runner::Threads, 60);
            (setup.parameters.merge, setup.parameters.cell) = (merge, cell);
            let off = run(&mut setup, 4, Granularity::Node).objective / best - 1.0;
            assert!(off < 0.01 && off > -1e-5, "{exchange:?} {merge:?} {cell:?}: {off}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_under_every_exchange() {
    for exchange in kinds() {
        let weights = |seed| {
            let mut setup = hogwild(exchange, Runner::Interleaved, 3);
            setup.seed = seed;
            if exchange.graph().is_some() {
                setup.injection.messages = MessageFaults { message_loss: 0.1, message_delay: 2 };
            }
            run(&mut setup, 5, Granularity::Core).model.weights
        };
        assert_eq!(weights(3), weights(3), "{exchange:?}");
        assert_ne!(weights(3), weights(4), "{exchange:?}");
    }
}

#[test]
fn judging_replicas_that_gossip_changes_none_of_them() {
    for exchange in kinds().into_iter().filter(ExchangeKind::gossips) {
        let weights = |every| {
            let mut setup = hogwild(exchange, Runner::Interleaved, 6);
            setup.stop.evaluate_every = Some(every);
            // Three replicas of one worker, of which none is the average.
            run(&mut setup, 3, Granularity::Core)
        };
        let (often, once) = (weights(1), weights(6));
        assert!(often.samples.len() > once.samples.len(), "{exchange:?}");
        assert_eq!(often.model.weights, once.model.weights, "{exchange:?}");
        assert!(once.samples[0].consensus.unwrap() > 0.0, "{exchange:?}: replicas that do not meet differ");
    }
}

#[test]
fn a_run_that_goes_on_starts_every_replica_at_the_average() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    let exchange = ExchangeKind::Osgp { every: EVERY, graph: GraphKind::Exponential, overlap: 1, biased: false };
    let first = run(&mut hogwild(exchange, Runner::Interleaved, 5), 4, Granularity::Core);
    first.checkpoint.save(&path).unwrap();
    let mut setup = hogwild(exchange, Runner::Interleaved, 6);
    setup.step = Some(StepKind::Constant { initial: Some(1e-300) });
    let plan = planned(&mut setup, 4, Granularity::Core);
    let resume = Some(Checkpoint::load(&path).unwrap());
    let start = Start { resume, ..Start::default() };
    let more = solve(data(300, 40, true), &setup, &plan, start, &mut Silent).expect("solved");
    // With no step to speak of, weights of 1 and nothing on its way all replicas stay what the model was.
    for (before, after) in first.model.weights.iter().zip(&more.model.weights) {
        assert!((before - after).abs() < 1e-12, "{before} {after}");
    }
    assert!(more.samples.last().unwrap().consensus.unwrap() < 1e-12);
}

#[test]
fn weights_that_are_ignored_bias_a_run_whose_messages_are_late() {
    let best = best();
    let off = |biased| {
        let graph = GraphKind::Exponential;
        let exchange = ExchangeKind::Osgp { every: EVERY, graph, overlap: 2, biased };
        let mut setup = hogwild(exchange, Runner::Interleaved, 80);
        setup.injection.messages.message_delay = 2;
        run(&mut setup, 4, Granularity::Core)
    };
    let (unbiased, biased) = (off(false), off(true));
    let off = [&unbiased, &biased].map(|outcome| outcome.objective / best - 1.0);
    assert!(off[0] < 0.01 && off[1] > 4.0 * off[0], "{off:?}");
    let consensus = |outcome: &Outcome| outcome.samples.last().unwrap().consensus.unwrap();
    assert!(consensus(&biased) > 3.0 * consensus(&unbiased), "{} {}", consensus(&biased), consensus(&unbiased));
}

#[test]
fn pairs_live_with_losses_and_without_any_exchange_stay_apart() {
    let (every, best) = (EVERY, best());
    for runner in [Runner::Interleaved, Runner::Threads] {
        let pairs = |message_loss| {
            let exchange = ExchangeKind::Adpsgd { every, graph: GraphKind::Bipartite };
            let mut setup = hogwild(exchange, runner, 80);
            setup.injection.messages = MessageFaults { message_loss, message_delay: 0 };
            run(&mut setup, 4, Granularity::Core)
        };
        let consensus = |outcome: Outcome| outcome.samples.last().unwrap().consensus.unwrap();
        let half = pairs(0.5);
        assert!(half.objective / best - 1.0 < 0.015, "{runner:?}: {}", half.objective / best - 1.0);
        let (half, none) = (consensus(half), consensus(pairs(1.0)));
        assert!(none > 3.0 * half, "{runner:?}: {none} without any exchange, {half} with half of them");
    }
}

#[test]
fn dual_and_bcd_are_certified_under_averages_of_replicas_that_move_as_often_as_there_are_replicas() {
    let every = Every::Updates(8);
    for method in [DUAL, MethodKind::Bcd] {
        for exchange in [ExchangeKind::Average { every }, ExchangeKind::Allreduce { every }] {
            for runner in [Runner::Interleaved, Runner::Threads] {
                for granularity in [Granularity::Core, Granularity::Node] {
                    let mut setup = setup(method.clone(), Loss::Logistic);
                    (setup.exchange, setup.runner, setup.stop.target) = (Some(exchange), runner, Some(1e-6));
                    (setup.problem.l2, setup.parameters.merge) = (L2::Value(0.01), MergeKind::Lossy);
                    let outcome = run(&mut setup, 4, granularity);
                    let gap = outcome.gap_relative.unwrap();
                    assert!(gap <= 1e-6, "{method:?} {exchange:?} {runner:?} {granularity:?}: {gap}");
                }
            }
        }
    }
}

#[test]
fn an_average_by_nodes_is_the_average() {
    let weights = |exchange| {
        let mut setup = hogwild(exchange, Runner::Interleaved, 4);
        setup.problem.intercept = true;
        // Five replicas on two nodes.
        run(&mut setup, 5, Granularity::Core)
    };
    let (flat, by_nodes) =
        (weights(ExchangeKind::Average { every: EVERY }), weights(ExchangeKind::Allreduce { every: EVERY }));
    for (a, b) in flat.model.weights.iter().zip(&by_nodes.model.weights) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    let consensus = |outcome: &Outcome| outcome.samples.last().unwrap().consensus.unwrap();
    assert!(consensus(&flat) > 0.0 && (consensus(&flat) - consensus(&by_nodes)).abs() < 1e-9);
    assert!((flat.model.intercept - by_nodes.model.intercept).abs() < 1e-9);
}

#[test]
fn bounds_and_intercepts_hold_for_the_average_that_is_saved() {
    for exchange in kinds() {
        let mut setup = hogwild(exchange, Runner::Interleaved, 20);
        (setup.problem.constraint, setup.problem.intercept) = (Constraint::NonNegative, true);
        let outcome = run(&mut setup, 4, Granularity::Core);
        assert!(outcome.model.weights.iter().all(|&weight| weight >= 0.0), "{exchange:?}");
        assert!(outcome.objective < 0.69 && outcome.gap_relative.is_some(), "{exchange:?}");
    }
}

#[test]
fn time_at_exchanges_without_a_meeting_is_counted() {
    let seconds = |exchange| {
        let outcome = run(&mut hogwild(exchange, Runner::Threads, 5), 2, Granularity::Core);
        outcome.waits.iter().map(|waits| waits.exchange_seconds).sum::<f64>()
    };
    assert!(seconds(ExchangeKind::Sgp { every: EVERY, graph: GraphKind::Exponential }) > 0.0);
    assert_eq!(seconds(ExchangeKind::Average { every: EVERY }), 0.0);
}

/// `farrow plan` for four nodes, two of them near each other.
fn plan_shown(more: &str) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_farrow"));
    command.args(["plan", "--topology", "pack:4 [numa] l3:1 core:2 pu:1", "--set", "parameters.replicas=node"]);
    let done = command.args(more.split_whitespace()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn a_plan_shows_the_graph_of_its_replicas_with_its_period_and_gap() {
    let text = plan_shown("--set exchange.kind=osgp");
    assert!(
        text.contains(
            "exchange osgp on the exponential graph of 4 replicas: period 2 rounds, spectral gap of a period 1.0000"
        ),
        "{text}"
    );
    let ring = plan_shown("--set exchange.kind=sgp --set exchange.graph=ring");
    assert!(ring.contains("ring graph of 4 replicas: period 1 round, spectral gap of a period 0.6667"), "{ring}");
    let shown = |more: &str| serde_json::from_str::<serde_json::Value>(&plan_shown(more)).unwrap();
    let json = shown("--json --set exchange.kind=adpsgd --set exchange.graph=hardware");
    assert_eq!((json["graph"]["kind"].as_str(), json["graph"]["replicas"].as_u64()), (Some("hardware"), Some(4)));
    assert!(
        json["graph"]["gap"].as_f64().unwrap() > 0.5 && json["graph"]["period"].as_u64().unwrap() >= 3,
        "{json}"
    );
    assert!(shown("--json --set exchange.kind=average")["graph"].is_null());
    assert!(!plan_shown("--set exchange.kind=average").contains("graph"));
}

#[test]
fn a_run_that_must_end_within_an_epoch_ends_although_replicas_wait_for_one_another() {
    for exchange in kinds() {
        for runner in [Runner::Interleaved, Runner::Threads] {
            let mut setup = hogwild(exchange, runner, 10_000_000);
            setup.stop.max_seconds = Some(0.03);
            let outcome = run(&mut setup, 5, Granularity::Core);
            assert_eq!(outcome.stop, StopReason::MaxSeconds, "{exchange:?} {runner:?}");
            assert!(outcome.objective.is_finite());
        }
    }
}

#[test]
fn the_hardware_graph_goes_by_the_distances_that_the_machine_states() {
    let machine = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines/cxl-hmat.xml");
    let topology = Topology::from_xml(&machine).unwrap();
    let distance = |graph| {
        let mut setup = hogwild(ExchangeKind::Sgp { every: EVERY, graph }, Runner::Threads, 1);
        setup.parameters.replicas = Some(Granularity::Node);
        plan(&topology, &setup).unwrap().distance
    };
    assert_eq!(distance(GraphKind::Hardware), [[10, 21], [21, 10]]);
    assert!(distance(GraphKind::Ring).is_empty());
}
