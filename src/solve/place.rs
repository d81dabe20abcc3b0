//! Copies the data to where the plan wants them, scaled as asked, each part by the worker that will read it.

use super::{Fit, Form, Placed, Start, labels};
use crate::{
    config::{Layout, MethodKind, Normalize, Setup},
    data::{
        Block, Data,
        matrix::{Dense, Matrix, Rows, Sparse},
    },
    error::{Error, Result},
    layout::Slots,
    method::Intercept,
    model::Model,
    objective::{Frame, Origin},
    os::memory::{Apart, Home, Pages, Site},
    placement::{share, team},
    run::engine::Vectors,
    shard::{self, Blocks, Deal, Margins, Marks, Part, Shards},
    store::Replica,
};
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// A matrix that can be cut by columns.
pub(super) trait Columns: Rows {
    fn columns_of(blocks: &Blocks, range: Range<usize>, counts: &[u64], ones: bool, site: &Site) -> Self;
}

impl Columns for Sparse {
    fn columns_of(blocks: &Blocks, range: Range<usize>, counts: &[u64], ones: bool, site: &Site) -> Self {
        blocks.sparse(range, counts, ones, site)
    }
}

impl Columns for Dense {
    fn columns_of(blocks: &Blocks, range: Range<usize>, _counts: &[u64], ones: bool, site: &Site) -> Self {
        blocks.dense(range, ones, site)
    }
}

impl Fit<'_> {
    pub(super) fn place<'s, D: Columns>(&self, data: &Data, start: Start<'s>) -> Result<Placed<'s, D>> {
        let problem = &self.setup.problem;
        let labelled = labels::prepare(&data.path, problem, data.source.labels()?, data.weights.clone())?;
        let by_columns = self.form() == Form::Columns;
        let facts = self.choice.method.facts().expect("auto has chosen");
        let ones = problem.intercept && facts.intercept != Intercept::Private;
        if by_columns && self.shape.rows > u32::MAX as usize {
            let what = format!("{} rows; coordinate descent by columns takes up to 2³² − 1", self.shape.rows);
            return Err(Error::unmet(what, "Use --method dual or hogwild."));
        }
        let marks = Marks { labels: &labelled.labels, weights: labelled.weights.as_deref() };
        let (mut parts, slots): (Vec<Apart<Part<D>>>, Slots) =
            if by_columns { self.by_columns(data, ones)? } else { self.by_rows(data, ones, marks)? };
        let column_scale = self.normalize(&mut parts, &slots, by_columns);
        self.settle(&mut parts, marks.weights.filter(|_| by_columns));
        let columns = self.shape.columns + usize::from(ones);
        let total_weight = labelled.weights.as_ref().map_or(self.shape.rows as f64, |weights| weights.iter().sum());
        let frame = Frame {
            loss: problem.loss,
            prox: problem.prox(self.terms()),
            rows: self.shape.rows,
            columns,
            // By columns, and where slots are dense, the slot has the number of the column.
            free: slots.ones().filter(|_| facts.intercept != Intercept::Penalized),
            slots: Arc::new(slots),
            total_weight,
            private_constant: problem.intercept && facts.intercept == Intercept::Private,
            origin: Origin::Zero,
        };
        let template = Model {
            loss: problem.loss,
            labels: labelled.classes,
            normalize_rows: problem.normalize == Normalize::Rows,
            intercept: 0.0,
            factors: None,
            weights: vec![0.0; self.shape.columns],
        };
        let identity = self.identity(labelled.labels.iter().chain(labelled.weights.iter().flatten()));
        let standings = team::standings(self.plan);
        let margins = if by_columns { self.margins(marks) } else { Vec::new() };
        let rarity = if facts.companion { self.rarity(&parts, &frame) } else { Vec::new() };
        let shards = Shards::new(self.plan, parts, margins, rarity);
        Ok(Placed {
            shards,
            frame,
            column_scale,
            template,
            identity,
            standings,
            seconds: 0.0,
            start,
            smoothness: OnceLock::new(),
        })
    }

    /// Each worker's rows, and the slots of their columns. The blocks go from the source to the parts one by one, unless
    /// they must be counted first, or copied more than once.
    fn by_rows<D: Columns>(
        &self,
        data: &Data,
        ones: bool,
        marks: Marks<'_>,
    ) -> Result<(Vec<Apart<Part<D>>>, Slots)> {
        let source = &*data.source;
        let (layout, counted) = (self.setup.parameters.layout, self.counts_columns());
        let (deal, slots) = if self.holds_blocks() {
            let blocks = self.blocks(data)?;
            let slots = if counted { self.slots(layout, &self.counts(&blocks), ones)? } else { self.plain(ones) };
            (Deal::held(source, self.plan, blocks), slots)
        } else {
            (Deal::new(source, self.plan)?, self.plain(ones))
        };
        let copy = |worker: usize| -> Result<Apart<Part<D>>> {
            let site = self.site_of_shard(worker);
            Ok(Apart::new(shard::rows(source, &deal, worker, &slots, marks, &site)?, &site))
        };
        let parts: Result<Vec<Apart<Part<D>>>> = team::each(self.plan, copy).into_iter().collect();
        Ok((parts?, slots))
    }

    fn by_columns<D: Columns>(&self, data: &Data, ones: bool) -> Result<(Vec<Apart<Part<D>>>, Slots)> {
        let workers = self.plan.workers.len();
        let blocks = self.blocks(data)?;
        let counts = self.counts(&blocks);
        let ranges = blocks.deal(&counts, workers);
        let parts = team::each(self.plan, |worker| {
            let range = ranges[worker].clone();
            let (first, ones) = (range.start, ones && worker + 1 == workers);
            let site = self.site_of_shard(worker);
            let matrix = D::columns_of(&blocks, range, &counts, ones, &site);
            Apart::new(Part::new(matrix, first, Pages::default(), None), &site)
        });
        Ok((parts, Slots::dense(self.shape.columns, ones)))
    }

    /// All blocks of the source, each taken by one worker.
    pub(super) fn blocks(&self, data: &Data) -> Result<Blocks> {
        let workers = self.plan.workers.len();
        let taken: Vec<Vec<(usize, usize, Block)>> =
            team::each(self.plan, |worker| shard::take(&*data.source, worker, workers))
                .into_iter()
                .collect::<Result<_>>()?;
        Ok(Blocks::new(taken, self.shape.rows, self.shape.columns))
    }

    /// Entries in each column.
    fn counts(&self, blocks: &Blocks) -> Vec<u64> {
        let workers = self.plan.workers.len();
        shard::total(team::each(self.plan, |worker| blocks.count(worker, workers)))
    }

    fn plain(&self, ones: bool) -> Slots {
        let columns = self.shape.columns;
        // Newton's matrices have a row a slot.
        let close = self.shape.dense || self.choice.method == MethodKind::Newton;
        if close { Slots::dense(columns, ones) } else { Slots::plain(columns, ones) }
    }

    fn slots(&self, layout: Layout, counts: &[u64], ones: bool) -> Result<Slots> {
        Slots::new(layout, counts, ones).ok_or_else(|| {
            let what = format!("parameters.layout needs 2³² slots or more for {} columns", counts.len());
            Error::unmet(what, "Take layout = \"plain\".")
        })
    }

    /// Where worker `worker`'s lines are to lie.
    pub(super) fn site_of_shard(&self, worker: usize) -> Site {
        self.plan.site(&self.plan.shards[self.plan.workers[worker].shard].home)
    }

    /// Labels and weights of all rows, a copy a shard, made by the first worker of each.
    fn margins(&self, marks: Marks<'_>) -> Vec<Margins> {
        let made = team::each(self.plan, |worker| {
            let first = self.plan.shards[self.plan.workers[worker].shard].workers.first() == Some(&worker);
            let site = self.site_of_shard(worker);
            first.then(|| Margins {
                labels: Pages::copied_to(marks.labels, &site),
                weights: marks.weights.map(|weights| Pages::copied_to(weights, &site)),
            })
        });
        made.into_iter().flatten().collect()
    }

    /// Scales rows or columns as asked; returns what each column was multiplied with.
    fn normalize<D: Rows>(&self, parts: &mut [Apart<Part<D>>], slots: &Slots, by_columns: bool) -> Vec<f64> {
        match self.setup.problem.normalize {
            Normalize::None => Vec::new(),
            Normalize::Rows => {
                let norms2 = if by_columns {
                    sum_squares(parts, self.shape.rows, self.shape.columns)
                } else {
                    let once = &parts[self.plan.once()];
                    once.iter().flat_map(|p| (0..p.matrix.rows()).map(|i| row_norm2(p, i, slots))).collect()
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
                        let ones = slots.ones();
                        part.matrix.scale(|line, k| if ones != Some(k) { factor[first + line] } else { 1.0 });
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
                    let by_slot = sum_squares(&parts[self.plan.once()], slots.width(), usize::MAX);
                    slots.by_column(&by_slot)[..d].to_vec()
                };
                let rows = self.shape.rows as f64;
                let scale: Vec<f64> =
                    norms2.iter().map(|&n2| if n2 > 0.0 { (rows / n2).sqrt() } else { 1.0 }).collect();
                let mut all = scale.clone();
                all.resize(d + usize::from(slots.ones().is_some()), 1.0);
                let by_slot = slots.by_slot(&all);
                for part in parts {
                    let first = part.first;
                    let of = |slot: usize| by_slot.get(slot).copied().unwrap_or(1.0);
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

    fn settle<D: Matrix>(&self, parts: &mut [Apart<Part<D>>], weights: Option<&[f64]>) {
        let slots: Vec<_> = parts.iter_mut().map(std::sync::Mutex::new).collect();
        team::each(self.plan, |worker| {
            let site = self.site_of_shard(worker);
            slots[worker].lock().expect("one worker a part").settle(weights, self.stateful(), self.rests(), &site);
        });
    }

    /// D_j by slot, a copy a shard, made by the first worker of each.
    fn rarity<D: Matrix>(&self, parts: &[Apart<Part<D>>], frame: &Frame) -> Vec<Pages<f64>> {
        let counts = team::each(self.plan, |worker| {
            let (matrix, mut counts) = (&parts[worker].matrix, vec![0u64; frame.slots.width()]);
            (0..matrix.rows()).for_each(|i| matrix.row(i).entries().for_each(|(slot, _)| counts[slot] += 1));
            counts
        });
        let counts = shard::total(counts);
        let of = |slot: usize| if counts[slot] == 0 { 0.0 } else { frame.rows as f64 / counts[slot] as f64 };
        let made = team::each(self.plan, |worker| {
            let first = self.plan.shards[self.plan.workers[worker].shard].workers.first() == Some(&worker);
            first.then(|| Pages::filled(frame.slots.width(), &self.site_of_shard(worker), of))
        });
        made.into_iter().flatten().collect()
    }

    /// Whether the method keeps something for each line.
    pub(super) fn stateful(&self) -> bool {
        self.choice.method.facts().is_some_and(|facts| facts.keeps.is_some())
    }

    /// Whether lines that did not move are left alone for a while.
    pub(super) fn rests(&self) -> bool {
        self.form() == Form::Dual && self.setup.problem.loss.rests()
    }

    /// One replica a group of workers, its pages touched by all of them.
    pub(super) fn replicas<R: Replica>(&self, width: usize) -> Vec<Vectors<R>> {
        let plan = self.plan;
        let beside = if self.choice.method.has_companion() { width } else { 0 };
        let placed = |home: &Home| {
            let site = plan.site(home);
            let x = R::placed(width, &site);
            let x = if self.holds() { x.with_stripes() } else { x };
            Vectors { x, beside: R::placed(beside, &site), width }
        };
        let replicas: Vec<Vectors<R>> = plan.replicas.iter().map(|replica| placed(&replica.home)).collect();
        team::each(plan, |worker| {
            let replica = plan.workers[worker].replica;
            let workers = &plan.replicas[replica].workers;
            let rank = workers.iter().position(|&other| other == worker).expect("a plan lists its workers");
            replicas[replica].x.populate(share(width, rank, workers.len()));
            replicas[replica].beside.populate(share(beside, rank, workers.len()));
        });
        replicas
    }

    /// What a checkpoint must match to be taken up: the data's size, their labels and weights, which are `marks`, the problem and
    /// the method.
    pub(super) fn identity<'a>(&self, marks: impl Iterator<Item = &'a f64>) -> String {
        let Setup { problem, .. } = self.setup;
        let mut hash = crc32fast::Hasher::new();
        marks.for_each(|value| hash.update(&value.to_le_bytes()));
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

/// ‖row‖² without the column of ones.
fn row_norm2<D: Matrix>(part: &Part<D>, i: usize, slots: &Slots) -> f64 {
    let entries = part.matrix.row(i).entries();
    entries.filter(|&(slot, _)| slots.ones() != Some(slot)).map(|(_, a)| a * a).sum()
}

/// Σ a² by position in the line, over the lines whose global index is below `lines`; `len` positions.
fn sum_squares<D: Matrix>(parts: &[Apart<Part<D>>], len: usize, lines: usize) -> Vec<f64> {
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
