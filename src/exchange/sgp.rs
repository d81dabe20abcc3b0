//! Stochastic gradient push (Assran et al., ICML 2019): push-sum whose rounds wait for their messages. On the one-peer
//! exponential graph of 2^k replicas k rounds give the exact mean, and all weights stay 1.

use super::{
    Graph, Way,
    gossip::{Circle, Gossip, Opening},
    push_sum::{self, PushSum},
};
use crate::config::{GraphKind, MessageFaults};

pub(super) fn make(_graph: GraphKind) -> Way {
    Way::Gossip(Box::new(Sgp))
}

#[derive(Debug)]
pub(super) struct Sgp;

impl Opening for Sgp {
    fn open(&self, circle: Circle) -> Box<dyn Gossip> {
        Box::new(PushSum::new(circle, 0, false))
    }

    fn vectors(&self, graph: &Graph, faults: &MessageFaults, replica: usize) -> usize {
        push_sum::vectors(graph, faults.message_delay, replica)
    }
}
