//! A plan as it was carried out: where the kernel says that threads and pages are.

use super::team::Standing;
use crate::os::memory::{Home, Residency};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::fmt;

/// Where everything is. Written as `actual`, the workers, and `memory`, the arrays by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actual {
    /// For every worker, what its thread was bound to.
    pub workers: Vec<Standing>,
    /// Every array, or all arrays of one kind and one owner.
    pub arrays: Vec<Array>,
}

/// Whose an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// A worker's.
    Worker(usize),
    /// A replica's.
    Replica(usize),
    /// A shard's.
    Shard(usize),
    /// Everybody's.
    All,
}

/// One array, or several of one kind that lie at one home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Array {
    /// What it holds.
    pub what: &'static str,
    /// Whose it is.
    pub of: Owner,
    /// Where it was to lie.
    pub home: Home,
    /// Where it lies.
    #[serde(flatten)]
    pub residency: Residency,
}

impl Serialize for Actual {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Actual", 2)?;
        object.serialize_field("actual", &self.workers)?;
        object.serialize_field("memory", &self.kinds())?;
        object.end()
    }
}

impl Array {
    /// Whether it lies where it was to.
    pub fn met(&self) -> bool {
        self.residency.met()
    }
}

impl Actual {
    /// Whether every thread and every page is where the plan puts it.
    pub fn met(&self) -> bool {
        self.workers.iter().all(Standing::met) && self.arrays.iter().all(Array::met)
    }

    /// Arrays of one kind and home as one, in the order of their first.
    pub fn kinds(&self) -> Vec<Array> {
        let mut kinds: Vec<Array> = Vec::new();
        for array in &self.arrays {
            match kinds.iter_mut().find(|kind| kind.what == array.what && kind.home == array.home) {
                Some(kind) => kind.residency.add(&array.residency),
                None => kinds.push(Array { of: Owner::All, ..array.clone() }),
            }
        }
        kinds
    }

    /// What a person should know: each refusal once, and how much lies elsewhere.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let mut once = |note: String| {
            if !notes.contains(&note) {
                notes.push(note);
            }
        };
        for (worker, standing) in self.workers.iter().enumerate() {
            if let Some(reason) = &standing.binding.reason {
                once(format!("worker {worker} is not where the plan puts it: {reason}"));
            }
            if let Some(reason) = &standing.stack {
                once(format!("stacks of workers: {reason}"));
            }
        }
        let kinds = self.kinds();
        for reason in kinds.iter().flat_map(|kind| &kind.residency.refused) {
            let whose = kinds.iter().filter(|kind| kind.residency.refused.contains(reason)).map(|kind| kind.what);
            let mut whose: Vec<&str> = whose.collect();
            whose.dedup();
            once(format!("memory of {}: {reason}", whose.join(", ")));
        }
        for kind in &kinds {
            if let Some(reason) = &kind.residency.not_told {
                once(format!("the kernel does not say where memory lies: {reason}"));
            }
            if kind.residency.bytes_misplaced > 0 {
                let share = 100.0 * kind.residency.bytes_misplaced as f64 / kind.residency.bytes_placed() as f64;
                once(format!("{share:.1} % of the {} lie elsewhere than asked ({})", kind.what, kind.home));
            }
        }
        notes
    }
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Owner::Worker(worker) => write!(f, "{} of worker {worker}", self.what),
            Owner::Replica(replica) => write!(f, "{} of replica {replica}", self.what),
            Owner::Shard(shard) => write!(f, "{} of shard {shard}", self.what),
            Owner::All => f.write_str(self.what),
        }
    }
}
