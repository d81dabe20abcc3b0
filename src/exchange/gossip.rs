//! Exchanges at which replicas do not meet: each goes on with a point of its own, and takes a step of the exchange after
//! each of its windows of updates, or after one of each of its workers' in turn.

use super::Graph;
use crate::{
    config::MessageFaults,
    os::memory::{Asking, Pages, Residency, Site},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;

/// The replicas of a run, as an exchange sees them. A replica's coordinates are those of all its planes, one after the
/// other: the parameters, then companions that a method keeps beside them.
pub trait Replicas {
    /// How many there are.
    fn count(&self) -> usize;
    /// Coordinates of each.
    fn width(&self) -> usize;
    /// The first coordinate that is a companion's. Companions are mixed by rules that keep their sum.
    fn companions(&self) -> usize {
        self.width()
    }
    /// Copies x[start..] of a replica into `out`.
    fn read(&self, replica: usize, start: usize, out: &mut [f64]);
    /// x[start..] ← x[start..] + delta, beside the updates of the replica's workers, of which none is lost where the
    /// merge loses none.
    fn add(&self, replica: usize, start: usize, delta: &[f64]);
}

/// An exchange in progress.
pub trait Gossip: Send + Sync {
    /// Takes `replica` as it is for its first point; takes the pages of what lies with it.
    fn begin(&self, x: &dyn Replicas, replica: usize);

    /// A step of `replica`, on the thread of one of its workers. False where it must wait for another replica: then it
    /// is to be asked again, and has done its part until then. A step counts once it returns true.
    fn step(&self, x: &dyn Replicas, replica: usize) -> bool;

    /// out ← the sum of all replicas from coordinate `start` on, what is on its way included; returns the weight of it
    /// all, by which it is to be divided for the average. For between the phases.
    fn sum(&self, x: &dyn Replicas, start: usize, out: &mut [f64]) -> f64;

    /// Where what lies with `replica` lies, as it is asked.
    fn residency(&self, replica: usize, asking: Asking) -> Residency;
}

/// A kind of gossip with its numbers.
pub(super) trait Opening: std::fmt::Debug + Send + Sync {
    /// Starts it.
    fn open(&self, circle: Circle) -> Box<dyn Gossip>;
    /// Whether replicas send messages, which can be lost or late; or what they do instead, as what follows "it".
    fn sends(&self) -> Result<(), &'static str> {
        Ok(())
    }
    /// Vectors of a replica's width that lie with `replica`.
    fn vectors(&self, graph: &Graph, faults: &MessageFaults, replica: usize) -> usize;
}

/// Who takes part, and where what is of each lies.
pub(super) struct Circle {
    pub(super) graph: Graph,
    pub(super) width: usize,
    /// Of each replica.
    pub(super) sites: Vec<Site>,
    pub(super) faults: MessageFaults,
    pub(super) seed: u64,
}

impl Circle {
    /// A vector that lies with `replica`.
    pub(super) fn vector(&self, replica: usize) -> Pages<f64> {
        Pages::placed(self.width, &self.sites[replica])
    }

    /// The chance of `replica`'s messages.
    pub(super) fn chance(&self, replica: usize) -> Chance {
        let seed = self.seed ^ (replica as u64 + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Chance { faults: self.faults, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }
}

/// What chance does to messages.
pub(super) struct Chance {
    faults: MessageFaults,
    random: Xoshiro256PlusPlus,
}

impl Chance {
    /// How many of its receiver's rounds the next message is late; `None` if it is lost.
    pub(super) fn late(&mut self) -> Option<u64> {
        let MessageFaults { message_loss, message_delay } = self.faults;
        if message_loss > 0.0 && self.random.random_bool(message_loss) {
            return None;
        }
        Some(if message_delay > 0 { self.random.random_range(0..=message_delay) } else { 0 })
    }
}

/// Coordinates at a time: a few such blocks stay in L1.
pub(super) const BLOCK: usize = 512;
pub(super) type Block = [f64; BLOCK];

/// 0..width in blocks.
pub(super) fn blocks(width: usize) -> impl Iterator<Item = Range<usize>> {
    (0..width).step_by(BLOCK).map(move |start| start..(start + BLOCK).min(width))
}

/// Takes the pages of a vector now; where that cannot be done, the first write does it.
pub(super) fn populate(vector: &Pages<f64>) {
    let _ = vector.populate(0..vector.len());
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Replicas of plain memory.
    pub(in crate::exchange) struct Plain(pub(in crate::exchange) Vec<Mutex<Vec<f64>>>);

    impl Plain {
        pub(in crate::exchange) fn new(points: &[Vec<f64>]) -> Self {
            Plain(points.iter().map(|point| Mutex::new(point.clone())).collect())
        }

        pub(in crate::exchange) fn point(&self, replica: usize) -> Vec<f64> {
            self.0[replica].lock().unwrap().clone()
        }

        /// Takes `replica` a gradient step of ½‖z − target‖².
        pub(in crate::exchange) fn descend(&self, replica: usize, target: &[f64], step: f64) {
            let mut x = self.0[replica].lock().unwrap();
            x.iter_mut().zip(target).for_each(|(x, target)| *x -= step * (*x - target));
        }
    }

    impl Replicas for Plain {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn width(&self) -> usize {
            self.0[0].lock().unwrap().len()
        }
        fn read(&self, replica: usize, start: usize, out: &mut [f64]) {
            out.copy_from_slice(&self.0[replica].lock().unwrap()[start..start + out.len()]);
        }
        fn add(&self, replica: usize, start: usize, delta: &[f64]) {
            let mut x = self.0[replica].lock().unwrap();
            x[start..].iter_mut().zip(delta).for_each(|(x, delta)| *x += delta);
        }
    }

    pub(in crate::exchange) fn circle(graph: Graph, width: usize, faults: MessageFaults, seed: u64) -> Circle {
        let sites = vec![Site::default(); graph.replicas()];
        Circle { graph, width, sites, faults, seed }
    }

    /// The sum of all and its weight.
    pub(in crate::exchange) fn total(gossip: &dyn Gossip, x: &Plain) -> (Vec<f64>, f64) {
        let mut sum = vec![0.0; x.width()];
        let weight = gossip.sum(x, 0, &mut sum);
        (sum, weight)
    }

    pub(in crate::exchange) fn draw(random: &mut Xoshiro256PlusPlus, below: usize) -> usize {
        random.random_range(0..below)
    }

    pub(in crate::exchange) fn seeded(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }
}
