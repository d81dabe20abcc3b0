//! Megabytes of text read a second, by kind of file, compression and threads, beside what this machine could do at most.
//!
//! Two bounds are measured in the same run on the same file: *read* copies it from the page cache into a buffer that
//! stays in the cache, and nothing else; *lines* also finds the line ends. No reader of text can be faster than the
//! second on one thread. Figures count the bytes of text, compressed or not; each is the median of `PASSES` passes (of
//! one for `.bz2`, which takes its time), and the slowest and the fastest are printed.

use farrow::{
    data::{self, ReadOptions, generate::SparseSpec},
    os::{affinity, clock::Stopwatch},
};
use std::{
    fs::{self, File},
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// Passes of each figure.
const PASSES: usize = 7;

/// The values of a file.
#[derive(Clone, Copy)]
enum Values {
    /// As `%.17g` writes them, such as 0.1723056866499252.
    Full,
    /// Such as 0.172.
    Short,
    /// All of them 1, and columns of three digits.
    Ones,
}

/// `rows` lines of LIBSVM text with the entries of the generator's rows.
fn write(path: &Path, rows: usize, values: Values) {
    let spec = SparseSpec { rows, ..SparseSpec::rcv1_like(7) };
    let data = spec.generate(2).expect("a valid specification").into_data();
    let labels = data.source.labels().expect("generated");
    let mut out = std::io::BufWriter::new(File::create(path).expect("a temporary file"));
    let mut row = 0;
    for index in 0..data.source.spans().len() {
        let data::Block::Sparse { starts, columns, values: given } = data.source.take(index).expect("generated")
        else {
            panic!("sparse rows were asked for");
        };
        for ends in starts.windows(2) {
            write!(out, "{}", labels[row]).expect("written");
            row += 1;
            for (k, entry) in (ends[0] as usize..ends[1] as usize).enumerate() {
                match values {
                    // A third is no single-precision number: the shortest decimal of a product has 16 or 17 digits.
                    Values::Full => write!(out, " {}:{}", columns[entry] + 1, f64::from(given[entry]) / 3.0),
                    Values::Short => write!(out, " {}:{:.3}", columns[entry] + 1, given[entry]),
                    Values::Ones => write!(out, " {}:1", 3 * k + 1 + columns[entry] as usize % 3),
                }
                .expect("written");
            }
            writeln!(out).expect("written");
        }
    }
    out.flush().expect("written");
}

/// The same file, compressed by bzip2 in blocks of 900 kB.
fn compress(path: &Path) -> PathBuf {
    let to = path.with_extension("bz2");
    let out = File::create(&to).expect("a temporary file");
    let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::best());
    std::io::copy(&mut File::open(path).expect("written above"), &mut encoder).expect("compressed");
    encoder.finish().expect("compressed");
    to
}

/// Prints the median and the range of `passes` passes over `bytes` bytes, by each of `threads`.
fn report(name: &str, bytes: u64, threads: usize, passes: usize, mut pass: impl FnMut()) {
    let mut seconds: Vec<f64> = (0..passes)
        .map(|_| {
            let clock = Stopwatch::start();
            pass();
            clock.seconds()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let rate = |seconds: f64| bytes as f64 / seconds / 1e6 / threads as f64;
    let (best, middle, worst) = (rate(seconds[0]), rate(seconds[passes / 2]), rate(seconds[passes - 1]));
    println!("{name:44}{middle:8.0} ({worst:.0} to {best:.0})");
}

/// Reads all of `path` in pieces and gives each to `look`.
fn scan(path: &Path, mut look: impl FnMut(&[u8])) {
    let (mut file, mut piece) = (File::open(path).expect("written above"), vec![0; 256 << 10]);
    loop {
        match file.read(&mut piece).expect("readable") {
            0 => return,
            count => look(&piece[..count]),
        }
    }
}

fn load(path: &Path, threads: usize) {
    let data = data::read(path, &ReadOptions::default(), threads).expect("well formed");
    std::hint::black_box(data.source.shape());
}

fn main() {
    // `cargo test --benches` runs this too: then once, small.
    let rows = if std::env::args().any(|argument| argument == "--bench") { 100_000 } else { 1_000 };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let most = affinity::at_start().map_or(1, |cpus| cpus.len());
    let counts = std::collections::BTreeSet::from([1, 2.min(most), most]);
    println!("{rows} rows; MB of text a second and thread, median (slowest to fastest) of {PASSES} passes");
    for (name, values) in
        [("full precision", Values::Full), ("three decimals", Values::Short), ("ones", Values::Ones)]
    {
        let path = folder.path().join("t.svm");
        write(&path, rows, values);
        let bytes = fs::metadata(&path).expect("written").len();
        report(&format!("{name}, bound: read"), bytes, 1, PASSES, || {
            scan(&path, |piece| _ = std::hint::black_box(piece))
        });
        report(&format!("{name}, bound: read and find lines"), bytes, 1, PASSES, || {
            let mut lines = 0;
            scan(&path, |piece| lines += memchr::memchr_iter(b'\n', piece).count());
            std::hint::black_box(lines);
        });
        for &threads in &counts {
            report(&format!("{name}, {threads} threads"), bytes, threads, PASSES, || load(&path, threads));
        }
        let compressed = compress(&path);
        for &threads in &counts {
            report(&format!("{name}, .bz2, {threads} threads"), bytes, threads, 1, || load(&compressed, threads));
        }
    }
}
