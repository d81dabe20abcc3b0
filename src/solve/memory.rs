//! What a run takes beside what is there, node by node, before any of it is allocated.

use super::{Fit, Form, Start};
use crate::{
    config::{CellKind, Layout, MethodKind, OrderKind},
    data::{Shape, Source},
    error::Result,
    layout::Slots,
    loss::Loss,
    method::batch::KEPT_BYTES,
    os::{capacity, memory::Home},
    placement::costs::{Cost, Costs, Room},
    run::Ledgers,
    shard::Deal,
    store::audit,
    trace::StepTaken,
};
use std::{collections::BTreeMap, ops::Range};

/// Part of the memory that may be taken that the books of an audit may have.
const AUDIT_SHARE: f64 = 0.5;
const GIB: f64 = (1u64 << 30) as f64;

impl Fit<'_> {
    /// The books of an audited run, on replicas of `width` slots of so many bytes.
    ///
    /// # Errors
    /// Why there are none: nobody asked, there are no updates, or no memory for them.
    pub(super) fn ledgers(
        &self,
        start: &Start<'_>,
        (width, bytes): (usize, usize),
    ) -> std::result::Result<Ledgers, String> {
        if !start.watching.audit {
            return Err("no audit was asked for".into());
        }
        let method = &self.choice.method;
        if method.facts().is_some_and(|facts| facts.passes) {
            return Err(format!("method {} goes by whole passes and makes no updates", method.name()));
        }
        let need: f64 =
            self.plan.replicas.iter().map(|replica| audit::bytes(width, bytes, replica.workers.len())).sum();
        match capacity::memory_allowed() {
            Some(room) if need > AUDIT_SHARE * room.bytes as f64 => Err(format!(
                "the books would take {:.1} GiB, more than half of the {:.1} GiB that may be taken (limited by {})",
                need / GIB,
                room.bytes as f64 / GIB,
                room.limited_by
            )),
            _ => Ok(Ledgers::new(self.plan, width, bytes)),
        }
    }

    /// Bytes by node. Of a line its entries, its norm, the method's state for it if it keeps any, and its start if sparse, 8
    /// bytes each; of a row its label, and its weight if there are any. With a rank a line is an entry: two numbers of 4 bytes,
    /// its value, and its row's weight if there are any.
    pub(super) fn costs(&self, source: &dyn Source, weighted: bool, held: &BTreeMap<u32, u64>) -> Costs {
        let mut costs = Costs::default();
        let form = self.form();
        let line = 8.0 + if self.stateful() { 8.0 } else { 0.0 } + if self.shape.dense { 0.0 } else { 8.0 };
        let line = line + if self.rests() { 1.0 } else { 0.0 };
        let (line, entry) = if self.setup.problem.rank.is_some() { (8.0, 0.0) } else { (line, self.entry_bytes()) };
        let marks = if weighted { 16.0 } else { 8.0 };
        for (worker, (lines, entries)) in self.shares(source).into_iter().enumerate() {
            let plan = &self.plan.workers[worker];
            let marks = if form == Form::Columns { 0.0 } else { marks };
            let data = entry * entries + (line + marks) * lines;
            costs.add(&self.plan.shards[plan.shard].home, Cost::of_data(data));
            costs.add(&plan.home, Cost::of_workers(self.own_bytes(lines, plan.shard)));
        }
        if let Some(feeder) = &self.plan.feeder {
            // The device's copy, while it is sent, and what stands in for it; a snapshot and a gradient.
            let shard = &self.plan.shards[self.plan.workers[feeder.worker].shard].workers;
            let shares = self.shares(source);
            let bytes = |part: &usize| self.entry_bytes() * shares[*part].1 + 16.0 * shares[*part].0;
            let own = shard.iter().map(bytes).sum::<f64>() + 16.0 * self.width() as f64;
            costs.add(&self.plan.workers[feeder.worker].home, Cost::of_workers(own));
        }
        let rows = self.shape.rows as f64;
        if form == Form::Columns {
            self.plan.shards.iter().for_each(|shard| costs.add(&shard.home, Cost::of_data(marks * rows)));
            costs.add(&self.plan.in_runs(), Cost::of_workers(8.0 * rows));
        }
        let cell = if self.setup.parameters.cell == CellKind::F32 { 4.0 } else { 8.0 };
        let (width, exchange) = (self.width() as f64, self.exchange());
        for (number, replica) in self.plan.replicas.iter().enumerate() {
            costs.add(&replica.home, Cost::of_parameters(cell * width * self.vectors()));
            // Messages and what belongs to them, and the replica itself once more while the average is judged.
            let vectors = exchange.vectors(number);
            let aside = usize::from(vectors > 0);
            costs.add(&replica.home, Cost::of_parameters(8.0 * (vectors + aside) as f64 * width * self.vectors()));
        }
        if self.choice.method.has_companion() {
            // How rare each coordinate is, and a count of it for every worker.
            self.plan.shards.iter().for_each(|shard| costs.add(&shard.home, Cost::of_data(8.0 * width)));
            self.plan.workers.iter().for_each(|worker| costs.add(&worker.home, Cost::of_workers(8.0 * width)));
        }
        if exchange.by_nodes() {
            let share = 8.0 * width * self.vectors() / self.plan.workers.len() as f64;
            self.plan.workers.iter().for_each(|worker| costs.add(&worker.home, Cost::of_workers(share)));
        }
        // With a rank labels are neither read nor prepared.
        let read = if self.setup.problem.rank.is_some() { marks - 8.0 } else { 2.0 * marks };
        costs.add(&Home::FirstTouch, self.besides(read * rows, held));
        costs
    }

    fn entry_bytes(&self) -> f64 {
        if self.shape.dense { 4.0 } else { 8.0 }
    }

    /// What is nobody's in particular: `marks`, labels and weights as they were read and as they were prepared; blocks of a mapped
    /// source that must all be in memory before they are copied, with a count of each column a worker and the slots; at the
    /// end the state and the store twice over, for the model and a checkpoint; and 8 MiB for program and stacks.
    fn besides(&self, marks: f64, held: &BTreeMap<u32, u64>) -> Cost {
        let Shape { rows, columns, nonzeros, .. } = self.shape;
        let (rows, columns) = (rows as f64, columns as f64);
        let mut blocks = 0.0;
        if self.holds_blocks() {
            blocks += 8.0 * columns * (self.plan.workers.len() as f64 + 2.0);
            if held.is_empty() {
                blocks += self.entry_bytes() * nonzeros as f64 + 8.0 * rows;
            }
        }
        let lines = match self.form() {
            Form::Primal if self.stateful() => rows,
            Form::Primal => 0.0,
            Form::Dual => rows,
            Form::Columns => columns,
        };
        let end = 8.0 * ((1.0 + self.vectors()) * self.width() as f64 + 2.0 * columns + 2.0 * lines);
        Cost { data: marks + blocks, parameters: 0.0, workers: end + f64::from(8 << 20) }
    }

    /// What there is. Blocks that go one by one from the source to the workers make room as they go.
    pub(super) fn room(&self, costs: &Costs, held: BTreeMap<u32, u64>) -> Room {
        let free = |&node: &u32| Some((node, capacity::node_available(node)?));
        Room {
            all: capacity::memory_allowed().map(|capacity| (capacity.bytes, capacity.limited_by)),
            nodes: costs.nodes.keys().filter_map(free).collect(),
            released: if self.holds_blocks() { BTreeMap::new() } else { held },
        }
    }

    /// Refuses a run that cannot fit: an index of four billion in a text file asks for as many coefficients.
    ///
    /// # Errors
    /// [`crate::error::Error::Unmet`], with the arithmetic.
    pub(super) fn check_memory(&self, costs: &Costs, room: &Room) -> Result<()> {
        let formula = format!(
            "{} entries at {} bytes and {} rows, in {} copies; {} replicas of {} parameters; {} workers with a vector of \
             that length each",
            self.shape.nonzeros,
            self.entry_bytes(),
            self.shape.rows,
            self.plan.copies(),
            self.plan.replicas.len(),
            self.width(),
            self.plan.workers.len()
        );
        costs.check(room, &formula)
    }

    /// Whether all blocks of the source are held in memory while they are copied.
    pub(super) fn holds_blocks(&self) -> bool {
        self.form() == Form::Columns || self.counts_columns() || self.plan.replicated
    }

    /// Whether slots depend on how many rows touch each column.
    pub(super) fn counts_columns(&self) -> bool {
        self.setup.parameters.layout != Layout::Plain && !self.shape.dense
    }

    /// Vectors of a replica.
    fn vectors(&self) -> f64 {
        if self.choice.method.has_companion() { 2.0 } else { 1.0 }
    }

    /// Lines and entries of each worker.
    fn shares(&self, source: &dyn Source) -> Vec<(f64, f64)> {
        let entries_a_row = self.shape.nonzeros as f64 / self.shape.rows.max(1) as f64;
        if self.form() == Form::Columns {
            let share = 1.0 / self.plan.workers.len() as f64;
            let each = (share * self.shape.columns as f64, share * self.shape.nonzeros as f64);
            return vec![each; self.plan.workers.len()];
        }
        let lines_a_row = if self.setup.problem.rank.is_some() { entries_a_row } else { 1.0 };
        let ranges = Deal::ranges(source, self.plan);
        let share = |rows: Range<usize>| (rows.len() as f64 * lines_a_row, rows.len() as f64 * entries_a_row);
        ranges.into_iter().map(share).collect()
    }

    /// Number of parameters of a replica, with the most holes that a layout leaves.
    fn width(&self) -> usize {
        if let Some(rank) = self.setup.problem.rank {
            return (self.shape.rows + self.shape.columns).saturating_mul(rank);
        }
        if self.form() == Form::Columns {
            return self.shape.rows;
        }
        let padded = self.setup.parameters.layout == Layout::Padded && !self.shape.dense;
        self.shape.columns + if padded { Slots::holes_max(self.shape.columns) } else { 0 }
    }

    /// Sums over all coordinates, what is agreed of the worker's share of them, α of its rows for the methods that have
    /// none, the curvature for `newton` and under the hinge loss what it keeps with its rows, its order: the
    /// buckets of its shard, 16 bytes each, twice and once more while it is made; what it has read and not yet written, 48
    /// bytes a line at most; and where they are asked for, its steps of an epoch, twice.
    fn own_bytes(&self, rows: f64, shard: usize) -> f64 {
        let workers = self.plan.workers.len() as f64;
        let alpha = if self.form() == Form::Primal { rows } else { 0.0 };
        let lines = rows * self.plan.shards[shard].workers.len() as f64;
        let bucket = match self.order() {
            OrderKind::Buckets { rows } => rows as f64,
            OrderKind::File => 32.0,
            OrderKind::Rows | OrderKind::Auto => 1.0,
        };
        let square = if self.choice.method == MethodKind::Newton { (self.width() as f64).powi(2) } else { 0.0 };
        let hinge = self.choice.method == MethodKind::Newton && self.setup.problem.loss == Loss::Hinge;
        let kept = if hinge { KEPT_BYTES * rows } else { 0.0 };
        let steps = if self.logs {
            2.0 * size_of::<StepTaken>() as f64 * rows / self.rows_per_update() as f64
        } else {
            0.0
        };
        let put_off = (self.setup.injection.delay.most() + 1) as f64 * self.rows_per_update() as f64;
        8.0 * (self.width() as f64 * (1.0 + self.vectors() / workers) + square + alpha)
            + kept
            + 48.0 * (lines / bucket + put_off.min(lines))
            + steps
    }
}
