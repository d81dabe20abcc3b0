//! The average, by nodes: each node's workers sum its replicas, then the nodes' sums are averaged, and each node takes
//! the result over once and hands it on to its replicas (Goyal et al., 2017, between machines; here between nodes). The
//! same mean as `average`, whose every replica is read and written across the machine: of K replicas on M nodes 2Md
//! values cross instead of about 2Kd. With a replica a node the two are one.

use super::average::Average;

pub(super) fn make() -> super::Way {
    super::Way::Meet(Box::new(Allreduce))
}

#[derive(Debug)]
pub(super) struct Allreduce;

impl super::Rule for Allreduce {
    fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>], damping: f64) {
        Average.combine(agreed, replicas, damping);
    }

    fn by_nodes(&self) -> bool {
        true
    }
}
