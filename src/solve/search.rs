//! A first step, where none was given: h/L for the rules whose theory says so, else short trials on a sample of rows (Bottou,
//! "Stochastic gradient descent tricks", 2012, §4.2).

use super::{Fit, Placed};
use crate::{
    config::StepKind,
    data::matrix::Matrix,
    method::{Beside, First, Hogwild, Method, Pace, Term, minibatch::minibatch},
    objective::{Frame, Linear, Origin},
    shard::Shards,
    step::Step,
    store::{Plain, Replica, View},
};

/// Each candidate is this many times the last.
const RATIO: f64 = 2.0;
/// Rows of the sample: a twentieth of all, within these bounds.
const SAMPLE: (usize, usize) = (2_000, 20_000);
/// Candidates tried in one direction at most.
const TRIALS: usize = 24;
/// Of a bilinear model, entries that are sampled together, so that a sample has all of a row's; and passes over the sample,
/// since from a small start the first ones hardly move.
const PAIRS: (usize, usize) = (256, 8);
/// h of h/L, below 1.
const SHARE: f64 = 0.9;

impl Fit<'_> {
    /// The step rule with its first length, for methods that have one.
    pub(super) fn step<D: Matrix>(&self, placed: &Placed<'_, D>) -> Option<Step> {
        let first = self.choice.method.facts()?.step.ok()?;
        let usual = match first {
            First::OfAll => StepKind::Adaptive1 { initial: None, alpha: StepKind::ALPHA },
            First::OfTerms => StepKind::Constant { initial: None },
            First::Searched => StepKind::Diminishing { initial: None, half: 1.0 },
        };
        let kind = self.setup.step.unwrap_or(usual);
        let saved = placed.start.resume.as_ref().and_then(|checkpoint| checkpoint.step_initial);
        let rows = self.rows_per_update();
        let initial = kind.initial().or(saved).unwrap_or_else(|| {
            if kind.is_by_smoothness() {
                SHARE / placed.smoothness(if first == First::OfAll { self.shape.rows } else { rows })
            } else if first != First::Searched {
                1.0 / (3.0 * placed.smoothness(1))
            } else {
                search(&placed.shards, &placed.frame, rows)
            }
        });
        Some(Step { kind, initial })
    }
}

/// The candidate whose single pass over the sample leaves the least objective on the sample. Starts at 1/(φ″max times
/// the mean of ‖a‖²) and goes up or down from there as long as it gets better.
fn search<D: Matrix>(shards: &Shards<D>, frame: &Frame, rows: usize) -> f64 {
    let (together, passes) = if D::FIXED { (1, 1) } else { PAIRS };
    let sample = sample(shards, frame.rows, together);
    let norm2 = norms2(shards, frame, &sample);
    let curvature = if frame.loss.curvature().is_finite() { frame.loss.curvature() } else { 1.0 };
    let scale = norm2 / sample.len() as f64 * curvature;
    let start = if scale > 0.0 { 1.0 / scale } else { 1.0 };
    let trial = |gamma: f64| {
        let value = trial(shards, frame, &sample, passes, gamma, rows);
        if value.is_finite() { value } else { f64::INFINITY }
    };
    let (mut best, mut least) = (start, trial(start));
    for ratio in [RATIO, 1.0 / RATIO] {
        let mut gamma = best;
        for _ in 0..TRIALS {
            gamma *= ratio;
            let value = trial(gamma);
            if value >= least && least.is_finite() {
                break;
            }
            if value < least {
                (best, least) = (gamma, value);
            }
        }
    }
    best
}

/// Σ ‖∂z/∂x‖² over the sample, at the origin.
fn norms2<D: Matrix>(shards: &Shards<D>, frame: &Frame, sample: &[(usize, usize)]) -> f64 {
    if D::FIXED {
        return sample.iter().map(|&(part, i)| shards.parts[part].norms2[i]).sum();
    }
    let replica = Plain::<f64>::zeros(frame.slots.width());
    let mut open = replica.open();
    let x = replica.view(&mut open);
    x.map(0..x.len(), |j, _| frame.origin.at(j));
    sample.iter().map(|&(part, i)| x.fold(shards.glm(part, frame).line(i), |_, _, a| a * a)).sum()
}

/// Rows spread evenly over all parts, `together` next to each other, as (part, line).
fn sample<D: Matrix>(shards: &Shards<D>, rows: usize, together: usize) -> Vec<(usize, usize)> {
    let count = (rows / 20).clamp(SAMPLE.0, SAMPLE.1).min(rows);
    let parts = shards.once.clone().map(|p| (p, &shards.parts[p]));
    let all = parts.flat_map(|(p, part)| (0..part.matrix.rows()).map(move |i| (p, i)));
    let stride = rows.div_ceil(count);
    all.enumerate().filter(|(k, _)| (k / together).is_multiple_of(stride)).map(|(_, line)| line).collect()
}

/// F on the sample after `passes` passes over it with step `gamma`, `rows` rows an update, from the origin.
fn trial<D: Matrix>(
    shards: &Shards<D>,
    frame: &Frame,
    sample: &[(usize, usize)],
    passes: usize,
    gamma: f64,
    rows: usize,
) -> f64 {
    let weight: f64 = sample.iter().map(|&(part, i)| shards.glm(part, frame).weight(i)).sum();
    let nonzeros = sample.iter().map(|&(part, i)| shards.parts[part].matrix.row(i).nonzeros() as u64).sum();
    let method = Hogwild::new(frame.prox, sample.len(), frame.columns, nonzeros, weight, frame.private_constant);
    let method = minibatch(method, rows);
    let width = frame.slots.width();
    let replica = Plain::<f64>::zeros(width);
    let mut open = replica.open();
    let x = replica.view(&mut open);
    let nothing = Plain::<f64>::zeros(0);
    let mut open_nothing = nothing.open();
    let beside = Beside { average: nothing.view(&mut open_nothing), rarity: &[] };
    if frame.origin != Origin::Zero {
        x.map(0..width, |j, _| frame.origin.at(j));
    }
    let pace = Pace { step: gamma, damping: 1.0, amplify: 1.0 };
    let (mut constant, mut unsettled, mut visited) = (0.0, 0, 0);
    let mut pending = Vec::with_capacity(rows.min(sample.len()));
    for batch in (0..passes).flat_map(|_| sample.chunks(rows)) {
        pending.clear();
        for &(part, i) in batch {
            let f = shards.glm(part, frame);
            pending.push(method.read(Term { f: &f, i, state: &[] }, &x, &pace, &mut constant));
        }
        for (&(part, i), &pending) in batch.iter().zip(&pending) {
            let f = shards.glm(part, frame);
            method.write(Term { f: &f, i, state: &[] }, &x, &beside, pending, &pace, &mut constant);
        }
        unsettled += batch.len() as u64;
        visited += batch.len();
        if method.settle_every().is_some_and(|every| unsettled >= every || visited == passes * sample.len()) {
            method.settle(&x, 0..width, unsettled, &pace);
            unsettled = 0;
        }
    }
    let loss: f64 = sample
        .iter()
        .map(|&(part, i)| {
            let f = shards.glm(part, frame);
            f.weight(i) * frame.loss.value(x.dot(f.line(i)) + constant, f.label(i))
        })
        .sum();
    let mut regulariser = 0.0;
    x.map(0..width, |slot, value| {
        if !frame.slots.is_hole(slot) {
            regulariser += frame.prox.value(value);
        }
        value
    });
    loss / weight + regulariser
}
