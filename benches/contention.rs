//! The primitives that the price list is made of: a line's transfer, an update alone and of a parameter that two add to, and
//! a gate, each with the machine's price of what bounds it.
//!
//! Threads run pinned to the first cpus, start together, and each times itself; an iteration's time is the slowest thread's.
//! `farrow contention machine` measures the same, and more, for a machine; this is to see whether a change of the code moved
//! them.

use criterion::{Criterion, criterion_group, criterion_main};
use farrow::{
    os::{affinity, clock::Stopwatch},
    sync::{Gate, Line, Lossless, Lossy, Merge, SharedF64, Stripes},
};
use std::{hint::black_box, iter::once, time::Duration};

/// Coordinates of a worker's own: 32 KiB.
const OWN: usize = 4096;

/// Runs `work` on a thread for each of the first cpus, each told its number: the slowest one's time.
fn together(threads: usize, work: impl Fn(usize) + Sync) -> Duration {
    let (cpus, gate) = (affinity::at_start().unwrap_or_default(), Gate::new(threads));
    let one = |thread: usize| {
        if let Some(&cpu) = cpus.get(thread) {
            affinity::bind(&[cpu]);
        }
        gate.meet(|| ());
        let clock = Stopwatch::start();
        work(thread);
        clock.seconds()
    };
    let one = &one;
    let slowest = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || one(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).fold(0.0, f64::max)
    });
    Duration::from_secs_f64(slowest)
}

/// False, with a line, where there are not so many cpus.
fn enough(threads: usize, name: &str) -> bool {
    let enough = threads <= affinity::at_start().map_or(1, |cpus| cpus.len());
    if !enough {
        println!("contention/{name}: skipped, this process may use fewer than {threads} cpus");
    }
    enough
}

/// Round trips: two transfers each. The bound is what a pair of cpus takes to hand a line over at all: that of a store, which
/// the other waits for by reading.
fn transfer(criterion: &mut Criterion) {
    if !enough(2, "transfer") {
        return;
    }
    let mut point = |name: &str, turn: fn(&Line, u64)| {
        criterion.bench_function(&format!("contention/transfer, round trip/{name}"), |bencher| {
            bencher.iter_custom(|trips| {
                let line = Line::new(0);
                together(2, |thread| (0..trips).for_each(|trip| turn(&line, 2 * trip + thread as u64)))
            });
        });
    };
    point("store, the bound", |line, turn| {
        while line.read() != turn {}
        line.put(turn + 1);
    });
    point("compare-exchange", |line, turn| while !line.swap_if(turn, turn + 1) {});
    point("fetch-add", |line, turn| {
        while line.read() != turn {}
        line.add(1);
    });
}

/// One worker's updates of its own coordinates. The bound is a plain load, addition and store.
fn update(criterion: &mut Criterion) {
    let mut point = |name: &str, update: &(dyn Fn(&SharedF64, usize) + Sync)| {
        let x: Vec<SharedF64> = (0..OWN).map(|_| SharedF64::new(0.0)).collect();
        criterion.bench_function(&format!("contention/update alone, {OWN} updates/{name}"), |bencher| {
            bencher.iter_custom(|passes| {
                together(1, |_| {
                    (0..passes).for_each(|_| x.iter().enumerate().for_each(|(j, slot)| update(slot, j)))
                })
            });
        });
    };
    let stripes = Stripes::default();
    point("lossy", &|slot, _| Lossy::add(slot, 1.0));
    point("lossless", &|slot, _| Lossless::add(slot, 1.0));
    point("locked", &|slot, j| {
        let held = stripes.hold(once(j));
        Lossy::add(slot, 1.0);
        drop(held);
    });
    let mut plain = vec![0.0f64; OWN];
    criterion.bench_function(&format!("contention/update alone, {OWN} updates/plain, the bound"), |bencher| {
        bencher.iter(|| black_box(&mut plain).iter_mut().for_each(|x| *x += black_box(1.0)));
    });
}

fn add(merge: &str, slot: &SharedF64, stripes: &Stripes) {
    match merge {
        "lossy" => Lossy::add(slot, 1.0),
        "lossless" => Lossless::add(slot, 1.0),
        _ => {
            let held = stripes.hold(once(0));
            Lossy::add(slot, 1.0);
            drop(held);
        }
    }
}

/// One parameter that one worker, or two, add to. The bound of two is what one takes.
fn one_parameter(criterion: &mut Criterion) {
    for (merge, threads) in ["lossy", "lossless", "locked"].into_iter().flat_map(|merge| [(merge, 1), (merge, 2)]) {
        if !enough(threads, "one parameter") {
            continue;
        }
        criterion.bench_function(&format!("contention/one parameter/{merge} by {threads}"), |bencher| {
            bencher.iter_custom(|count| {
                let (slot, stripes) = (SharedF64::new(0.0), Stripes::default());
                together(threads, |_| (0..count).for_each(|_| add(merge, &slot, &stripes)))
            });
        });
    }
}

/// Crossings of a gate. The bound is a round trip of a line: every worker must hear of the last.
fn gate(criterion: &mut Criterion) {
    for threads in [1, 2] {
        if enough(threads, "gate") {
            criterion.bench_function(&format!("contention/gate/{threads} threads"), |bencher| {
                bencher.iter_custom(|times| {
                    let gate = Gate::new(threads);
                    together(threads, |_| (0..times).for_each(|_| gate.meet(|| ())))
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(300));
    targets = transfer, update, one_parameter, gate
}
criterion_main!(benches);
