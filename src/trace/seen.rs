//! What was seen of the memory in a run that was asked to look.

use super::{DelayTally, Delays};
use crate::os::counters::Reading;
use serde::Serialize;

/// What was seen of the memory, beside the solving.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Delays by worker, and how they were got: `sampled`, or `after write` where updates are numbered anyway.
    pub delays: Vec<DelayTally>,
    /// See [`DelaySummary::label`](super::DelaySummary::label).
    pub delays_label: &'static str,
    /// Whether [`DelayTally::far`] and [`DelayTally::blocks`] were counted: tickets do not say whose updates came between.
    pub delays_split: bool,
    /// By worker, how often a compare-exchange found that another had come first.
    pub retries: Vec<u64>,
    /// What the kernel and the cpu counted of each worker's thread, from the first epoch to the last; empty where they take turns on
    /// one.
    pub readings: Vec<Vec<Reading>>,
    /// What the books say, in an audited run.
    pub audited: Option<Audited>,
    /// Why there are none, where there are none.
    pub unaudited: Option<String>,
}

impl Seen {
    /// The delays of all workers together.
    pub fn all_delays(&self) -> Delays {
        let mut all = Delays::default();
        self.delays.iter().for_each(|tally| all.add(&tally.all));
        all
    }
}

/// What the books of an audited run add up to, over all replicas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audited {
    /// Updates (lines) of all workers.
    pub updates: u64,
    /// Parameters read for margins.
    pub entries_read: u64,
    /// Parameters written.
    pub entries_written: u64,
    /// Updates whose values at the write were held against those at the read; those of several rows are not.
    pub compared: u64,
    /// Those of them of which at least one value had changed: conflicts seen.
    pub conflicted: u64,
    /// Values that had changed.
    pub values_changed: u64,
    /// Writes to a line that another worker had written last: each had to wait for that line.
    pub lines_taken: u64,
    /// Those of them from a worker of another node.
    pub lines_taken_far: u64,
    /// Those of them where the other had written another slot of the line: false sharing.
    pub lines_taken_false: u64,
    /// What was lost; `None` where replicas are drawn together while updates go on, so that nobody can tell.
    pub lost: Option<Lost>,
    /// The lines that were taken most often, the first most.
    pub hottest: Vec<HotLine>,
    /// Lines that were taken at all.
    pub lines_shared: u64,
    /// What a slot stands for.
    pub slot_of: SlotOf,
}

/// Writes that are not there any more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lost {
    /// Σ over slots of |what was added less what they moved by|, over Σ|δ| of all writes.
    pub share_of_mass: f64,
    /// What share p of all writes was lost, if each is as likely to be: Σ_j lost_j² = p Σδ² + p² (Σ_j (Σδ)² − Σδ²). Exact in the
    /// mean where losses do not depend on the sign of δ.
    pub share_of_writes: f64,
    /// `share_of_writes` of all writes.
    pub writes: f64,
}

/// What a slot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotOf {
    /// A coefficient: a column of the data.
    Column,
    /// A margin: a row of the data, for a method that goes by columns.
    Row,
    /// A number of a factor of rank k: of row ⌊slot/k⌋, then of a column.
    Factor,
}

/// A line of the cache that workers take from each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotLine {
    /// Of which replica.
    pub replica: usize,
    /// Its first slot.
    pub first_slot: usize,
    /// How often it was taken.
    pub taken: u64,
    /// Those of them from another node.
    pub taken_far: u64,
    /// Those of them for another slot of it.
    pub taken_false: u64,
    /// Workers that wrote it.
    pub writers: usize,
    /// The columns (or rows) on it that were written, counted from 0, with how often: the most written first. A column of ones, the
    /// intercept, is `None`.
    pub coordinates: Vec<(Option<usize>, u64)>,
}
