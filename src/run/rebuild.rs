//! The phases that make the store, or the companion beside it, again from the method's state, and find how far it had drifted
//! from there. Traffic: the data once, and W + 1 times d, or W + K times for a companion of K replicas.

use super::{Crew, Form, PANICKED, Run, share};
use crate::{data::matrix::Matrix, method::Companion, objective::Linear, store::add_fixed, sync::Slot};

impl<D: Matrix> Run<'_, D> {
    /// Makes the store again from the state: undoes what lossy merges lost and what rounding added. Leaves the exact
    /// values in `agreed`.
    pub(super) fn rebuild(&self, crew: &Crew<'_>) {
        let form = self.task.form;
        if form == Form::Primal && self.engine.companion() != Some(Companion::Table) {
            return;
        }
        crew.phase(|worker| self.expand(worker), || ());
        if form == Form::Primal {
            crew.phase(|worker| self.average_memos(worker), || ());
            return;
        }
        crew.phase(|worker| self.sum_up(worker), || ());
        crew.phase(|worker| self.adopt(worker), || ());
    }

    /// Keeps how far `stored` was from `exact`, what the state says, over the worker's range.
    pub(super) fn drifted(&self, worker: usize, stored: &[f64], exact: &[f64]) {
        let off: f64 = stored.iter().zip(exact).map(|(a, b)| (a - b) * (a - b)).sum();
        let sums = [off, exact.iter().map(|value| value * value).sum()];
        self.drift[worker].iter().zip(sums).for_each(|(cell, sum)| cell.put(sum));
    }

    /// How far the store, or the companion, was from what the state says when it was last made again, over the length of that.
    /// `None` where it never is.
    pub(super) fn drift(&self) -> Option<f64> {
        let sum = |which: usize| self.drift.iter().map(|cell| cell[which].read()).sum::<f64>();
        let (off, all) = (sum(0), sum(1));
        self.task.drifts.then(|| if off == 0.0 { 0.0 } else { (off / all).sqrt() })
    }

    fn expand(&self, worker: usize) {
        let task = &self.task;
        let f = task.shards.glm(worker, task.frame);
        let unit = match task.form {
            Form::Dual => 1.0 / (task.frame.prox.l2 * task.frame.total_weight),
            Form::Primal => 1.0 / task.frame.total_weight,
            Form::Columns => 1.0,
        };
        let mut vector = self.sheets[worker].vector.write().expect(PANICKED);
        vector.fill(0.0);
        for (i, memo) in task.shards.parts[worker].state.iter().enumerate() {
            let weight = if task.form == Form::Dual { f.weight(i) } else { 1.0 };
            add_fixed(&mut vector, weight * unit * memo.read(), f.line(i));
        }
    }

    fn sum_up(&self, worker: usize) {
        let start = share(self.task.width(), worker, self.workers()).start;
        let mut agreed = self.agreed[worker].write().expect(PANICKED);
        agreed.fill(0.0);
        // Replicas of 4 bytes take it over rounded, and are not what is agreed until they meet again.
        self.moving.mark_in_all(start..start + agreed.len());
        for sheet in &self.sheets {
            let vector = sheet.vector.read().expect(PANICKED);
            agreed.iter_mut().zip(&vector[start..]).for_each(|(sum, value)| *sum += value);
        }
        let mut stored = vec![0.0; agreed.len()];
        self.engine.read(self.replica_of(worker), start, &mut stored);
        self.drifted(worker, &stored, &agreed);
    }
}
