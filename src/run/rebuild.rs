//! The phases that make the store again from the method's state. Traffic: the data once, and W + 1 times d.

use super::{Crew, Form, PANICKED, Run, share};
use crate::{data::matrix::Matrix, objective::Linear, store::add_fixed, sync::Slot};

impl<D: Matrix> Run<'_, D> {
    /// Makes the store again from the state: undoes what lossy merges lost and what rounding added. Leaves the exact
    /// values in `agreed`.
    pub(super) fn rebuild(&self, crew: &Crew<'_>) {
        if self.task.form == Form::Primal {
            return;
        }
        crew.phase(|worker| self.expand(worker), || ());
        crew.phase(|worker| self.sum_up(worker), || ());
        crew.phase(|worker| self.adopt(worker), || ());
    }

    fn expand(&self, worker: usize) {
        let task = &self.task;
        let f = task.shards.glm(worker, task.frame);
        let unit = match task.form {
            Form::Dual => 1.0 / (task.frame.prox.l2 * task.frame.total_weight),
            Form::Primal | Form::Columns => 1.0,
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
        for sheet in &self.sheets {
            let vector = sheet.vector.read().expect(PANICKED);
            agreed.iter_mut().zip(&vector[start..]).for_each(|(sum, value)| *sum += value);
        }
    }
}
