//! Settings as written → [`Setup`].

use super::{
    Granularity, GraphKind, Parameters, Settings, Setup, conflict,
    entry::Bound,
    keyed::{Keys, Limit},
    keys::{self, Named},
    settings::Entry,
};
use crate::error::{Error, Result};

mod exchange;
mod gradients;
mod injection;
mod memory;
mod method;
mod problem;
mod workers;

/// Linux knows at most this many NUMA nodes (`MAX_NUMNODES`).
const NODES_MAX: u64 = 1024;

impl Settings {
    /// Checks every entry and every pair that could contradict.
    ///
    /// # Errors
    /// [`Error::Setting`] with the origin, the value seen and what is accepted: an unknown section, key or value; a
    /// type or a range that does not fit; two settings that contradict each other, or one that would have no effect.
    pub fn check(&self) -> Result<Setup> {
        keys::check(self)?;
        let default = Setup::default();
        let setup = Setup {
            problem: problem::problem(self, default.problem)?,
            virtual_nodes: match self.get("topology", "virtual_nodes") {
                Some(entry) => entry.whole(0, NODES_MAX, "")? as usize,
                None => default.virtual_nodes,
            },
            workers: workers::workers(self, default.workers)?,
            parameters: Parameters {
                replicas: match self.get("parameters", "replicas") {
                    Some(entry) => replicas(entry)?,
                    None => default.parameters.replicas,
                },
                memory: memory::parameters(self, default.parameters.memory)?,
                merge: self.choice_or("parameters", "merge", default.parameters.merge)?,
                cell: self.choice_or("parameters", "cell", default.parameters.cell)?,
                layout: self.choice_or("parameters", "layout", default.parameters.layout)?,
            },
            data: memory::data(self, default.data)?,
            method: method::method(self)?,
            step: method::step(self)?,
            order: method::order(self)?,
            exchange: exchange::exchange(self)?,
            moves: self.choice_or("exchange", "moves", default.moves)?,
            gradients: gradients::gradients(self)?,
            injection: injection::injection(self)?,
            stop: method::stop(self, default.stop)?,
            runner: self.choice_or("run", "runner", default.runner)?,
            seed: match self.get("run", "seed") {
                Some(entry) => entry.whole(0, u64::MAX, "")?,
                None => default.seed,
            },
        };
        conflict::check(self, &setup)?;
        Ok(setup)
    }

    fn choice_or<T: Named>(&self, section: &str, key: &str, default: T) -> Result<T> {
        self.get(section, key).map_or(Ok(default), Entry::choice)
    }

    fn number_or(&self, section: &str, key: &str, bound: Bound, default: f64) -> Result<f64> {
        self.get(section, key).map_or(Ok(default), |entry| entry.number(bound))
    }

    /// Refuses `key` unless what was chosen has it. `choice` is the entry that chose, if any did; a key of an earlier
    /// layer than that is overridden with what it belonged to.
    fn belongs(&self, key: Option<&Entry>, choice: Option<&Entry>, chosen: &str, has: &[&str]) -> Result<()> {
        let Some(entry) = key.filter(|entry| !has.contains(&entry.key.as_str())) else { return Ok(()) };
        if choice.is_some_and(|choice| choice.layer > entry.layer) {
            return Ok(());
        }
        let by = choice.map_or("the default".to_string(), |choice| choice.origin.clone());
        let has = if has.is_empty() { "nothing more".to_string() } else { has.join(", ") };
        Err(entry.because(format!("does not belong to {chosen} ({by})"), format!("{chosen} takes {has}")))
    }
}

fn replicas(entry: &Entry) -> Result<Option<Granularity>> {
    let mut names = vec!["auto"];
    names.extend(Granularity::NAMES.iter().map(|(name, _)| *name));
    entry.one_of(&names)?;
    entry.unless("auto", Entry::choice)
}

/// A section whose kind has keys of its own.
struct Section<'a>(&'a Settings, &'static str);

impl Keys for Section<'_> {
    fn flag(&self, key: &'static str, default: bool) -> Result<bool> {
        self.0.get(self.1, key).map_or(Ok(default), Entry::flag)
    }

    fn count(&self, key: &'static str, default: u64, limit: Limit) -> Result<u64> {
        self.0.get(self.1, key).map_or(Ok(default), |entry| entry.whole(1, limit.most, limit.others))
    }

    fn amount(&self, key: &'static str, default: f64) -> Result<f64> {
        self.0.number_or(self.1, key, Bound::NotNegative, default)
    }

    fn graph(&self, key: &'static str, default: GraphKind) -> Result<GraphKind> {
        self.0.choice_or(self.1, key, default)
    }
}

/// The kind of a section, or `default` where none is given; refuses keys that the kind does not have.
fn kind(
    settings: &Settings,
    section: &str,
    kinds: &[(&'static str, &[&str])],
    default: &'static str,
    keys: &[&str],
) -> Result<&'static str> {
    let entry = settings.get(section, "kind");
    let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
    let name = entry.map_or(Ok(default), |entry| entry.one_of(&names))?;
    let has = kinds.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, keys)| *keys);
    for key in keys {
        settings.belongs(settings.get(section, key), entry, &format!("{section}.kind = \"{name}\""), has)?;
    }
    Ok(name)
}

/// Whether a setting was written by someone, for messages about two of them.
pub(super) fn origin(settings: &Settings, section: &str, key: &str) -> String {
    settings.get(section, key).map_or_else(|| "the default".into(), |entry| entry.origin.clone())
}

/// An error about two settings: `at` is the one to change.
pub(super) fn contradiction(settings: &Settings, at: (&str, &str), what: String, remedy: &str) -> Error {
    Error::Setting { origin: origin(settings, at.0, at.1), what, remedy: remedy.into() }
}
