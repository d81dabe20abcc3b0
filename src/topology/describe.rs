//! A topology as text for people.

use super::{Gpu, Origin, Topology, cpulist};
use comfy_table::{Table, presets};
use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

impl fmt::Display for Topology {
    /// What there is, the nodes, how far they are from each other, and which cpus share what. `--json` has every cpu
    /// by itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.summary())?;
        for line in self.remarks() {
            writeln!(f, "{line}")?;
        }
        for gpu in &self.gpus {
            writeln!(f, "{}", self.gpu(gpu))?;
        }
        if !self.nodes.is_empty() {
            writeln!(f, "\n{}", self.node_table())?;
        }
        if let Some(rows) = self.distance.as_ref().filter(|rows| rows.len() > 1) {
            writeln!(f, "\nrelative latency from the node of the row to the node of the column:")?;
            writeln!(f, "{}", self.distance_table(rows))?;
        }
        write!(f, "\n{}", self.group_table())
    }
}

/// A table without lines, trimmed at the right.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for row in rows {
        table.add_row(row);
    }
    let text = table.to_string();
    text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect::<Vec<_>>().join("\n")
}

/// A number, or a dash where there is none.
pub(crate) fn or_dash<T: fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}

fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => {
            let value = bytes as f64 / (1u64 << shift) as f64;
            if value == value.round() { format!("{value} {unit}") } else { format!("{value:.1} {unit}") }
        }
        None => format!("{bytes} B"),
    }
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

impl Topology {
    fn gpu(&self, gpu: &Gpu) -> String {
        let name = gpu.name.as_deref().unwrap_or("GPU");
        let near = match gpu.node {
            Some(node) => format!("on node {}", self.nodes[node].os),
            None => "no node stated".into(),
        };
        format!("{name} at {}, {near}", gpu.pci)
    }

    fn summary(&self) -> String {
        let name = match self.origin {
            Origin::Host => "this host".into(),
            _ => self.name(),
        };
        let kind = if self.virtual_nodes { "virtual node" } else { "node" };
        let parts = [
            counted(self.packages, "package"),
            counted(self.nodes.len(), kind),
            counted(self.l3s.len(), "L3 cache"),
            counted(self.cores.len(), "core"),
            counted(self.cpus.len(), "cpu"),
        ];
        format!("{name}: {}", parts.join(", "))
    }

    fn remarks(&self) -> Vec<String> {
        let usable = self.usable_cpus();
        let mut lines = vec![if usable.len() == self.cpus.len() {
            "all cpus are usable".into()
        } else {
            format!("{} of the cpus are usable: {}", usable.len(), cpulist::format(&usable))
        }];
        if let Some(quota) = self.quota_cpus {
            lines.push(format!("the control group's quota is {quota} cpus"));
        }
        if self.distance.is_none() && self.nodes.len() > 1 {
            lines.push("no distances between nodes are stated".into());
        }
        if self.virtual_nodes {
            lines.push("the nodes are virtual, cut from one: no traffic between them is remote".into());
        }
        lines
    }

    fn node_table(&self) -> String {
        let all: HashSet<u32> = self.usable_cpus().into_iter().collect();
        let usable = |cpus: &[u32]| {
            cpulist::format(&cpus.iter().copied().filter(|cpu| all.contains(cpu)).collect::<Vec<_>>())
        };
        let rows = self.nodes.iter().map(|node| {
            let memory = match node.memory_bytes {
                None => "unknown".into(),
                Some(0) => "none".into(),
                Some(count) => bytes(count),
            };
            let forbidden = !node.allowed && node.memory_bytes != Some(0);
            let memory = if forbidden { format!("{memory}, not allowed") } else { memory };
            vec![node.os.to_string(), memory, cpulist::format(&node.cpus), usable(&node.cpus)]
        });
        table(&["node", "memory", "cpus", "usable cpus"], rows)
    }

    fn distance_table(&self, rows: &[Vec<u64>]) -> String {
        let numbers: Vec<String> = self.nodes.iter().map(|node| node.os.to_string()).collect();
        let mut header = vec!["node"];
        header.extend(numbers.iter().map(String::as_str));
        let row = |(node, row): (&String, &Vec<u64>)| {
            std::iter::once(node.clone()).chain(row.iter().map(u64::to_string)).collect()
        };
        table(&header, numbers.iter().zip(rows).map(row))
    }

    /// One row for all the cpus that share package, node and L3. SMT siblings stand after a plus.
    fn group_table(&self) -> String {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (i, cpu) in self.cpus.iter().enumerate() {
            // Cpus without a node come last.
            groups.entry((cpu.node.is_none(), cpu.node, cpu.package, cpu.l3)).or_default().push(i);
        }
        let rows = groups.into_iter().map(|((_, node, package, l3), cpus)| {
            let mut by_rank: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            let mut cores: Vec<u32> = Vec::new();
            for &i in &cpus {
                by_rank.entry(self.cpus[i].smt).or_default().push(self.cpus[i].os);
                cores.push(self.cpus[i].core as u32);
            }
            let l3_bytes = l3.map(|l3| self.l3s[l3].bytes).filter(|&size| size > 0);
            let siblings: Vec<String> = by_rank.values().map(|cpus| cpulist::format(cpus)).collect();
            vec![
                or_dash(node.map(|node| self.nodes[node].os)),
                or_dash(package),
                or_dash(l3),
                or_dash(l3_bytes.map(bytes)),
                cpulist::format(&cores),
                siblings.join(" + "),
            ]
        });
        table(&["node", "package", "L3", "L3 size", "cores", "cpus + SMT siblings"], rows)
    }
}
