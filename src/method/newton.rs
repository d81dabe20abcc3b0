//! Newton's method with sampled curvature, for any number of rows and up to some hundred columns.
//!
//! An epoch takes a direction δ from a model of F at x, moves to x + tδ, t the first of 1, ½, ¼, … that lowers F by a
//! ten-thousandth of what the model promises, and there is one pass over the data in it, for loss and gradient at
//! x + δ. Where that lowers F enough, the next epoch starts from it.
//!
//! **Where r is smooth** (λ₂ or nothing) the directions are those of L-BFGS (Nocedal, Math. Comp. 1980) whose first matrix is
//! not a multiple of the identity but λ₂ + H, with H the curvature of the loss over a sample of m rows, factored once
//! (Cholesky): off by about √(d/m) of itself, which the pairs of steps and gradients then make good. m is 20d, or so many
//! that taking them costs what a pass does; rows are drawn by how much they weigh, which took half the time of drawing
//! them evenly on w8a and on 500 dense columns. H is taken anew while F still falls fast, since far from the optimum it
//! changes; then once more from all rows, if they are short enough for that to cost no more than a few passes; and from a
//! larger sample whenever the promises fall too slowly for what another matrix costs.
//!
//! **Where it is not**, δ = argmin gᵀδ + ½δᵀHδ + r(x + δ), by coordinate descent: the proximal Newton step of Lee, Sun and
//! Saunders (SIOPT 2014) with the sampled curvature of Byrd, Chin, Neveitt and Nocedal (SIOPT 2011), taken anew each
//! epoch. When the promise falls by less than a factor of ten an epoch the sample grows fourfold, up to all rows: then the
//! convergence is Newton's own.
//!
//! **Damping.** A part of each coordinate's bound φ″max (1/W) Σ wᵢ aᵢⱼ² is added to the curvature along it when a direction had to
//! be halved three times or more, ten times as much each time, and taken back by halves: what a sample does not see, or
//! columns that add up to each other, else send x far along directions in which nothing is known (Levenberg 1944).
//!
//! **For the hinge loss**, which has no second derivative, the directions are those of a sequence of smoothed problems
//! (module `multipliers` below).
//!
//! Shares x, which is written between passes only. Each worker has a d × d matrix; the direction is serial, O(d³) for
//! a factorisation and O(d²) else.

use super::{
    About, Facts, Intercept, Method,
    batch::{Ask, Batch, Found},
};
use crate::{
    config::{Constraint, L2, Problem},
    loss::Loss,
    objective::Frame,
    prox::Prox,
};
use multipliers::Multipliers;
use quadratic::{Factor, Model, dot};
use std::collections::VecDeque;

mod multipliers;
mod quadratic;

/// Columns from which the direction, which is serial, and the matrices are no longer small beside a pass.
pub const COLUMNS_MAX: usize = 4096;
/// Sampled rows for each column.
const ROWS_A_COLUMN: usize = 20;
/// Sampled rows, at least.
const SAMPLE_MIN: usize = 500;
/// The ratio of one epoch's promise to the last above which it is time for another matrix.
const SLOW: f64 = 0.1;
/// By how much the sample then grows, where it may.
const GROW: usize = 4;
/// A promise larger than this part of F: x is still far away, and the curvature where it was says little.
const FAR: f64 = 0.02;
/// Pairs of steps and gradients that are kept.
const PAIRS: usize = 10;
/// A matrix from all rows is taken to be cheap if it costs no more than so many passes.
const CHEAP: f64 = 16.0;
/// The promise that an epoch should leave of the one before: else it is time for another matrix, as soon as the epochs
/// with the present one cost as much as that.
const FAST: f64 = 0.3;
/// Halvings of t that tell of a model that is wrong along some direction, what the damping is then multiplied with, and what
/// it is at least.
const TROUBLE: u32 = 3;
const DAMP: f64 = 10.0;
const DAMPING_LEAST: f64 = 1e-4;
/// The damping at first where some coordinate has no λ₂: what a sample does not see is then without any curvature.
const DAMPING_FIRST: f64 = 1e-3;
/// Armijo's constant.
const ENOUGH: f64 = 1e-4;
/// Halvings of t after which x stays: rounding is all that is left.
const HALVINGS: u32 = 40;

/// Whether the hinge loss can be minimised under this penalty: λ₂ > 0 and nothing else, and no constant.
pub fn takes_hinge(problem: &Problem) -> bool {
    let Problem { l1, l2, constraint, intercept, .. } = *problem;
    l2 != L2::Value(0.0) && l1 == 0.0 && constraint == Constraint::None && !intercept
}

pub(super) const FACTS: Facts = Facts {
    step: Err("goes as far as its model of F says"),
    intercept: Intercept::Column,
    passes: true,
    fixed: Some("models an F that is convex, and that of a product of parameters is not"),
    ..Facts::PRIMAL
};

pub(super) fn make(about: &About<'_>) -> Newton {
    Newton::new(about.frame, about.nonzeros)
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Newton {
    frame: Frame,
    row_nonzeros: f64,
}

impl Newton {
    /// For a loss with a second derivative, or the hinge loss with λ₂ alone ([`takes_hinge`]), and data of `nonzeros` entries.
    pub fn new(frame: &Frame, nonzeros: u64) -> Self {
        Newton { frame: frame.clone(), row_nonzeros: nonzeros as f64 / frame.rows.max(1) as f64 }
    }
}

impl Method for Newton {
    type Local = ();
    type Pending = ();

    fn batch(&self) -> Option<Box<dyn Batch>> {
        if self.frame.loss == Loss::Hinge {
            return Some(Box::new(Multipliers::new(&self.frame, self.row_nonzeros)));
        }
        Some(Box::new(Iteration::new(&self.frame, self.row_nonzeros)))
    }
}

/// What the pass that is under way is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The columns' norms, once.
    Norms,
    /// Loss and gradient at the start.
    Start,
    /// The curvature at x.
    Model,
    /// Loss and gradient at x + tδ.
    Trial,
}

struct Iteration {
    weight: f64,
    /// r by coordinate.
    proxes: Vec<Prox>,
    /// sup φ″.
    curvature: f64,
    smooth: bool,
    /// Number of rows, how many are sampled, and Σ wᵢ φ″ᵢ‖aᵢ‖² at x, by which they are.
    rows: usize,
    sample: usize,
    spread: f64,
    stage: Stage,
    /// φ″max (1/W) Σ wᵢ aᵢⱼ²: what the curvature along each coordinate is at most.
    bounds: Vec<f64>,
    /// The point that was accepted last, and there F, the loss's gradient, and where r is smooth F's.
    x: Vec<f64>,
    objective: f64,
    gradient: Vec<f64>,
    slope: Vec<f64>,
    /// The model's matrix, and what the steps since then have taught.
    factor: Option<Factor>,
    pairs: VecDeque<Pair>,
    /// By which part of its bound the curvature is made larger.
    damping: f64,
    /// Epochs with that matrix, and the first promise of it.
    age: usize,
    promise_first: f64,
    /// Entries of a row, and whether φ″ is the same everywhere.
    row_nonzeros: f64,
    quadratic: bool,
    /// δ.
    direction: Vec<f64>,
    /// gᵀδ + r(x + δ) − r(x) < 0, and what it was before.
    promise: f64,
    promise_before: f64,
    /// t.
    length: f64,
    halvings: u32,
}

/// A step and the change of the gradient along it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// Their inner product, above 0.
    product: f64,
}

impl Batch for Iteration {
    fn begin(&mut self, x: &mut [f64]) -> Ask {
        if self.x == x {
            return self.go_on(x);
        }
        self.x = x.to_vec();
        (self.stage, self.factor) = (Stage::Start, None);
        if self.bounds.is_empty() {
            self.stage = Stage::Norms;
            return Ask::Norms;
        }
        Ask::Gradient
    }

    fn next(&mut self, x: &mut [f64], found: Found<'_>) -> Ask {
        match self.stage {
            Stage::Norms => {
                let unit = self.curvature / self.weight;
                self.bounds = found.vector.iter().map(|norm2| unit * norm2).collect();
                self.stage = Stage::Start;
                Ask::Gradient
            }
            Stage::Start => {
                self.accept(x, found);
                self.go_on(x)
            }
            Stage::Model => {
                if !self.aim(found.matrix) {
                    return Ask::Done;
                }
                self.step(x)
            }
            Stage::Trial => {
                let there = self.value(x, found.sums.loss);
                // Where the promise drowns in the rounding of F there is nothing to compare.
                let blind = self.promise.abs() <= 1e-15 * self.objective.abs();
                if there <= self.objective + ENOUGH * self.length * self.promise || (blind && there.is_finite()) {
                    self.accept(x, found);
                    self.learn();
                    return Ask::Done;
                }
                self.halvings += 1;
                self.length *= 0.5;
                self.step(x)
            }
        }
    }

    /// ‖∇F‖²/(2λ₂) over F, which is the gap at α = −φ′(z), where r is λ₂ on every coordinate; else there is none.
    fn certificate(&self) -> Option<f64> {
        let l2 = self.proxes.first()?.l2;
        let pure = l2 > 0.0 && self.proxes.iter().all(|prox| prox.is_pure_l2() && prox.l2 == l2);
        pure.then(|| dot(&self.slope, &self.slope) / (2.0 * l2) / self.objective.abs().max(1e-300))
    }
}

impl Iteration {
    fn new(frame: &Frame, row_nonzeros: f64) -> Self {
        let d = frame.slots.width();
        let proxes: Vec<Prox> = (0..d).map(|j| frame.prox_of(j)).collect();
        // A free constant is in every row.
        let bare = (0..d).any(|j| proxes[j].l2 == 0.0 && frame.free != Some(j));
        Iteration {
            damping: if bare { DAMPING_FIRST } else { 0.0 },
            weight: frame.total_weight,
            smooth: proxes.iter().all(|prox| prox.is_pure_l2() || prox.is_none()),
            proxes,
            curvature: frame.loss.curvature(),
            rows: frame.rows,
            sample: (ROWS_A_COLUMN * d).max((frame.rows as f64 / row_nonzeros.max(1.0)) as usize).max(SAMPLE_MIN),
            spread: 0.0,
            stage: Stage::Norms,
            bounds: Vec::new(),
            x: Vec::new(),
            objective: 0.0,
            gradient: Vec::new(),
            slope: Vec::new(),
            factor: None,
            pairs: VecDeque::new(),
            age: 0,
            promise_first: f64::NEG_INFINITY,
            row_nonzeros,
            quadratic: frame.loss == Loss::Squared,
            direction: Vec::new(),
            promise: f64::NEG_INFINITY,
            promise_before: f64::NEG_INFINITY,
            length: 1.0,
            halvings: 0,
        }
    }

    /// F at x.
    fn value(&self, x: &[f64], loss: f64) -> f64 {
        loss / self.weight + x.iter().zip(&self.proxes).map(|(&x, prox)| prox.value(x)).sum::<f64>()
    }

    /// x becomes the point to go on from.
    fn accept(&mut self, x: &[f64], found: Found<'_>) {
        let gradient: Vec<f64> = found.vector.iter().map(|sum| sum / self.weight).collect();
        let slope: Vec<f64> = (0..x.len()).map(|j| gradient[j] + self.proxes[j].l2 * x[j]).collect();
        if self.factor.is_some() {
            let step: Vec<f64> = x.iter().zip(&self.x).map(|(new, old)| new - old).collect();
            let change: Vec<f64> = slope.iter().zip(&self.slope).map(|(new, old)| new - old).collect();
            let product = dot(&step, &change);
            // What rounding is left of a short step teaches nothing.
            if product > 1e-10 * dot(&step, &step).sqrt() * dot(&change, &change).sqrt() {
                self.pairs.truncate(PAIRS - 1);
                self.pairs.push_front(Pair { step, change, product });
            }
        }
        (self.objective, self.spread) = (self.value(x, found.sums.loss), found.sums.spread);
        self.x.copy_from_slice(x);
        (self.gradient, self.slope) = (gradient, slope);
    }

    /// What comes next at a point whose gradient is known.
    fn go_on(&mut self, x: &mut [f64]) -> Ask {
        if self.factor.is_some() && !self.outworn() {
            self.age += 1;
            self.bend();
            return self.step(x);
        }
        if self.quadratic && self.smooth {
            self.takes_all();
        }
        self.stage = Stage::Model;
        Ask::Curvature { rows: self.sample, spread: self.spread }
    }

    /// Whether the matrix no longer serves. A larger sample follows where it is the sample that does not.
    fn outworn(&mut self) -> bool {
        if !self.quadratic && self.promise.abs() > FAR * self.objective.abs() {
            return true;
        }
        let slow = self.promise.abs() > self.promise_first.abs() * FAST.powi(self.age as i32);
        let due = slow && self.age as f64 >= self.passes(self.sample).max(3.0);
        if due {
            self.enlarge();
        }
        due || self.takes_all()
    }

    /// Takes a larger sample from now on.
    fn enlarge(&mut self) {
        self.sample = self.sample.saturating_mul(GROW).min(self.rows);
    }

    /// By how much the curvature is made larger along each coordinate, as a part of its bound.
    fn damped(&self, diagonal: &[f64]) -> Vec<f64> {
        diagonal.iter().zip(&self.bounds).map(|(h, bound)| h + self.damping * bound).collect()
    }

    /// More damping after a direction of which little was good, less after one that was.
    fn learn(&mut self) {
        if self.halvings >= TROUBLE {
            self.damping = (DAMP * self.damping).max(DAMPING_LEAST);
            self.factor = None;
        } else if self.halvings == 0 {
            self.damping /= 2.0;
        }
    }

    /// What a matrix from `sample` rows costs, in passes: half the square of a row's entries for each of them, and a
    /// factorisation, beside two times the entries of all rows.
    fn passes(&self, sample: usize) -> f64 {
        let (d, pass) = (self.x.len() as f64, 2.0 * self.row_nonzeros.max(1.0) * self.rows as f64);
        (0.5 * self.row_nonzeros.powi(2) * sample.min(self.rows) as f64 + d.powi(3) / 6.0) / pass
    }

    /// Turns from a sample to all rows, once, where that is cheap.
    fn takes_all(&mut self) -> bool {
        let turns = self.sample < self.rows && self.passes(self.rows) <= CHEAP;
        if turns {
            self.sample = self.rows;
        }
        turns
    }

    /// The diagonal of `matrix`, W times H. A column of few rows may be in none that was sampled, and its step would be
    /// without measure: there it is the bound.
    fn diagonal(&self, matrix: &[f64]) -> Vec<f64> {
        let d = self.bounds.len();
        let sampled = (0..d).map(|j| matrix[j * d + j] / self.weight);
        sampled.zip(&self.bounds).map(|(sampled, &bound)| if sampled > 0.0 { sampled } else { bound }).collect()
    }

    /// δ for the curvature `matrix`, W times H; false where there is none.
    fn aim(&mut self, matrix: &[f64]) -> bool {
        let diagonal = self.damped(&self.diagonal(matrix));
        let model = Model { matrix, weight: self.weight, diagonal: &diagonal, gradient: &self.gradient };
        if self.smooth {
            let ridge: Vec<f64> = self.proxes.iter().map(|prox| prox.l2).collect();
            self.factor = model.factor(&ridge);
            self.pairs.clear();
            self.age = 0;
            if self.factor.is_none() {
                return false;
            }
            self.bend();
            self.promise_first = self.promise;
            return true;
        }
        let direction = model.descend(&self.x, &self.proxes);
        self.head(direction);
        if self.promise.abs() > SLOW * self.promise_before.abs() {
            self.enlarge();
        }
        true
    }

    /// δ of L-BFGS: two loops over the pairs, newest first and then oldest first, around the factored matrix.
    fn bend(&mut self) {
        let Some(factor) = &self.factor else { return };
        let mut direction: Vec<f64> = self.slope.iter().map(|slope| -slope).collect();
        let mut parts = Vec::with_capacity(self.pairs.len());
        for pair in &self.pairs {
            let part = dot(&pair.step, &direction) / pair.product;
            direction.iter_mut().zip(&pair.change).for_each(|(d, change)| *d -= part * change);
            parts.push(part);
        }
        factor.solve(&mut direction);
        for (pair, part) in self.pairs.iter().zip(parts).rev() {
            let back = dot(&pair.change, &direction) / pair.product;
            direction.iter_mut().zip(&pair.step).for_each(|(d, step)| *d += (part - back) * step);
        }
        self.head(direction);
    }

    fn head(&mut self, direction: Vec<f64>) {
        let change = |(j, (&x, &step)): (usize, (&f64, &f64))| {
            let prox = self.proxes[j];
            // Rounding must not take a coordinate out of its bounds.
            self.gradient[j] * step + prox.value((x + step).clamp(prox.lo, prox.hi)) - prox.value(x)
        };
        self.promise_before = self.promise;
        self.promise = self.x.iter().zip(&direction).enumerate().map(change).sum();
        self.direction = direction;
        (self.length, self.halvings) = (1.0, 0);
    }

    /// To x + tδ; or back to x, where no t was good.
    fn step(&mut self, x: &mut [f64]) -> Ask {
        self.stage = Stage::Trial;
        let down = self.promise < 0.0;
        if self.halvings > HALVINGS || !down {
            x.copy_from_slice(&self.x);
            self.learn();
            self.factor = None;
            return Ask::Done;
        }
        for (j, x) in x.iter_mut().enumerate() {
            let Prox { lo, hi, .. } = self.proxes[j];
            *x = (self.x[j] + self.length * self.direction[j]).clamp(lo, hi);
        }
        Ask::Gradient
    }
}
