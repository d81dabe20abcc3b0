//! Entries a second of one epoch, by method and threads, beside what this machine could do at most.
//!
//! Four bounds are measured in the same run on the same data: *streaming* reads indices and values in order and nothing
//! else; *gather* adds the read of one parameter an entry (a matrix-vector product); *update* is the plain gather and
//! scatter of a serial pass in file order, without a loss, an order or a plan; *arithmetic* is that over rows that are in the
//! first cache. An epoch cannot be faster than streaming, and has no reason to be faster than the update. Figures are the median of `PASSES` epochs, whose spread is printed.

use farrow::{
    config::{Count, Every, ExchangeKind, Granularity, MethodKind, OrderKind, Setup, StepKind, Workers},
    data::{
        Data,
        generate::SparseSpec,
        matrix::{Matrix, Row, Sparse},
    },
    layout::Slots,
    loss::Loss,
    os::{affinity, clock::Stopwatch},
    placement::plan,
    shard::{self, Deal, Marks, Part},
    solve::{Start, solve},
    store::{Plain, Replica, View},
    topology::Topology,
    trace::Silent,
};

/// Epochs of each figure.
const PASSES: u64 = 7;

fn data(rows: usize) -> Data {
    let spec = SparseSpec { rows, ..SparseSpec::rcv1_like(7) };
    spec.generate(2).expect("a valid specification").into_data()
}

/// Median and range of `seconds`.
fn summary(mut seconds: Vec<f64>, nonzeros: u64) -> String {
    seconds.sort_by(f64::total_cmp);
    let rate = |seconds: f64| nonzeros as f64 / seconds / 1e6;
    let middle = seconds[seconds.len() / 2];
    format!("{:8.0} ({:.0} to {:.0})", rate(middle), rate(seconds[seconds.len() - 1]), rate(seconds[0]))
}

fn bounds(part: &Part<Sparse>) {
    let nonzeros = part.matrix.nonzeros();
    let replica = Plain::<f64>::zeros(part.matrix.columns());
    let mut open = replica.open();
    let x = replica.view(&mut open);
    let rows = || (0..part.matrix.rows()).map(|i| part.matrix.row(i));
    let stream = |row: Row<'_>| match row {
        Row::Sparse(row) => {
            let values: f32 = row.values().iter().sum();
            let columns: u32 = row.columns().iter().fold(0, |sum, &column| sum.wrapping_add(column));
            f64::from(values) + f64::from(columns)
        }
        Row::Dense(values) => f64::from(values.iter().sum::<f32>()),
        Row::Pair(_) => unreachable!("the data are linear"),
    };
    let time = |pass: &dyn Fn() -> f64| -> Vec<f64> {
        (0..PASSES)
            .map(|_| {
                let clock = Stopwatch::start();
                std::hint::black_box(pass());
                clock.seconds()
            })
            .collect()
    };
    println!("{:44}{}", "bound: streaming, 1 thread", summary(time(&|| rows().map(stream).sum()), nonzeros));
    println!("{:44}{}", "bound: gather, 1 thread", summary(time(&|| rows().map(|row| x.dot(row)).sum()), nonzeros));
    let update = || {
        rows()
            .map(|row| {
                let slope = 1e-9 * x.dot(row);
                x.axpy(slope, row);
                slope
            })
            .sum()
    };
    println!("{:44}{}", "bound: gather and scatter, 1 thread", summary(time(&update), nonzeros));
    // The same instructions over rows that stay in the first cache, so that they wait for nothing but each other.
    let few = (0..8).map(|i| part.matrix.row(i % part.matrix.rows()));
    let few: Vec<_> = few.collect();
    let once: u64 = few.iter().map(|row| row.nonzeros() as u64).sum();
    let again = (nonzeros / once.max(1)).max(1);
    let arithmetic = || {
        let mut sum = 0.0;
        for _ in 0..again {
            for &row in &few {
                let slope = 1e-9 * x.dot(row);
                x.axpy(slope, row);
                sum += slope;
            }
        }
        sum
    };
    println!("{:44}{}", "bound: arithmetic, 1 thread", summary(time(&arithmetic), again * once));
}

fn epochs(rows: usize, method: MethodKind, granularity: Granularity, workers: usize, topology: &Topology) {
    let mut setup = Setup { method: method.clone(), order: OrderKind::Buckets { rows: 32 }, ..Setup::default() };
    setup.problem.loss = Loss::Logistic;
    setup.workers.count = Count::Exactly(workers);
    setup.parameters.replicas = Some(granularity);
    (setup.stop.target, setup.stop.max_epochs) = (None, PASSES);
    if method == MethodKind::Hogwild {
        setup.step = Some(StepKind::Constant { initial: Some(0.5) });
        setup.exchange = (granularity == Granularity::Core && workers > 1)
            .then_some(ExchangeKind::Average { every: Every::Epoch });
    }
    let plan = plan(topology, &setup).expect("a plan for this host");
    let data = data(rows);
    let nonzeros = data.source.shape().nonzeros;
    let outcome = solve(data, &setup, &plan, Start::default(), &mut Silent).expect("solved");
    let starts = std::iter::once(0.0).chain(outcome.samples.iter().map(|sample| sample.seconds_solve));
    let seconds = outcome.samples.iter().zip(starts).map(|(sample, start)| sample.seconds_solve - start).collect();
    let name = format!("{} {granularity:?}, {workers} workers", outcome.method);
    println!("{name:44}{}", summary(seconds, nonzeros));
}

fn main() {
    // `cargo test --benches` runs this too: then once, small.
    let rows = if std::env::args().any(|argument| argument == "--bench") { 200_000 } else { 2_000 };
    let topology = Topology::of_host().expect("this host has a topology");
    let most = affinity::at_start().map_or(1, |cpus| cpus.len());
    println!("{rows} rows like RCV1; million entries a second, median (slowest to fastest) of {PASSES} epochs");
    let input = data(rows);
    let labels = input.source.labels().expect("generated");
    let setup =
        Setup { workers: Workers { count: Count::Exactly(1), ..Setup::default().workers }, ..Setup::default() };
    let alone = plan(&topology, &setup).expect("a plan for this host");
    let deal = Deal::new(&*input.source, &alone).expect("generated");
    let slots = Slots::plain(input.source.shape().columns, false);
    let marks = Marks { labels: &labels, weights: None };
    let site = alone.site(&alone.shards[0].home);
    bounds(&shard::rows::<Sparse>(&*input.source, &deal, 0, &slots, marks, &site).expect("generated"));
    for workers in
        [1, 2, most].into_iter().filter(|&workers| workers <= most).collect::<std::collections::BTreeSet<_>>()
    {
        for granularity in [Granularity::Machine, Granularity::Core] {
            for method in [MethodKind::Hogwild, MethodKind::Dual { penalize_intercept: false }, MethodKind::Bcd] {
                epochs(rows, method, granularity, workers, &topology);
            }
        }
    }
}
