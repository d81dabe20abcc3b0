//! What two cpus, or a cpu and a node, have in common.

use super::{Cpu, Topology};
use std::fmt;

/// The nearest thing that two cpus share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shared {
    /// They are threads of one core.
    Core,
    /// An L3.
    L3,
    /// A NUMA node.
    Node,
    /// A package.
    Package,
    /// The machine alone.
    Machine,
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shared::Core => "1: one core",
            Shared::L3 => "2: one L3",
            Shared::Node => "3: one node",
            Shared::Package => "4: one package",
            Shared::Machine => "5: different packages",
        })
    }
}

impl Topology {
    fn cpu(&self, os: u32) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.os == os)
    }

    /// What two cpus share, by the system's numbers; [`Shared::Machine`] for one that there is not.
    pub fn shared_by(&self, one: u32, other: u32) -> Shared {
        let (Some(one), Some(other)) = (self.cpu(one), self.cpu(other)) else { return Shared::Machine };
        let same = |a: Option<usize>, b: Option<usize>| a.is_some() && a == b;
        match () {
            () if one.core == other.core => Shared::Core,
            () if same(one.l3, other.l3) => Shared::L3,
            () if same(one.node, other.node) => Shared::Node,
            () if same(one.package, other.package) => Shared::Package,
            () => Shared::Machine,
        }
    }

    /// Whether node `node` is the one of cpu `cpu`, both by the system's numbers.
    pub fn is_local(&self, cpu: u32, node: u32) -> bool {
        self.cpu(cpu).and_then(|cpu| cpu.node).is_some_and(|own| self.nodes[own].os == node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_share_the_nearest_thing_that_both_are_in() {
        let topology = Topology::from_synthetic("pack:2 [numa] l3:2 core:2 pu:2").expect("a topology");
        let shared = [1, 2, 4, 8, 99].map(|other| topology.shared_by(0, other));
        assert_eq!(shared, [Shared::Core, Shared::L3, Shared::Node, Shared::Machine, Shared::Machine]);
        assert!(topology.is_local(0, 0) && !topology.is_local(0, 1) && topology.is_local(8, 1));
    }
}
