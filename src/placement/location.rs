//! `workers.locations` on a machine: the cpus that `hwloc-calc` would name, and one worker's cpu for each of its cores.
//!
//! Indices are logical and count objects that lie wholly within the place before the dot, also those that a cpuset
//! forbids (as `hwloc-calc --disallowed`). Cpus that may not be used are then left out.

use crate::{
    config::{Kind, Location, Selection, Step},
    error::{Error, Result},
    topology::Topology,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The cpus (indices into `Topology::cpus`) that a location covers, ascending, usable or not.
///
/// # Errors
/// [`Error::Unmet`] if it names an object that the machine does not have, or covers no cpu.
pub fn covered(topology: &Topology, location: &Location) -> Result<Vec<usize>> {
    let mut places: Vec<usize> = objects(topology, location)?.into_iter().flatten().collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// A cpu (an index into `Topology::cpus`) for each worker, in the order of the locations: where one ends in `pu`, each
/// of its usable cpus; elsewhere the first usable cpu of each core of its objects. `~` takes cpus away again. A cpu
/// that two locations name is used once.
///
/// # Errors
/// [`Error::Unmet`] as [`covered`], and if a location has no usable cpu, or nothing is left.
pub fn chosen(topology: &Topology, locations: &[Location]) -> Result<Vec<usize>> {
    let mut chosen: Vec<usize> = Vec::new();
    for location in locations {
        let objects = objects(topology, location)?;
        if location.removes {
            let gone: HashSet<usize> = objects.into_iter().flatten().collect();
            chosen.retain(|place| !gone.contains(place));
            continue;
        }
        let usable = objects.into_iter().flatten().filter(|&place| topology.cpus[place].usable);
        let found: Vec<usize> = match location.steps.last().map(|step| step.kind) {
            Some(Kind::Pu) => usable.collect(),
            _ => first_of_cores(topology, usable),
        };
        if found.is_empty() {
            let what = format!("workers.locations names {location}, none of whose cpus is usable");
            return Err(Error::unmet(what, "loosen the cpuset or the affinity mask, or name another place"));
        }
        let taken: HashSet<usize> = chosen.iter().copied().collect();
        chosen.extend(found.into_iter().filter(|place| !taken.contains(place)));
    }
    if chosen.is_empty() {
        return Err(Error::unmet("workers.locations takes away every cpu that it names", "leave one for a worker"));
    }
    Ok(chosen)
}

/// The first of these cpus on each core.
fn first_of_cores(topology: &Topology, places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut seen = HashSet::new();
    places.filter(|&place| seen.insert(topology.cpus[place].core)).collect()
}

/// The objects that a location names, each as its cpus (indices into `Topology::cpus`).
fn objects(topology: &Topology, location: &Location) -> Result<Vec<Vec<usize>>> {
    let mut outer: Vec<Vec<usize>> = vec![(0..topology.cpus.len()).collect()];
    for (level, step) in location.steps.iter().enumerate() {
        let counted = Counted::new(topology, step.kind);
        let mut inner = Vec::new();
        for places in &outer {
            let mut within = if level == 0 { counted.all() } else { counted.within(places) };
            let picked = picked(step.selection, within.len())
                .map_err(|why| missing(topology, location, step, level > 0, &why))?;
            inner.extend(picked.into_iter().map(|index| std::mem::take(&mut within[index])));
        }
        outer = inner;
    }
    if outer.iter().all(Vec::is_empty) {
        let what = format!("workers.locations names {location}, which has no cpu on {}", topology.name());
        return Err(Error::unmet(what, "name a place with cpus; `farrow topology` shows them"));
    }
    Ok(outer)
}

fn missing(topology: &Topology, location: &Location, step: &Step, nested: bool, why: &str) -> Error {
    let place = if nested { "a place before its dot".to_string() } else { topology.name() };
    let what = format!("workers.locations names {location}, and {place} has {why}");
    let what = what.replace("OBJECTS", step.kind.name());
    Error::unmet(what, "indices are hwloc's logical ones, from 0; `farrow topology` shows what there is")
}

/// The objects of one kind.
struct Counted {
    /// The cpus of each, ascending.
    sets: Vec<Vec<usize>>,
    /// The objects that hold a cpu; several only for nodes that share cpus.
    holders: HashMap<usize, Vec<usize>>,
}

impl Counted {
    fn new(topology: &Topology, kind: Kind) -> Self {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        if kind == Kind::Node {
            let place: HashMap<u32, usize> =
                topology.cpus.iter().enumerate().map(|(place, cpu)| (cpu.os, place)).collect();
            sets = topology
                .nodes
                .iter()
                .map(|node| node.cpus.iter().filter_map(|os| place.get(os).copied()).collect())
                .collect();
            // A node lists its cpus by the system's numbers; here they go by their place in the machine.
            sets.iter_mut().for_each(|set| set.sort_unstable());
        } else {
            for (place, cpu) in topology.cpus.iter().enumerate() {
                let index = match kind {
                    Kind::Package => cpu.package,
                    Kind::L3 => cpu.l3,
                    Kind::L2 => cpu.l2,
                    Kind::Core => Some(cpu.core),
                    Kind::Pu | Kind::Node => Some(place),
                };
                let Some(index) = index else { continue };
                if sets.len() <= index {
                    sets.resize_with(index + 1, Vec::new);
                }
                sets[index].push(place);
            }
        }
        let mut holders: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, set) in sets.iter().enumerate() {
            for place in set {
                holders.entry(*place).or_default().push(index);
            }
        }
        Counted { sets, holders }
    }

    /// Every one, also nodes without cpus.
    fn all(&self) -> Vec<Vec<usize>> {
        self.sets.clone()
    }

    /// Those that have cpus, and none outside `places`.
    fn within(&self, places: &[usize]) -> Vec<Vec<usize>> {
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        for holder in places.iter().filter_map(|place| self.holders.get(place)).flatten() {
            *found.entry(*holder).or_default() += 1;
        }
        let whole = found.into_iter().filter(|(index, cpus)| self.sets[*index].len() == *cpus);
        whole.map(|(index, _)| self.sets[index].clone()).collect()
    }
}

/// The indices among `count` objects, or what there is instead.
fn picked(selection: Selection, count: usize) -> std::result::Result<Vec<usize>, String> {
    let enough = |needed: usize| match count {
        _ if needed < count => Ok(()),
        0 => Err("no OBJECTS".to_string()),
        1 => Err("only OBJECTS:0".to_string()),
        _ => Err(format!("OBJECTS:0-{}", count - 1)),
    };
    match selection {
        Selection::All => enough(0).map(|()| (0..count).collect()),
        Selection::Even => enough(0).map(|()| (0..count).step_by(2).collect()),
        Selection::Odd => enough(1).map(|()| (1..count).step_by(2).collect()),
        Selection::From(first) => enough(first).map(|()| (first..count).collect()),
        Selection::Range(first, last) => enough(last).map(|()| (first..=last).collect()),
        Selection::Count(first, many) => {
            enough(first)?;
            enough(many.saturating_sub(1))?;
            Ok((0..many).map(|i| (first + i) % count).collect())
        }
    }
}
