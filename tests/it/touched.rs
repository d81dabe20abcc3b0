//! `exchange.moves`: an exchange of what was touched ends where one of everything does, to the bit, and moves what it should.

use super::solve::{setup, sparse};
use farrow::{
    config::{
        CellKind, Constraint, Count, Every, ExchangeKind, Granularity, L2, MethodKind, Moves, Runner, Settings,
        Setup, StepKind, WorkerOrder,
    },
    data::{self, Data},
    error::Result,
    loss::Loss,
    placement::{Plan, plan},
    run::Exchanged,
    solve::{Outcome, Start, solve},
    topology::Topology,
    trace::{Continue, Observer, Sample, Silent, Snapshot},
};

/// Rows that each touch 8 of so many columns, which are many lines of the cache.
const COLUMNS: u32 = 1600;
const ROWS: usize = 120;

fn rows() -> Data {
    let (rows, labels) = sparse(ROWS, COLUMNS, true);
    data::from_rows(&rows, &labels, COLUMNS as usize).unwrap()
}

fn dense() -> Data {
    let (rows, labels) = sparse(ROWS, 13, true);
    let mut dense = ndarray::Array2::<f32>::zeros((ROWS, 13));
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(c, v)| dense[[i, c as usize]] = v);
    }
    data::from_dense(dense.view(), &labels).unwrap()
}

/// Nodes, workers and replicas: 2, 3 and 4 replicas, some of several workers, some that share a node.
const PLANS: [(usize, usize, Granularity); 5] = [
    (2, 2, Granularity::Core),
    (2, 4, Granularity::Node),
    (3, 3, Granularity::Core),
    (4, 4, Granularity::Node),
    (2, 4, Granularity::Core),
];

fn planned(setup: &mut Setup, (nodes, workers, granularity): (usize, usize, Granularity)) -> Plan {
    let topology = Topology::from_synthetic(&format!("pack:{nodes} [numa] l3:1 core:4 pu:1")).unwrap();
    setup.workers.count = Count::Exactly(workers);
    setup.workers.order = WorkerOrder::Scatter;
    setup.workers.pin = farrow::config::Pin::None;
    setup.parameters.replicas = Some(granularity);
    plan(&topology, setup).unwrap()
}

/// Every bit of every sample and of the state at each, that a report or a checkpoint could show.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Observer for Bits {
    fn sample(&mut self, sample: &Sample, state: &dyn Snapshot) -> Result<Continue> {
        let numbers = [Some(sample.objective), Some(sample.certificate), sample.consensus, sample.drift];
        self.0.extend(numbers.into_iter().flatten().map(f64::to_bits));
        let state = state.checkpoint();
        self.0.extend(state.parameters.iter().chain(&state.state).chain([&state.damping]).map(|x| x.to_bits()));
        Ok(Continue::Yes)
    }
}

fn bits(data: Data, setup: &Setup, plan: &Plan, moves: Moves) -> (Vec<u64>, Exchanged) {
    let (setup, mut bits) = (Setup { moves, ..setup.clone() }, Bits::default());
    let outcome = solve(data, &setup, plan, Start::default(), &mut bits).unwrap();
    (bits.0, outcome.exchanged.expect("replicas that meet"))
}

/// What the method takes of the exchange, with updates between.
fn said(method: &str, exchange: &str, every: usize) -> Option<Setup> {
    let text = format!("[method]\nkind = \"{method}\"\n[exchange]\nkind = \"{exchange}\"\nevery = {every}\n");
    let mut settings = Settings::new();
    settings.text("touched.toml", &text).unwrap();
    let mut setup = settings.check().ok()?;
    let plain = setup_of(method);
    (setup.problem, setup.order, setup.step) = (plain.problem, plain.order, plain.step);
    (setup.stop.target, setup.stop.max_epochs, setup.stop.evaluate_every) = (None, 3, Some(1));
    setup.runner = Runner::Interleaved;
    Some(setup)
}

fn setup_of(method: &str) -> Setup {
    let mut setup = setup(MethodKind::Auto, Loss::Logistic);
    setup.problem.l2 = L2::Value(if ["dual", "piag"].contains(&method) { 0.01 } else { 0.0 });
    if ["hogwild", "minibatch"].contains(&method) {
        setup.step = Some(StepKind::Diminishing { initial: Some(0.5), half: 8.0 });
    }
    setup
}

const EXCHANGES: [&str; 3] = ["average", "sum", "allreduce"];

fn methods() -> impl Iterator<Item = &'static str> {
    let names = MethodKind::NAMES.iter().map(|(name, _)| *name);
    names.filter(|name| *name != "auto" && said(name, "average", 1).is_some())
}

/// Both ways on every plan; what part of the slots moved at least.
fn hold(data: fn() -> Data, what: &str, mut setup: Setup) -> f64 {
    let mut least = 1.0f64;
    for machine in PLANS {
        let plan = planned(&mut setup, machine);
        assert!(plan.replicas.len() > 1);
        let (all, of_all) = bits(data(), &setup, &plan, Moves::All);
        let (touched, of_touched) = bits(data(), &setup, &plan, Moves::Touched);
        assert_eq!(all.len(), touched.len(), "{what} {machine:?}");
        let differ = all.iter().zip(&touched).filter(|(a, b)| a != b).count();
        assert_eq!(differ, 0, "{what} {machine:?}: {differ} of {} numbers differ", all.len());
        assert!(!of_all.touched && of_all.share == 1.0 && of_touched.touched, "{what}: {of_all:?} {of_touched:?}");
        least = least.min(of_touched.share);
    }
    least
}

#[test]
fn every_method_ends_at_the_same_bits_whatever_an_exchange_moves() {
    let (mut pairs, mut few) = (0, 0);
    for method in methods() {
        for (exchange, every) in
            EXCHANGES.into_iter().flat_map(|exchange| [1, 5, 100].map(|every| (exchange, every)))
        {
            let Some(setup) = said(method, exchange, every) else { continue };
            let what = format!("{method} {exchange} {every}");
            pairs += 1;
            few += usize::from(hold(rows, &what, setup.clone()) < 0.5);
            hold(dense, &what, setup);
        }
    }
    // Two or three exchanges of eight methods. In windows of 1 and 5 updates, two workers touch up to 80 of the 200 blocks of x, or
    // margins in less than half of their 15; `piag` and `dense-svrg` write all, and a batch of `minibatch` touches most.
    assert_eq!((pairs, few), (18 * 3, 12 * 2));
}

#[test]
fn sweeps_intercepts_bounds_and_rounded_cells_are_marked_as_well() {
    type Change = (&'static str, fn(&mut Setup));
    let changes: [Change; 6] = [
        ("l1", |setup| setup.problem.l1 = 1e-3),
        ("l2", |setup| setup.problem.l2 = L2::Value(0.05)),
        ("an intercept", |setup| {
            setup.problem.intercept = true;
            if let MethodKind::Dual { penalize_intercept } = &mut setup.method {
                *penalize_intercept = true;
            }
        }),
        ("bounds", |setup| setup.problem.constraint = Constraint::Box { lo: -0.05, hi: 0.1 }),
        ("cells of 4 bytes", |setup| setup.parameters.cell = CellKind::F32),
        ("rows that rest", |setup| setup.problem.loss = Loss::SquaredHinge),
    ];
    for method in methods() {
        for exchange in EXCHANGES {
            let Some(plain) = said(method, exchange, 4) else { continue };
            for (name, change) in changes {
                let mut setup = plain.clone();
                change(&mut setup);
                hold(rows, &format!("{method} {exchange} {name}"), setup);
            }
        }
    }
}

#[test]
fn delays_stragglers_and_consistent_reads_change_nothing_of_it() {
    use farrow::config::{DelayKind, MergeKind, Straggler};
    for method in ["hogwild", "proxasaga"] {
        let mut setup = said(method, "average", 6).unwrap();
        setup.injection.delay = DelayKind::Fixed(3);
        setup.injection.straggler = Straggler::Slow { worker: 1, factor: 3.0 };
        assert!(hold(rows, method, setup) < 0.7, "{method}");
    }
    let mut setup = said("minibatch", "average", 1).unwrap();
    setup.parameters.merge = MergeKind::Consistent;
    let plan = planned(&mut setup, (2, 4, Granularity::Node));
    assert_eq!(bits(rows(), &setup, &plan, Moves::All).0, bits(rows(), &setup, &plan, Moves::Touched).0);
}

/// 40 rows of 3 entries in 60 columns.
fn entries() -> Data {
    let row = |i: u32| (0..3).map(|j| (20 * j + (7 * i + 3 * j) % 20, (i + j) as f32 / 20.0 - 1.0)).collect();
    let rows: Vec<Vec<(u32, f32)>> = (0..40).map(row).collect();
    data::from_rows(&rows, &[0.0; 40], 60).unwrap()
}

#[test]
fn both_blocks_of_an_entry_are_marked() {
    for exchange in ["average", "allreduce"] {
        for l2 in [0.0, 0.01] {
            let mut setup = said("hogwild", exchange, 4).unwrap();
            (setup.problem.rank, setup.problem.l2, setup.problem.loss) = (Some(8), L2::Value(l2), Loss::Squared);
            // Of the 100 blocks of U and V, 2 workers touch 16 at most.
            let least = hold(entries, &format!("{exchange} {l2}"), setup);
            assert!(l2 > 0.0 || least < 0.2, "{least}");
        }
    }
}

/// Row i touches columns 64i and 64i + 63: two blocks of its own.
fn apart(rows: usize) -> Data {
    let lines: Vec<Vec<(u32, f32)>> = (0..rows as u32).map(|i| vec![(64 * i, 1.0), (64 * i + 63, -1.0)]).collect();
    let labels: Vec<f64> = (0..rows).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    data::from_rows(&lines, &labels, 64 * rows).unwrap()
}

fn moved(exchange: ExchangeKind, machine: (usize, usize, Granularity), moves: Moves, runner: Runner) -> Outcome {
    let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
    setup.problem.l2 = L2::Value(0.0);
    setup.step = Some(StepKind::Constant { initial: Some(0.1) });
    (setup.exchange, setup.moves, setup.runner) = (Some(exchange), moves, runner);
    (setup.stop.target, setup.stop.max_epochs, setup.order) = (None, 2, farrow::config::OrderKind::Rows);
    let plan = planned(&mut setup, machine);
    solve(apart(64), &setup, &plan, Start::default(), &mut Silent).unwrap()
}

#[test]
fn two_blocks_a_row_move_and_no_more() {
    let every = Every::Updates(4);
    for runner in [Runner::Interleaved, Runner::Threads] {
        for exchange in [ExchangeKind::Average { every }, ExchangeKind::Allreduce { every }] {
            for machine in PLANS.into_iter().filter(|machine| machine.1 != 3) {
                let outcome = moved(exchange, machine, Moves::Touched, runner);
                // In a window each worker touches two of the 512 blocks with each of its 4 rows.
                let expected = machine.1 as f64 * 4.0 * 2.0 / 512.0;
                assert_eq!(outcome.exchanged, Some(Exchanged { touched: true, share: expected }), "{machine:?}");
                let all = moved(exchange, machine, Moves::All, runner).exchanged;
                assert_eq!(all, Some(Exchanged { touched: false, share: 1.0 }));
            }
        }
    }
}

#[test]
fn of_itself_a_run_moves_what_is_touched_only_where_that_is_little() {
    let every = |every| ExchangeKind::Average { every };
    // One row a worker: 4 of 512 blocks.
    let little = moved(every(Every::Updates(1)), PLANS[0], Moves::Auto, Runner::Interleaved);
    assert!(little.exchanged.unwrap().touched);
    // 120 rows of 8 entries: nearly all of 200 blocks.
    let mut setup = said("hogwild", "average", ROWS).unwrap();
    let plan = planned(&mut setup, PLANS[0]);
    assert_eq!(bits(rows(), &setup, &plan, Moves::Auto).1, Exchanged { touched: false, share: 1.0 });
    let one = moved(
        ExchangeKind::Average { every: Every::Epoch },
        (2, 1, Granularity::Core),
        Moves::Auto,
        Runner::Threads,
    );
    assert_eq!(one.exchanged, None);
}
