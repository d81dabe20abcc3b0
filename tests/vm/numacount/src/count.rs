//! The counters, and the callback that adds to them.

use crate::{
    api::{self, AccessInfo},
    counts,
    machine::Machine,
    marks::is_user,
};
use std::{
    collections::HashMap,
    ffi::{c_uint, c_void},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Loads and stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accesses {
    pub(crate) loads: u64,
    pub(crate) stores: u64,
}

impl Accesses {
    pub(crate) fn sum(self) -> u64 {
        self.loads + self.stores
    }

    fn count(&mut self, store: bool) {
        if store {
            self.stores += 1;
        } else {
            self.loads += 1;
        }
    }
}

/// Where a remote access was made and what it touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    /// Virtual address of the instruction.
    pub(crate) instruction: u64,
    /// Virtual address of the page.
    pub(crate) page: u64,
    /// Node of the page.
    pub(crate) node: usize,
}

/// What one cpu did between its marks.
#[derive(Debug, Default)]
struct Tally {
    by_node: Vec<Accesses>,
    unknown: u64,
    remote: HashMap<Site, Accesses>,
}

/// One virtual cpu.
struct Cpu {
    counting: AtomicBool,
    /// Locked by the thread of this cpu alone until a report is made.
    tally: Mutex<Tally>,
}

/// All counters.
pub(crate) struct Counts {
    machine: Machine,
    cpus: Vec<Cpu>,
    runs: AtomicU64,
}

/// What was counted in one run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// How many runs were reported before.
    pub(crate) run: u64,
    /// Accesses by node of the cpu and node of the memory.
    pub(crate) matrix: Vec<Vec<Accesses>>,
    /// Accesses whose node is not known.
    pub(crate) unknown: u64,
    /// Remote accesses by site, if sites are asked for.
    pub(crate) remote: HashMap<Site, Accesses>,
    /// How many pages and instructions to name.
    pub(crate) top: usize,
}

impl Counts {
    pub(crate) fn new(machine: Machine) -> Self {
        let cpu = |_: &usize| Cpu { counting: AtomicBool::new(false), tally: Mutex::default() };
        let cpus = machine.node_of_cpu.iter().map(cpu).collect();
        Counts { machine, cpus, runs: AtomicU64::new(0) }
    }

    /// A mark: cpu `cpu` counts from now on, or no longer.
    pub(crate) fn switch(&self, cpu: usize, counting: bool) {
        if let Some(cpu) = self.cpus.get(cpu) {
            cpu.counting.store(counting, Relaxed);
        }
    }

    /// Adds one access of `cpu`; `physical` as QEMU reports it.
    fn add(&self, cpu: usize, store: bool, physical: Option<u64>, virtual_address: u64, instruction: u64) {
        let mut tally = self.cpus[cpu].tally.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(node) = physical.and_then(|physical| self.machine.node_of(physical)) else {
            tally.unknown += 1;
            return;
        };
        tally.by_node.resize(self.machine.nodes(), Accesses::default());
        tally.by_node[node].count(store);
        if self.machine.top > 0 && node != self.machine.node_of_cpu[cpu] {
            let site = Site { instruction, page: virtual_address / PAGE * PAGE, node };
            tally.remote.entry(site).or_default().count(store);
        }
    }

    /// What was counted since the last report.
    pub(crate) fn take(&self) -> Counted {
        let nodes = self.machine.nodes();
        let mut counted = Counted {
            run: self.runs.fetch_add(1, Relaxed),
            matrix: vec![vec![Accesses::default(); nodes]; nodes],
            unknown: 0,
            remote: HashMap::new(),
            top: self.machine.top,
        };
        for (cpu, &node) in self.cpus.iter().zip(&self.machine.node_of_cpu) {
            let tally = std::mem::take(&mut *cpu.tally.lock().unwrap_or_else(PoisonError::into_inner));
            counted.unknown += tally.unknown;
            for (sum, of) in counted.matrix[node].iter_mut().zip(tally.by_node) {
                sum.loads += of.loads;
                sum.stores += of.stores;
            }
            for (site, of) in tally.remote {
                let sum = counted.remote.entry(site).or_default();
                sum.loads += of.loads;
                sum.stores += of.stores;
            }
        }
        counted
    }
}

/// Called by QEMU for every access of an instruction in user space; `instruction` is its address.
pub(crate) extern "C" fn access(cpu: c_uint, info: AccessInfo, virtual_address: u64, instruction: *mut c_void) {
    let cpu = cpu as usize;
    if !is_user(virtual_address) || !counts().cpus.get(cpu).is_some_and(|cpu| cpu.counting.load(Relaxed)) {
        return;
    }
    // SAFETY: these are the arguments of this callback.
    let (store, physical) = unsafe { (api::is_store(info), api::physical_address(info, virtual_address)) };
    counts().add(cpu, store, physical, virtual_address, instruction.addr() as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_counted_by_the_two_nodes_and_taken_once() {
        let arguments = ["cpus=0:1", "memory=1:1", "top=2"].map(String::from);
        let counts = Counts::new(Machine::from_arguments(arguments.into_iter()).unwrap());
        counts.add(0, false, Some(0), 0x1234, 7);
        counts.add(0, true, Some(2 << 20), 0x5678, 8);
        counts.add(1, true, Some(2 << 20), 0x5678, 8);
        counts.add(1, true, None, 0x5678, 8);
        let counted = counts.take();
        let one = |loads, stores| Accesses { loads, stores };
        assert_eq!(counted.matrix, [[one(1, 0), one(0, 1)], [one(0, 0), one(0, 1)]]);
        assert_eq!(counted.unknown, 1);
        let site = Site { instruction: 8, page: 0x5000, node: 1 };
        assert_eq!(counted.remote, HashMap::from([(site, one(0, 1))]));
        let again = counts.take();
        assert_eq!((again.run, again.matrix.iter().flatten().map(|of| of.sum()).sum()), (1, 0));
    }
}
