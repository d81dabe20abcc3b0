//! The kernels on the cpu: a file below for each of `gpu/*.wgsl`, of the same name, in f32, adding in the same order.
//!
//! What a device may do otherwise is to round a product and a sum once (which only takes errors away), and to evaluate
//! exponentials and logarithms less well; and kernels that add to one place from many rows do so in any order.

use super::{Cut, Entries, Gradients, Sums, Terms};
use crate::error::Result;
use std::collections::VecDeque;

pub(super) mod columns;
mod dense;
mod hogwild;
mod loss;
mod margins;
mod reduce;
pub(super) mod slopes;
mod sparse;
pub(super) mod sparse_columns;
mod team;

use loss::Function;
use reduce::Reduction;

/// Gradients on the calling thread.
///
/// Cost of a batch: two products and sums an entry, one thread; 8 bytes an entry (dense: 4) are read once, or twice from a cache
/// that holds a row.
#[derive(Debug)]
pub struct Twin {
    terms: Terms,
    function: Function,
    cut: Cut,
    by_columns: Option<sparse_columns::Columns>,
    x: Vec<f32>,
    answers: VecDeque<(Vec<f32>, Sums)>,
    spare: Vec<Vec<f32>>,
}

impl Twin {
    /// Of `terms`.
    pub fn new(terms: Terms) -> Self {
        let cut = match terms.entries() {
            Entries::Dense(_) => Cut::holding(terms.width()).unwrap_or(Cut::together()),
            Entries::Sparse { .. } => Cut::walking(terms.mean()),
        };
        let function = Function::of(terms.loss());
        let (answers, spare) = (VecDeque::with_capacity(2), Vec::with_capacity(2));
        Twin { function, cut, by_columns: None, x: Vec::new(), answers, spare, terms }
    }

    /// As a device that keeps sparse rows by columns too: a batch of each row once is then added up column by column.
    pub fn with_columns(mut self) -> Self {
        self.by_columns = sparse_columns::Columns::of(&self.terms);
        self
    }

    /// The terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// zᵢ = aᵢᵀx + c of `rows`.
    ///
    /// # Panics
    /// If `x` is not as wide as the rows, or a row is not there.
    pub fn margins(&mut self, x: &[f64], constant: f64, rows: &[u32]) -> Vec<f32> {
        self.read(x);
        margins::margins(&self.terms, self.walk(), &self.x, constant as f32, rows)
    }

    /// Σ wᵢ φ and Σ wᵢ φ′ over all rows.
    ///
    /// # Panics
    /// If `x` is not as wide as the rows.
    pub fn objective(&mut self, x: &[f64], constant: f64) -> Sums {
        let rows: Vec<u32> = (0..self.terms.rows() as u32).collect();
        let z = self.margins(x, constant, &rows);
        slopes::slopes(&self.terms, &self.function, &z, &rows).1
    }

    /// For each of `rows` in turn, one row at a time, x ← x − γ wᵢ φ′(zᵢ, bᵢ) aᵢ, and where `free` c likewise.
    ///
    /// # Panics
    /// As [`Twin::margins`].
    pub fn hogwild(&mut self, x: &mut [f64], constant: &mut f64, rows: &[u32], step: f64, free: bool) {
        self.read(x);
        let mut c = *constant as f32;
        hogwild::pass(&self.terms, &self.function, &mut self.x, &mut c, rows, step as f32, free);
        x.iter_mut().zip(&self.x).for_each(|(x, &new)| *x = f64::from(new));
        *constant = f64::from(c);
    }

    fn read(&mut self, x: &[f64]) {
        assert_eq!(x.len(), self.terms.width(), "x by slot");
        self.x.clear();
        self.x.extend(x.iter().map(|&x| x as f32));
    }

    /// How rows are walked through: a dense row that a team could hold is walked by a team of another size.
    fn walk(&self) -> Cut {
        Cut::walking(self.terms.mean())
    }

    fn gradient(&self, constant: f32, rows: &[u32], out: &mut Vec<f32>) -> Sums {
        let (terms, function, width) = (&self.terms, &self.function, self.terms.width());
        out.clear();
        out.resize(width, 0.0);
        match (terms.entries(), &self.by_columns) {
            (Entries::Dense(_), _) if width <= Cut::WIDEST => {
                return dense::gradient(terms, function, self.cut, &self.x, constant, rows, out);
            }
            (Entries::Sparse { .. }, None) => {
                return sparse::gradient(terms, function, self.cut, &self.x, constant, rows, out);
            }
            (Entries::Sparse { .. }, Some(_)) if !each_once(rows, terms.rows()) => {
                return sparse::gradient(terms, function, self.cut, &self.x, constant, rows, out);
            }
            _ => {}
        }
        let Some(by_columns) = &self.by_columns else {
            let z = margins::margins(terms, self.walk(), &self.x, constant, rows);
            let (slopes, sums) = slopes::slopes(terms, function, &z, rows);
            columns::gradient(terms, &slopes, rows, out);
            return sums;
        };
        // Of all rows, the order is the matrix's.
        let rows: Vec<u32> = (0..terms.rows() as u32).collect();
        let z = margins::margins(terms, self.walk(), &self.x, constant, &rows);
        let (slopes, sums) = slopes::slopes(terms, function, &z, &rows);
        by_columns.gradient(sparse_columns::cut(terms), &slopes, out);
        sums
    }
}

/// Whether `rows` are all of `count` rows, each once.
pub(super) fn each_once(rows: &[u32], count: usize) -> bool {
    let mut seen = vec![false; if rows.len() == count { count } else { 0 }];
    rows.len() == count && rows.iter().all(|&row| !std::mem::replace(&mut seen[row as usize], true))
}

impl Gradients for Twin {
    fn depth(&self) -> usize {
        2
    }

    fn width(&self) -> usize {
        self.terms.width()
    }

    fn start(&mut self, x: &[f64], constant: f64, rows: &[u32]) -> Result<()> {
        assert!(self.answers.len() < self.depth(), "two batches wait to be taken");
        self.read(x);
        let mut gradient = self.spare.pop().unwrap_or_default();
        let sums = self.gradient(constant as f32, rows, &mut gradient);
        self.answers.push_back((gradient, sums));
        Ok(())
    }

    fn take(&mut self, gradient: &mut [f64]) -> Result<Sums> {
        let (answer, sums) = self.answers.pop_front().expect("a batch was started");
        assert_eq!(gradient.len(), answer.len(), "a gradient by slot");
        gradient.iter_mut().zip(&answer).for_each(|(out, &g)| *out = f64::from(g));
        self.spare.push(answer);
        Ok(sums)
    }
}
