//! What an exchange costs of two replicas that meet, with the updates before it, by what it moves: all, or what was touched
//! (`exchange.moves`).
//!
//! `hogwild` on rows of 32 entries that fall anywhere, two workers with a replica each, in windows of more and more rows; no
//! sweeps. An iteration is a window and its exchange, timed by the run itself. Before each comes the share of blocks that
//! were touched, and a bound: the bytes that must move, over what a copy of as many doubles takes.

use criterion::{Criterion, criterion_group, criterion_main};
use farrow::{
    config::{Count, Every, ExchangeKind, Granularity, L2, MethodKind, Moves, OrderKind, Setup, StepKind},
    data::{self, Data},
    os::clock::Stopwatch,
    placement::plan,
    solve::{Outcome, Start, solve},
    topology::Topology,
    trace::Silent,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::{hint::black_box, time::Duration};

const ENTRIES: usize = 32;
const WORKERS: usize = 2;
/// Exchanges of a run.
const EXCHANGES: usize = 64;

/// Rows for `EXCHANGES` windows of `window` rows a worker.
fn rows(columns: u32, window: usize) -> Data {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let rows: Vec<Vec<(u32, f32)>> = (0..EXCHANGES * window * WORKERS)
        .map(|_| {
            let mut row: Vec<u32> = (0..ENTRIES).map(|_| random.random_range(0..columns)).collect();
            row.sort_unstable();
            row.dedup();
            row.into_iter().map(|column| (column, 0.1)).collect()
        })
        .collect();
    let labels: Vec<f64> = (0..rows.len()).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    data::from_rows(&rows, &labels, columns as usize).expect("rows")
}

/// A run of twice so many epochs, with a sample after either half.
fn run(columns: u32, window: usize, moves: Moves, epochs: u64) -> Outcome {
    let mut setup = Setup { method: MethodKind::Hogwild, moves, ..Setup::default() };
    setup.problem.l2 = L2::Value(0.0);
    setup.step = Some(StepKind::Constant { initial: Some(1e-3) });
    (setup.workers.count, setup.parameters.replicas) = (Count::Exactly(WORKERS), Some(Granularity::Core));
    (setup.exchange, setup.order) =
        (Some(ExchangeKind::Average { every: Every::Updates(window) }), OrderKind::Rows);
    (setup.stop.target, setup.stop.max_epochs, setup.stop.evaluate_every) = (None, 2 * epochs, Some(epochs));
    let plan = plan(&Topology::of_host().expect("a topology"), &setup).expect("two cpus");
    solve(rows(columns, window), &setup, &plan, Start::default(), &mut Silent).expect("solved")
}

/// Seconds of a copy of `len` doubles, the best of some.
fn copy_seconds(len: usize) -> f64 {
    let (from, mut to) = (vec![1.0f64; len], vec![0.0f64; len]);
    let once = |to: &mut Vec<f64>| {
        let clock = Stopwatch::start();
        to.copy_from_slice(black_box(&from));
        black_box(to.as_ptr());
        clock.seconds()
    };
    (0..20).map(|_| once(&mut to)).fold(f64::INFINITY, f64::min)
}

fn exchange(criterion: &mut Criterion) {
    for (columns, windows) in [(10_000u32, &[1, 4, 16, 64, 256][..]), (1_000_000, &[1, 16, 64, 256, 1024])] {
        let copy = copy_seconds(columns as usize);
        for &window in windows {
            let share = run(columns, window, Moves::Touched, 1).exchanged.expect("two replicas").share;
            // A worker reads and writes half of what is agreed, reads half of both replicas, and copies all to its own.
            let bound_us = |share: f64| 1e6 * share * copy * (0.5 + 0.5 + 1.0);
            println!(
                "{columns} columns, {window} rows: {:.1} % touched; bound {:.2} us all, {:.2} us touched",
                100.0 * share,
                bound_us(1.0),
                bound_us(share)
            );
            for (name, moves) in [("all", Moves::All), ("touched", Moves::Touched)] {
                criterion.bench_function(&format!("exchange/{columns} columns/{window} rows/{name}"), |bencher| {
                    bencher.iter_custom(|iterations| {
                        let epochs = iterations.div_ceil(EXCHANGES as u64);
                        let outcome = run(columns, window, moves, epochs);
                        // The first half has what a run does once.
                        let [.., first, second] = &outcome.samples[..] else { unreachable!("two samples") };
                        let half = second.seconds_solve - first.seconds_solve;
                        let each = half / (epochs * EXCHANGES as u64) as f64;
                        Duration::from_secs_f64(each * iterations as f64)
                    });
                });
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(1))
        .warm_up_time(Duration::from_millis(200));
    targets = exchange
}
criterion_main!(benches);
