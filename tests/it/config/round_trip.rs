//! A setup written as TOML and read again is the same setup.

use super::read;
use farrow::{
    config::{
        CellKind, ClassWeight, Constraint, Count, DataMemory, DataPlacement, DelayKind, Every, ExchangeKind,
        Gradients, GradientsOn, GradientsValues, Granularity, GraphKind, HugePages, Injection, L2, Layout,
        MergeKind, MessageFaults, MethodKind, Moves, Normalize, OrderKind, ParameterMemory, Parameters, Pin,
        Problem, Runner, Setup, Smt, StepKind, Stop, Straggler, WorkerOrder, Workers,
    },
    loss::Loss,
};
use proptest::{collection::vec, option::of, prelude::*, sample::select};

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::MIN_POSITIVE), Just(f64::MAX), Just(0.1), 1e-12..1.0, 1.0..1e30]
}

fn problems() -> impl Strategy<Value = Problem> {
    let losses = prop_oneof![
        select(vec![Loss::Logistic, Loss::Squared, Loss::Hinge, Loss::SquaredHinge]),
        positive().prop_map(|delta| Loss::Huber { delta }),
    ];
    let l2s = prop_oneof![Just(L2::OneOverN), Just(L2::Value(0.0)), positive().prop_map(L2::Value)];
    let constraints = prop_oneof![
        Just(Constraint::None),
        Just(Constraint::NonNegative),
        (positive(), positive()).prop_map(|(lo, hi)| Constraint::Box { lo: -lo, hi }),
        positive().prop_map(|hi| Constraint::Box { lo: f64::NEG_INFINITY, hi }),
    ];
    let weights = select(vec![ClassWeight::None, ClassWeight::Balanced]);
    let scalings = select(vec![Normalize::None, Normalize::Rows, Normalize::Columns]);
    (losses, prop_oneof![Just(0.0), positive()], l2s, constraints, any::<bool>(), weights, scalings).prop_map(
        |(loss, l1, l2, constraint, intercept, class_weight, normalize)| {
            // Bounds do not go with scaled columns.
            let bounded = matches!(constraint, Constraint::Box { .. });
            let normalize = if bounded && normalize == Normalize::Columns { Normalize::Rows } else { normalize };
            Problem { loss, l1, l2, constraint, intercept, class_weight, normalize, rank: None }
        },
    )
}

fn workers() -> impl Strategy<Value = Workers> {
    let locations = select(vec!["package:0.core:0-7", "numa:1", "~l3:2.core:odd", "pu:6:4", "core:3-"]);
    let ascending = vec(0..4u32, 1..20).prop_map(|gaps| {
        gaps.iter()
            .scan(0, |cpu, gap| {
                *cpu += gap + 1;
                Some(*cpu)
            })
            .collect::<Vec<u32>>()
    });
    let counts = prop_oneof![
        Just(Count::Cores),
        Just(Count::Cpus),
        (1..=8192usize).prop_map(Count::Exactly),
        ascending.clone().prop_shuffle().prop_map(Count::On),
        vec(locations, 0..4).prop_map(|more| {
            let texts = std::iter::once("core:all").chain(more);
            Count::At(texts.map(|text| text.parse().unwrap()).collect())
        }),
    ];
    let orders = prop_oneof![
        Just(WorkerOrder::Compact),
        Just(WorkerOrder::Scatter),
        ascending.clone().prop_shuffle().prop_map(WorkerOrder::Nodes),
        Just(WorkerOrder::NodesExcept(vec![])),
        ascending.prop_map(WorkerOrder::NodesExcept),
    ];
    let smts = select(vec![Smt::Never, Smt::Last, Smt::First]);
    let pins = select(vec![Pin::Cpu, Pin::Node, Pin::None]);
    (counts, orders, smts, pins).prop_map(|(count, order, smt, pin)| {
        // A list of cpus is its own order, and names what threads are bound to.
        let default = Setup::default().workers;
        match count {
            Count::On(_) | Count::At(_) if pin == Pin::None => Workers { count, ..default },
            Count::On(_) | Count::At(_) => Workers { count, pin, ..default },
            _ => Workers { count, order, smt, pin },
        }
    })
}

fn steps() -> impl Strategy<Value = Option<StepKind>> {
    (0..9, of(positive()), positive(), 0.001..0.999, 0..=65_535u64).prop_map(
        |(kind, initial, length, factor, delay)| match kind {
            0 => None,
            1 => Some(StepKind::Constant { initial }),
            2 => Some(StepKind::Diminishing { initial, half: length }),
            3 => Some(StepKind::Decay { initial, factor }),
            4 => Some(StepKind::FixedDelay { initial, delay }),
            5 => Some(StepKind::Adaptive1 { initial, alpha: factor }),
            6 => Some(StepKind::Adaptive2 { initial }),
            7 => Some(StepKind::NaiveDelay { initial }),
            _ => Some(StepKind::Backoff { initial, factor, epochs: length }),
        },
    )
}

fn parameters() -> impl Strategy<Value = (Parameters, Option<ExchangeKind>)> {
    let replicas = of(select(vec![Granularity::Machine, Granularity::Node, Granularity::L3, Granularity::Core]));
    let merges = select(vec![MergeKind::Lossy, MergeKind::Lossless, MergeKind::Locked, MergeKind::Consistent]);
    let every = prop_oneof![Just(Every::Auto), Just(Every::Epoch), (1..1_000_000usize).prop_map(Every::Updates),];
    let graphs = select(vec![
        GraphKind::Ring,
        GraphKind::Complete,
        GraphKind::Exponential,
        GraphKind::Bipartite,
        GraphKind::Hardware,
    ]);
    let exchanges = of((0..7, every, graphs, 1..=64usize, any::<bool>(), 0.0..1e3).prop_map(
        |(kind, every, graph, overlap, biased, tolerance)| match kind {
            0 => ExchangeKind::Average { every },
            1 => ExchangeKind::Sum { every },
            2 => ExchangeKind::Allreduce { every },
            3 => ExchangeKind::Sgp { every, graph },
            4 => ExchangeKind::Osgp { every, graph, overlap, biased },
            5 => ExchangeKind::Adpsgd { every, graph },
            _ => ExchangeKind::Ring { every, tolerance },
        },
    ));
    let memories = prop_oneof![
        select(vec![
            ParameterMemory::Local,
            ParameterMemory::Interleave,
            ParameterMemory::Sharded,
            ParameterMemory::FirstTouch
        ]),
        (0..1024u32).prop_map(ParameterMemory::Node),
    ];
    let layouts = select(vec![Layout::Plain, Layout::Frequency, Layout::Scatter, Layout::Padded]);
    let lie = (memories, select(vec![CellKind::F64, CellKind::F32]), layouts);
    (replicas, merges, lie, exchanges).prop_map(|(replicas, merge, (memory, cell, layout), exchange)| {
        let merge = if replicas == Some(Granularity::Core) { MergeKind::Lossy } else { merge };
        let exchange = exchange.filter(|_| replicas != Some(Granularity::Machine));
        (Parameters { replicas, memory, merge, cell, layout }, exchange)
    })
}

fn injections() -> impl Strategy<Value = Injection> {
    let delays = (0..6, 1..=65_535u64).prop_map(|(kind, most)| match kind {
        0 => DelayKind::None,
        1 => DelayKind::Fixed(most),
        2 => DelayKind::Uniform(most),
        3 => DelayKind::Sawtooth(most),
        4 => DelayKind::Heavy(most),
        _ => DelayKind::Rare(most),
    });
    let stragglers = prop_oneof![
        Just(Straggler::None),
        (0..8192usize, 1.0..1e6).prop_map(|(worker, factor)| Straggler::Slow { worker, factor }),
        (0..8192usize, 1..=u64::MAX, 1..=1u64 << 32).prop_map(|(worker, every, updates)| Straggler::Stall {
            worker,
            every,
            updates
        }),
    ];
    let workers = of(proptest::collection::btree_set(0..8192u32, 1..5).prop_map(|set| set.into_iter().collect()));
    (delays, workers, vec(0.0..=1.0, 0..5), stragglers).prop_map(
        |(delay, workers, blocks, straggler)| match delay {
            DelayKind::None => Injection { straggler, ..Injection::none() },
            delay => Injection { delay, workers, blocks, straggler, ..Injection::none() },
        },
    )
}

fn placements() -> impl Strategy<Value = DataPlacement> {
    let memories = prop_oneof![
        select(vec![DataMemory::Shard, DataMemory::Replicate, DataMemory::Interleave, DataMemory::FirstTouch]),
        (0..1024u32).prop_map(DataMemory::Node),
    ];
    (memories, select(vec![HugePages::Never, HugePages::Transparent]))
        .prop_map(|(memory, huge_pages)| DataPlacement { memory, huge_pages })
}

fn stops() -> impl Strategy<Value = Stop> {
    (of(positive()), of(-1e30..1e30), 1..=1u64 << 53, of(positive()), of(1..=1u64 << 53)).prop_map(
        |(target, target_objective, max_epochs, max_seconds, evaluate_every)| Stop {
            target,
            target_objective,
            max_epochs,
            max_seconds,
            evaluate_every,
        },
    )
}

/// On the cpu, a GPU or both, as far as the workers and what is injected allow.
fn gradients(seed: u64, workers: &Workers, injection: &Injection) -> Gradients {
    let adapter = seed.is_multiple_of(2).then(|| "H200".to_string());
    let rows = (seed % 5 > 1).then_some(1 + seed as usize % 100_000);
    let values = if seed % 11 < 5 { GradientsValues::F16 } else { GradientsValues::F32 };
    let with = |on| Gradients { on, adapter, fallback: seed.is_multiple_of(3), rows, values, share: None };
    let many = !matches!(&workers.count, Count::Exactly(1))
        && !matches!(&workers.count, Count::On(cpus) if cpus.len() < 2);
    let one = matches!(workers.count, Count::Cores | Count::Exactly(1));
    let calm = injection.delay == DelayKind::None && injection.straggler == Straggler::None;
    match seed % 7 {
        0..3 if many => {
            let share = (seed % 4 > 1).then_some((1 + seed % 99) as f64 / 100.0);
            Gradients { share, ..with(GradientsOn::Both) }
        }
        3..6 if one && calm => with(GradientsOn::Gpu),
        _ => Gradients::cpu(),
    }
}

/// Setups without the contradictions that a check refuses.
fn setups() -> impl Strategy<Value = Setup> {
    let orders = prop_oneof![
        Just(OrderKind::Auto),
        (1..100_000usize).prop_map(|rows| OrderKind::Buckets { rows }),
        Just(OrderKind::Rows),
        Just(OrderKind::File)
    ];
    let runners = select(vec![Runner::Threads, Runner::Interleaved]);
    let rest = (orders, runners, any::<u64>(), 0..=1024usize, 0..5, injections(), of(1..=Problem::RANK_MAX));
    (problems(), workers(), parameters(), placements(), steps(), stops(), rest).prop_map(
        |(
            mut problem,
            workers,
            (mut parameters, exchange),
            mut data,
            step,
            stop,
            (order, runner, seed, virtual_nodes, method, mut injection, rank),
        )| {
            let method = match method {
                0 => MethodKind::Auto,
                1 => MethodKind::Hogwild,
                2 => MethodKind::Dual { penalize_intercept: problem.intercept },
                3 => MethodKind::Minibatch { rows: 1 + virtual_nodes },
                _ => MethodKind::Bcd,
            };
            let batches = matches!(method, MethodKind::Minibatch { .. });
            let hogwild = batches || matches!(method, MethodKind::Auto | MethodKind::Hogwild);
            if parameters.merge == MergeKind::Locked {
                injection.delay = DelayKind::None;
                (injection.workers, injection.blocks) = (None, Vec::new());
                parameters.merge = if batches { MergeKind::Consistent } else { MergeKind::Locked };
            }
            if method == MethodKind::Bcd && problem.loss == Loss::Hinge {
                problem.loss = Loss::SquaredHinge;
            }
            if matches!(method, MethodKind::Dual { .. }) && problem.l2 == L2::Value(0.0) {
                problem.l2 = L2::OneOverN;
            }
            if !problem.loss.is_classification() {
                problem.class_weight = ClassWeight::None;
            }
            if !hogwild && data.memory == DataMemory::Replicate {
                data.memory = DataMemory::Shard;
            }
            if method == MethodKind::Bcd {
                parameters.layout = Layout::Plain;
            }
            if hogwild && !batches && !problem.loss.is_classification() && rank.is_some() {
                (problem.rank, problem.intercept, problem.normalize) = (rank, false, Normalize::None);
                parameters.layout = Layout::Plain;
            }
            let smooth = problem.loss.curvature().is_finite();
            let step = step.filter(|step| {
                hogwild
                    && ((smooth && problem.rank.is_none()) || !step.is_by_smoothness() || step.initial().is_some())
            });
            let exchange = exchange.filter(|exchange| match exchange {
                ExchangeKind::Sum { .. } => method == MethodKind::Auto || !hogwild,
                gossip => hogwild || !gossip.gossips(),
            });
            let mut injection = injection;
            if exchange.is_some_and(|exchange| exchange.graph().is_some()) {
                injection.messages =
                    MessageFaults { message_loss: (seed % 101) as f64 / 100.0, message_delay: seed % 65 };
            }
            // What is touched moves where replicas meet, and there are several.
            let gossips = exchange.is_some_and(|exchange| exchange.gossips());
            let moves = match seed % 3 {
                0 => Moves::Auto,
                1 => Moves::All,
                _ if gossips || parameters.replicas == Some(Granularity::Machine) => Moves::All,
                _ => Moves::Touched,
            };
            let fits = hogwild && problem.rank.is_none() && parameters.merge != MergeKind::Locked;
            let gradients = if fits { gradients(seed, &workers, &injection) } else { Gradients::cpu() };
            Setup {
                problem,
                virtual_nodes,
                workers,
                parameters,
                data,
                method,
                step,
                order,
                exchange,
                moves,
                gradients,
                injection,
                stop,
                runner,
                seed,
            }
        },
    )
}

#[test]
fn the_default_setup_survives_the_way_to_toml_and_back() {
    assert_eq!(read(&Setup::default().to_toml()).unwrap(), Setup::default());
}

proptest! {
    #[test]
    fn every_setup_survives_the_way_to_toml_and_back(setup in setups()) {
        let text = setup.to_toml();
        let again = read(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&again, &setup, "{}", text);
        prop_assert_eq!(again.to_toml(), text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]a-z_.=\"0-9{}, \n~:!-]{0,80}") {
        let _ = read(&text);
        let mut settings = farrow::config::Settings::new();
        if settings.set(&text).is_ok() {
            let _ = settings.check();
        }
    }
}
