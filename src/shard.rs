//! Data where the plan wants them: rows cut into one part a worker, each copied by its worker; or columns, cut likewise,
//! for the methods that go by columns. Each part, and what the method keeps for each of its lines, lies on its worker's
//! shard's home.

use crate::{
    data::matrix::{Matrix, prefetch},
    objective::{Frame, Glm},
    os::memory::{Apart, Asking, Pages, Residency, Site},
    placement::{Plan, share},
    sync::{Rest, SharedF64},
};
use std::ops::Range;

mod blocks;
mod deal;
mod pairs;

pub use blocks::{Blocks, take, total};
pub use deal::{Deal, Marks, rows};
pub use pairs::{number, pairs};

/// One worker's lines.
#[derive(Debug)]
pub struct Part<D> {
    /// The lines.
    pub matrix: D,
    /// ‖line‖², weighted by row when going by columns; empty where lines depend on the parameters.
    pub norms2: Pages<f64>,
    /// Global index of the first line.
    pub first: usize,
    /// The method's state: one slot a line; empty for a method that keeps none.
    pub state: Pages<SharedF64>,
    /// How long each line is left alone; empty for a method, or a loss, whose lines always move.
    pub rests: Pages<Rest>,
    /// Labels by row; empty when going by columns.
    pub labels: Pages<f64>,
    /// Weights by row; `None` for 1.
    pub weights: Option<Pages<f64>>,
}

/// What belongs to all rows, on the home of one shard.
#[derive(Debug)]
pub struct Margins {
    /// Labels of all rows.
    pub labels: Pages<f64>,
    /// Weights of all rows; `None` for 1.
    pub weights: Option<Pages<f64>>,
}

impl Margins {
    /// Where its arrays lie.
    pub fn residency(&self, asking: Asking) -> Residency {
        let mut all = self.labels.settle(asking);
        if let Some(weights) = &self.weights {
            all.add(&weights.settle(asking));
        }
        all
    }
}

/// All parts, and by columns what belongs to all rows.
#[derive(Debug)]
pub struct Shards<D> {
    /// One a worker, in order, each in pages of its own: an update reads where its arrays are.
    pub parts: Vec<Apart<Part<D>>>,
    /// By columns, what belongs to all rows, a copy a shard; by rows nothing.
    pub margins: Vec<Margins>,
    /// For a method that has a companion, n over the number of rows that touch each slot, 0 where none does, a copy a shard; else
    /// nothing.
    pub rarity: Vec<Pages<f64>>,
    /// The shard of each part.
    pub shard_of: Vec<usize>,
    /// The parts that hold the data once: all, or those of the first shard where each shard holds all rows.
    pub once: Range<usize>,
}

impl<D: Matrix> Shards<D> {
    /// Of `parts` that were made as `plan` says, of `margins` when going by columns, and of `rarity` for a method that has a
    /// companion.
    pub fn new(plan: &Plan, parts: Vec<Apart<Part<D>>>, margins: Vec<Margins>, rarity: Vec<Pages<f64>>) -> Self {
        let shard_of = plan.workers.iter().map(|worker| worker.shard).collect();
        Shards { parts, margins, rarity, shard_of, once: plan.once() }
    }

    /// Part `index` as a problem.
    #[inline(always)]
    pub fn glm<'a>(&'a self, index: usize, frame: &'a Frame) -> Glm<'a, D> {
        self.parts[index].glm(self.marks(index), frame)
    }

    /// By columns, labels and weights of all rows, from the copy that part `index` uses.
    #[inline(always)]
    pub fn marks(&self, index: usize) -> Option<Marks<'_>> {
        let margins = self.margins.get(*self.shard_of.get(index)?)?;
        Some(Marks { labels: &margins.labels, weights: margins.weights.as_deref() })
    }

    /// D_j by slot, from the copy that part `index` uses; empty for a method without a companion.
    #[inline(always)]
    pub fn rarity(&self, index: usize) -> &[f64] {
        self.rarity.get(self.shard_of[index]).map_or(&[], |rarity| rarity)
    }

    /// Number of stored entries of the data.
    pub fn nonzeros(&self) -> u64 {
        self.parts[self.once.clone()].iter().map(|part| part.matrix.nonzeros()).sum()
    }

    /// Number of lines of the data.
    pub fn lines(&self) -> usize {
        self.parts[self.once.clone()].iter().map(|part| part.matrix.rows()).sum()
    }

    /// Which lines worker `worker` of `workers` judges, as (part, lines of it): all workers together each line once, all
    /// of a worker's lines in its own shard.
    pub fn judged(&self, worker: usize, workers: usize) -> Vec<(usize, Range<usize>)> {
        if self.once.len() == self.parts.len() {
            return vec![(worker, 0..self.parts[worker].matrix.rows())];
        }
        let Range { start, end } = share(self.lines(), worker, workers);
        let own = |&(part, _): &(usize, &Apart<Part<D>>)| self.shard_of[part] == self.shard_of[worker];
        let within = |(number, part): (usize, &Apart<Part<D>>)| {
            let rows = part.matrix.rows();
            let (from, to) = (start.saturating_sub(part.first).min(rows), end.saturating_sub(part.first).min(rows));
            (from < to).then_some((number, from..to))
        };
        self.parts.iter().enumerate().filter(own).filter_map(within).collect()
    }
}

impl<D: Matrix> Part<D> {
    /// Lines from `first` on, without norms or state.
    pub fn new(matrix: D, first: usize, labels: Pages<f64>, weights: Option<Pages<f64>>) -> Self {
        Part {
            matrix,
            norms2: Pages::default(),
            first,
            state: Pages::default(),
            rests: Pages::default(),
            labels,
            weights,
        }
    }

    /// These lines as a problem; `marks` are those of all rows when going by columns.
    #[inline(always)]
    pub fn glm<'a>(&'a self, marks: Option<Marks<'a>>, frame: &'a Frame) -> Glm<'a, D> {
        let own = Marks { labels: &self.labels, weights: self.weights.as_deref() };
        let Marks { labels, weights } = marks.unwrap_or(own);
        Glm { matrix: &self.matrix, labels, weights, norms2: &self.norms2, first: self.first, frame }
    }

    /// Asks the cache for what belongs to each of `lines` beside its entries: 8 bytes a line of each array.
    #[inline(always)]
    pub fn prefetch(&self, lines: Range<usize>) {
        self.matrix.prefetch_starts(lines.clone());
        for array in [Some(&self.labels), self.weights.as_ref()].into_iter().flatten() {
            // By columns there are no labels here.
            prefetch(array.get(lines.clone()).unwrap_or_default());
        }
        prefetch(self.norms2.get(lines.clone()).unwrap_or_default());
        prefetch(self.state.get(lines.clone()).unwrap_or_default());
        prefetch(self.rests.get(lines).unwrap_or_default());
    }

    /// Computes norms, and makes the state, zeros, of a method that has `stateful` lines, and rests where lines `rest`, at
    /// `site`. `weights` are those of all rows when going by columns.
    pub fn settle(&mut self, weights: Option<&[f64]>, stateful: bool, rest: bool, site: &Site) {
        let weigh = |i: usize| match weights {
            Some(weights) => self.matrix.row(i).entries().map(|(k, a)| weights[k] * a * a).sum(),
            None => self.matrix.row(i).norm2(),
        };
        let lines = self.matrix.rows();
        if D::FIXED {
            let mut norms2 = Pages::placed(lines, site);
            norms2.iter_mut().enumerate().for_each(|(i, norm2)| *norm2 = weigh(i));
            self.norms2 = norms2;
        }
        if stateful {
            self.state = Pages::placed(lines, site);
            // Where it cannot be done now, the first write does it.
            let _ = self.state.populate(0..lines);
        }
        if rest {
            self.rests = Pages::placed(lines, site);
            let _ = self.rests.populate(0..lines);
        }
    }

    /// Where the lines, their labels, weights and norms lie, and where the state does.
    pub fn residency(&self, asking: Asking) -> (Residency, Residency) {
        let mut rows = self.matrix.residency(asking);
        rows.add(&self.norms2.settle(asking));
        rows.add(&self.labels.settle(asking));
        if let Some(weights) = &self.weights {
            rows.add(&weights.settle(asking));
        }
        let mut state = self.state.settle(asking);
        state.add(&self.rests.settle(asking));
        (rows, state)
    }
}
