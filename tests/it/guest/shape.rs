//! A shape file (`tests/vm/README.md` has its statements) as what Linux must show of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A node that Linux shows.
#[derive(Debug, Default)]
pub(super) struct ShapeNode {
    pub(super) id: u32,
    /// Its cpus that are online.
    pub(super) cpus: BTreeSet<u32>,
    /// As configured; the kernel keeps some to itself.
    pub(super) memory_bytes: u64,
    /// Whether a process may take memory from it.
    pub(super) allows_memory: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) nodes: Vec<ShapeNode>,
    /// `numa=fake`: hwloc shows one node, and the kernel's cpus are in several.
    pub(super) is_cut_by_the_kernel: bool,
    sockets: u32,
    positions_per_socket: u32,
    threads: u32,
    /// Linux's number of every position that has a cpu which is online.
    cpu_at: BTreeMap<u32, u32>,
    distances: BTreeMap<(u32, u32), u64>,
    /// What the cgroup allows; `None` for all.
    allowed_cpus: Option<BTreeSet<u32>>,
}

impl Shape {
    pub(super) fn read(path: &Path) -> Shape {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let statements: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split('#').next().unwrap().split_whitespace().collect())
            .filter(|words: &Vec<&str>| !words.is_empty())
            .collect();
        let all = |word: &'static str| statements.iter().filter(move |words| words[0] == word);
        let mut shape = Shape::default();
        shape.lay_out(all("smp").next().expect("an smp statement"));
        shape.number_cpus(
            all("ghost").flat_map(|words| list(value(words, "cpus").unwrap())).collect(),
            all("cpu-order").any(|words| words[1] == "threads-last"),
            &all("offline-cpu").flat_map(|words| &words[1..]).map(|cpu| cpu.parse().unwrap()).collect(),
        );
        shape.nodes = all("node").map(|words| shape.node(words)).collect();
        for words in all("dist") {
            shape
                .distances
                .insert((words[1].parse().unwrap(), words[2].parse().unwrap()), words[3].parse().unwrap());
        }
        for words in all("cgroup") {
            shape.confine(words);
        }
        for parts in all("append").flatten().filter_map(|word| word.strip_prefix("numa=fake=")) {
            shape.cut(parts.parse().unwrap());
        }
        shape
    }

    fn lay_out(&mut self, words: &[&str]) {
        let number = |name| value(words, name).map_or(1, |number| number.parse::<u32>().unwrap());
        self.sockets = number("sockets");
        self.threads = number("threads");
        self.positions_per_socket = number("dies") * number("cores") * self.threads;
    }

    /// Linux numbers the cpus that are there in the order of the firmware's table: by position, or second threads last.
    fn number_cpus(&mut self, absent: BTreeSet<u32>, threads_last: bool, offline: &BTreeSet<u32>) {
        let mut order: Vec<u32> = (0..self.sockets * self.positions_per_socket).collect();
        if threads_last {
            order.sort_by_key(|position| (position % self.threads, *position));
        }
        let present = order.into_iter().filter(|position| !absent.contains(position));
        self.cpu_at = present.zip(0..).filter(|(_, cpu)| !offline.contains(cpu)).collect();
    }

    fn node(&self, words: &[&str]) -> ShapeNode {
        let positions = value(words, "cpus").map(list).unwrap_or_default();
        let memory_bytes = value(words, "mem").map_or(0, bytes);
        ShapeNode {
            id: words[1].parse().unwrap(),
            cpus: positions.iter().filter_map(|position| self.cpu_at.get(position)).copied().collect(),
            memory_bytes,
            allows_memory: memory_bytes > 0,
        }
    }

    fn confine(&mut self, words: &[&str]) {
        self.allowed_cpus = value(words, "cpus").map(list);
        if let Some(mems) = value(words, "mems").map(list) {
            self.nodes.iter_mut().for_each(|node| node.allows_memory &= mems.contains(&node.id));
        }
    }

    /// hwloc keeps the first of several nodes that have the same cpus.
    fn cut(&mut self, parts: u64) {
        self.is_cut_by_the_kernel = true;
        self.nodes.truncate(1);
        self.nodes[0].memory_bytes /= parts;
    }

    pub(super) fn packages(&self) -> usize {
        let sockets: BTreeSet<u32> = self.cpu_at.keys().map(|at| at / self.positions_per_socket).collect();
        sockets.len()
    }

    /// The cpus of every core that has one.
    pub(super) fn cores(&self) -> BTreeSet<Vec<u32>> {
        let mut cores: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        self.cpu_at.iter().for_each(|(at, &cpu)| cores.entry(at / self.threads).or_default().push(cpu));
        cores
            .into_values()
            .map(|mut cpus| {
                cpus.sort_unstable();
                cpus
            })
            .collect()
    }

    /// The cpus on which a process may run.
    pub(super) fn usable_cpus(&self) -> BTreeSet<u32> {
        let allowed = |cpu: &u32| self.allowed_cpus.as_ref().is_none_or(|allowed| allowed.contains(cpu));
        self.cpu_at.values().copied().filter(allowed).collect()
    }

    /// The firmware's distance: 10 at home, the way back like the way there, 20 where nothing is said.
    pub(super) fn distance(&self, from: u32, to: u32) -> u64 {
        let stated = |a, b| self.distances.get(&(a, b)).copied();
        if from == to { 10 } else { stated(from, to).or_else(|| stated(to, from)).unwrap_or(20) }
    }
}

/// VALUE of `NAME=VALUE`.
fn value<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// `0-2,5` as numbers.
fn list(text: &str) -> BTreeSet<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<u32>().unwrap()..=last.parse().unwrap()
    };
    text.split(',').flat_map(range).collect()
}

fn bytes(size: &str) -> u64 {
    match size.split_at(size.len() - 1) {
        (number, "G") => number.parse::<u64>().unwrap() << 30,
        (number, "M") => number.parse::<u64>().unwrap() << 20,
        _ => size.parse().unwrap(),
    }
}
