//! Where everything that a run uses lies, asked when the workers sit and nothing has been updated.

use super::{Form, PANICKED, Run};
use crate::{
    data::matrix::Matrix,
    placement::{
        Plan,
        actual::{Actual, Array, Owner},
    },
};

impl<D: Matrix> Run<'_, D> {
    /// What the kernel says, for at most `pages_max` pages of each array.
    pub(super) fn actual(&self, pages_max: usize) -> Actual {
        let plan = self.task.plan;
        let mut arrays = Vec::new();
        for worker in 0..self.workers() {
            arrays.extend(self.lines_of(worker, pages_max));
            arrays.extend(self.own_of(worker, pages_max));
        }
        for (number, replica) in plan.replicas.iter().enumerate() {
            let (of, home) = (Owner::Replica(number), replica.home.clone());
            let residency = self.engine.residency_of_replica(number, pages_max);
            arrays.push(Array { what: "parameters", of, home: home.clone(), residency });
            let messages = self.residency_of_messages(number, pages_max);
            arrays.extend(messages.map(|residency| Array { what: "messages", of, home, residency }));
        }
        for (shard, margins) in self.task.shards.margins.iter().enumerate() {
            let (of, home) = (Owner::Shard(shard), plan.shards[shard].home.clone());
            arrays.push(Array { what: "labels", of, home, residency: margins.residency(pages_max) });
        }
        if self.task.form == Form::Columns {
            let residency = self.slopes.settle(pages_max);
            arrays.push(Array { what: "slopes", of: Owner::All, home: plan.in_runs(), residency });
        }
        Actual { workers: self.task.standings.to_vec(), arrays }
    }

    /// Rows or columns, and the method's state for them.
    fn lines_of(&self, worker: usize, pages_max: usize) -> Vec<Array> {
        let Plan { workers, shards, .. } = self.task.plan;
        let (of, home) = (Owner::Worker(worker), &shards[workers[worker].shard].home);
        let part = &self.task.shards.parts[worker];
        let (mut lines, state) = part.residency(pages_max);
        lines.add(&part.record(pages_max));
        let (what, kept) = match self.task.form {
            Form::Primal if self.engine.companion().is_some() => ("rows", Some("memos")),
            Form::Primal => ("rows", None),
            Form::Dual => ("rows", Some("dual variables")),
            Form::Columns => ("columns", Some("coefficients")),
        };
        let array = |(what, residency)| Array { what, of, home: home.clone(), residency };
        std::iter::once((what, lines)).chain(kept.map(|kept| (kept, state))).map(array).collect()
    }

    /// What the worker alone writes: its sums and what it takes from exchanges, its order and counters.
    fn own_of(&self, worker: usize, pages_max: usize) -> [Array; 2] {
        let (of, home) = (Owner::Worker(worker), &self.task.plan.workers[worker].home);
        let mut sums = self.sheets[worker].residency(pages_max);
        sums.add(&self.agreed[worker].read().expect(PANICKED).settle(pages_max));
        sums.add(&self.residency_of_aside(worker, pages_max));
        let order = self.engine.residency_of_seat(worker, pages_max);
        [("sums", sums), ("order and counters", order)].map(|(what, residency)| Array {
            what,
            of,
            home: home.clone(),
            residency,
        })
    }
}
