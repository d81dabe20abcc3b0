//! A first step, where none was given: short trials on a sample of rows (Bottou, "Stochastic gradient descent tricks",
//! 2012, §4.2).

use super::{Fit, Placed};
use crate::{
    config::StepKind,
    data::matrix::Matrix,
    method::{Beside, Hogwild, Method, Pace, Term},
    objective::{Frame, Linear, Origin},
    shard::Shards,
    step::{self, Step},
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

impl Fit<'_> {
    /// The step rule with its first length, for methods that have one.
    pub(super) fn step<D: Matrix>(&self, placed: &Placed<'_, D>) -> Option<Step> {
        let method = &self.choice.method;
        if !method.has_step() {
            return None;
        }
        let usual = if method.has_companion() {
            StepKind::Constant { initial: None }
        } else {
            StepKind::Diminishing { initial: None, half: 1.0 }
        };
        let kind = self.setup.step.unwrap_or(usual);
        let saved = placed.start.resume.as_ref().and_then(|checkpoint| checkpoint.step_initial);
        let initial = step::initial(kind).or(saved).unwrap_or_else(|| {
            if method.has_companion() {
                third(&placed.shards, &placed.frame)
            } else {
                search(&placed.shards, &placed.frame)
            }
        });
        Some(Step { kind, initial })
    }
}

/// 1/(3L), L the greatest smoothness of a term (n/W) wᵢφ.
fn third<D: Matrix>(shards: &Shards<D>, frame: &Frame) -> f64 {
    let of = |part: usize| {
        let f = shards.glm(part, frame);
        (0..f.lines()).map(|i| f.weight(i) * f.norm2(i)).fold(0.0, f64::max)
    };
    let greatest = shards.once.clone().map(of).fold(0.0, f64::max);
    let smoothness = frame.rows as f64 / frame.total_weight * frame.loss.curvature() * greatest;
    if smoothness > 0.0 { 1.0 / (3.0 * smoothness) } else { 1.0 }
}

/// The candidate whose single pass over the sample leaves the least objective on the sample. Starts at 1/(φ″max times
/// the mean of ‖a‖²) and goes up or down from there as long as it gets better.
fn search<D: Matrix>(shards: &Shards<D>, frame: &Frame) -> f64 {
    let (together, passes) = if D::FIXED { (1, 1) } else { PAIRS };
    let sample = sample(shards, frame.rows, together);
    let norm2 = norms2(shards, frame, &sample);
    let curvature = if frame.loss.curvature().is_finite() { frame.loss.curvature() } else { 1.0 };
    let scale = norm2 / sample.len() as f64 * curvature;
    let start = if scale > 0.0 { 1.0 / scale } else { 1.0 };
    let trial = |gamma: f64| {
        let value = trial(shards, frame, &sample, passes, gamma);
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

/// F on the sample after `passes` passes over it with step `gamma`, from the origin.
fn trial<D: Matrix>(
    shards: &Shards<D>,
    frame: &Frame,
    sample: &[(usize, usize)],
    passes: usize,
    gamma: f64,
) -> f64 {
    let weight: f64 = sample.iter().map(|&(part, i)| shards.glm(part, frame).weight(i)).sum();
    let nonzeros = sample.iter().map(|&(part, i)| shards.parts[part].matrix.row(i).nonzeros() as u64).sum();
    let method = Hogwild::new(frame.prox, sample.len(), frame.columns, nonzeros, weight, frame.private_constant);
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
    let (mut constant, mut unsettled) = (0.0, 0);
    for (k, &(part, i)) in (0..passes).flat_map(|_| sample.iter().enumerate()) {
        let f = shards.glm(part, frame);
        let term = Term { f: &f, i, state: &[] };
        let pending = method.read(term, &x, &pace, &mut constant);
        method.write(term, &x, &beside, pending, &pace, &mut constant);
        unsettled += 1;
        if method.settle_every().is_some_and(|every| unsettled >= every || k + 1 == sample.len()) {
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
