//! The passes over the hinge loss smoothed around multipliers, and what is kept with each row for them
//! ([`crate::method::batch`]).

use super::{Draw, outer};
use crate::{
    data::matrix::Matrix,
    method::batch::{Margins, Sums},
    objective::{Glm, Linear},
    os::memory::{Asking, Pages, Residency, Site},
    run::{
        PANICKED, Run,
        evaluate::{PIECE, marks, pieces},
    },
    store::add_fixed,
    vectors::on_vectors,
};
use std::ops::Range;

/// What is kept with each row that a worker judges, in their order.
pub(in crate::run) struct Kept {
    /// mᵢ = bᵢzᵢ.
    margins: Pages<f64>,
    /// qᵢ, what mᵢ grows by along a direction.
    along: Pages<f64>,
    /// αᵢ.
    multipliers: Pages<f64>,
    /// πᵢ.
    duals: Pages<f64>,
}

impl Kept {
    /// For `rows` rows, at `site`.
    pub(in crate::run) fn new(rows: usize, site: &Site) -> Self {
        let pages = || Pages::placed(rows, site);
        Kept { margins: pages(), along: pages(), multipliers: pages(), duals: pages() }
    }

    /// π, in order of the rows.
    pub(in crate::run) fn duals(&self) -> &[f64] {
        &self.duals
    }

    fn arrays(&self) -> [&Pages<f64>; 4] {
        [&self.margins, &self.along, &self.multipliers, &self.duals]
    }

    /// Takes its pages; where it cannot be done now, the first write does it.
    pub(in crate::run) fn populate(&self) {
        for array in self.arrays() {
            let _ = array.populate(0..array.len());
        }
    }

    /// Adds where its arrays lie.
    pub(in crate::run) fn residency(&self, asking: Asking, all: &mut Residency) {
        self.arrays().into_iter().for_each(|array| all.add(&array.settle(asking)));
    }
}

/// What is kept with the rows of one piece.
struct Piece<'k> {
    margins: &'k mut [f64],
    along: &'k mut [f64],
    multipliers: &'k mut [f64],
    duals: &'k mut [f64],
}

impl Kept {
    fn piece(&mut self, rows: Range<usize>) -> Piece<'_> {
        Piece {
            margins: &mut self.margins[rows.clone()],
            along: &mut self.along[rows.clone()],
            multipliers: &mut self.multipliers[rows.clone()],
            duals: &mut self.duals[rows],
        }
    }
}

/// uᵢ and πᵢ.
#[inline(always)]
fn project(multiplier: f64, sigma: f64, rest: f64) -> (f64, f64) {
    let u = multiplier + sigma * rest;
    (u, u.clamp(0.0, 1.0))
}

impl Piece<'_> {
    /// New πᵢ; `change` becomes wᵢ(πᵢ − πᵢ before).
    #[inline(always)]
    fn renew(&mut self, sigma: f64, w: &[f64], norms2: &[f64], change: &mut [f64]) -> Sums {
        let count = change.len();
        let (m, a, pi) = (&self.margins[..count], &self.multipliers[..count], &mut self.duals[..count]);
        let (w, norms2) = (&w[..count], &norms2[..count]);
        let (mut loss, mut slack, mut spread, mut active) = ([0.0; 8], [0.0; 8], [0.0; 8], [0.0; 8]);
        for start in (0..count).step_by(8) {
            for lane in 0..8.min(count - start) {
                let k = start + lane;
                let rest = 1.0 - m[k];
                let (u, new) = project(a[k], sigma, rest);
                let hinge = rest.max(0.0);
                let inner = if u > 0.0 && u < 1.0 { 1.0 } else { 0.0 };
                loss[lane] += w[k] * hinge;
                slack[lane] += w[k] * (hinge - new * rest);
                spread[lane] += inner * w[k] * norms2[k];
                active[lane] += inner;
                change[k] = w[k] * (new - pi[k]);
                pi[k] = new;
            }
        }
        let sum = |lanes: [f64; 8]| lanes.iter().sum::<f64>();
        Sums {
            loss: sum(loss),
            slack: sum(slack),
            spread: sum(spread),
            active: sum(active) as usize,
            ..Sums::default()
        }
    }

    /// The derivatives at m + tq.
    #[inline(always)]
    fn slope(&self, sigma: f64, t: f64, w: &[f64]) -> Sums {
        let count = self.margins.len();
        let (m, q, a, w) = (&*self.margins, &self.along[..count], &self.multipliers[..count], &w[..count]);
        let (mut slope, mut bend) = ([0.0; 8], [0.0; 8]);
        for start in (0..count).step_by(8) {
            for lane in 0..8.min(count - start) {
                let k = start + lane;
                let (u, pi) = project(a[k], sigma, 1.0 - m[k] - t * q[k]);
                let wq = w[k] * q[k];
                slope[lane] -= pi * wq;
                bend[lane] += if u > 0.0 && u < 1.0 { wq * q[k] } else { 0.0 };
            }
        }
        Sums { slope: slope.iter().sum(), bend: sigma * bend.iter().sum::<f64>(), ..Sums::default() }
    }
}

impl<D: Matrix> Run<'_, D> {
    pub(super) fn smoothed(&self, worker: usize, margins: Margins, sigma: f64) {
        let task = &self.task;
        let replica = self.replica_of(worker);
        let mut vector = self.sheets[worker].vector.write().expect(PANICKED);
        vector.fill(0.0);
        let mut kept = self.sheets[worker].kept.lock().expect(PANICKED);
        let (mut sums, mut lines, mut at) = (Sums::default(), 0, 0);
        let mut change = [0.0; PIECE];
        for (part, range) in task.shards.judged(worker, self.workers()) {
            let f = task.shards.glm(part, task.frame);
            if margins == Margins::Fresh {
                lines += range.len() as u64;
            }
            for rows in pieces(range) {
                let (b, w) = marks(&f, &rows);
                let mut piece = kept.piece(at..at + rows.len());
                at += rows.len();
                let change = &mut change[..rows.len()];
                if margins == Margins::Fresh {
                    self.engine.margins(replica, &f, rows.clone(), None, piece.margins);
                }
                on_vectors(
                    #[inline(always)]
                    |_| {
                        match margins {
                            Margins::Fresh => {
                                piece.margins.iter_mut().zip(b).for_each(|(m, b)| *m *= b);
                                piece.multipliers.fill(0.5);
                                piece.duals.fill(0.0);
                            }
                            Margins::Along(t) => {
                                piece.margins.iter_mut().zip(&*piece.along).for_each(|(m, q)| *m += t * q);
                            }
                            Margins::Kept => piece.multipliers.copy_from_slice(piece.duals),
                        }
                        sums.add(&piece.renew(sigma, w, &f.norms2[rows.clone()], change));
                        for (i, (change, b)) in rows.zip(change.iter().zip(b)) {
                            add_fixed(&mut vector, b * change, f.line(i));
                        }
                    },
                );
            }
        }
        *self.sheets[worker].sums.lock().expect(PANICKED) = sums;
        self.engine.count(worker, lines);
    }

    pub(super) fn active(&self, worker: usize, mut draw: Draw, sigma: f64) {
        let task = &self.task;
        let d = task.width();
        let mut matrix = self.sheets[worker].matrix.write().expect(PANICKED);
        matrix.fill(0.0);
        let kept = self.sheets[worker].kept.lock().expect(PANICKED);
        let mut at = 0;
        for (part, range) in task.shards.judged(worker, self.workers()) {
            let f = task.shards.glm(part, task.frame);
            let here = at..at + range.len();
            at = here.end;
            let values = kept.margins[here.clone()].iter().zip(&kept.multipliers[here]);
            on_vectors(
                #[inline(always)]
                |_| {
                    for (i, (m, multiplier)) in range.zip(values) {
                        let (u, _) = project(*multiplier, sigma, 1.0 - m);
                        if u > 0.0 && u < 1.0 {
                            let w = f.weight(i);
                            if let Some(probability) = draw.next(w * f.norm2(i)) {
                                outer(&mut matrix, d, w / probability, f.line(i));
                            }
                        }
                    }
                },
            );
        }
    }

    pub(super) fn along(&self, worker: usize, sigma: f64) {
        let replica = self.replica_of(worker);
        let mut lines = 0;
        self.add_slopes(worker, |f, rows, b, w, piece| {
            lines += rows.len() as u64;
            self.engine.margins(replica, f, rows, None, piece.along);
            piece.along.iter_mut().zip(b).for_each(|(q, b)| *q *= b);
            piece.slope(sigma, 1.0, w)
        });
        self.engine.count(worker, lines);
    }

    pub(super) fn slope(&self, worker: usize, sigma: f64, t: f64) {
        self.add_slopes(worker, |_, _, _, w, piece| piece.slope(sigma, t, w));
    }

    /// Adds up what `each` makes of the worker's rows, piece by piece: of them, their labels, weights and what is kept.
    #[inline(always)]
    fn add_slopes(
        &self,
        worker: usize,
        mut each: impl FnMut(&Glm<'_, D>, Range<usize>, &[f64], &[f64], Piece<'_>) -> Sums,
    ) {
        let task = &self.task;
        let mut kept = self.sheets[worker].kept.lock().expect(PANICKED);
        let (mut sums, mut at) = (Sums::default(), 0);
        for (part, range) in task.shards.judged(worker, self.workers()) {
            let f = task.shards.glm(part, task.frame);
            for rows in pieces(range) {
                let (b, w) = marks(&f, &rows);
                let piece = kept.piece(at..at + rows.len());
                at += rows.len();
                on_vectors(
                    #[inline(always)]
                    |_| sums.add(&each(&f, rows, b, w, piece)),
                );
            }
        }
        *self.sheets[worker].sums.lock().expect(PANICKED) = sums;
    }
}
