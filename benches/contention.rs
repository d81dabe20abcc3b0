//! The primitives that contention is made of: a line handed to another cpu and back, one parameter written by each merge, alone and
//! by two at once, and a meeting at the gate.
//!
//! Bounds: a hand-over and back cannot take less than two transfers of a line, and a write of a shared parameter by two cpus not less
//! than a write of it by one; `farrow contention machine` prints both for every pair of cpus. Threads are pinned to the first two
//! cpus; with one there is nothing to hand over, and those benches are left out with a line that says so.

use criterion::{Criterion, criterion_group, criterion_main};
use farrow::{
    os::{affinity, clock::Stopwatch},
    sync::{Gate, Line, Lossless, Lossy, Merge, SharedF64, Stripes},
};
use std::time::Duration;

/// Time that `count` turns of `work` take on each of the first `threads` cpus, which begin together: the slowest's.
fn together(threads: usize, work: impl Fn(usize) + Sync) -> Duration {
    let (cpus, gate) = (affinity::at_start().unwrap_or_default(), Gate::new(threads));
    let run = |place: usize| {
        if let Some(&cpu) = cpus.get(place) {
            affinity::bind(&[cpu]);
        }
        gate.meet(|| ());
        let clock = Stopwatch::start();
        work(place);
        clock.seconds()
    };
    let run = &run;
    let slowest = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|place| scope.spawn(move || run(place))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).fold(0.0, f64::max)
    });
    Duration::from_secs_f64(slowest)
}

fn two(what: &str) -> bool {
    let enough = affinity::at_start().is_ok_and(|cpus| cpus.len() > 1);
    if !enough {
        eprintln!("left out: {what}: this process may use one cpu");
    }
    enough
}

/// A round trip of a line between two cpus.
fn hand_over(c: &mut Criterion) {
    if !two("hand_over") {
        return;
    }
    c.bench_function("hand_over/line there and back", |b| {
        b.iter_custom(|count| {
            let line = Line::default();
            together(2, |place| {
                for round in 0..count {
                    let own = 2 * round + place as u64;
                    while line.read() != own {
                        std::hint::spin_loop();
                    }
                    line.put(own + 1);
                }
            })
        });
    });
    c.bench_function("hand_over/meeting at the gate", |b| {
        b.iter_custom(|count| {
            let gate = Gate::new(2);
            together(2, |_| (0..count).for_each(|_| gate.meet(|| ())))
        });
    });
}

fn add(merge: &str, slot: &SharedF64, stripes: &Stripes) {
    match merge {
        "lossy" => Lossy::add(slot, 1.0),
        "lossless" => Lossless::add(slot, 1.0),
        _ => {
            let held = stripes.hold(std::iter::once(0));
            Lossy::add(slot, 1.0);
            drop(held);
        }
    }
}

/// One parameter that one worker, or two, add to.
fn one_parameter(c: &mut Criterion) {
    for threads in [1, 2] {
        if threads == 2 && !two("one_parameter by two") {
            return;
        }
        for merge in ["lossy", "lossless", "locked"] {
            c.bench_function(&format!("one_parameter/{merge} by {threads}"), |b| {
                b.iter_custom(|count| {
                    let (slot, stripes) = (SharedF64::new(0.0), Stripes::default());
                    together(threads, |_| (0..count).for_each(|_| add(merge, &slot, &stripes)))
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = hand_over, one_parameter
}
criterion_main!(benches);
