//! Which node each cpu and each physical address belongs to.

use std::ops::Range;

/// A cpu's number must fit QEMU's largest machine here.
const CPUS_MAX: usize = 1024;
const NODES_MAX: usize = 64;

/// The machine, as the arguments describe it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Node of each virtual cpu, in the order in which QEMU makes them.
    pub(crate) node_of_cpu: Vec<usize>,
    /// What QEMU reports as physical addresses, by node.
    memory: Vec<Range<u64>>,
    /// How many pages and instructions to name in a report.
    pub(crate) top: usize,
}

impl Machine {
    /// Reads `cpus=`, `memory=` and `top=`.
    pub(crate) fn from_arguments(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut node_of_cpu, mut mebibytes, mut top) = (Vec::new(), Vec::new(), 0);
        for argument in arguments {
            match argument.split_once('=') {
                Some(("cpus", list)) => node_of_cpu = numbers(&argument, list)?,
                Some(("memory", list)) => mebibytes = numbers(&argument, list)?,
                Some(("top", number)) => top = numbers(&argument, number)?[0],
                _ => return Err(format!("{argument}: takes cpus=, memory= and top=")),
            }
        }
        let nodes = mebibytes.len();
        if node_of_cpu.is_empty() || node_of_cpu.len() > CPUS_MAX || nodes > NODES_MAX {
            return Err(format!(
                "{} cpus and {nodes} nodes: takes 1 to {CPUS_MAX} cpus and up to {NODES_MAX} nodes",
                node_of_cpu.len()
            ));
        }
        if let Some(node) = node_of_cpu.iter().find(|&&node| node >= nodes) {
            return Err(format!("cpus= names node {node}, memory= has {nodes}"));
        }
        Ok(Machine { node_of_cpu, memory: ranges(&mebibytes), top })
    }

    /// The node of a physical address.
    pub(crate) fn node_of(&self, physical: u64) -> Option<usize> {
        self.memory.iter().position(|range| range.contains(&physical))
    }

    pub(crate) fn nodes(&self) -> usize {
        self.memory.len()
    }
}

/// What QEMU 7.2 reports is the offset of a RAM block plus the offset of the block in the machine's memory, so that the
/// memory of a node begins at twice the sum of the sizes before it. Another QEMU may count otherwise; accesses then turn
/// up as unknown or on the wrong node, and `tests/vm/run` counts a worker a node first to see that they do not.
fn ranges(mebibytes: &[usize]) -> Vec<Range<u64>> {
    let mut before = 0;
    let range = |&size: &usize| {
        let range = (2 * before) << 20..(2 * before + size as u64) << 20;
        before += size as u64;
        range
    };
    mebibytes.iter().map(range).collect()
}

fn numbers(argument: &str, list: &str) -> Result<Vec<usize>, String> {
    list.split(':')
        .map(|number| number.parse().map_err(|_| format!("{argument}: {number:?} is no number")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(arguments: &[&str]) -> Result<Machine, String> {
        Machine::from_arguments(arguments.iter().map(ToString::to_string))
    }

    #[test]
    fn addresses_fall_to_the_nodes_that_qemu_numbers_them_by() {
        let machine = machine(&["cpus=0:0:2", "memory=512:0:256", "top=3"]).unwrap();
        assert_eq!((machine.nodes(), machine.top), (3, 3));
        assert_eq!(machine.node_of(0), Some(0));
        assert_eq!(machine.node_of((512 << 20) - 1), Some(0));
        assert_eq!(machine.node_of(512 << 20), None);
        assert_eq!(machine.node_of(1024 << 20), Some(2));
        assert_eq!(machine.node_of(1280 << 20), None);
    }

    #[test]
    fn arguments_that_make_no_machine_are_refused() {
        for bad in [&["memory=512"][..], &["cpus=0:1", "memory=512"], &["cpus=0:x", "memory=512"], &["lines=4"]] {
            assert!(machine(bad).is_err(), "{bad:?}");
        }
    }
}
