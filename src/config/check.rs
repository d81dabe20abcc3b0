//! Settings as written → [`Setup`].

use super::{
    ClassWeight, Constraint, Count, ExchangeKind, L2, MethodKind, Normalize, OrderKind, Pin, Problem, Settings,
    Setup, Smt, StepKind, Stop, WorkerOrder, Workers, conflict,
    entry::Bound,
    keys::{self, Named},
    location, nodes,
    settings::Entry,
};
use crate::{
    cpulist,
    error::{Error, Result},
    loss::Loss,
};
use toml::Value;

/// Linux knows at most this many cpus, and a worker above the cpus only waits.
const WORKERS_MAX: u64 = 8192;
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
            problem: problem(self, default.problem)?,
            virtual_nodes: match self.get("topology", "virtual_nodes") {
                Some(entry) => entry.whole(0, NODES_MAX, "")? as usize,
                None => default.virtual_nodes,
            },
            workers: workers(self, default.workers)?,
            parameters: super::Parameters {
                replicas: match self.get("parameters", "replicas") {
                    Some(entry) => replicas(entry)?,
                    None => default.parameters.replicas,
                },
                merge: self.choice_or("parameters", "merge", default.parameters.merge)?,
                cell: self.choice_or("parameters", "cell", default.parameters.cell)?,
            },
            method: method(self)?,
            step: step(self)?,
            order: order(self)?,
            exchange: exchange(self)?,
            stop: stop(self, default.stop)?,
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

fn replicas(entry: &Entry) -> Result<Option<super::Granularity>> {
    let mut names = vec!["auto"];
    names.extend(super::Granularity::NAMES.iter().map(|(name, _)| *name));
    entry.one_of(&names)?;
    entry.unless("auto", Entry::choice)
}

fn problem(settings: &Settings, default: Problem) -> Result<Problem> {
    let get = |key| settings.get("problem", key);
    let name = get("loss").map_or(Ok(default.loss.name()), |entry| entry.one_of(&Loss::NAMES))?;
    let has: &[&str] = if name == "huber" { &["huber_delta"] } else { &[] };
    settings.belongs(get("huber_delta"), get("loss"), &format!("problem.loss = \"{name}\""), has)?;
    let delta = settings.number_or("problem", "huber_delta", Bound::Positive, 1.0)?;
    Ok(Problem {
        loss: Loss::named(name, delta).expect("one_of returns one of Loss::NAMES"),
        l1: settings.number_or("problem", "l1", Bound::NotNegative, default.l1)?,
        l2: match get("l2") {
            Some(entry) if entry.value.as_str() == Some("1/n") => L2::OneOverN,
            Some(entry) => L2::Value(entry.number_or(Bound::NotNegative, "\"1/n\"")?),
            None => default.l2,
        },
        constraint: get("prox").map_or(Ok(default.constraint), constraint)?,
        intercept: get("intercept").map_or(Ok(default.intercept), Entry::flag)?,
        class_weight: settings.choice_or::<ClassWeight>("problem", "class_weight", default.class_weight)?,
        normalize: settings.choice_or::<Normalize>("problem", "normalize", default.normalize)?,
    })
}

/// `none`, `non-negative`, `box:LO:HI`.
fn constraint(entry: &Entry) -> Result<Constraint> {
    let refusal = || {
        entry.refuse(
            "none, non-negative, box:LO:HI with LO ≤ 0 ≤ HI, LO < HI (-inf or inf for one open side); \
             L1 and L2 are problem.l1 and problem.l2",
        )
    };
    let text = entry.value.as_str().ok_or_else(refusal)?;
    match text {
        "none" => return Ok(Constraint::None),
        "non-negative" => return Ok(Constraint::NonNegative),
        _ => {}
    }
    let bounds = text.strip_prefix("box:").and_then(|bounds| bounds.split_once(':')).ok_or_else(refusal)?;
    let (Ok(lo), Ok(hi)) = (bounds.0.trim().parse::<f64>(), bounds.1.trim().parse::<f64>()) else {
        return Err(refusal());
    };
    let fits = lo <= 0.0 && hi >= 0.0 && lo < hi && (lo.is_finite() || hi.is_finite());
    if fits { Ok(Constraint::Box { lo, hi }) } else { Err(refusal()) }
}

fn workers(settings: &Settings, default: Workers) -> Result<Workers> {
    let get = |key| settings.get("workers", key);
    let mut ways: Vec<&Entry> = ["count", "cpus", "locations"].into_iter().filter_map(get).collect();
    let latest = ways.iter().map(|entry| entry.layer).max();
    ways.retain(|entry| Some(entry.layer) == latest);
    if let [first, second, ..] = ways[..] {
        return Err(second.because(
            format!("and workers.{} ({}) both say how many workers there are and where", first.key, first.origin),
            "keep one of workers.count, workers.cpus, workers.locations",
        ));
    }
    let way = ways.first().copied();
    let count = match way {
        Some(entry) if entry.key == "count" => count(entry)?,
        Some(entry) if entry.key == "cpus" => Count::On(cpus(entry)?),
        Some(entry) => Count::At(locations(entry)?),
        None => default.count,
    };
    let listed = matches!(count, Count::On(_) | Count::At(_));
    let mut workers = Workers { count, ..default };
    let in_force = |key| {
        let entry = get(key);
        if listed {
            let by = way.map_or(String::new(), |way| format!("workers.{}, which names the cpus itself", way.key));
            settings.belongs(entry, way, &by, &[])?;
            return Ok(None);
        }
        Ok(entry)
    };
    if let Some(entry) = in_force("order")? {
        workers.order = worker_order(entry)?;
    }
    if let Some(entry) = in_force("smt")? {
        workers.smt = entry.choice::<Smt>()?;
    }
    if let Some(entry) = get("pin") {
        workers.pin = entry.choice::<Pin>()?;
    }
    Ok(workers)
}

fn count(entry: &Entry) -> Result<Count> {
    match entry.value.as_str() {
        Some("cores") => Ok(Count::Cores),
        Some("cpus") => Ok(Count::Cpus),
        _ => Ok(Count::Exactly(entry.whole(1, WORKERS_MAX, "\"cores\", or \"cpus\"")? as usize)),
    }
}

/// A cpulist, a number, or an array of either.
fn cpus(entry: &Entry) -> Result<Vec<u32>> {
    let text = parts(&entry.value).map(|parts| parts.join(","));
    let text = text.ok_or_else(|| entry.refuse("a list of cpus such as \"0-15,32-47\" or \"0-30:2\""))?;
    let cpus = cpulist::parse(&text).map_err(|error| entry.because("is no list of cpus", error.to_string()))?;
    if cpus.len() as u64 > WORKERS_MAX {
        return Err(entry.because(format!("lists {} cpus", cpus.len()), format!("at most {WORKERS_MAX} workers")));
    }
    Ok(cpus)
}

/// Locations in one string with spaces between, or in an array.
fn locations(entry: &Entry) -> Result<Vec<location::Location>> {
    let refusal = |why: String| entry.because(why, format!("accepted: {}", location::ACCEPTED));
    let texts = parts(&entry.value).ok_or_else(|| refusal("is not text".into()))?;
    let mut locations = Vec::new();
    for text in texts.iter().flat_map(|text| text.split_whitespace()) {
        let parsed = text.parse::<location::Location>();
        locations.push(parsed.map_err(|why| refusal(format!("is no list of locations: {why}")))?);
    }
    match locations.first() {
        None => Err(refusal("names no location".into())),
        Some(first) if first.removes => {
            Err(refusal(format!("begins with `{first}`, which takes away from nothing")))
        }
        Some(_) => Ok(locations),
    }
}

/// The texts of a string, an integer, or an array of them.
fn parts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Array(values) => values
            .iter()
            .map(|value| if value.is_array() { None } else { parts(value).map(|texts| texts.concat()) })
            .collect(),
        _ => None,
    }
}

fn worker_order(entry: &Entry) -> Result<WorkerOrder> {
    const ACCEPTED: &str =
        "compact, scatter, or nodes to fill in turn: node:0,node:1 or node:0-3 or node:all or node:!0";
    match entry.value.as_str() {
        Some("compact") => Ok(WorkerOrder::Compact),
        Some("scatter") => Ok(WorkerOrder::Scatter),
        Some(text) if text.starts_with("node:") => {
            nodes::parse(text).map_err(|why| entry.because(format!("is no list of nodes: {why}"), ACCEPTED))
        }
        Some(text) => Err(entry.refuse(format!("{ACCEPTED}{}", keys::suggestion(text, &["compact", "scatter"])))),
        None => Err(entry.refuse(ACCEPTED)),
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

fn method(settings: &Settings) -> Result<MethodKind> {
    let kinds: [(&str, &[&str]); 4] =
        [("auto", &[]), ("hogwild", &[]), ("dual", &["penalize_intercept"]), ("bcd", &[])];
    Ok(match kind(settings, "method", &kinds, "auto", &["penalize_intercept"])? {
        "hogwild" => MethodKind::Hogwild,
        "bcd" => MethodKind::Bcd,
        "dual" => MethodKind::Dual {
            penalize_intercept: settings.get("method", "penalize_intercept").map_or(Ok(false), Entry::flag)?,
        },
        _ => MethodKind::Auto,
    })
}

fn step(settings: &Settings) -> Result<Option<StepKind>> {
    let kinds: [(&str, &[&str]); 5] = [
        ("auto", &[]),
        ("constant", &["initial"]),
        ("diminishing", &["initial", "half"]),
        ("decay", &["initial", "factor"]),
        ("backoff", &["initial", "factor", "epochs"]),
    ];
    let kind = kind(settings, "step", &kinds, "auto", &["initial", "half", "factor", "epochs"])?;
    let number = |key, bound, default| settings.number_or("step", key, bound, default);
    let initial = || match settings.get("step", "initial") {
        Some(entry) => entry.unless("auto", |entry| entry.number_or(Bound::Positive, "\"auto\" (a short search)")),
        None => Ok(None),
    };
    Ok(Some(match kind {
        "constant" => StepKind::Constant { initial: initial()? },
        "diminishing" => {
            StepKind::Diminishing { initial: initial()?, half: number("half", Bound::Positive, StepKind::HALF)? }
        }
        "decay" => StepKind::Decay {
            initial: initial()?,
            factor: number("factor", Bound::UpToOne, StepKind::DECAY_FACTOR)?,
        },
        "backoff" => StepKind::Backoff {
            initial: initial()?,
            factor: number("factor", Bound::BelowOne, StepKind::BACKOFF_FACTOR)?,
            epochs: number("epochs", Bound::Positive, StepKind::BACKOFF_EPOCHS)?,
        },
        _ => return Ok(None),
    }))
}

fn order(settings: &Settings) -> Result<OrderKind> {
    let kinds: [(&str, &[&str]); 4] = [("auto", &[]), ("buckets", &["rows"]), ("rows", &[]), ("file", &[])];
    // A number of rows alone asks for buckets.
    let default = if settings.get("order", "rows").is_some() { "buckets" } else { "auto" };
    Ok(match kind(settings, "order", &kinds, default, &["rows"])? {
        "auto" => OrderKind::Auto,
        "rows" => OrderKind::Rows,
        "file" => OrderKind::File,
        _ => OrderKind::Buckets {
            rows: match settings.get("order", "rows") {
                Some(entry) => entry.whole(1, u32::MAX.into(), "")? as usize,
                None => OrderKind::BUCKET_ROWS,
            },
        },
    })
}

fn exchange(settings: &Settings) -> Result<Option<ExchangeKind>> {
    let kinds: [(&str, &[&str]); 3] = [("auto", &[]), ("average", &["every"]), ("sum", &["every"])];
    let kind = kind(settings, "exchange", &kinds, "auto", &["every"])?;
    let every = || match settings.get("exchange", "every") {
        Some(entry) => {
            entry.unless("epoch", |entry| Ok(entry.whole(1, 1 << 53, "\"epoch\" (once an epoch)")? as usize))
        }
        None => Ok(None),
    };
    Ok(match kind {
        "average" => Some(ExchangeKind::Average { every: every()? }),
        "sum" => Some(ExchangeKind::Sum { every: every()? }),
        _ => None,
    })
}

fn stop(settings: &Settings, default: Stop) -> Result<Stop> {
    let number = |key, bound, default| match settings.get("stop", key) {
        Some(entry) => entry.unless("none", |entry| entry.number_or(bound, "\"none\"")),
        None => Ok(default),
    };
    Ok(Stop {
        target: number("target", Bound::Positive, default.target)?,
        target_objective: number("target_objective", Bound::Finite, default.target_objective)?,
        max_epochs: match settings.get("stop", "max_epochs") {
            Some(entry) => entry.whole(1, 1 << 53, "")?,
            None => default.max_epochs,
        },
        max_seconds: number("max_seconds", Bound::Positive, default.max_seconds)?,
    })
}

/// Whether a setting was written by someone, for messages about two of them.
pub(super) fn origin(settings: &Settings, section: &str, key: &str) -> String {
    settings.get(section, key).map_or_else(|| "the default".into(), |entry| entry.origin.clone())
}

/// An error about two settings: `at` is the one to change.
pub(super) fn contradiction(settings: &Settings, at: (&str, &str), what: String, remedy: &str) -> Error {
    Error::Setting { origin: origin(settings, at.0, at.1), what, remedy: remedy.into() }
}
