//! Whole passes over the data, for the methods that ask for them ([`crate::method::batch`]).
//!
//! Each worker goes over its own rows and adds up on its own node; the last to finish adds up over the workers, lets the
//! method look, and what it moved is copied to every replica. Traffic: the data once a pass, and W times d (d² for the
//! curvature) to add up.

use super::{
    Crew, PANICKED, Run,
    evaluate::{PIECE, marks, pieces},
    share,
};
use crate::{
    data::matrix::{Matrix, Row},
    method::batch::{Ask, Batch, Found, Sums},
    objective::Linear,
    store::add_fixed,
    vectors::on_vectors,
};

mod smoothed;

pub(super) use smoothed::Kept;

/// What a method that asks for passes has on the table; touched by one thread at a time.
pub(super) struct Desk {
    batch: Box<dyn Batch>,
    /// The point by slot, as the method last left it.
    point: Vec<f64>,
    vector: Vec<f64>,
    matrix: Vec<f64>,
    ask: Ask,
}

impl Desk {
    pub(super) fn new(batch: Box<dyn Batch>, width: usize) -> Self {
        let (point, vector) = (vec![0.0; width], vec![0.0; width]);
        Desk { batch, point, vector, matrix: vec![0.0; width * width], ask: Ask::Done }
    }
}

impl<D: Matrix> Run<'_, D> {
    /// One epoch of a method that asks for passes.
    pub(super) fn passes(&self, crew: &Crew<'_>) {
        crew.phase(|_| (), || self.begin_passes());
        loop {
            let ask = self.desk(|desk| desk.ask);
            if ask.takes_point() {
                self.move_to_point(crew);
            }
            match ask {
                Ask::Done => return,
                Ask::Gradient => crew.phase(|worker| self.gradient(worker), || self.look()),
                Ask::Smoothed { margins, sigma } => {
                    crew.phase(|worker| self.smoothed(worker, margins, sigma), || self.look());
                }
                Ask::Active { rows, active, spread, sigma } => {
                    let draw = Draw::new(rows, spread, active);
                    crew.phase(|worker| self.active(worker, draw, sigma), || self.look());
                }
                Ask::Along { sigma } => crew.phase(|worker| self.along(worker, sigma), || self.look()),
                Ask::Slope { sigma, t } => crew.phase(|worker| self.slope(worker, sigma, t), || self.look()),
                Ask::Norms => crew.phase(|worker| self.norms(worker), || self.look()),
                Ask::Curvature { rows, spread } => {
                    let draw = Draw::new(rows, spread, self.task.frame.rows);
                    crew.phase(|worker| self.curvature(worker, draw), || self.look());
                }
            }
        }
    }

    /// Whether the method keeps values with each row, and with them a dual point.
    pub(super) fn keeps_rows(&self) -> bool {
        self.desk.is_some() && self.desk(|desk| desk.batch.keeps_rows())
    }

    /// Every replica becomes what the method left.
    fn move_to_point(&self, crew: &Crew<'_>) {
        crew.phase(|worker| self.take_point(worker), || ());
        crew.phase(|worker| self.adopt(worker), || ());
    }

    fn desk<T>(&self, use_it: impl FnOnce(&mut Desk) -> T) -> T {
        use_it(self.desk.as_ref().expect("made for this method").lock().expect(PANICKED).as_mut())
    }

    /// The certificate that the method foresees.
    pub(super) fn foreseen(&self) -> Option<f64> {
        self.desk.as_ref()?.lock().expect(PANICKED).batch.certificate()
    }

    fn begin_passes(&self) {
        self.desk(|desk| {
            self.engine.read(0, 0, &mut desk.point);
            desk.ask = desk.batch.begin(&mut desk.point);
        });
    }

    /// Adds up what the workers found, and lets the method look.
    fn look(&self) {
        self.desk(|desk| {
            let Desk { batch, point, vector, matrix, ask } = desk;
            let mut sums = Sums::default();
            vector.fill(0.0);
            for sheet in &self.sheets {
                sums.add(&sheet.sums.lock().expect(PANICKED));
                add(vector, &sheet.vector.read().expect(PANICKED));
            }
            if matches!(ask, Ask::Curvature { .. } | Ask::Active { .. }) {
                matrix.fill(0.0);
                self.sheets.iter().for_each(|sheet| add(matrix, &sheet.matrix.read().expect(PANICKED)));
            }
            *ask = batch.next(point, Found { sums, vector, matrix });
        });
    }

    fn take_point(&self, worker: usize) {
        let range = share(self.task.width(), worker, self.workers());
        let mut agreed = self.agreed[worker].write().expect(PANICKED);
        self.desk(|desk| agreed.copy_from_slice(&desk.point[range]));
    }

    fn gradient(&self, worker: usize) {
        let task = &self.task;
        let loss = &task.frame.loss;
        let replica = self.replica_of(worker);
        let mut vector = self.sheets[worker].vector.write().expect(PANICKED);
        vector.fill(0.0);
        let (mut z, mut slope, mut second) = ([0.0; PIECE], [0.0; PIECE], [0.0; PIECE]);
        let (mut sum, mut spread, mut lines) = (0.0, 0.0, 0);
        for (part, range) in task.shards.judged(worker, self.workers()) {
            let f = task.shards.glm(part, task.frame);
            lines += range.len() as u64;
            for piece in pieces(range) {
                let (z, slope) = (&mut z[..piece.len()], &mut slope[..piece.len()]);
                let (b, w) = marks(&f, &piece);
                self.engine.margins(replica, &f, piece.clone(), None, z);
                sum += loss.values(z, b, w);
                loss.slopes(z, b, slope);
                loss.seconds(z, b, &mut second[..piece.len()]);
                let weighed = second.iter().zip(w).zip(&f.norms2[piece.clone()]);
                spread += weighed.map(|((second, w), norm2)| w * second * norm2).sum::<f64>();
                on_vectors(
                    #[inline(always)]
                    |_| {
                        for (i, (slope, w)) in piece.zip(slope.iter().zip(w)) {
                            add_fixed(&mut vector, w * slope, f.line(i));
                        }
                    },
                );
            }
        }
        *self.sheets[worker].sums.lock().expect(PANICKED) = Sums { loss: sum, spread, ..Sums::default() };
        self.engine.count(worker, lines);
    }

    /// By slot Σ wᵢ aᵢⱼ² over the worker's rows.
    fn norms(&self, worker: usize) {
        let task = &self.task;
        let mut vector = self.sheets[worker].vector.write().expect(PANICKED);
        vector.fill(0.0);
        for (part, range) in task.shards.judged(worker, self.workers()) {
            let f = task.shards.glm(part, task.frame);
            for i in range {
                let w = f.weight(i);
                f.line(i).entries().for_each(|(j, a)| vector[j] += w * a * a);
            }
        }
    }

    /// The lower triangle of Σ wᵢ φ″ aᵢ aᵢᵀ, estimated from those of the worker's rows that are drawn.
    fn curvature(&self, worker: usize, mut draw: Draw) {
        let task = &self.task;
        let d = task.width();
        let replica = self.replica_of(worker);
        let mut matrix = self.sheets[worker].matrix.write().expect(PANICKED);
        matrix.fill(0.0);
        let mut lines = 0;
        let (mut z, mut second) = ([0.0; PIECE], [0.0; PIECE]);
        for (part, range) in task.shards.judged(worker, self.workers()) {
            let f = task.shards.glm(part, task.frame);
            lines += range.len() as u64;
            for piece in pieces(range) {
                let z = &mut z[..piece.len()];
                let (b, w) = marks(&f, &piece);
                self.engine.margins(replica, &f, piece.clone(), None, z);
                task.frame.loss.seconds(z, b, &mut second[..piece.len()]);
                on_vectors(
                    #[inline(always)]
                    |_| {
                        for (i, (second, w)) in piece.zip(second.iter().zip(w)) {
                            if let Some(probability) = draw.next(w * second * f.norm2(i)) {
                                outer(&mut matrix, d, w * second / probability, f.line(i));
                            }
                        }
                    },
                );
            }
        }
        self.engine.count(worker, lines);
    }
}

/// Systematic sampling: rows laid end to end, each as long as it weighs, and one taken at every `stride`.
#[derive(Clone, Copy, Debug)]
struct Draw {
    /// 0 for all rows.
    stride: f64,
    /// What each row weighs beside its own.
    floor: f64,
    at: f64,
}

impl Draw {
    /// About `rows` of `all` rows that weigh `spread` together.
    fn new(rows: usize, spread: f64, all: usize) -> Self {
        let stride = if rows < all { 1.1 * spread / rows as f64 } else { 0.0 };
        Draw { stride, floor: 0.1 * spread / all as f64, at: 0.5 * stride }
    }

    /// The probability with which a row of weight `weight` is drawn, if it is.
    #[inline(always)]
    fn next(&mut self, weight: f64) -> Option<f64> {
        if self.stride == 0.0 {
            return Some(1.0);
        }
        let length = weight + self.floor;
        self.at += length;
        if self.at < self.stride {
            return None;
        }
        self.at %= self.stride;
        Some((length / self.stride).min(1.0))
    }
}

fn add(sum: &mut [f64], other: &[f64]) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}

/// matrix ← matrix + scale row rowᵀ, the lower triangle. Half the square of the row's entries, each read and written.
#[inline(always)]
fn outer(matrix: &mut [f64], d: usize, scale: f64, row: Row<'_>) {
    if scale == 0.0 {
        return;
    }
    match row {
        Row::Sparse(row) => {
            let (columns, values) = (row.columns(), row.values());
            for (k, (&j, &a)) in columns.iter().zip(values).enumerate() {
                // Columns ascend within a row: those before are the ones below the diagonal.
                let (line, a) = (&mut matrix[j as usize * d..][..d], scale * f64::from(a));
                for (&c, &v) in columns[..=k].iter().zip(&values[..=k]) {
                    line[c as usize] += a * f64::from(v);
                }
            }
        }
        Row::Dense(values) => {
            for (j, &a) in values.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                let (line, a) = (&mut matrix[j * d..=j * d + j], scale * f64::from(a));
                line.iter_mut().zip(values).for_each(|(line, &v)| *line += a * f64::from(v));
            }
        }
        Row::Pair(_) => unreachable!("a method with a matrix of curvature has fixed lines"),
    }
}
