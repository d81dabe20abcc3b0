//! Where a run begins: at its origin, at a given model, or where another run was saved.

use super::{Fit, Form, Placed};
use crate::{
    checkpoint::Checkpoint,
    data::matrix::Matrix,
    error::{Error, Result},
    model::{Factors, Model},
    objective::{Frame, Linear, Origin},
    run::engine::Engine,
    shard::Shards,
    sync::Slot,
};
use std::borrow::Cow;

impl Fit<'_> {
    /// Puts the start into replica 0 and the state; returns the checkpoint to go on from, and where the workers' private
    /// constants start.
    ///
    /// # Errors
    /// A checkpoint of another run, or of another size.
    pub(super) fn begin<'p, D: Matrix>(
        &self,
        placed: &'p Placed<'_, D>,
        engine: &dyn Engine<D>,
        form: Form,
    ) -> Result<(Option<&'p Checkpoint>, f64)> {
        if let Some(checkpoint) = &placed.start.resume {
            let lines = if self.stateful() { placed.shards.lines() } else { 0 };
            let width = if form == Form::Columns { placed.frame.rows } else { placed.frame.columns };
            let slots = &placed.frame.slots;
            checkpoint.check(&placed.identity)?;
            let vectors = if engine.companion().is_some() { 2 } else { 1 };
            if checkpoint.parameters.len() != vectors * width + 1 || checkpoint.state.len() != lines {
                return Err(Error::unmet(
                    format!(
                        "the checkpoint holds {} parameters and {} values of state; this run has {} and {lines}",
                        checkpoint.parameters.len(),
                        checkpoint.state.len(),
                        vectors * width + 1
                    ),
                    "Start anew without --resume.",
                ));
            }
            let parameters = &checkpoint.parameters[..width];
            if form == Form::Columns {
                engine.write(0, 0, parameters);
            } else {
                engine.write(0, 0, &slots.by_slot(parameters));
            }
            if engine.companion().is_some() {
                let average = slots.by_slot(&checkpoint.parameters[width + 1..]);
                (0..self.plan.replicas.len()).for_each(|replica| engine.write(replica, slots.width(), &average));
            }
            put_state(&placed.shards, &checkpoint.state);
            return Ok((Some(checkpoint), checkpoint.parameters[width]));
        }
        let Some(warm) = &placed.start.warm else {
            if placed.frame.origin != Origin::Zero {
                engine.write(0, 0, &self.origin(&placed.frame));
            }
            return Ok((None, 0.0));
        };
        if warm.factors.is_some() || placed.template.factors.is_some() {
            engine.write(0, 0, &self.warm_factors(placed, warm)?);
            return Ok((None, 0.0));
        }
        let warm = turned(warm, placed.template.labels);
        self.warm(placed, &warm, engine, form);
        Ok((None, if placed.frame.private_constant { warm.intercept } else { 0.0 }))
    }

    fn origin(&self, frame: &Frame) -> Vec<f64> {
        let mut x = vec![0.0; frame.slots.width()];
        frame.origin.fill(0, &mut x);
        x
    }

    /// U and V of `warm`, cut to the rows and columns of the data; rows and columns that it does not have start at the origin.
    ///
    /// # Errors
    /// A model of another rank, or of the other kind.
    fn warm_factors<D>(&self, placed: &Placed<'_, D>, warm: &Model) -> Result<Vec<f64>> {
        let (asked, found) = (placed.template.factors.map(|f| f.rank), warm.factors.map(|f| f.rank));
        let (Some(Factors { rows, .. }), Some(rank)) = (warm.factors, asked.filter(|_| asked == found)) else {
            let kind = |rank: Option<usize>| rank.map_or("linear".into(), |rank| format!("of rank {rank}"));
            let what = format!("the model to start from is {}, and this problem is {}", kind(found), kind(asked));
            return Err(Error::unmet(
                what,
                "Start from a model of the same rank, or set problem.rank to its rank.",
            ));
        };
        let mut x = self.origin(&placed.frame);
        let (old_u, old_v) = warm.weights.split_at(rank * rows);
        let (new_u, new_v) = x.split_at_mut(rank * self.shape.rows);
        let prox = placed.frame.prox;
        for (new, old) in [(new_u, old_u), (new_v, old_v)] {
            new.iter_mut().zip(old).for_each(|(new, old)| *new = old.clamp(prox.lo, prox.hi));
        }
        Ok(x)
    }

    /// Starts at `warm`, cut or filled with zeros to d coefficients. For the dual, αᵢ = −φ′(zᵢ) at it; the store follows
    /// from the state there and by columns.
    fn warm<D: Matrix>(&self, placed: &Placed<'_, D>, warm: &Model, engine: &dyn Engine<D>, form: Form) {
        let frame = &placed.frame;
        let mut x: Vec<f64> = warm.weights.clone();
        x.resize(self.shape.columns, 0.0);
        for (x, scale) in x.iter_mut().zip(&placed.column_scale) {
            *x /= scale;
        }
        x.iter_mut().for_each(|x| *x = x.clamp(frame.prox.lo, frame.prox.hi));
        if frame.columns > x.len() {
            x.push(warm.intercept);
        }
        let mut store = vec![0.0; if form == Form::Columns { frame.rows } else { frame.slots.width() }];
        if form != Form::Columns {
            x = frame.slots.by_slot(&x);
        }
        match form {
            Form::Primal => {
                store.copy_from_slice(&x);
                // No update ever touches what no row touches, where each goes by the rows that touch it.
                if let Some(rarity) = placed.shards.rarity.first() {
                    store.iter_mut().zip(&rarity[..]).filter(|(_, d)| **d == 0.0).for_each(|(x, _)| *x = 0.0);
                }
            }
            Form::Columns => {
                put_state(&placed.shards, &x);
                for part in 0..placed.shards.parts.len() {
                    let f = placed.shards.glm(part, frame);
                    for j in 0..f.lines() {
                        let x = x[f.global(j)];
                        f.line(j).entries().for_each(|(k, a)| store[k] += a * x);
                    }
                }
            }
            Form::Dual => {
                for part in 0..placed.shards.parts.len() {
                    let f = placed.shards.glm(part, frame);
                    for i in 0..f.lines() {
                        let z: f64 = f.line(i).entries().map(|(j, a)| a * x[j]).sum();
                        let alpha = -frame.loss.slope(z, f.label(i));
                        placed.shards.parts[part].state[i].put(alpha);
                        let unit = f.weight(i) * alpha / (frame.prox.l2 * frame.total_weight);
                        f.line(i).entries().for_each(|(j, a)| store[j] += unit * a);
                    }
                }
            }
        }
        engine.write(0, 0, &store);
    }
}

/// `warm` itself, or its margins turned round if its label of −1 is the data's of +1 and the other way round: LIBLINEAR
/// calls the label positive that it meets first.
fn turned(warm: &Model, labels: Option<[f64; 2]>) -> Cow<'_, Model> {
    match (warm.labels, labels) {
        (Some([negative, positive]), Some(labels)) if labels == [positive, negative] => {
            let weights = warm.weights.iter().map(|weight| -weight).collect();
            Cow::Owned(Model { labels: Some(labels), intercept: -warm.intercept, weights, ..warm.clone() })
        }
        _ => Cow::Borrowed(warm),
    }
}

fn put_state<D>(shards: &Shards<D>, state: &[f64]) {
    let slots = shards.parts.iter().flat_map(|part| part.state.iter());
    slots.zip(state).for_each(|(slot, &value)| slot.put(value));
}
