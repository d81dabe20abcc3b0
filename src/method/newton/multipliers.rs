//! The hinge loss with λ₂ alone: an augmented Lagrangian method with a semismooth Newton method inside, as SSNAL (Li, Sun
//! and Toh, SIOPT 2018) and its version for support vector machines (Yan and Li, 2020).
//!
//! With multipliers αᵢ in [0, 1] and σ > 0 the smoothed problem is to minimise
//! Fσ(x) = (1/W) Σ wᵢ φσ(zᵢ) + (λ₂/2)‖x‖² ([`crate::method::batch`]). Its gradient is g = λ₂x − (1/W) Σ wᵢ bᵢ πᵢ aᵢ, and a
//! generalised Hessian λ₂ + (σ/W) Σ wᵢ aᵢ aᵢᵀ over the active rows alone: near the optimum no more than about d. A Newton
//! step solves with it (of a sample of the active rows where there are many), and goes to where the derivative of Fσ along
//! it is nearly 0, found on the margins of the rows alone. When Fσ is nearly least, α becomes π, and σ grows.
//!
//! For any x the pair (x, π) has the duality gap (1/W) Σ wᵢ (max(rᵢ, 0) − πᵢrᵢ) + ‖g‖²/(2λ₂), rᵢ = 1 − bᵢzᵢ: the first
//! part falls with new multipliers, the second with Newton steps, and the larger of the two says which is due.
//!
//! An epoch is one Newton step: two passes, of which the second reads only rows whose π changes.

use super::quadratic::{Model, dot};
use crate::{
    method::batch::{Ask, Batch, Found, Margins, Sums},
    objective::Frame,
};
use search::Search;

mod search;

/// σ at first, in units of 1/r: multipliers of ½ leave nearly all rows active at x = 0.
const SIGMA: f64 = 0.4;
/// σ at last: what is left to gain then drowns in rounding.
const SIGMA_MAX: f64 = 1e5;
/// The gradient's part of the gap over the multipliers' below which multipliers are due.
const INSIDE: f64 = 0.3;
/// What a Newton step promises over the multipliers' part of the gap below which multipliers are due; far from the
/// optimum, and near it.
const PROMISE: [f64; 2] = [0.2, 0.03];
/// A multipliers' part of the gap above this part of F is far from the optimum.
const FAR: f64 = 0.003;
/// Newton steps between multipliers, at most.
const STEPS: usize = 40;
/// Sampled active rows for each column.
const ROWS_A_COLUMN: usize = 8;
/// Sampled active rows, at least.
const SAMPLE_MIN: usize = 500;
/// What a sample's matrix may cost, in passes.
const PASSES: f64 = 1.0;

/// What the pass that is under way is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// π at a new point or for new multipliers.
    Look,
    /// The matrix of the active rows.
    Matrix,
    /// The derivative along the step.
    Search,
}

/// The serial part.
pub(super) struct Multipliers {
    weight: f64,
    l2: f64,
    row_nonzeros: f64,
    rows: usize,
    sigma: f64,
    stage: Stage,
    /// Whether the look that is under way ends the epoch.
    ends: bool,
    /// The point, (1/W) Σ wᵢ bᵢ πᵢ aᵢ, and g.
    x: Vec<f64>,
    pull: Vec<f64>,
    slope: Vec<f64>,
    /// What the last look found.
    sums: Sums,
    direction: Vec<f64>,
    search: Search,
    /// Newton steps since the multipliers changed.
    steps: usize,
    /// The gap when they did.
    gap_before: f64,
}

impl Batch for Multipliers {
    fn begin(&mut self, x: &mut [f64]) -> Ask {
        if self.x == x {
            return self.go_on(x);
        }
        // Where x came from elsewhere, nothing that is kept belongs to it.
        self.x = x.to_vec();
        self.pull = vec![0.0; x.len()];
        (self.sigma, self.steps, self.gap_before) = (SIGMA, 0, f64::INFINITY);
        self.look(Margins::Fresh, false)
    }

    fn next(&mut self, x: &mut [f64], found: Found<'_>) -> Ask {
        match self.stage {
            Stage::Look => {
                self.sums = found.sums;
                self.pull.iter_mut().zip(found.vector).for_each(|(pull, sum)| *pull += sum / self.weight);
                self.slope = self.x.iter().zip(&self.pull).map(|(x, pull)| self.l2 * x - pull).collect();
                x.copy_from_slice(&self.x);
                if self.ends { Ask::Done } else { self.go_on(x) }
            }
            Stage::Matrix => self.aim(x, found.matrix),
            Stage::Search => {
                match self.search.next(found.sums.slope / self.weight, found.sums.bend / self.weight) {
                    Some(t) => Ask::Slope { sigma: self.sigma, t },
                    None => self.step(),
                }
            }
        }
    }

    fn certificate(&self) -> Option<f64> {
        Some((self.outside() + self.inside()) / self.objective().max(1e-300))
    }

    fn keeps_rows(&self) -> bool {
        true
    }
}

impl Multipliers {
    /// For the hinge loss and λ₂ > 0 alone.
    pub(super) fn new(frame: &Frame, row_nonzeros: f64) -> Self {
        Multipliers {
            weight: frame.total_weight,
            l2: frame.prox.l2,
            row_nonzeros,
            rows: frame.rows,
            sigma: SIGMA,
            stage: Stage::Look,
            ends: false,
            x: Vec::new(),
            pull: Vec::new(),
            slope: Vec::new(),
            sums: Sums::default(),
            direction: Vec::new(),
            search: Search::default(),
            steps: 0,
            gap_before: f64::INFINITY,
        }
    }

    /// F at the point.
    fn objective(&self) -> f64 {
        self.sums.loss / self.weight + 0.5 * self.l2 * dot(&self.x, &self.x)
    }

    /// The multipliers' part of the gap.
    fn outside(&self) -> f64 {
        self.sums.slack / self.weight
    }

    /// The gradient's part of the gap.
    fn inside(&self) -> f64 {
        dot(&self.slope, &self.slope) / (2.0 * self.l2)
    }

    fn look(&mut self, margins: Margins, ends: bool) -> Ask {
        (self.stage, self.ends) = (Stage::Look, ends);
        Ask::Smoothed { margins, sigma: self.sigma }
    }

    /// What is due at a point where all is known.
    fn go_on(&mut self, x: &mut [f64]) -> Ask {
        if self.steps >= STEPS || (self.steps > 0 && self.inside() <= INSIDE * self.outside()) {
            return self.renew(x);
        }
        self.stage = Stage::Matrix;
        let Sums { active, spread, .. } = self.sums;
        Ask::Active { rows: self.sample(), active, spread, sigma: self.sigma }
    }

    /// How many of the active rows make a matrix.
    fn sample(&self) -> usize {
        let pass = 2.0 * self.row_nonzeros.max(1.0) * self.rows as f64;
        let affordable = PASSES * pass / (0.5 * self.row_nonzeros.max(1.0).powi(2));
        (ROWS_A_COLUMN * self.x.len()).max(SAMPLE_MIN).max(affordable as usize)
    }

    /// α becomes π. σ grows by as much as Newton's method took it easily, unless the gap falls fast as it is.
    fn renew(&mut self, x: &mut [f64]) -> Ask {
        x.copy_from_slice(&self.x);
        let gap = self.outside() + self.inside();
        if gap > 0.1 * self.gap_before || self.gap_before.is_infinite() {
            let growth = match self.steps {
                0..=1 => 16.0,
                2 => 8.0,
                3..=8 => 4.0,
                _ => 2.5,
            };
            self.sigma = (growth * self.sigma).min(SIGMA_MAX);
        }
        (self.gap_before, self.steps) = (gap, 0);
        self.look(Margins::Kept, false)
    }

    /// Towards the least point of the model whose curvature is that of `matrix`, Σ wᵢ aᵢ aᵢᵀ over active rows.
    fn aim(&mut self, x: &mut [f64], matrix: &[f64]) -> Ask {
        let d = self.x.len();
        let weight = self.weight / self.sigma;
        let diagonal: Vec<f64> = (0..d).map(|j| matrix[j * d + j] / weight).collect();
        let model = Model { matrix, weight, diagonal: &diagonal, gradient: &self.slope };
        let Some(factor) = model.factor(&vec![self.l2; d]) else { return Ask::Done };
        let mut direction: Vec<f64> = self.slope.iter().map(|slope| -slope).collect();
        factor.solve(&mut direction);
        let descent = dot(&self.slope, &direction);
        let far = self.outside() > FAR * self.objective();
        if self.steps > 0 && -0.5 * descent <= PROMISE[usize::from(!far)] * self.outside() {
            return self.renew(x);
        }
        let down = descent < 0.0;
        if !down {
            // Rounding is all that is left.
            return Ask::Done;
        }
        self.search =
            Search::new(descent, self.l2 * dot(&self.x, &direction), self.l2 * dot(&direction, &direction));
        x.copy_from_slice(&direction);
        self.direction = direction;
        self.stage = Stage::Search;
        Ask::Along { sigma: self.sigma }
    }

    /// To x + tδ.
    fn step(&mut self) -> Ask {
        let t = self.search.t();
        self.x.iter_mut().zip(&self.direction).for_each(|(x, step)| *x += t * step);
        self.steps += 1;
        self.look(Margins::Along(t), true)
    }
}
