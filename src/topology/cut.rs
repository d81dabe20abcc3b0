//! Virtual nodes: one node cut into several, so that everything that needs nodes runs where there are none. They are
//! labelled: no traffic between them is remote.

use super::{Node, Topology, source::error};
use crate::error::Result;

impl Topology {
    /// The machine with its one node cut into `k`, by cores: as many usable cores in each as nearly as can be, in
    /// logical order, and a k-th of the memory. 0 leaves it as it is, and so does 1.
    ///
    /// # Errors
    /// [`crate::error::Error::Topology`] if it has several nodes already, or fewer usable cores than `k`.
    pub fn with_virtual_nodes(mut self, k: usize) -> Result<Topology> {
        if k == 0 {
            return Ok(self);
        }
        let name = self.name();
        if self.nodes.len() > 1 {
            let what = format!("it has {} nodes, and only one can be cut into virtual ones", self.nodes.len());
            return Err(error(&name, what, "leave virtual_nodes out, or take a machine of one node"));
        }
        let usable = self.usable_cores();
        let usable_count = usable.iter().filter(|&&usable| usable).count();
        if k > usable_count {
            let what = format!("{k} virtual nodes need {k} usable cores, and it has {usable_count}");
            return Err(error(&name, what, &format!("ask for at most {usable_count}")));
        }
        if k > 1 {
            let node_of_core = deal(&usable, usable_count, k);
            self.cut(&node_of_core, k);
        }
        Ok(self)
    }

    /// For each core, whether one of its cpus is usable.
    fn usable_cores(&self) -> Vec<bool> {
        let mut usable = vec![false; self.cores.len()];
        for cpu in self.cpus.iter().filter(|cpu| cpu.usable) {
            usable[cpu.core] = true;
        }
        usable
    }

    fn cut(&mut self, node_of_core: &[usize], k: usize) {
        let (memory, allowed) = match self.nodes.first() {
            Some(node) => (node.memory_bytes, node.allowed),
            None => (None, true),
        };
        let part = Node { os: 0, memory_bytes: memory.map(|bytes| bytes / k as u64), cpus: Vec::new(), allowed };
        self.nodes = (0..k as u32).map(|os| Node { os, ..part.clone() }).collect();
        for cpu in &mut self.cpus {
            let node = node_of_core[cpu.core];
            cpu.node = Some(node);
            self.nodes[node].cpus.push(cpu.os);
        }
        for node in &mut self.nodes {
            node.cpus.sort_unstable();
        }
        self.distance = None;
        self.virtual_nodes = true;
    }
}

/// The i-th usable core goes to node ⌊i k / n⌋; a core that is not usable goes with the one before it.
fn deal(usable: &[bool], usable_count: usize, k: usize) -> Vec<usize> {
    let mut dealt = 0;
    let mut node = 0;
    let place = |&usable: &bool| {
        if usable {
            node = dealt * k / usable_count;
            dealt += 1;
        }
        node
    };
    usable.iter().map(place).collect()
}
