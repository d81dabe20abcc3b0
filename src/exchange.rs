//! How replicas are drawn together. A kind is one file below and two lines here.
//!
//! Some meet: all workers stop after the same number of updates, each combines its range of the coordinates over all
//! replicas into what is *agreed*, and each replica then takes over what is agreed: 8(K + 1)d/W bytes read and 8d/W
//! written a worker for the first, 8d for the second, W workers and K replicas. Such a kind is a rule for a block of
//! coordinates.
//!
//! Others gossip: replicas go on at their own pace, each with its own point, and take a step of the exchange after
//! their windows ([`gossip`]). Between them only the average of all, what is on its way included, is ever judged or
//! saved, and judging it changes no replica.

use crate::{
    config::{Every, ExchangeKind, GraphKind, MessageFaults},
    os::memory::Site,
};
use gossip::{Circle, Gossip, Opening};
pub use graph::Graph;

mod adpsgd;
mod allreduce;
mod average;
pub mod gossip;
pub mod graph;
mod osgp;
mod push_sum;
mod ring;
mod sgp;
mod sum;

/// A rule for one block of coordinates, where all workers meet.
trait Rule: std::fmt::Debug + Send + Sync {
    /// agreed ← what follows from `agreed` (where all replicas started) and where each is now; `damping` is σ′.
    fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>], damping: f64);

    /// Whether all replicas' changes are added, so that they may move too far together.
    fn sums(&self) -> bool {
        false
    }

    /// Whether the average is to be taken node by node.
    fn by_nodes(&self) -> bool {
        false
    }
}

/// The two ways.
#[derive(Debug)]
enum Way {
    Meet(Box<dyn Rule>),
    Gossip(Box<dyn Opening>),
}

fn way(kind: &ExchangeKind) -> Way {
    match *kind {
        ExchangeKind::Average { .. } => Way::Meet(Box::new(average::Average)),
        ExchangeKind::Sum { .. } => Way::Meet(Box::new(sum::Sum)),
        ExchangeKind::Allreduce { .. } => Way::Meet(Box::new(allreduce::Allreduce)),
        ExchangeKind::Sgp { .. } => Way::Gossip(Box::new(sgp::Sgp)),
        ExchangeKind::Osgp { overlap, biased, .. } => Way::Gossip(Box::new(osgp::Osgp { overlap, biased })),
        ExchangeKind::Adpsgd { .. } => Way::Gossip(Box::new(adpsgd::Adpsgd)),
        ExchangeKind::Ring { tolerance, .. } => Way::Gossip(Box::new(ring::Ring { tolerance })),
    }
}

/// Updates between exchanges such that exchanges cost about a twentieth of the time of the updates between them, by
/// rough prices: 4 µs to meet and 5 ns a coordinate, which moves between caches twice; 20 ns an update and 2.2 ns an
/// entry, or 0.3 ns in a dense line.
fn paced(width: usize, line_nonzeros: f64, dense: bool) -> usize {
    let entry_ns = if dense { 0.3 } else { 2.2 };
    let (meeting_ns, update_ns) = (4000.0 + 5.0 * width as f64, 20.0 + entry_ns * line_nonzeros);
    (20.0 * meeting_ns / update_ns).ceil() as usize
}

/// A kind with its numbers, among some replicas.
#[derive(Debug)]
pub struct Exchange {
    every: Every,
    way: Way,
    graph: Graph,
    faults: MessageFaults,
}

impl Exchange {
    /// `kind` among `replicas` replicas, `distance[i][j]` apart (empty where that is not known), with `faults` in its
    /// messages.
    ///
    /// # Panics
    /// As [`Graph::new`].
    pub fn new(kind: ExchangeKind, replicas: usize, distance: &[Vec<u64>], faults: MessageFaults) -> Self {
        // A token's ring is a graph of its own.
        let graph = Graph::new(kind.graph().unwrap_or(GraphKind::Ring), replicas, distance);
        Exchange { every: kind.every(), way: way(&kind), graph, faults }
    }

    /// Updates of one worker between two exchanges; `None` is once an epoch. `width` parameters, lines of
    /// `line_nonzeros` entries, which may be `dense`.
    pub fn every(&self, width: usize, line_nonzeros: f64, dense: bool) -> Option<usize> {
        match self.every {
            Every::Auto => Some(paced(width, line_nonzeros, dense)),
            Every::Epoch => None,
            Every::Updates(updates) => Some(updates),
        }
    }

    /// Whether all replicas' changes are added, so that they may move too far together.
    pub fn sums(&self) -> bool {
        matches!(&self.way, Way::Meet(rule) if rule.sums())
    }

    /// Whether the average is to be taken node by node.
    pub fn by_nodes(&self) -> bool {
        matches!(&self.way, Way::Meet(rule) if rule.by_nodes())
    }

    /// What a worker multiplies its writes with where its method's store follows from a state: σ′ = `damping` where
    /// changes are added and divided by σ′, and the number of replicas where these are averaged.
    pub fn amplify(&self, damping: f64) -> f64 {
        if self.graph.replicas() == 1 {
            1.0
        } else if self.sums() {
            damping
        } else {
            self.graph.replicas() as f64
        }
    }

    /// agreed ← what the rule makes of it and of the replicas, all on the same coordinates; `damping` is σ′.
    ///
    /// # Panics
    /// If replicas do not meet.
    pub fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>], damping: f64) {
        match &self.way {
            Way::Meet(rule) => rule.combine(agreed, replicas, damping),
            Way::Gossip(_) => unreachable!("replicas that gossip do not meet"),
        }
    }

    /// The exchange in progress among replicas of `width` coordinates, each of whose arrays are to lie at its site;
    /// `None` where replicas meet, or there is one.
    pub fn gossip(&self, width: usize, sites: Vec<Site>, seed: u64) -> Option<Box<dyn Gossip>> {
        let Way::Gossip(opening) = &self.way else { return None };
        let circle = || Circle { graph: self.graph.clone(), width, sites, faults: self.faults, seed };
        (self.graph.replicas() > 1).then(|| opening.open(circle()))
    }

    /// Vectors of a replica's width that lie with `replica` for a gossip.
    pub fn vectors(&self, replica: usize) -> usize {
        match &self.way {
            Way::Gossip(opening) if self.graph.replicas() > 1 => {
                opening.vectors(&self.graph, &self.faults, replica)
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(kind: ExchangeKind) -> Exchange {
        Exchange::new(kind, 2, &[], MessageFaults::default())
    }

    #[test]
    fn a_pace_of_its_own_is_a_twentieth_of_the_time() {
        let every = |every| exchange(ExchangeKind::Sum { every }).every(1000, 50.0, false);
        // 20 (4000 + 5 · 1000) ns over 20 + 2.2 · 50 ns.
        assert_eq!(every(Every::Auto), Some(1385));
        let dense = exchange(ExchangeKind::Sum { every: Every::Auto }).every(1000, 1000.0, true);
        // 9000 ns over 20 + 0.3 · 1000 ns.
        assert_eq!(dense, Some(563));
        assert_eq!((every(Every::Epoch), every(Every::Updates(7))), (None, Some(7)));
    }

    #[test]
    fn each_rule_follows_its_formula() {
        let replicas = [vec![1.0, 4.0], vec![3.0, 0.0]];
        let combined = |kind| {
            let mut agreed = vec![1.0, 2.0];
            exchange(kind).combine(&mut agreed, &replicas, 4.0);
            agreed
        };
        assert_eq!(combined(ExchangeKind::Average { every: Every::Epoch }), [2.0, 2.0]);
        assert_eq!(combined(ExchangeKind::Allreduce { every: Every::Epoch }), [2.0, 2.0]);
        // 1 + (0 + 2)/4 and 2 + (2 − 2)/4.
        assert_eq!(combined(ExchangeKind::Sum { every: Every::Epoch }), [1.5, 2.0]);
    }
}
