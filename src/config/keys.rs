//! Every section and key that is built, the names of every choice, and the suggestion for a name that is close to one.

use super::{
    CellKind, ClassWeight, DataMemory, ExchangeKind, GradientsOn, GradientsValues, Granularity, GraphKind,
    HugePages, Layout, MergeKind, Moves, Normalize, ParameterMemory, Pin, Runner, Smt,
    settings::{Entry, Settings},
};
use crate::{
    error::{Error, Result},
    method::Kind as MethodKind,
};
use std::sync::LazyLock;

/// The sections in the order in which they are written out, each with its keys.
pub(super) const SECTIONS: [(&str, &[&str]); 12] = [
    ("problem", &["loss", "huber_delta", "l1", "l2", "prox", "intercept", "class_weight", "normalize", "rank"]),
    ("topology", &["virtual_nodes"]),
    ("workers", &["count", "cpus", "locations", "order", "smt", "pin"]),
    ("parameters", &["replicas", "memory", "merge", "cell", "layout"]),
    ("data", &["memory", "huge_pages"]),
    // What else there is, the methods say.
    ("method", &["kind"]),
    ("step", &["kind", "initial", "half", "factor", "epochs", "delay", "alpha"]),
    ("order", &["kind", "rows"]),
    // The kinds say, too.
    ("exchange", &["kind", "moves"]),
    ("gradients", &["on", "adapter", "fallback", "rows", "values", "share"]),
    ("injection", &["delay", "delay_workers", "delay_blocks", "straggler", "message_loss", "message_delay"]),
    ("stop", &["target", "target_objective", "max_epochs", "max_seconds", "evaluate_every"]),
];

/// `[run]`, written last.
pub(super) const RUN: (&str, &[&str]) = ("run", &["runner", "seed"]);

/// Names that stand for values without parameters.
pub(super) trait Named: Copy + PartialEq + 'static {
    /// Every value that has no parameter, with its name in configs and flags.
    const NAMES: &'static [(&'static str, Self)];

    /// This value's name; nothing for one with a parameter.
    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }
}

macro_rules! names {
    ($type:ty, $($name:literal => $value:expr),+ $(,)?) => {
        impl Named for $type {
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, $value)),+];
        }
    };
}

names!(Smt, "never" => Smt::Never, "last" => Smt::Last, "first" => Smt::First);
names!(Pin, "cpu" => Pin::Cpu, "node" => Pin::Node, "none" => Pin::None);
names!(
    Granularity,
    "machine" => Granularity::Machine,
    "node" => Granularity::Node,
    "l3" => Granularity::L3,
    "core" => Granularity::Core,
);
names!(
    MergeKind,
    "lossy" => MergeKind::Lossy,
    "lossless" => MergeKind::Lossless,
    "locked" => MergeKind::Locked,
    "consistent" => MergeKind::Consistent,
);
names!(
    ParameterMemory,
    "local" => ParameterMemory::Local,
    "interleave" => ParameterMemory::Interleave,
    "sharded" => ParameterMemory::Sharded,
    "first-touch" => ParameterMemory::FirstTouch,
);
names!(
    DataMemory,
    "shard" => DataMemory::Shard,
    "replicate" => DataMemory::Replicate,
    "interleave" => DataMemory::Interleave,
    "first-touch" => DataMemory::FirstTouch,
);
names!(HugePages, "never" => HugePages::Never, "transparent" => HugePages::Transparent);
names!(
    Layout,
    "plain" => Layout::Plain,
    "frequency" => Layout::Frequency,
    "scatter" => Layout::Scatter,
    "padded" => Layout::Padded,
);
names!(
    GraphKind,
    "ring" => GraphKind::Ring,
    "complete" => GraphKind::Complete,
    "exponential" => GraphKind::Exponential,
    "bipartite" => GraphKind::Bipartite,
    "hardware" => GraphKind::Hardware,
);
names!(GradientsOn, "cpu" => GradientsOn::Cpu, "gpu" => GradientsOn::Gpu, "both" => GradientsOn::Both);
names!(GradientsValues, "f32" => GradientsValues::F32, "f16" => GradientsValues::F16);
names!(Moves, "auto" => Moves::Auto, "all" => Moves::All, "touched" => Moves::Touched);
names!(CellKind, "f64" => CellKind::F64, "f32" => CellKind::F32);
names!(ClassWeight, "none" => ClassWeight::None, "balanced" => ClassWeight::Balanced);
names!(Normalize, "none" => Normalize::None, "rows" => Normalize::Rows, "columns" => Normalize::Columns);
names!(Runner, "threads" => Runner::Threads, "interleaved" => Runner::Interleaved);

/// A kind's name, and the keys that it takes.
type OfKind = (&'static str, &'static [&'static str]);

/// Every key of the kinds of a section, after those `first`.
fn keys_of_kinds(first: &[&'static str], kinds: &[OfKind]) -> Vec<&'static str> {
    let mut keys = first.to_vec();
    for key in kinds.iter().flat_map(|(_, keys)| *keys) {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    keys
}

static METHOD: LazyLock<Vec<&'static str>> = LazyLock::new(|| keys_of_kinds(&["kind"], MethodKind::NAMES));
static EXCHANGE: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| keys_of_kinds(&["kind", "moves"], ExchangeKind::NAMES));

/// The sections with their keys.
pub(super) fn sections() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let with_kinds = |(section, keys)| match section {
        "method" => (section, &METHOD[..]),
        "exchange" => (section, &EXCHANGE[..]),
        _ => (section, keys),
    };
    SECTIONS.into_iter().map(with_kinds).chain([RUN])
}

/// The keys of `section`, its kind aside.
pub(super) fn of(section: &str) -> &'static [&'static str] {
    let keys = sections().find(|(name, _)| *name == section).map_or(&[][..], |(_, keys)| keys);
    keys.strip_prefix(&["kind"]).unwrap_or(keys)
}

/// Refuses every section and key that is not built.
pub(super) fn check(settings: &Settings) -> Result<()> {
    settings.entries().iter().try_for_each(check_entry)
}

fn check_entry(entry: &Entry) -> Result<()> {
    let Some((_, keys)) = sections().find(|(name, _)| *name == entry.section) else {
        let names: Vec<_> = sections().map(|(name, _)| name).collect();
        let what = if entry.section.is_empty() {
            format!("`{}` stands outside every section{}", entry.key, home(&entry.key))
        } else {
            format!("there is no section [{}]", entry.section)
        };
        return Err(refusal(entry, what, "sections", &entry.section, &names));
    };
    if keys.contains(&entry.key.as_str()) {
        return Ok(());
    }
    let what = format!("[{}] has no key `{}`{}", entry.section, entry.key, home(&entry.key));
    Err(refusal(entry, what, "keys", &entry.key, keys))
}

fn refusal(entry: &Entry, what: String, noun: &str, seen: &str, names: &[&str]) -> Error {
    let remedy = format!("known {noun}: {}{}", names.join(", "), suggestion(seen, names));
    Error::Setting { origin: entry.origin.clone(), what, remedy }
}

/// Where a key of this name is known.
fn home(key: &str) -> String {
    let homes: Vec<_> =
        sections().filter(|(_, keys)| keys.contains(&key)).map(|(name, _)| format!("[{name}]")).collect();
    if homes.is_empty() { String::new() } else { format!("; {} has one", homes.join(", ")) }
}

/// `; did you mean X?` where X is at most a third of its letters away, else nothing.
pub(super) fn suggestion(seen: &str, names: &[&str]) -> String {
    let seen = seen.to_lowercase().replace(['-', ' '], "_");
    names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&seen, &name.replace('-', "_")), name))
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}
