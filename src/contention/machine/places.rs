//! The cpus and nodes of a machine as a survey sees them: who shares what, in which order workers are added, and which
//! pairs stand for all.

use crate::{machine::Relation, topology::Topology};
use std::collections::{BTreeMap, BTreeSet};

/// A usable cpu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// The system's number.
    pub os: u32,
    core: usize,
    l2: Option<usize>,
    l3: Option<usize>,
    /// Index of its node in the topology.
    pub node: Option<usize>,
    /// The L3 it is under, or its node where L3s are unknown.
    group: usize,
}

/// The usable cpus of a machine.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The machine.
    pub topology: &'a Topology,
    /// In the topology's order.
    pub cpus: Vec<Worker>,
}

/// A set of pairs of cpus, of which the next one holds more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairs {
    /// One for each relation, and for each distance of nodes.
    Relations,
    /// One in each L3 (node), its first siblings, and one for each pair of L3s (nodes).
    Groups,
    /// Besides, all cores of each L3 (node), and four pairs across each pair of L3s (nodes).
    Within,
    /// Besides, all cores.
    Cores,
    /// All.
    All,
}

impl<'a> View<'a> {
    /// Of a topology.
    pub fn of(topology: &'a Topology) -> Self {
        let usable = topology.cpus.iter().filter(|cpu| cpu.usable);
        let by_l3 = usable.clone().all(|cpu| cpu.l3.is_some());
        let group = |cpu: &crate::topology::Cpu| if by_l3 { cpu.l3 } else { cpu.node }.unwrap_or(0);
        let cpus = usable
            .map(|cpu| Worker {
                os: cpu.os,
                core: cpu.core,
                l2: cpu.l2,
                l3: cpu.l3,
                node: cpu.node,
                group: group(cpu),
            })
            .collect();
        View { topology, cpus }
    }

    /// The nearest thing that two cpus share.
    pub fn relation(&self, one: Worker, other: Worker) -> Relation {
        let same = |a: Option<usize>, b: Option<usize>| a.is_some() && a == b;
        if one.core == other.core {
            Relation::Smt
        } else if same(one.l2, other.l2) {
            Relation::L2
        } else if same(one.l3, other.l3) {
            Relation::L3
        } else if one.node == other.node {
            Relation::Node
        } else {
            Relation::Machine
        }
    }

    /// The firmware's distance of the nodes of two cpus, 0 where it states none.
    pub fn distance(&self, one: Worker, other: Worker) -> u64 {
        let nodes = one.node.zip(other.node);
        nodes.and_then(|(one, other)| self.topology.distance.as_ref().map(|rows| rows[one][other])).unwrap_or(0)
    }

    /// The first cpu of each core.
    pub(super) fn cores(&self) -> Vec<Worker> {
        let mut seen = BTreeSet::new();
        self.cpus.iter().copied().filter(|cpu| seen.insert(cpu.core)).collect()
    }

    /// The order in which workers are added: cores in the topology's order, so that an L3 is full before the next is begun,
    /// then their siblings.
    pub(super) fn workers(&self) -> Vec<Worker> {
        let cores = self.cores();
        let first: BTreeSet<u32> = cores.iter().map(|cpu| cpu.os).collect();
        let siblings = self.cpus.iter().copied().filter(|cpu| !first.contains(&cpu.os));
        cores.into_iter().chain(siblings).collect()
    }

    /// First cpus of the cores of node `node`, an index.
    pub(super) fn cores_of(&self, node: usize) -> Vec<Worker> {
        self.cores().into_iter().filter(|cpu| cpu.node == Some(node)).collect()
    }

    /// Nodes, by index, that have a usable cpu.
    pub(super) fn cpu_nodes(&self) -> Vec<usize> {
        let nodes: BTreeSet<usize> = self.cpus.iter().filter_map(|cpu| cpu.node).collect();
        nodes.into_iter().collect()
    }

    /// Nodes, by index, that have memory.
    pub(super) fn memory_nodes(&self) -> Vec<usize> {
        (0..self.topology.nodes.len()).filter(|&node| self.topology.has_memory(node)).collect()
    }

    /// Numbers of workers to measure at: always 1, 2, the sizes of the first L3 and node, all cores and all cpus; with
    /// `steps` in between powers of two (1), and one more between two of those (2).
    pub(super) fn counts(&self, steps: u32) -> Vec<usize> {
        let (cores, all) = (self.cores(), self.cpus.len());
        let Some(&first) = cores.first() else { return Vec::new() };
        let group = cores.iter().filter(|cpu| cpu.group == first.group).count();
        let node = cores.iter().filter(|cpu| cpu.node == first.node).count();
        let mut counts: BTreeSet<usize> = [1, 2, group, node, cores.len(), all].into();
        for shift in 1..usize::BITS - all.leading_zeros() {
            counts.extend((steps > 0).then_some(1 << shift));
            counts.extend((steps > 1).then_some(3 << (shift - 1)));
        }
        counts.into_iter().filter(|&count| count <= all).collect()
    }

    /// How many pairs a set has, found without making them.
    pub(super) fn count(&self, pairs: Pairs) -> usize {
        let both = |n: usize| n * n.saturating_sub(1) / 2;
        let cores = self.cores();
        let groups = self.groups(&cores);
        // A pair of siblings in each group; where a relation's pair is no core's first, it counts once more.
        let few = groups.len() + 8;
        match pairs {
            Pairs::Relations => self.cpus.len().saturating_sub(1).min(8),
            Pairs::Groups => both(groups.len()) + groups.len() + few,
            Pairs::Within => {
                few + 4 * both(groups.len()) + groups.values().map(|group| both(group.len())).sum::<usize>()
            }
            Pairs::Cores => both(cores.len()) + few,
            Pairs::All => both(self.cpus.len()),
        }
    }

    fn groups(&self, cores: &[Worker]) -> BTreeMap<usize, Vec<Worker>> {
        let mut groups: BTreeMap<usize, Vec<Worker>> = BTreeMap::new();
        cores.iter().for_each(|&cpu| groups.entry(cpu.group).or_default().push(cpu));
        groups
    }

    /// The pairs of a set, each once, the more telling ones first.
    pub(super) fn pairs(&self, pairs: Pairs) -> Vec<[Worker; 2]> {
        let mut chosen = Chosen::default();
        self.of_relations(&mut chosen);
        let cores = self.cores();
        if pairs != Pairs::Relations {
            self.of_groups(&cores, usize::from(pairs != Pairs::Groups) * 3 + 1, &mut chosen);
        }
        match pairs {
            Pairs::Relations | Pairs::Groups => {}
            Pairs::Within => self.groups(&cores).values().for_each(|group| chosen.all(group)),
            Pairs::Cores => chosen.all(&cores),
            Pairs::All => chosen.all(&self.cpus),
        }
        chosen.pairs
    }

    /// From the first cpu, one to each relation and distance; and on to the second sibling.
    fn of_relations(&self, chosen: &mut Chosen) {
        let Some(&first) = self.cpus.first() else { return };
        let mut seen = BTreeSet::new();
        for &other in &self.cpus[1..] {
            if seen.insert((self.relation(first, other), self.distance(first, other))) {
                chosen.add(first, other);
            }
        }
    }

    /// One pair of cores in each group, one pair of siblings in each, and `across` pairs between any two.
    fn of_groups(&self, cores: &[Worker], across: usize, chosen: &mut Chosen) {
        let groups = self.groups(cores);
        for (&name, group) in &groups {
            if let [first, second, ..] = group[..] {
                chosen.add(first, second);
            }
            let of_group = || self.cpus.iter().copied().filter(|cpu| cpu.group == name);
            if let Some(second) = of_group().find(|cpu| group.iter().all(|core| core.os != cpu.os))
                && let Some(&first) = group.iter().find(|core| core.core == second.core)
            {
                chosen.add(first, second);
            }
        }
        let groups: Vec<Vec<Worker>> = groups.into_values().collect();
        for (i, one) in groups.iter().enumerate() {
            for other in &groups[i + 1..] {
                for k in 0..across {
                    // Spaced over both groups, with other partners each time.
                    let place =
                        |group: &[Worker], shift: usize| group[(k * group.len() / across + shift) % group.len()];
                    chosen.add(place(one, 0), place(other, k));
                }
            }
        }
    }
}

/// Pairs without repetition, in the order in which they came.
#[derive(Default)]
struct Chosen {
    seen: BTreeSet<(u32, u32)>,
    pairs: Vec<[Worker; 2]>,
}

impl Chosen {
    fn add(&mut self, one: Worker, other: Worker) {
        if one.os != other.os && self.seen.insert((one.os.min(other.os), one.os.max(other.os))) {
            self.pairs.push([one, other]);
        }
    }

    fn all(&mut self, cpus: &[Worker]) {
        for (i, &one) in cpus.iter().enumerate() {
            cpus[i + 1..].iter().for_each(|&other| self.add(one, other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINES: [&str; 4] =
        ["pu:1", "pack:2 [numa] l3:2 core:4 pu:2", "pack:3 [numa] core:2 pu:1", "pack:8 [numa] l3:1 core:28 pu:2"];

    #[test]
    fn each_set_of_pairs_holds_the_one_before_and_no_more_than_was_counted() {
        for text in MACHINES {
            let topology = Topology::from_synthetic(text).unwrap();
            let view = View::of(&topology);
            let mut before: Vec<[Worker; 2]> = Vec::new();
            for set in [Pairs::Relations, Pairs::Groups, Pairs::Within, Pairs::Cores, Pairs::All] {
                let pairs = view.pairs(set);
                assert!(pairs.len() <= view.count(set), "{text} {set:?}: {} of {}", pairs.len(), view.count(set));
                let all: BTreeSet<_> = pairs.iter().map(|[a, b]| (a.os.min(b.os), a.os.max(b.os))).collect();
                assert_eq!(all.len(), pairs.len(), "{text}: a pair twice");
                assert!(
                    before.iter().all(|[a, b]| all.contains(&(a.os.min(b.os), a.os.max(b.os)))),
                    "{text} {set:?}"
                );
                before = pairs;
            }
            let n = topology.cpus.len();
            assert_eq!(before.len(), n * (n - 1) / 2, "all pairs");
        }
    }

    #[test]
    fn counts_of_workers_fill_an_l3_then_the_node_then_the_machine() {
        let topology = Topology::from_synthetic(MACHINES[1]).unwrap();
        let view = View::of(&topology);
        assert_eq!(view.counts(0), [1, 2, 4, 8, 16, 32]);
        assert_eq!(view.counts(2), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
        let workers = view.workers();
        let groups = |n: usize| workers[..n].iter().map(|cpu| cpu.l3).collect::<BTreeSet<_>>().len();
        assert_eq!([4, 8, 16].map(groups), [1, 2, 4]);
        assert!(workers[..16].iter().all(|cpu| cpu.os % 2 == 0), "siblings come last");
    }

    #[test]
    fn relations_are_the_nearest_thing_shared() {
        let topology = Topology::from_synthetic(MACHINES[1]).unwrap();
        let view = View::of(&topology);
        let of = |a: usize, b: usize| view.relation(view.cpus[a], view.cpus[b]);
        assert_eq!(of(0, 1), Relation::Smt);
        assert_eq!(of(0, 2), Relation::L3);
        assert_eq!(of(0, 8), Relation::Node);
        assert_eq!(of(0, 16), Relation::Machine);
    }
}
