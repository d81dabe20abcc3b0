//! The model and the state of a run, copied out while the workers wait.

use super::{Form, PANICKED, Run};
use crate::{
    checkpoint::Checkpoint,
    data::matrix::Matrix,
    model::Model,
    sync::Slot,
    trace::{Sample, Snapshot},
};

/// The run at a sample.
pub(super) struct At<'r, 'a, D: Matrix> {
    pub(super) run: &'r Run<'a, D>,
    pub(super) epoch: u64,
    pub(super) sample: &'r Sample,
    pub(super) ascent: f64,
}

impl<D: Matrix> Snapshot for At<'_, '_, D> {
    fn model(&self) -> Model {
        self.run.model()
    }

    fn checkpoint(&self) -> Checkpoint {
        self.run.state_at(self.epoch, Some(self.sample.clone()), self.ascent)
    }
}

impl<D: Matrix> Run<'_, D> {
    /// x and the constant in the scale it is solved in.
    fn solution(&self) -> (Vec<f64>, f64) {
        let task = &self.task;
        if task.form == Form::Columns {
            let mut x: Vec<f64> = self.state();
            let constant = task.frame.free.map_or(0.0, |column| x.remove(column));
            return (x, constant);
        }
        let mut store = vec![0.0; task.width()];
        self.engine.read(0, 0, &mut store);
        let mut x = task.frame.slots.by_column(&store);
        if task.form == Form::Dual {
            x.iter_mut().for_each(|value| *value = self.primal(*value));
        }
        let (prox, d) = (task.frame.prox, task.frame.slots.columns());
        // Behind the columns there is an intercept, which may be anything.
        x[..d].iter_mut().for_each(|value| *value = value.clamp(prox.lo, prox.hi));
        (x, self.constant())
    }

    /// The method's state of all lines in order.
    fn state(&self) -> Vec<f64> {
        self.task.shards.parts.iter().flat_map(|part| part.state.iter().map(Slot::read)).collect()
    }

    /// The model in the scale of the input.
    pub(super) fn model(&self) -> Model {
        let (mut weights, mut intercept) = self.solution();
        if weights.len() > self.task.template.weights.len() {
            // The penalised column of ones.
            intercept += weights.pop().expect("longer than another");
        }
        for (weight, scale) in weights.iter_mut().zip(self.task.column_scale) {
            *weight *= scale;
        }
        Model { weights, intercept, ..self.task.template.clone() }
    }

    /// What a later process needs to go on from here.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        let ledger = self.ledger.lock().expect(PANICKED);
        let last = ledger.samples.last().or(ledger.last_before.as_ref()).cloned();
        self.state_at(ledger.epochs_done, last, ledger.last_ascent)
    }

    pub(super) fn state_at(&self, epoch: u64, last: Option<Sample>, ascent: f64) -> Checkpoint {
        let mut parameters = vec![0.0; self.task.width()];
        self.engine.read(0, 0, &mut parameters);
        if self.task.form != Form::Columns {
            parameters = self.task.frame.slots.by_column(&parameters);
        }
        parameters.push(self.constant());
        if self.engine.companion().is_some() {
            let mut average = vec![0.0; self.task.width()];
            self.engine.read(0, self.task.width(), &mut average);
            parameters.extend(self.task.frame.slots.by_column(&average));
        }
        Checkpoint {
            identity: self.task.identity.to_owned(),
            parameters,
            state: self.state(),
            damping: self.pace_damping.read(),
            damping_least: self.damping_least.read(),
            ascent,
            epoch,
            step_initial: self.task.step.map(|step| step.initial),
            last,
        }
    }
}
