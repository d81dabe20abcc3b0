//! What gradients cost on each adapter, beside what its memory can do.
//!
//! The bound is a copy by the device, of arrays that no cache holds: bytes read and bytes written, over its seconds. Every sample of
//! a kernel is followed by copies, so that both meet the same machine, and after each kernel a line says what share of the copy's
//! bandwidth it had, with the bytes of the rows counted once. Two batches are under way at a time, as in a run; what is sent and
//! brought back (x, the list of rows, the gradient) is in the seconds and not in the bytes.
//!
//! Last come whole runs to a gap of 10⁻⁴ by the cpus, by the device and by both, in turns: how many came there in the seconds they
//! had, seconds of solving in the median of rounds, with the least and the most, and rows gone through a second. The bound of `both`
//! is the two speeds added up; a cpu that feeds the device is not one that computes.
//!
//! Software adapters are tried where there is no other, on less: they show that it runs, not how fast.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use farrow::{
    config::{Count, Gradients as Settings, GradientsOn, L2, MergeKind, MethodKind, Setup},
    data::{self, Data, Repeated},
    gpu::{
        self, Adapter, Entries, Gradients, Options, Terms,
        device::{Copying, Device, DeviceGradients, Pass},
    },
    loss::Loss,
    os::clock::Stopwatch,
    placement::plan,
    solve::{Start, solve},
    topology::Topology,
    trace::{Silent, StopReason},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// Seconds of copies after a sample.
const COPIES_SECONDS: f64 = 0.005;
/// Entries of a sparse row.
const ENTRIES: usize = 64;
/// Rows of a batch as a run has them.
const BATCH: usize = 16_384;

/// How much is tried.
struct Size {
    rows: usize,
    copy_bytes: usize,
}

impl Size {
    fn of(adapter: &Adapter) -> Self {
        let (rows, bytes) = if adapter.software { (20_000, 64 << 20) } else { (1_000_000, 512 << 20) };
        Size { rows, copy_bytes: bytes.min(adapter.limits.binding_bytes as usize / 16 * 16) }
    }
}

fn dense(rows: usize, width: usize) -> Terms {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let values = (0..rows * width).map(|_| random.random_range(-1.0..1.0)).collect();
    Terms::new(Loss::Logistic, width, Entries::Dense(values), labels(rows), None).expect("terms")
}

/// Entries that fall anywhere among `width` slots.
fn sparse(rows: usize, width: usize) -> Terms {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let slots = (0..rows * ENTRIES).map(|_| random.random_range(0..width as u32)).collect();
    let values = (0..rows * ENTRIES).map(|_| random.random_range(-1.0..1.0)).collect();
    let starts = (0..=rows).map(|row| row * ENTRIES).collect();
    Terms::new(Loss::Logistic, width, Entries::Sparse { starts, slots, values }, labels(rows), None).expect("terms")
}

fn labels(rows: usize) -> Vec<f32> {
    (0..rows).map(|row| if row % 2 == 0 { 1.0 } else { -1.0 }).collect()
}

/// Bytes of `rows` rows, each once.
fn bytes(terms: &Terms, rows: usize) -> usize {
    let value = if terms.is_halved() { 2 } else { 4 };
    match terms.entries() {
        Entries::Dense(_) => rows * (terms.width() * value + 8),
        Entries::Sparse { .. } => rows * (ENTRIES * (value + 4) + 12),
    }
}

/// What the device's memory can do.
struct Bound {
    copying: Copying,
    bytes: usize,
    times: u32,
}

impl Bound {
    fn of(adapter: &Adapter, size: &Size) -> Self {
        let copying = Copying::new(open(adapter), &vec![1.0; size.copy_bytes / 4]).expect("an array and its copy");
        let mut bound = Bound { copying, bytes: 2 * size.copy_bytes, times: 1 };
        // The first is slow.
        let seconds = (0..3).map(|_| bound.seconds()).fold(f64::INFINITY, f64::min);
        bound.times = (COPIES_SECONDS / seconds).clamp(1.0, 64.0) as u32;
        bound
    }

    /// Seconds of a copy.
    fn seconds(&self) -> f64 {
        let clock = Stopwatch::start();
        self.copying.copy(self.times).expect("copies");
        clock.seconds() / f64::from(self.times)
    }
}

fn open(adapter: &Adapter) -> Device {
    Device::open(Some(adapter.pci.as_ref().unwrap_or(&adapter.name))).expect("an adapter that is listed")
}

/// What was seen of a kernel: GB/s, and its share of the copy's.
#[derive(Default)]
struct Seen {
    gigabytes_per_s: Vec<f64>,
    shares: Vec<f64>,
    copies: Vec<f64>,
}

fn quartiles(numbers: &mut [f64]) -> [f64; 3] {
    numbers.sort_by(f64::total_cmp);
    [1, 2, 3].map(|k| numbers[(numbers.len() - 1) * k / 4])
}

/// Measures `once`, which goes through `bytes` bytes and `rows` rows as often as it is told.
fn measure(
    criterion: &mut Criterion,
    name: (&str, &str),
    (bytes, rows): (usize, usize),
    bound: &Bound,
    mut go: impl FnMut(u64),
) {
    let mut seen = Seen::default();
    let mut group = criterion.benchmark_group(format!("gpu/{}", name.0));
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function(BenchmarkId::from_parameter(name.1), |bencher| {
        bencher.iter_custom(|times| {
            let clock = Stopwatch::start();
            go(times);
            let seconds = clock.seconds();
            let [rate, copy] =
                [(bytes as f64 * times as f64, seconds), (bound.bytes as f64, bound.seconds())].map(|(b, s)| b / s);
            seen.gigabytes_per_s.push(rate / 1e9);
            seen.copies.push(copy / 1e9);
            seen.shares.push(100.0 * rate / copy);
            Duration::from_secs_f64(seconds)
        });
    });
    group.finish();
    if seen.shares.is_empty() {
        return; // A filter left it out.
    }
    let [_, rate, _] = quartiles(&mut seen.gigabytes_per_s);
    let [_, copy, _] = quartiles(&mut seen.copies);
    let [low, share, high] = quartiles(&mut seen.shares);
    println!(
        "{}/{}: {rate:.2} GB/s, {:.3e} rows/s; {share:.0} % ({low:.0} to {high:.0}) of the copy's {copy:.1} GB/s",
        name.0,
        name.1,
        rate * 1e9 / bytes as f64 * rows as f64,
    );
}

/// Gradients of batches of `batch` rows, two under way.
fn batches(gradients: &mut DeviceGradients, rows: usize, batch: usize, times: u64) {
    let (x, mut out) = (vec![0.01; gradients.width()], vec![0.0; gradients.width()]);
    let lists: Vec<Vec<u32>> =
        (0..rows / batch).map(|k| (k * batch..(k + 1) * batch).map(|row| row as u32).collect()).collect();
    let depth = gradients.depth() as u64;
    for k in 0..times {
        if k >= depth {
            gradients.take(&mut out).expect("a gradient");
        }
        gradients.start(&x, 0.0, &lists[k as usize % lists.len()]).expect("a batch");
    }
    for _ in 0..times.min(depth) {
        gradients.take(&mut out).expect("a gradient");
    }
}

/// A gradient of all rows at once, and of batches.
fn gradients(criterion: &mut Criterion, name: &str, terms: &Terms, options: &Options, on: &Adapter, bound: &Bound) {
    let rows = terms.rows();
    let mut made = DeviceGradients::new(open(on), terms.clone(), options).expect("on the device");
    if made.resident() < rows {
        println!("{name}: {} of {rows} rows are on the device, the others are sent each time", made.resident());
    }
    let batch = options.batch_rows.min(rows);
    let of = if batch == rows { "all".to_string() } else { format!("{batch} rows") };
    measure(criterion, (name, &of), (bytes(terms, batch), batch), bound, |times| {
        batches(&mut made, rows, batch, times);
    });
}

fn dense_rows(criterion: &mut Criterion, adapter: &Adapter, size: &Size, bound: &Bound) {
    for (rows, width) in [(size.rows, 512), (size.rows / 8, 4096), (size.rows / 16, 8192)] {
        let terms = dense(rows, width);
        let name = format!("dense {rows} x {width}");
        gradients(criterion, &format!("{name} f32"), &terms, &Options::new(rows), adapter, bound);
        if width == 512 {
            gradients(criterion, &format!("{name} f32"), &terms, &Options::new(BATCH.min(rows)), adapter, bound);
            let halved = terms.halved().expect("small numbers");
            gradients(criterion, &format!("{name} f16"), &halved, &Options::new(rows), adapter, bound);
        }
    }
}

fn sparse_rows(criterion: &mut Criterion, adapter: &Adapter, size: &Size, bound: &Bound) {
    let (rows, width) = (size.rows, 50_000);
    let terms = sparse(rows, width);
    let name = format!("sparse {rows} x {width}, {ENTRIES} a row");
    gradients(criterion, &name, &terms, &Options::new(rows), adapter, bound);
    gradients(criterion, &name, &terms, &Options::new(BATCH.min(rows)), adapter, bound);
    let exchanged = Options { float_atomics: false, ..Options::new(rows) };
    gradients(criterion, &format!("{name}, bits exchanged"), &terms, &exchanged, adapter, bound);
    let by_columns = Options { by_columns: true, ..Options::new(rows) };
    gradients(criterion, &format!("{name}, by columns"), &terms, &by_columns, adapter, bound);

    let mut made = DeviceGradients::new(open(adapter), terms.clone(), &Options::new(rows)).expect("on the device");
    let (mut x, mut constant) = (vec![0.01; width], 0.0);
    let all = (bytes(&terms, rows), rows);
    measure(criterion, (&name, "objective"), all, bound, |times| {
        for _ in 0..times {
            made.objective(&x, 0.0).expect("an objective");
        }
    });
    let list: Vec<u32> = (0..rows as u32).collect();
    for (merge, lossless) in [("lossy", false), ("lossless", true)] {
        let pass = Pass { step: 1e-6, free: false, lossless, alone: false };
        measure(criterion, (&name, &format!("hogwild, {merge}")), all, bound, |times| {
            (0..times).for_each(|_| made.hogwild(&mut x, &mut constant, &list, &pass).expect("a pass"));
        });
    }
}

/// Rounds of runs to a target, and seconds that a run may take.
const ROUNDS: usize = 3;
const RUN_SECONDS: f64 = 5.0;

/// Rows whose class a plane tells, but for a tenth of them.
fn classes(rows: usize, width: u32, entries: u32) -> Data {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let plane: Vec<f32> = (0..width).map(|_| random.random_range(-1.0..1.0)).collect();
    let (mut lines, mut labels) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for _ in 0..rows {
        let mut slots: Vec<u32> = match entries == width {
            true => (0..width).collect(),
            false => (0..entries).map(|_| random.random_range(0..width)).collect(),
        };
        slots.sort_unstable();
        slots.dedup();
        let scale = 1.0 / (slots.len() as f32).sqrt();
        let line: Vec<(u32, f32)> =
            slots.into_iter().map(|slot| (slot, scale * random.random_range(-1.0f32..1.0))).collect();
        let side: f32 = line.iter().map(|&(slot, value)| value * plane[slot as usize]).sum();
        let flipped = random.random_bool(0.1);
        labels.push(if (side > 0.0) != flipped { 1.0 } else { -1.0 });
        lines.push(line);
    }
    data::from_rows(&lines, &labels, width as usize).expect("rows")
}

/// Seconds of solving and epochs of a run, and whether it came to the target. The cpus alone take mini-batches as they usually do;
/// beside a device they are as large as its.
fn run(data: Data, on: GradientsOn, adapter: &Adapter) -> (f64, f64, bool) {
    let named = Some(adapter.pci.as_ref().unwrap_or(&adapter.name).clone());
    let mut setup = Setup::default();
    match on {
        GradientsOn::Cpu => setup.method = MethodKind::named("minibatch"),
        _ => setup.gradients = Settings { on, adapter: named, ..Settings::cpu() },
    }
    (setup.problem.l2, setup.parameters.merge) = (L2::Value(1e-3), MergeKind::Lossless);
    (setup.stop.target, setup.stop.max_seconds) = (Some(1e-4), Some(RUN_SECONDS));
    setup.workers.count = if on == GradientsOn::Gpu { Count::Exactly(1) } else { Count::Cores };
    let plan = plan(&Topology::of_host().expect("a topology"), &setup).expect("a plan");
    let found = solve(data, &setup, &plan, Start::default(), &mut Silent).expect("solved");
    (found.seconds.solve, found.epochs, found.stop == StopReason::Target)
}

/// By the cpus, by the device and by both, to a gap of 10⁻⁴.
fn to_a_target(adapter: &Adapter, rounds: usize) {
    let dense = if adapter.software { (4_000, 64, 64) } else { (200_000, 512, 512) };
    let sparse = if adapter.software { (4_000, 2_000, 32) } else { (200_000, 50_000, 64) };
    for (name, (rows, width, entries)) in [("dense", dense), ("sparse", sparse)] {
        let ways = [("cpus", GradientsOn::Cpu), ("gpu", GradientsOn::Gpu), ("both", GradientsOn::Both)];
        let data = Repeated::new(classes(rows, width, entries)).expect("rows");
        let mut seen = ways.map(|_| (Vec::new(), Vec::new(), 0));
        for _ in 0..rounds {
            for ((_, on), (seconds, speeds, reached)) in ways.into_iter().zip(&mut seen) {
                let (taken, epochs, is_there) = run(data.again(), on, adapter);
                seconds.push(taken);
                speeds.push(rows as f64 * epochs / taken);
                *reached += usize::from(is_there);
            }
        }
        let mut alone = 0.0;
        for ((way, on), (seconds, speeds, reached)) in ways.into_iter().zip(&mut seen) {
            let ([_, middle, _], [_, speed, _]) = (quartiles(seconds), quartiles(speeds));
            let (least, most) = (seconds[0], seconds[rounds - 1]);
            print!(
                "{name} {rows} x {width} to 1e-4 by {way}: {reached} of {rounds} runs, {middle:.4} s ({least:.4} to {most:.4}), {speed:.3e} rows/s"
            );
            match on {
                GradientsOn::Both => println!(", {:.0} % of both alone", 100.0 * speed / alone),
                _ => println!(),
            }
            alone += speed;
        }
    }
}

fn kernels(criterion: &mut Criterion) {
    let all = match gpu::list() {
        Ok(all) => all,
        Err(error) => return println!("skipped: {error}"),
    };
    let real = all.iter().any(|adapter| !adapter.software);
    for adapter in all.iter().filter(|adapter| !(real && adapter.software)) {
        let size = Size::of(adapter);
        let bound = Bound::of(adapter, &size);
        println!(
            "{} ({}, {}): a copy of {} MiB has {:.1} GB/s",
            adapter.name,
            if adapter.software { "software" } else { adapter.kind },
            adapter.driver,
            size.copy_bytes >> 20,
            bound.bytes as f64 / bound.seconds() / 1e9
        );
        dense_rows(criterion, adapter, &size, &bound);
        sparse_rows(criterion, adapter, &size, &bound);
        // Once where it is only to be seen that it runs (`cargo test --benches`).
        let asked = |word: &str| std::env::args().any(|arg| arg == word);
        to_a_target(adapter, if asked("--bench") && !asked("--test") { ROUNDS } else { 1 });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500));
    targets = kernels
}
criterion_main!(benches);
