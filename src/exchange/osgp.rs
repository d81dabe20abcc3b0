//! Overlap stochastic gradient push (Assran et al., ICML 2019): push-sum whose messages may be `overlap` rounds on
//! their way while updates go on. Weights swing meanwhile; dividing by them keeps the result right, ignoring them
//! (`biased`) does not.

use super::{
    Graph, Way,
    gossip::{Circle, Gossip, Opening},
    push_sum::{self, PushSum},
};
use crate::config::{GraphKind, MessageFaults};

pub(super) fn make(_graph: GraphKind, overlap: usize, biased: bool) -> Way {
    Way::Gossip(Box::new(Osgp { overlap, biased }))
}

#[derive(Debug)]
pub(super) struct Osgp {
    pub(super) overlap: usize,
    pub(super) biased: bool,
}

impl Opening for Osgp {
    fn open(&self, circle: Circle) -> Box<dyn Gossip> {
        Box::new(PushSum::new(circle, self.overlap, self.biased))
    }

    fn vectors(&self, graph: &Graph, faults: &MessageFaults, replica: usize) -> usize {
        push_sum::vectors(graph, faults.message_delay, replica)
    }
}
