//! The phases in which the workers judge the present point, from the lines they have.
//!
//! By rows: a worker goes over its rows once for margins, losses and dual values, and where the method has no dual
//! variables of its own also adds αᵢ aᵢ to a vector of its own (fused, unless α must first be balanced); then each
//! worker sums its range of coordinates over those vectors. By columns: margins are in the store; a worker takes the
//! losses of its range of rows, and then goes over its columns. Traffic: the data once or twice, and W + 1 times d.

use super::{Crew, Form, PANICKED, Run, passes::Kept, share};
use crate::{
    data::matrix::Matrix,
    method::batch::Sums,
    objective::{
        Glm, Linear,
        certificate::{Totals, scales},
    },
    os::memory::{Asking, Pages, Residency, Site},
    store::add_fixed,
    sync::Slot,
    trace::CertificateKind,
};
use std::{
    ops::Range,
    sync::{Mutex, RwLock},
};

/// What one worker works out.
pub(super) struct Sheet {
    pub(super) totals: Mutex<Totals>,
    /// What a pass of a method that asks for passes adds up.
    pub(super) sums: Mutex<Sums>,
    /// What such a method keeps with each row that the worker judges; of no rows if it keeps nothing.
    pub(super) kept: Mutex<Kept>,
    /// By rows: αᵢ of each row that the worker judges, where they must be kept.
    alpha: Mutex<Pages<f64>>,
    /// Σ over the worker's lines of scalar times line.
    pub(super) vector: RwLock<Pages<f64>>,
    /// Σ over the worker's lines of scalar times line lineᵀ; empty for methods that never ask for it.
    pub(super) matrix: RwLock<Pages<f64>>,
}

impl Sheet {
    /// For `width` coordinates, a `square` of them or none, `lines` values of α, and what is kept with `kept` rows, at
    /// `site`.
    pub(super) fn new(width: usize, square: bool, lines: usize, kept: usize, site: &Site) -> Self {
        Sheet {
            totals: Mutex::default(),
            sums: Mutex::default(),
            kept: Mutex::new(Kept::new(kept, site)),
            alpha: Mutex::new(Pages::placed(lines, site)),
            vector: RwLock::new(Pages::placed(width, site)),
            matrix: RwLock::new(Pages::placed(if square { width * width } else { 0 }, site)),
        }
    }

    /// Takes its pages.
    pub(super) fn populate(&self) {
        let (vector, alpha) = (self.vector.read().expect(PANICKED), self.alpha.lock().expect(PANICKED));
        // Where it cannot be done now, the first write does it.
        let _ = vector.populate(0..vector.len());
        let _ = alpha.populate(0..alpha.len());
        let matrix = self.matrix.read().expect(PANICKED);
        let _ = matrix.populate(0..matrix.len());
        self.kept.lock().expect(PANICKED).populate();
    }

    /// Where its arrays lie.
    pub(super) fn residency(&self, asking: Asking) -> Residency {
        let mut all = self.vector.read().expect(PANICKED).settle(asking);
        all.add(&self.alpha.lock().expect(PANICKED).settle(asking));
        all.add(&self.matrix.read().expect(PANICKED).settle(asking));
        self.kept.lock().expect(PANICKED).residency(asking, &mut all);
        all
    }
}

impl<D: Matrix> Run<'_, D> {
    /// Judges the present point into `ledger.totals`. With the store exact, `agreed` holds what it should be.
    pub(super) fn evaluate(&self, crew: &Crew<'_>) {
        self.judge(crew, 1.0);
    }

    /// As [`Run::evaluate`], by columns with the coefficients multiplied by `share`: 0 for the origin, whose margins the
    /// store holds then, while the state keeps the coefficients.
    pub(super) fn judge(&self, crew: &Crew<'_>, share: f64) {
        crew.phase(|worker| self.margins(worker), || self.collect(Self::set_balance));
        if self.task.form == Form::Primal && self.keeps_alpha() {
            crew.phase(|worker| self.scatter_alpha(worker), || ());
        }
        crew.phase(|worker| self.coordinates(worker, share), || self.collect(Self::set_scale));
        if self.task.form != Form::Dual && self.keeps_alpha() {
            crew.phase(|worker| self.conjugates(worker), || self.collect(|_, _| ()));
        }
    }

    /// Adds up what the workers found, and lets `then` draw a conclusion.
    fn collect(&self, then: impl FnOnce(&Self, &Totals)) {
        let mut totals = Totals::default();
        self.sheets.iter().for_each(|sheet| totals.add(&sheet.totals.lock().expect(PANICKED)));
        then(self, &totals);
        self.ledger.lock().expect(PANICKED).totals = totals;
    }

    fn set_balance(&self, totals: &Totals) {
        let balance = if self.balances() { totals.balance() } else { [1.0, 1.0] };
        self.balance[0].put(balance[0]);
        self.balance[1].put(balance[1]);
    }

    fn set_scale(&self, totals: &Totals) {
        self.balance[2].put(totals.scale);
    }

    fn certifies_by_gap(&self) -> bool {
        self.task.certificate == CertificateKind::Gap
    }

    fn balances(&self) -> bool {
        self.certifies_by_gap() && self.task.frame.has_free_constant()
    }

    /// Whether α is needed again after the margins.
    pub(super) fn keeps_alpha(&self) -> bool {
        self.balances() || (self.certifies_by_gap() && scales(&self.task.frame.prox))
    }

    fn feasible(&self, alpha: f64) -> f64 {
        alpha * self.balance[usize::from(alpha < 0.0)].read()
    }

    fn margins(&self, worker: usize) {
        let mut totals = Totals::default();
        match self.task.form {
            Form::Columns => self.margins_stored(worker, &mut totals),
            Form::Primal | Form::Dual => self.margins_by_rows(worker, &mut totals),
        }
        *self.sheets[worker].totals.lock().expect(PANICKED) = totals;
    }

    /// The worker's range of the margins, which are the store.
    fn margins_stored(&self, worker: usize, totals: &mut Totals) {
        let range = share(self.task.frame.rows, worker, self.workers());
        let f = self.task.shards.glm(worker, self.task.frame);
        let mut margins = vec![0.0; range.len()];
        if self.task.drifts {
            // Rebuilt a moment ago, in full precision; the store may be of 4 bytes.
            margins.copy_from_slice(&self.agreed[worker].read().expect(PANICKED));
        } else {
            self.engine.read(self.replica_of(worker), range.start, &mut margins);
        }
        let mut alpha = [0.0; PIECE];
        for (piece, z) in pieces(range).zip(margins.chunks(PIECE)) {
            let alpha = &mut alpha[..piece.len()];
            let (b, w) = marks(&f, &piece);
            self.terms(z, b, w, alpha, totals);
            self.slopes[piece].iter().zip(alpha).for_each(|(slot, alpha)| slot.put(*alpha));
        }
    }

    fn margins_by_rows(&self, worker: usize, totals: &mut Totals) {
        let task = &self.task;
        let (constant, keep) = (self.constant(), self.keeps_alpha());
        let mut alphas = self.sheets[worker].alpha.lock().expect(PANICKED);
        let mut vector = self.sheets[worker].vector.write().expect(PANICKED);
        if task.form == Form::Primal {
            vector.fill(0.0);
        }
        let mut kept = alphas.iter_mut();
        let duals = self.sheets[worker].kept.lock().expect(PANICKED);
        let mut duals = self.keeps_rows().then(|| duals.duals().iter());
        let (replica, prox) = (self.replica_of(worker), task.frame.prox);
        let mapped = (task.form == Form::Dual && !prox.is_pure_l2()).then_some(prox);
        let (mut z, mut alpha) = ([0.0; PIECE], [0.0; PIECE]);
        for (part, lines) in task.shards.judged(worker, self.workers()) {
            let (f, state) = (task.shards.glm(part, task.frame), &task.shards.parts[part].state);
            for piece in pieces(lines) {
                let (z, alpha) = (&mut z[..piece.len()], &mut alpha[..piece.len()]);
                self.engine.margins(replica, &f, piece.clone(), mapped, z);
                if constant != 0.0 {
                    z.iter_mut().for_each(|z| *z += constant);
                }
                let (b, w) = marks(&f, &piece);
                if task.form == Form::Dual {
                    alpha.iter_mut().zip(&state[piece.clone()]).for_each(|(alpha, state)| *alpha = state.read());
                } else if let Some(duals) = &mut duals {
                    alpha.iter_mut().zip(b).zip(duals).for_each(|((alpha, b), dual)| *alpha = b * dual);
                } else {
                    self.terms(z, b, w, alpha, totals);
                }
                if task.form == Form::Dual || duals.is_some() {
                    totals.loss += task.frame.loss.values(z, b, w);
                    totals.conjugate += task.frame.loss.conjugates(alpha, b, w);
                }
                if task.form == Form::Dual {
                    continue;
                }
                if keep {
                    alpha.iter().zip(kept.by_ref()).for_each(|(alpha, kept)| *kept = *alpha);
                } else {
                    alpha.iter_mut().zip(w).for_each(|(alpha, w)| *alpha *= w);
                    self.engine.expand(replica, &f, piece, alpha, &mut vector);
                }
            }
        }
    }

    /// Adds the losses at margins z, and puts α = −φ′(z). Their conjugates follow from Fenchel's equality,
    /// φ(z) + φ*(−α) = −αz, without a logarithm; they are those to use if α need not be changed.
    fn terms(&self, z: &[f64], b: &[f64], w: &[f64], alpha: &mut [f64], totals: &mut Totals) {
        let loss = &self.task.frame.loss;
        let values = loss.values(z, b, w);
        totals.loss += values;
        loss.slopes(z, b, alpha);
        alpha.iter_mut().for_each(|alpha| *alpha = -*alpha);
        if !self.keeps_alpha() {
            totals.conjugate -=
                values + alpha.iter().zip(z).zip(w).map(|((alpha, z), w)| w * alpha * z).sum::<f64>();
        }
        for (&alpha, w) in alpha.iter().zip(w) {
            totals.signed[usize::from(alpha < 0.0)] += w * alpha.abs();
        }
    }

    /// By rows: Σ wᵢ αᵢ aᵢ over the rows that the worker judges, of the feasible α.
    fn scatter_alpha(&self, worker: usize) {
        let alphas = self.sheets[worker].alpha.lock().expect(PANICKED);
        let mut vector = self.sheets[worker].vector.write().expect(PANICKED);
        let mut alphas = alphas.iter();
        for (part, lines) in self.task.shards.judged(worker, self.workers()) {
            let f = self.task.shards.glm(part, self.task.frame);
            for (i, &alpha) in lines.zip(&mut alphas) {
                add_fixed(&mut vector, f.weight(i) * self.feasible(alpha), f.line(i));
            }
        }
    }

    /// x_j of a value u_j of the store.
    pub(super) fn primal(&self, u: f64) -> f64 {
        let prox = &self.task.frame.prox;
        if prox.is_pure_l2() { u } else { prox.dual_map(prox.l2 * u) }
    }

    /// r(x_j), r*(v_j) and the prox-gradient step over the worker's coordinates.
    fn coordinates(&self, worker: usize, share: f64) {
        let mut totals = *self.sheets[worker].totals.lock().expect(PANICKED);
        match self.task.form {
            Form::Columns => self.own_columns(worker, share, &mut totals),
            Form::Primal => self.range_of_primal(worker, &mut totals),
            Form::Dual => self.range_of_dual(worker, &mut totals),
        }
        *self.sheets[worker].totals.lock().expect(PANICKED) = totals;
    }

    fn own_columns(&self, worker: usize, share: f64, totals: &mut Totals) {
        let task = &self.task;
        let f = task.shards.glm(worker, task.frame);
        for j in 0..f.lines() {
            let entries = f.line(j).entries();
            let sum: f64 = entries.map(|(k, a)| f.weight(k) * a * self.feasible(self.slopes[k].read())).sum();
            let x = share * task.shards.parts[worker].state[j].read();
            self.coordinate(f.global(j), x, sum / task.frame.total_weight, totals);
        }
    }

    fn range_of_primal(&self, worker: usize, totals: &mut Totals) {
        let task = &self.task;
        let range = share(task.width(), worker, self.workers());
        let mut x = vec![0.0; range.len()];
        self.engine.read(self.replica_of(worker), range.start, &mut x);
        let mut sums = vec![0.0; range.len()];
        for sheet in &self.sheets {
            let vector = sheet.vector.read().expect(PANICKED);
            sums.iter_mut().zip(&vector[range.clone()]).for_each(|(sum, value)| *sum += value);
        }
        let slots = range.zip(x.into_iter().zip(sums));
        for (j, (x, sum)) in slots.filter(|&(slot, _)| !task.frame.slots.is_hole(slot)) {
            self.coordinate(j, x, sum / task.frame.total_weight, totals);
        }
        if worker == 0 && !self.certifies_by_gap() && task.frame.private_constant {
            // ∂F/∂c = −Σ wᵢ αᵢ/W.
            let signed = self.ledger.lock().expect(PANICKED).totals.signed;
            totals.step2 += ((signed[0] - signed[1]) / task.frame.total_weight).powi(2);
        }
    }

    fn range_of_dual(&self, worker: usize, totals: &mut Totals) {
        let task = &self.task;
        let range = share(task.width(), worker, self.workers());
        let mut u = vec![0.0; range.len()];
        self.engine.read(self.replica_of(worker), range.start, &mut u);
        let agreed = self.agreed[worker].read().expect(PANICKED);
        let real = |&(k, _): &(usize, &f64)| !task.frame.slots.is_hole(range.start + k);
        for (k, &u) in u.iter().enumerate().filter(real) {
            let x = self.primal(u);
            totals.support += u64::from(x != 0.0);
            totals.regulariser += task.frame.prox.value(x);
            // Where the store may differ from what α says, `agreed` has what α says in full precision.
            let exact = if self.task.drifts { agreed[k] } else { u };
            totals.regulariser_conjugate += task.frame.prox.conjugate(task.frame.prox.l2 * exact);
        }
    }

    /// One coordinate x_j with v_j = (1/W) Σ wᵢ αᵢ a_ij, minus the gradient of the loss.
    fn coordinate(&self, j: usize, x: f64, v: f64, totals: &mut Totals) {
        let prox = self.task.frame.prox_of(j);
        let free = self.task.frame.free == Some(j);
        // A bound that a parameter of 4 bytes cannot hold is overstepped by its rounding.
        let x = x.clamp(prox.lo, prox.hi);
        totals.support += u64::from(x != 0.0 && !free);
        totals.regulariser += prox.value(x);
        if !self.certifies_by_gap() {
            totals.step2 += (prox.prox(x + v, 1.0) - x).powi(2);
        } else if free {
            // Σ wᵢ αᵢ = 0 was arranged.
        } else if scales(&prox) {
            totals.scale = totals.scale.min(prox.dual_scale(v));
            // Where r*(v) is infinite the scale takes it to 0; elsewhere r*(sv) ≤ s r*(v), r* being convex and 0 at 0.
            let conjugate = prox.conjugate(v);
            if conjugate < f64::INFINITY {
                totals.regulariser_conjugate += conjugate;
            }
        } else {
            totals.regulariser_conjugate += prox.conjugate(v);
        }
    }

    /// Σ wᵢ φ*(−αᵢ) of the feasible α.
    fn conjugates(&self, worker: usize) {
        let task = &self.task;
        let scale = self.balance[2].read();
        let value = |f: &Glm<'_, D>, k: usize, alpha: f64| {
            f.weight(k) * task.frame.loss.conjugate(scale * self.feasible(alpha), f.label(k))
        };
        let mut sum = 0.0;
        match task.form {
            Form::Columns => {
                let f = task.shards.glm(worker, task.frame);
                let range = share(task.frame.rows, worker, self.workers());
                sum += range.map(|k| value(&f, k, self.slopes[k].read())).sum::<f64>();
            }
            Form::Primal | Form::Dual => {
                let alphas = self.sheets[worker].alpha.lock().expect(PANICKED);
                let mut alphas = alphas.iter();
                for (part, lines) in task.shards.judged(worker, self.workers()) {
                    let f = task.shards.glm(part, task.frame);
                    sum += lines.zip(&mut alphas).map(|(i, &alpha)| value(&f, i, alpha)).sum::<f64>();
                }
            }
        }
        self.sheets[worker].totals.lock().expect(PANICKED).conjugate = sum;
    }
}

/// Rows judged at a time: their margins and dual values stay in L1, and are long enough for vectors.
pub(super) const PIECE: usize = 64;

pub(super) fn pieces(lines: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    lines.clone().step_by(PIECE).map(move |start| start..(start + PIECE).min(lines.end))
}

/// Labels and weights of the rows of `piece`.
pub(super) fn marks<'a, D>(f: &Glm<'a, D>, piece: &Range<usize>) -> (&'a [f64], &'a [f64]) {
    const ONES: [f64; PIECE] = [1.0; PIECE];
    (&f.labels[piece.clone()], f.weights.map_or(&ONES[..piece.len()], |weights| &weights[piece.clone()]))
}
