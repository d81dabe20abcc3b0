//! Matrix completion: a bilinear model of the stored entries, with two blocks of parameters, held to the closed form that a
//! fully seen matrix has and to alternating least squares where few entries are seen.

use super::solve::{planned, setup};
use farrow::{
    checkpoint::Checkpoint,
    config::{Granularity, L2, MergeKind, MethodKind, Runner, Settings, Setup, StepKind},
    data::{self, Data},
    loss::Loss,
    model::{Factors, Model},
    prox::Prox,
    solve::{Outcome, Start, solve},
    trace::{Continue, Observer, Sample, Silent, Snapshot},
};

const HOGWILD: MethodKind = MethodKind::Hogwild;
const EXCHANGES: [&str; 6] = ["average", "allreduce", "sgp", "osgp", "adpsgd", "ring"];

type Entries = Vec<Vec<(u32, f32)>>;

fn made(rows: &Entries, columns: usize) -> Data {
    data::from_rows(rows, &vec![0.0; rows.len()], columns).expect("valid rows")
}

fn problem(rank: usize, l2: f64, epochs: u64) -> Setup {
    let mut setup = setup(HOGWILD, Loss::Squared);
    (setup.problem.rank, setup.problem.l2) = (Some(rank), L2::Value(l2));
    (setup.stop.target, setup.stop.max_epochs) = (None, epochs);
    setup.stop.evaluate_every = Some(epochs);
    setup.step = Some(StepKind::Diminishing { initial: None, half: 20.0 });
    setup
}

fn fitted(data: Data, setup: &mut Setup, workers: usize, granularity: Granularity) -> Outcome {
    let plan = planned(setup, workers, granularity);
    solve(data, setup, &plan, Start::default(), &mut Silent).expect("solved")
}

const SINGULAR: [f64; 3] = [20.0, 10.0, 4.0];
/// Rows and columns of the matrix that is seen whole, and Nλ for its N entries.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
const THRESHOLD: f64 = 2.0;

/// Σ σₖ pₖqₖᵀ, pₖ and qₖ the orthonormal vectors of a cosine transform.
fn whole() -> Entries {
    let wave = |k: usize, i: usize, n: usize| {
        (2.0 / n as f64).sqrt() * (std::f64::consts::PI * (i as f64 + 0.5) * k as f64 / n as f64).cos()
    };
    let entry = |i, j| {
        let each = SINGULAR.iter().enumerate();
        each.map(|(k, sigma)| sigma * wave(k + 1, i, ROWS) * wave(k + 1, j, COLUMNS)).sum::<f64>()
    };
    (0..ROWS).map(|i| (0..COLUMNS).map(|j| (j as u32, entry(i, j) as f32)).collect()).collect()
}

/// F* of the matrix seen whole: (λ/2)(‖U‖² + ‖V‖²) is at its least λ times the sum of UVᵀ's singular values (Srebro, Rennie,
/// Jaakkola, NIPS 2004), and F is least where each of A's is Nλ smaller.
fn closed_form() -> f64 {
    let n = (ROWS * COLUMNS) as f64;
    let each = SINGULAR.iter().map(|sigma| {
        let kept = (sigma - THRESHOLD).max(0.0);
        0.5 * (sigma - kept).powi(2) + THRESHOLD * kept
    });
    each.sum::<f64>() / n
}

fn lambda() -> f64 {
    THRESHOLD / (ROWS * COLUMNS) as f64
}

#[test]
fn a_matrix_seen_whole_comes_to_its_shrunken_singular_values_on_every_store_and_runner() {
    let best = closed_form();
    for runner in [Runner::Interleaved, Runner::Threads] {
        for merge in [MergeKind::Lossy, MergeKind::Lossless, MergeKind::Locked, MergeKind::Consistent] {
            for (workers, granularity) in
                [(1, Granularity::Machine), (4, Granularity::Machine), (2, Granularity::Node)]
            {
                for rank in [3, 5] {
                    let mut setup = problem(rank, lambda(), 400);
                    (setup.runner, setup.parameters.merge) = (runner, merge);
                    let found = fitted(made(&whole(), COLUMNS), &mut setup, workers, granularity);
                    let off = found.objective / best - 1.0;
                    assert!(
                        (-1e-6..0.01).contains(&off),
                        "{runner:?} {merge:?} {workers} {granularity:?} {rank}: {off}"
                    );
                    assert_eq!(found.model.factors, Some(Factors { rank, rows: ROWS }));
                    assert_eq!(found.model.weights.len(), rank * (ROWS + COLUMNS));
                }
            }
        }
    }
}

#[test]
fn every_exchange_draws_both_blocks_together() {
    let best = closed_form();
    // A row's block moves in one replica of four, and an average dilutes it: four times the epochs.
    for exchange in EXCHANGES {
        for runner in [Runner::Interleaved, Runner::Threads] {
            let text = format!("[exchange]\nkind = \"{exchange}\"\nevery = 4\n");
            let mut settings = Settings::new();
            settings.text("few.toml", &text).unwrap();
            let mut setup = problem(3, lambda(), 1600);
            setup.step = Some(StepKind::Diminishing { initial: None, half: 80.0 });
            (setup.exchange, setup.runner) = (settings.check().unwrap().exchange, runner);
            let found = fitted(made(&whole(), COLUMNS), &mut setup, 4, Granularity::Core);
            let off = found.objective / best - 1.0;
            assert!((-1e-6..0.01).contains(&off), "{exchange} {runner:?}: {off}");
        }
    }
}

/// Entries of a matrix of rank 2 with noise, about a third of them, and the ones that are kept back.
fn seen() -> (Entries, Entries) {
    let (rows, columns) = (60usize, 30usize);
    let mut state = 7u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 * 2f64.powi(-53)
    };
    let mut factor =
        |count: usize| (0..count).map(|_| [2.0 * uniform() - 1.0, 2.0 * uniform() - 1.0]).collect::<Vec<_>>();
    let (u, v) = (factor(rows), factor(columns));
    let mut random = |below: f64| below * uniform();
    let (mut kept, mut back): (Entries, Entries) = (vec![Vec::new(); rows], vec![Vec::new(); rows]);
    for (i, u) in u.iter().enumerate() {
        for (j, v) in v.iter().enumerate() {
            let value = u[0] * v[0] + u[1] * v[1] + random(0.04) - 0.02;
            let to = if random(1.0) < 0.35 { &mut kept } else { &mut back };
            to[i].push((j as u32, value as f32));
        }
    }
    (kept, back)
}

/// The least F that alternating least squares comes to from a few starts: every block in turn is the solution of its own
/// least-squares problem.
fn alternating(entries: &Entries, columns: usize, rank: usize, l2: f64) -> f64 {
    let list: Vec<(usize, usize, f64)> = entries
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().map(move |&(j, a)| (i, j as usize, f64::from(a))))
        .collect();
    let count = list.len() as f64;
    let start = |k: usize| ((k as f64 * 12.9898).sin() * 43758.5453).fract();
    let from = |seed: usize| {
        let mut u: Vec<Vec<f64>> = vec![vec![0.0; rank]; entries.len()];
        let mut v: Vec<Vec<f64>> =
            (0..columns).map(|j| (0..rank).map(|k| start(seed + j * rank + k)).collect()).collect();
        for _ in 0..3000 {
            for side in [true, false] {
                let (to, other) = if side { (&mut u, &v) } else { (&mut v, &u) };
                let mut systems = vec![(vec![vec![0.0; rank]; rank], vec![0.0; rank]); to.len()];
                for &(i, j, a) in &list {
                    let (this, that) = if side { (i, j) } else { (j, i) };
                    let (matrix, right) = &mut systems[this];
                    for p in 0..rank {
                        (0..rank).for_each(|q| matrix[p][q] += other[that][p] * other[that][q]);
                        right[p] += a * other[that][p];
                    }
                }
                for (block, (mut matrix, right)) in to.iter_mut().zip(systems) {
                    (0..rank).for_each(|p| matrix[p][p] += count * l2);
                    *block = solved(matrix, right);
                }
            }
        }
        let dot = |i: usize, j: usize| u[i].iter().zip(&v[j]).map(|(u, v)| u * v).sum::<f64>();
        let fit: f64 = list.iter().map(|&(i, j, a)| (dot(i, j) - a).powi(2)).sum();
        let norm: f64 = u.iter().chain(&v).flatten().map(|x| x * x).sum();
        fit / (2.0 * count) + l2 / 2.0 * norm
    };
    (0..4).map(|seed| from(1000 * seed)).fold(f64::INFINITY, f64::min)
}

/// x of a positive definite system, by elimination.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for p in 0..n {
        for q in p + 1..n {
            let (above, below) = matrix.split_at_mut(q);
            let factor = below[0][p] / above[p][p];
            below[0].iter_mut().zip(&above[p]).skip(p).for_each(|(to, from)| *to -= factor * from);
            right[q] -= factor * right[p];
        }
    }
    for p in (0..n).rev() {
        let rest: f64 = (p + 1..n).map(|k| matrix[p][k] * right[k]).sum();
        right[p] = (right[p] - rest) / matrix[p][p];
    }
    right
}

#[test]
fn a_matrix_seen_in_part_comes_to_what_alternating_least_squares_finds_and_tells_the_rest() {
    let (kept, back) = seen();
    let best = alternating(&kept, 30, 2, 5e-4);
    for (workers, granularity) in [(1, Granularity::Machine), (4, Granularity::Machine), (4, Granularity::Core)] {
        for runner in [Runner::Interleaved, Runner::Threads] {
            let mut setup = problem(2, 5e-4, 400);
            setup.runner = runner;
            let found = fitted(made(&kept, 30), &mut setup, workers, granularity);
            let off = found.objective / best - 1.0;
            assert!((-1e-6..0.01).contains(&off), "{workers} {granularity:?} {runner:?}: {off}, {best}");
            let (mut errors, mut squares) = (0.0, 0.0);
            for (i, row) in back.iter().enumerate() {
                for &(j, a) in row {
                    errors += (found.model.entry(i, j as usize).unwrap() - f64::from(a)).powi(2);
                    squares += f64::from(a).powi(2);
                }
            }
            assert!(errors < 0.05 * squares, "{} of what was not seen", errors / squares);
            let judged = found
                .model
                .evaluate(&made(&kept, 30), &Prox { l1: 0.0, l2: 5e-4, lo: f64::NEG_INFINITY, hi: f64::INFINITY })
                .unwrap();
            assert!((judged.objective / found.objective - 1.0).abs() < 1e-9, "{}", judged.objective);
        }
    }
}

#[test]
fn one_row_of_a_column_is_the_scalar_problem() {
    // F = (uv − 3)²/2 + 0.5(u² + v²) is least where uv = 3 − 1.
    let mut setup = problem(1, 1.0, 400);
    let found = fitted(made(&vec![vec![(0, 3.0)]], 1), &mut setup, 1, Granularity::Machine);
    assert!((found.model.entry(0, 0).unwrap() - 2.0).abs() < 0.02, "{:?}", found.model);
    assert!((found.objective - 2.5).abs() < 1e-3);
}

#[test]
fn factors_stay_in_their_set() {
    let mut setup = problem(3, lambda(), 100);
    setup.problem.constraint = farrow::config::Constraint::NonNegative;
    let positive: Entries = whole().iter().map(|row| row.iter().map(|&(j, a)| (j, a.abs())).collect()).collect();
    let found = fitted(made(&positive, COLUMNS), &mut setup, 4, Granularity::Machine);
    assert!(found.model.weights.iter().all(|x| *x >= 0.0));
    let zero =
        positive.iter().flatten().map(|(_, a)| f64::from(a * a)).sum::<f64>() / 2.0 / (ROWS * COLUMNS) as f64;
    assert!(found.objective < 0.6 * zero, "{} of {zero}", found.objective);
}

/// Takes the checkpoint of epoch `at`.
struct Taken {
    at: f64,
    checkpoint: Option<Checkpoint>,
}

impl Observer for Taken {
    fn sample(&mut self, sample: &Sample, state: &dyn Snapshot) -> farrow::error::Result<Continue> {
        if sample.epoch == self.at {
            self.checkpoint = Some(state.checkpoint());
        }
        Ok(Continue::Yes)
    }
}

#[test]
fn a_run_goes_on_to_the_same_bits_and_a_model_is_a_start() {
    let mut setup = problem(3, lambda(), 20);
    (setup.runner, setup.stop.evaluate_every) = (Runner::Interleaved, Some(5));
    let plan = planned(&mut setup, 4, Granularity::Node);
    let run = |start: Start<'_>, observer: &mut dyn Observer| {
        solve(made(&whole(), COLUMNS), &setup, &plan, start, observer).expect("solved")
    };
    let mut taken = Taken { at: 10.0, checkpoint: None };
    let through = run(Start::default(), &mut taken);
    let resumed = run(Start { resume: taken.checkpoint, ..Start::default() }, &mut Silent);
    assert_eq!(resumed.model, through.model);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    through.model.save(&path, false).unwrap();
    let loaded = Model::load(&path, None).unwrap();
    assert_eq!(loaded, through.model);
    let warm = run(Start { warm: Some(loaded), ..Start::default() }, &mut Silent);
    assert!(warm.objective <= through.objective * 1.01, "{} {}", warm.objective, through.objective);
    let wrong = Model { factors: Some(Factors { rank: 2, rows: ROWS }), ..through.model };
    let start = Start { warm: Some(wrong), ..Start::default() };
    let error = solve(made(&whole(), COLUMNS), &setup, &plan, start, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("rank 2") && error.contains("rank 3"), "{error}");
}

#[test]
fn what_takes_the_model_to_be_linear_is_refused_with_the_reason() {
    for (more, says) in [
        ("loss = \"logistic\"", "two classes"),
        ("intercept = true", "linear model"),
        ("normalize = \"columns\"", "scales rows or columns"),
        ("[parameters]\nlayout = \"padded\"", "lie together"),
        ("[step]\nkind = \"adaptive1\"", "smooth"),
        ("[method]\nkind = \"dual\"", "convex"),
        ("[method]\nkind = \"bcd\"", "column"),
        ("[method]\nkind = \"newton\"", "convex"),
        ("[method]\nkind = \"minibatch\"", "move in between"),
        ("[method]\nkind = \"proxasaga\"", "multiples of rows"),
        ("[method]\nkind = \"svrg\"", "multiples of rows"),
        ("[method]\nkind = \"piag\"", "multiples of rows"),
        ("[method]\nkind = \"dense-svrg\"", "multiples of rows"),
    ] {
        let mut settings = Settings::new();
        let refused = settings
            .text("few.toml", &format!("[problem]\nrank = 3\n{more}\n"))
            .and_then(|()| settings.check().map(|_| ()))
            .unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("few.toml:") && text.contains("rank") && text.contains(says), "{more}: {text}");
    }
}
