//! Where everything that a run uses lies: asked when the workers sit and nothing has been updated, and of a run that is watched again when
//! it has ended.

use super::{Form, PANICKED, Run};
use crate::{
    data::matrix::Matrix,
    os::memory::Asking,
    placement::{
        Plan,
        actual::{Actual, Array, Owner},
    },
};

impl<D: Matrix> Run<'_, D> {
    /// What the kernel says of each array.
    pub(super) fn actual(&self, asking: Asking) -> Actual {
        let plan = self.task.plan;
        let mut arrays = Vec::new();
        for worker in 0..self.workers() {
            arrays.extend(self.lines_of(worker, asking));
            arrays.extend(self.own_of(worker, asking));
        }
        for (number, replica) in plan.replicas.iter().enumerate() {
            let (of, home) = (Owner::Replica(number), replica.home.clone());
            let mut residency = self.engine.residency_of_replica(number, asking);
            self.moving.residency(number, asking).iter().for_each(|marks| residency.add(marks));
            arrays.push(Array { what: "parameters", of, home: home.clone(), residency });
            let messages = self.residency_of_messages(number, asking);
            arrays.extend(messages.map(|residency| Array { what: "messages", of, home, residency }));
        }
        for (shard, margins) in self.task.shards.margins.iter().enumerate() {
            let (of, home) = (Owner::Shard(shard), plan.shards[shard].home.clone());
            arrays.push(Array { what: "labels", of, home, residency: margins.residency(asking) });
        }
        if self.task.form == Form::Columns {
            let residency = self.slopes.settle(asking);
            arrays.push(Array { what: "slopes", of: Owner::All, home: plan.in_runs(), residency });
        }
        Actual { workers: self.task.standings.to_vec(), arrays }
    }

    /// Rows or columns, and the method's state for them.
    fn lines_of(&self, worker: usize, asking: Asking) -> Vec<Array> {
        let Plan { workers, shards, .. } = self.task.plan;
        let (of, home) = (Owner::Worker(worker), &shards[workers[worker].shard].home);
        let part = &self.task.shards.parts[worker];
        let (mut lines, state) = part.residency(asking);
        lines.add(&part.record(asking.pages_max));
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
    fn own_of(&self, worker: usize, asking: Asking) -> [Array; 2] {
        let (of, home) = (Owner::Worker(worker), &self.task.plan.workers[worker].home);
        let mut sums = self.sheets[worker].residency(asking);
        sums.add(&self.agreed[worker].read().expect(PANICKED).settle(asking));
        sums.add(&self.residency_of_aside(worker, asking));
        let order = self.engine.residency_of_seat(worker, asking);
        [("sums", sums), ("order and counters", order)].map(|(what, residency)| Array {
            what,
            of,
            home: home.clone(),
            residency,
        })
    }
}
