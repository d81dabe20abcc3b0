//! What one update costs: a gather and a scatter of one row, by merge, cell, entries a row and threads.
//!
//! Threads run pinned to the first cpus, start together, and each times itself; an iteration's time is the slowest
//! thread's. With one thread the merges differ by their instructions alone; with more, by the lines they share.

use criterion::{Criterion, criterion_group, criterion_main};
use farrow::{
    data::matrix::{Row, SparseRow},
    os::{affinity, clock::Stopwatch},
    store::{Plain, Replica, Shared, View},
    sync::{Gate, Lossless, Lossy, SharedF32, SharedF64},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// Parameters: 512 KiB of f64, as many as fit an L2 of today.
const COLUMNS: usize = 65_536;
/// Rows that a thread goes through, then again.
const ROWS: usize = 1_024;

fn rows(nonzeros: usize, seed: u64) -> (Vec<u32>, Vec<f32>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut columns = Vec::with_capacity(ROWS * nonzeros);
    for _ in 0..ROWS {
        let mut row: Vec<u32> = (0..nonzeros).map(|_| random.random_range(0..COLUMNS as u32)).collect();
        row.sort_unstable();
        columns.extend(row);
    }
    let values = vec![1e-3; columns.len()];
    (columns, values)
}

/// Time for `updates` updates on each of `threads` threads: the slowest thread's.
fn run<R: Replica>(replicas: &[R], threads: usize, nonzeros: usize, updates: u64) -> Duration {
    let (cpus, gate) = (affinity::at_start().unwrap_or_default(), Gate::new(threads));
    let one = |thread: usize| {
        if let Some(&cpu) = cpus.get(thread % cpus.len().max(1)) {
            affinity::bind(&[cpu]);
        }
        let (columns, values) = rows(nonzeros, thread as u64);
        let rows: Vec<SparseRow<'_>> = (columns.chunks(nonzeros).zip(values.chunks(nonzeros)))
            .map(|(columns, values)| SparseRow::new(columns, values, COLUMNS))
            .collect();
        let replica = &replicas[thread % replicas.len()];
        let mut open = replica.open();
        let x = replica.view(&mut open);
        gate.meet(|| ());
        let clock = Stopwatch::start();
        for update in 0..updates as usize {
            let row = Row::Sparse(rows[update % ROWS]);
            let held = x.hold(row);
            let slope = x.dot(row);
            x.axpy(-1e-3 * slope, row);
            drop(held);
        }
        clock.seconds()
    };
    let one = &one;
    let slowest = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || one(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).fold(0.0, f64::max)
    });
    Duration::from_secs_f64(slowest)
}

fn point<R: Replica>(criterion: &mut Criterion, name: &str, threads: usize, nonzeros: usize, private: bool) {
    point_of::<R>(criterion, name, threads, nonzeros, private, |replica| replica);
}

/// The same with replicas made into others first.
fn point_of<R: Replica>(
    criterion: &mut Criterion,
    name: &str,
    threads: usize,
    nonzeros: usize,
    private: bool,
    make: fn(R) -> R,
) {
    if threads > affinity::at_start().map_or(1, |cpus| cpus.len()) {
        println!("update/{name}: skipped, this process may use fewer than {threads} cpus");
        return;
    }
    let replicas: Vec<R> = (0..if private { threads } else { 1 }).map(|_| make(R::zeros(COLUMNS))).collect();
    criterion.bench_function(&format!("update/{name}/{nonzeros} entries/{threads} threads"), |bencher| {
        bencher.iter_custom(|updates| run(&replicas, threads, nonzeros, updates));
    });
}

fn update(criterion: &mut Criterion) {
    for nonzeros in [8, 64] {
        point::<Plain<f64>>(criterion, "plain f64", 1, nonzeros, true);
        point::<Shared<SharedF64, Lossy>>(criterion, "lossy f64", 1, nonzeros, false);
        point::<Shared<SharedF64, Lossless>>(criterion, "lossless f64", 1, nonzeros, false);
    }
    point_of(criterion, "locked f64", 1, 64, false, Shared::<SharedF64, Lossy>::with_stripes);
    point::<Shared<SharedF32, Lossy>>(criterion, "lossy f32", 1, 64, false);
    point::<Plain<f64>>(criterion, "plain f64", 2, 64, true);
    point::<Shared<SharedF64, Lossy>>(criterion, "lossy f64", 2, 64, false);
    point::<Shared<SharedF64, Lossless>>(criterion, "lossless f64", 2, 64, false);
    point_of(criterion, "locked f64", 2, 64, false, Shared::<SharedF64, Lossy>::with_stripes);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(300));
    targets = update
}
criterion_main!(benches);
