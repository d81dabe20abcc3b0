//! Copies the data to where the plan wants them, scaled as asked, each part by the worker that will read it.

use super::{Fit, Form, Placed, Start, labels};
use crate::{
    config::{MethodKind, Normalize, Setup},
    data::{
        Block, Data,
        matrix::{Dense, Matrix, Sparse},
    },
    error::{Error, Result},
    model::Model,
    objective::Frame,
    placement::team,
    shard::{self, Blocks, Deal, Part, Shards},
    store::Replica,
};
use std::ops::Range;

/// A matrix that can be cut by columns.
pub(super) trait Columns: Matrix {
    fn columns_of(blocks: &Blocks, range: Range<usize>, counts: &[u64], ones: bool) -> Self;
}

impl Columns for Sparse {
    fn columns_of(blocks: &Blocks, range: Range<usize>, counts: &[u64], ones: bool) -> Self {
        blocks.sparse(range, counts, ones)
    }
}

impl Columns for Dense {
    fn columns_of(blocks: &Blocks, range: Range<usize>, _counts: &[u64], ones: bool) -> Self {
        blocks.dense(range, ones)
    }
}

impl Fit<'_> {
    pub(super) fn place<'s, D: Columns>(&self, data: &Data, start: Start<'s>) -> Result<Placed<'s, D>> {
        let problem = &self.setup.problem;
        let labelled = labels::prepare(&data.path, problem, data.source.labels()?, data.weights.clone())?;
        let by_columns = self.form() == Form::Columns;
        let ones = match self.choice.method {
            MethodKind::Dual { penalize_intercept } => problem.intercept && penalize_intercept,
            MethodKind::Bcd => problem.intercept,
            MethodKind::Hogwild | MethodKind::Auto => false,
        };
        if by_columns && self.shape.rows > u32::MAX as usize {
            let what = format!("{} rows; coordinate descent by columns takes up to 2³² − 1", self.shape.rows);
            return Err(Error::unmet(what, "Use --method dual or hogwild."));
        }
        let mut parts: Vec<Part<D>> = if by_columns {
            self.by_columns(data, ones)?
        } else {
            self.by_rows(data, ones, &labelled.labels, labelled.weights.as_deref())?
        };
        let column_scale = self.normalize(&mut parts, by_columns);
        self.settle(&mut parts, by_columns, labelled.weights.as_deref());
        let columns = self.shape.columns + usize::from(ones);
        let total_weight = labelled.weights.as_ref().map_or(self.shape.rows as f64, |weights| weights.iter().sum());
        let frame = Frame {
            loss: problem.loss,
            prox: problem.prox(self.shape.rows),
            rows: self.shape.rows,
            columns,
            total_weight,
            free_column: (by_columns && ones).then_some(columns - 1),
            private_constant: problem.intercept && self.choice.method == MethodKind::Hogwild,
        };
        let template = Model {
            loss: problem.loss,
            labels: labelled.classes,
            normalize_rows: problem.normalize == Normalize::Rows,
            intercept: 0.0,
            weights: vec![0.0; self.shape.columns],
        };
        let identity = self.identity(&labelled.labels, labelled.weights.as_deref().unwrap_or(&[]));
        let bound = team::bindings(self.plan);
        let (all_labels, all_weights) =
            if by_columns { (labelled.labels, labelled.weights) } else { (Vec::new(), None) };
        let shards = Shards { parts, by_columns, labels: all_labels, weights: all_weights };
        Ok(Placed { shards, frame, column_scale, template, identity, bound, seconds: 0.0, start })
    }

    fn by_rows<D: Columns>(
        &self,
        data: &Data,
        ones: bool,
        labels: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<Vec<Part<D>>> {
        let source = &*data.source;
        let deal = Deal::new(source, self.plan.workers.len())?;
        let copy = |worker: usize| shard::rows(source, &deal, worker, ones, labels, weights);
        team::each(self.plan, copy).into_iter().collect()
    }

    fn by_columns<D: Columns>(&self, data: &Data, ones: bool) -> Result<Vec<Part<D>>> {
        let source = &*data.source;
        let workers = self.plan.workers.len();
        let taken: Vec<Vec<(usize, Block)>> = team::each(self.plan, |worker| shard::take(source, worker, workers))
            .into_iter()
            .collect::<Result<_>>()?;
        let blocks = Blocks::new(taken, self.shape.rows, self.shape.columns);
        let counts = shard::total(team::each(self.plan, |worker| blocks.count(worker, workers)));
        let ranges = blocks.deal(&counts, workers);
        Ok(team::each(self.plan, |worker| {
            let range = ranges[worker].clone();
            let first = range.start;
            let matrix = D::columns_of(&blocks, range, &counts, ones && worker + 1 == workers);
            Part { matrix, norms2: Vec::new(), first, state: Box::default(), labels: Vec::new(), weights: None }
        }))
    }

    /// Scales rows or columns as asked; returns what each column was multiplied with.
    fn normalize<D: Matrix>(&self, parts: &mut [Part<D>], by_columns: bool) -> Vec<f64> {
        match self.setup.problem.normalize {
            Normalize::None => Vec::new(),
            Normalize::Rows => {
                let norms2 = if by_columns {
                    sum_squares(parts, self.shape.rows, self.shape.columns)
                } else {
                    parts.iter().flat_map(|p| (0..p.matrix.rows()).map(|i| self.row_norm2(p, i))).collect()
                };
                let factor: Vec<f64> =
                    norms2.iter().map(|&n2| if n2 > 0.0 { n2.sqrt().recip() } else { 1.0 }).collect();
                let d = self.shape.columns;
                for part in parts {
                    let first = part.first;
                    // The column of ones is the constant of the scaled row: it stays.
                    if by_columns {
                        part.matrix.scale(|line, k| if first + line < d { factor[k] } else { 1.0 });
                    } else {
                        part.matrix.scale(|line, k| if k < d { factor[first + line] } else { 1.0 });
                    }
                }
                Vec::new()
            }
            Normalize::Columns => {
                let d = self.shape.columns;
                let norms2 = if by_columns {
                    parts
                        .iter()
                        .flat_map(|p| (0..p.matrix.rows()).map(|j| p.matrix.row(j).norm2()))
                        .take(d)
                        .collect()
                } else {
                    sum_squares(parts, d, usize::MAX)
                };
                let rows = self.shape.rows as f64;
                let scale: Vec<f64> =
                    norms2.iter().map(|&n2| if n2 > 0.0 { (rows / n2).sqrt() } else { 1.0 }).collect();
                for part in parts {
                    let first = part.first;
                    let of = |column: usize| scale.get(column).copied().unwrap_or(1.0);
                    if by_columns {
                        part.matrix.scale(|line, _| of(first + line));
                    } else {
                        part.matrix.scale(|_, k| of(k));
                    }
                }
                scale
            }
        }
    }

    /// ‖row‖² without the column of ones.
    fn row_norm2<D: Matrix>(&self, part: &Part<D>, i: usize) -> f64 {
        let entries = part.matrix.row(i).entries();
        entries.filter(|&(column, _)| column < self.shape.columns).map(|(_, a)| a * a).sum()
    }

    fn settle<D: Matrix>(&self, parts: &mut [Part<D>], by_columns: bool, weights: Option<&[f64]>) {
        let slots: Vec<_> = parts.iter_mut().map(std::sync::Mutex::new).collect();
        team::each(self.plan, |worker| {
            slots[worker].lock().expect("one worker a part").settle(by_columns, weights);
        });
    }

    /// One replica a group of workers, made by the first of them.
    pub(super) fn replicas<R: Replica>(&self, width: usize) -> Vec<R> {
        let made = team::each(self.plan, |worker| {
            let replica = self.plan.workers[worker].replica;
            (self.plan.replicas[replica].workers.first() == Some(&worker)).then(|| (replica, R::zeros(width)))
        });
        let mut made: Vec<(usize, R)> = made.into_iter().flatten().collect();
        made.sort_by_key(|&(replica, _)| replica);
        made.into_iter().map(|(_, replica)| replica).collect()
    }

    /// What a checkpoint must match to be taken up: the data's size, labels and weights, the problem and the method.
    fn identity(&self, labels: &[f64], weights: &[f64]) -> String {
        let Setup { problem, .. } = self.setup;
        let mut hash = crc32fast::Hasher::new();
        labels.iter().chain(weights).for_each(|value| hash.update(&value.to_le_bytes()));
        format!(
            "{} x {}, {} nonzeros, labels {:08x}; {problem:?}; {:?}",
            self.shape.rows,
            self.shape.columns,
            self.shape.nonzeros,
            hash.finalize(),
            self.choice.method
        )
    }
}

/// Σ a² by position in the line, over the lines whose global index is below `lines`; `len` positions.
fn sum_squares<D: Matrix>(parts: &[Part<D>], len: usize, lines: usize) -> Vec<f64> {
    let mut sums = vec![0.0; len];
    for part in parts {
        for i in (0..part.matrix.rows()).take_while(|i| part.first + i < lines) {
            for (k, a) in part.matrix.row(i).entries().filter(|&(k, _)| k < len) {
                sums[k] += a * a;
            }
        }
    }
    sums
}
