//! Push-sum between replicas (Kempe et al., FOCS 2003; gradients at the ratio: Assran et al., ICML 2019): the machine
//! of `sgp` and `osgp`.
//!
//! Replica i has a numerator x_i and a weight w_i, 1 to begin with; gradients are taken at z_i = x_i/w_i and move x_i.
//! In round r it keeps p = 1/(k + 1) of both and sends as much to each of its k out-peers; what arrives is added, x and
//! w alike. At every moment Σ w, messages included, is the number of replicas, and Σ x moves by gradients alone.
//!
//! **What is in the replica is z**, since methods know of no weights, and beside it lies s, z as the last step left it.
//! A window of updates that moves z by Δ = z − s is, as in the papers, a move of the numerator by Δ: x = ws + Δ. So a
//! weight below 1, the rest being on its way, makes a replica's own move longer by 1/w, and the average over all moves
//! by the mean of the changes whatever the weights are. (Were x = wz, a change would count w times, and replicas of low
//! weight little.) A step of the exchange writes z by adding the difference: what the replica's other workers write
//! meanwhile is in the next Δ.
//!
//! **A step** sends, waits until every in-peer has sent the message of `overlap` rounds ago (0 for `sgp`), and adds all
//! that is there. With overlap a message that finds its mailbox full is added to the last one in it, which push-sum
//! permits: no sender waits for a receiver. Without, a round takes its own messages and no later ones, and a sender
//! waits for a mailbox that still has an earlier one. Nobody waits for ever: of the replicas whose round is the least,
//! those that they wait for are not behind, and have emptied their mailboxes of all earlier rounds.
//!
//! **The guard.** A replica that sends again and again without receiving has w → 0, and z loses all meaning. It sends
//! only if wp > 10⁻³ and something was received since it last sent, as in the reference code, or w ≥ ½^(overlap + 1)
//! still, the least that the rounds which may be on their way leave; otherwise it keeps all. (With the first condition
//! alone two messages that are received at once make one that is sent, until a single message goes round.)
//!
//! `biased` ignores weights, z = x, for comparison. A lost message takes its part of x and w with it: what is judged is
//! Σx/Σw, and as Σw falls steps grow, which is what such a loss does to push-sum. A late one is late by whole rounds of
//! its receiver.
//!
//! Traffic of a step, 8d bytes each: reads z and s, writes a message a peer, z and s; then the same once more a message
//! received, which is read instead of written. Messages lie with their receiver.

mod mail;

use super::gossip::{BLOCK, Block, Chance, Circle, Gossip, Replicas, blocks, populate};
use crate::os::memory::{Asking, Pages, Residency};
use crossbeam_utils::CachePadded;
use mail::{Edge, Slot};
use std::{collections::BTreeMap, sync::Mutex};

/// w of a message at least.
const LEAST: f64 = 1e-3;

pub(super) struct PushSum {
    circle: Circle,
    /// Rounds that a message may be on its way without being waited for.
    lag: u64,
    /// Whether a round takes its own messages alone.
    in_step: bool,
    biased: bool,
    guarded: bool,
    /// w from which on a replica may send though nothing was received: ½^(overlap + 1).
    plenty: f64,
    nodes: Vec<CachePadded<Mutex<Node>>>,
    edges: Vec<Edge>,
    /// Edges that lead to each replica.
    into: Vec<Vec<usize>>,
    /// Edges from each replica, by round.
    out: Vec<Vec<Vec<usize>>>,
}

/// What a replica knows of itself.
struct Node {
    weight: f64,
    round: u64,
    /// Whether this round's messages are sent.
    sent: bool,
    /// Whether something was received since the last message was sent; at the start, too.
    heard: bool,
    /// s.
    last: Pages<f64>,
    chance: Chance,
}

impl PushSum {
    pub(super) fn new(circle: Circle, overlap: usize, biased: bool) -> Self {
        let (graph, delay) = (&circle.graph, circle.faults.message_delay);
        let n = graph.replicas();
        let node = |replica| {
            let (last, chance) = (circle.vector(replica), circle.chance(replica));
            CachePadded::new(Mutex::new(Node { weight: 1.0, round: 0, sent: false, heard: true, last, chance }))
        };
        let edge = |(from, to)| Edge::new(from, to, slots(delay), || circle.vector(to));
        let edges: Vec<Edge> = graph.edges().into_iter().map(edge).collect();
        let place: BTreeMap<_, _> = edges.iter().enumerate().map(|(k, edge)| ((edge.from, edge.to), k)).collect();
        let towards = |from, round| graph.out_peers(from, round).iter().map(|&to| place[&(from, to)]).collect();
        let out = (0..n).map(|from| (0..graph.period()).map(|round| towards(from, round)).collect());
        let into = (0..n).map(|to| (0..edges.len()).filter(|&edge| edges[edge].to == to).collect());
        let (out, into) = (out.collect(), into.collect());
        let nodes = (0..n).map(node).collect();
        let lag = delay.max(overlap as u64);
        PushSum {
            lag,
            in_step: overlap == 0,
            biased,
            guarded: true,
            plenty: 0.5f64.powi(overlap as i32 + 1),
            nodes,
            out,
            into,
            edges,
            circle,
        }
    }

    /// The weight by which x is divided.
    fn unit(&self, node: &Node) -> f64 {
        if self.biased { 1.0 } else { node.weight }
    }

    /// This round's messages, and what is left.
    fn send(&self, x: &dyn Replicas, replica: usize, node: &mut Node) {
        let edges = &self.out[replica][node.round as usize % self.circle.graph.period()];
        let share = 1.0 / (edges.len() + 1) as f64;
        let may = !self.guarded || ((node.heard || node.weight >= self.plenty) && node.weight * share > LEAST);
        if may && !edges.is_empty() {
            self.claim(edges, node);
            let before = self.unit(node);
            let kept = if self.biased { share } else { 1.0 };
            let (mut z, mut part): (Block, Block) = ([0.0; BLOCK], [0.0; BLOCK]);
            for range in blocks(self.circle.width) {
                let (z, part) = (&mut z[..range.len()], &mut part[..range.len()]);
                x.read(replica, range.start, z);
                for ((part, z), last) in part.iter_mut().zip(z.iter_mut()).zip(&mut node.last[range.clone()]) {
                    let numerator = before * *last + (*z - *last);
                    *part = share * numerator;
                    *last = kept * numerator / before;
                    *z = *last - *z;
                }
                edges.iter().for_each(|&edge| self.edges[edge].fill(range.start, part));
                x.add(replica, range.start, z);
            }
            let weight = share * node.weight;
            edges.iter().for_each(|&edge| self.edges[edge].post(weight));
            (node.weight, node.heard) = (weight, false);
        }
        edges.iter().for_each(|&edge| self.edges[edge].lock().sent = node.round + 1);
    }

    /// A slot for each message that is not lost.
    fn claim(&self, edges: &[usize], node: &mut Node) {
        for &edge in edges {
            let Some(late) = node.chance.late() else { continue };
            self.edges[edge].claim(late, self.in_step.then_some(node.round));
        }
    }

    /// Whether all that must have been sent to `replica` was.
    fn arrived(&self, replica: usize, round: u64) -> bool {
        let Some(awaited) = round.checked_sub(self.lag) else { return true };
        let at = awaited as usize % self.circle.graph.period();
        self.into[replica].iter().all(|&edge| {
            let from = self.edges[edge].from;
            !self.out[from][at].contains(&edge) || self.edges[edge].lock().sent > awaited
        })
    }

    /// Adds what is there.
    fn receive(&self, x: &dyn Replicas, replica: usize, node: &mut Node) {
        for &edge in &self.into[replica] {
            let mut mail = self.edges[edge].lock();
            mail.clock = node.round + 1;
            for slot in &mut mail.slots {
                if slot.is_due(node.round) {
                    self.take(x, replica, node, slot);
                }
            }
        }
    }

    fn take(&self, x: &dyn Replicas, replica: usize, node: &mut Node, slot: &mut Slot) {
        let before = self.unit(node);
        node.weight += slot.weight;
        let after = self.unit(node);
        let mut z: Block = [0.0; BLOCK];
        for range in blocks(self.circle.width) {
            let z = &mut z[..range.len()];
            x.read(replica, range.start, z);
            let last = node.last[range.clone()].iter_mut();
            for ((z, last), more) in z.iter_mut().zip(last).zip(&slot.x[range.clone()]) {
                let numerator = before * *last + (*z - *last) + more;
                *last = numerator / after;
                *z = *last - *z;
            }
            x.add(replica, range.start, z);
        }
        slot.empty();
        node.heard = true;
    }
}

/// Messages that may be on their way on one edge at a time; more are added to the last one.
fn slots(delay: u64) -> usize {
    1 + delay as usize
}

/// Vectors that lie with a replica: s, and its mailboxes.
pub(super) fn vectors(graph: &super::Graph, delay: u64, replica: usize) -> usize {
    1 + slots(delay) * graph.edges().iter().filter(|(_, to)| *to == replica).count()
}

const PANICKED: &str = "a worker panicked at an exchange";

impl Gossip for PushSum {
    fn begin(&self, x: &dyn Replicas, replica: usize) {
        x.read(replica, 0, &mut self.nodes[replica].lock().expect(PANICKED).last);
        for &edge in &self.into[replica] {
            self.edges[edge].lock().slots.iter().for_each(|slot| populate(&slot.x));
        }
    }

    fn step(&self, x: &dyn Replicas, replica: usize) -> bool {
        let mut node = self.nodes[replica].lock().expect(PANICKED);
        if !node.sent {
            let edges = &self.out[replica][node.round as usize % self.circle.graph.period()];
            if self.in_step && !edges.iter().all(|&edge| self.edges[edge].has_room()) {
                return false;
            }
            self.send(x, replica, &mut node);
            node.sent = true;
        }
        if !self.arrived(replica, node.round) {
            return false;
        }
        self.receive(x, replica, &mut node);
        (node.round, node.sent) = (node.round + 1, false);
        true
    }

    fn sum(&self, x: &dyn Replicas, start: usize, out: &mut [f64]) -> f64 {
        let mut z = vec![0.0; out.len()];
        let mut weight = 0.0;
        out.fill(0.0);
        for (replica, node) in self.nodes.iter().enumerate() {
            let node = node.lock().expect(PANICKED);
            x.read(replica, start, &mut z);
            let unit = self.unit(&node);
            for ((out, z), last) in out.iter_mut().zip(&z).zip(&node.last[start..]) {
                *out += unit * last + (z - last);
            }
            weight += unit;
        }
        if self.biased {
            return weight;
        }
        for edge in &self.edges {
            for slot in edge.lock().slots.iter().filter(|slot| slot.is_full()) {
                out.iter_mut().zip(&slot.x[start..]).for_each(|(out, x)| *out += x);
                weight += slot.weight;
            }
        }
        weight
    }

    fn residency(&self, replica: usize, asking: Asking) -> Residency {
        let mut all = self.nodes[replica].lock().expect(PANICKED).last.settle(asking);
        for &edge in &self.into[replica] {
            self.edges[edge].lock().slots.iter().for_each(|slot| all.add(&slot.x.settle(asking)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{GraphKind, MessageFaults},
        exchange::{
            Graph,
            gossip::tests::{Plain, circle, draw, seeded, total},
        },
    };

    const D: usize = 5;

    /// Where each replica's own minimum is, and the mean of them.
    fn targets(n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let targets: Vec<Vec<f64>> =
            (0..n).map(|i| (0..D).map(|j| 1.0 + ((i * D + j) as f64 * 1.7).sin()).collect()).collect();
        let mean = (0..D).map(|j| targets.iter().map(|target| target[j]).sum::<f64>() / n as f64).collect();
        (targets, mean)
    }

    fn push_sum(kind: GraphKind, n: usize, overlap: usize, biased: bool, delay: u64) -> PushSum {
        let faults = MessageFaults { message_loss: 0.0, message_delay: delay };
        PushSum::new(circle(Graph::new(kind, n, &[]), D, faults, 3), overlap, biased)
    }

    fn begin(gossip: &PushSum, x: &Plain) {
        (0..x.count()).for_each(|replica| gossip.begin(x, replica));
    }

    fn far(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn rounds_of_sgp_on_the_exponential_graph_give_the_exact_mean() {
        let (points, mean) = targets(8);
        let (gossip, x) = (push_sum(GraphKind::Exponential, 8, 0, false, 0), Plain::new(&points));
        begin(&gossip, &x);
        let mut random = seeded(1);
        let mut done = [0; 8];
        while done.iter().any(|&rounds| rounds < 3) {
            let replica = draw(&mut random, 8);
            // Whoever has gone three rounds has done its part; the others wait for one another in any order.
            done[replica] += usize::from(done[replica] < 3 && gossip.step(&x, replica));
        }
        for replica in 0..8 {
            assert!(far(&x.point(replica), &mean) < 1e-14);
        }
    }

    #[test]
    fn weights_add_up_to_the_replicas_and_sums_stay_whatever_is_on_its_way() {
        for kind in [GraphKind::Ring, GraphKind::Complete, GraphKind::Exponential, GraphKind::Hardware] {
            for (n, overlap, delay) in [(2, 0, 0), (5, 0, 0), (4, 1, 0), (6, 2, 0), (4, 2, 2), (3, 0, 3)] {
                let (points, _) = targets(n);
                let (gossip, x) = (push_sum(kind, n, overlap, false, delay), Plain::new(&points));
                begin(&gossip, &x);
                let (mut random, mut steps) = (seeded(9), 0);
                for _ in 0..600 {
                    let replica = draw(&mut random, n);
                    x.descend(replica, &points[replica], 0.1);
                    let (before, _) = total(&gossip, &x);
                    steps += usize::from(gossip.step(&x, replica));
                    let (after, weight) = total(&gossip, &x);
                    assert!((weight - n as f64).abs() < 1e-12, "{kind:?} {n} {overlap} {delay}: {weight}");
                    assert!(far(&before, &after) < 1e-11, "{kind:?} {n} {overlap} {delay}");
                }
                assert!(steps > 100, "{kind:?} {n} {overlap} {delay}: {steps} steps");
            }
        }
    }

    /// The least weight and the largest error in a run in which one replica goes twenty times as fast as the others and
    /// nobody waits.
    fn hasty(guarded: bool) -> (f64, f64) {
        let (points, mean) = targets(4);
        let mut gossip = push_sum(GraphKind::Exponential, 4, 1, false, 0);
        (gossip.lag, gossip.guarded) = (u64::MAX, guarded);
        let x = Plain::new(&points);
        begin(&gossip, &x);
        let mut random = seeded(4);
        let (mut least, mut worst): (f64, f64) = (1.0, 0.0);
        for turn in 0..4000 {
            let replica = if turn % 20 == 0 { draw(&mut random, 4) } else { 0 };
            x.descend(replica, &points[replica], 0.02);
            assert!(gossip.step(&x, replica));
            least = least.min(gossip.nodes[replica].lock().unwrap().weight);
            let (_, weight) = total(&gossip, &x);
            assert!((weight - 4.0).abs() < 1e-9);
            worst = worst.max(far(&x.point(replica), &mean));
        }
        (least, worst)
    }

    #[test]
    fn without_the_guard_a_hasty_replica_loses_its_weight_and_diverges() {
        let (least, worst) = hasty(false);
        assert!(least < 1e-5 && worst > 1e3, "w {least:e}, error {worst:e}");
        let (least, worst) = hasty(true);
        assert!(least > 1e-3 && worst < 10.0, "w {least:e}, error {worst:e}");
    }

    /// How far the points at which gradients are taken are from the minimum on average, in the second half of a run with
    /// random delays up to `overlap`, and the range of the weights there.
    fn overlapped(overlap: usize, biased: bool, guarded: bool) -> (f64, f64, f64) {
        let (points, mean) = targets(4);
        let mut gossip = push_sum(GraphKind::Exponential, 4, overlap, biased, overlap as u64);
        gossip.guarded = guarded;
        let x = Plain::new(&vec![vec![0.0; D]; 4]);
        begin(&gossip, &x);
        let mut random = seeded(8);
        let (turns, mut error, mut count) = (40_000, 0.0, 0.0);
        let (mut least, mut most): (f64, f64) = (1.0, 1.0);
        let mut waits = [false; 4];
        for turn in 0..turns {
            let replica = draw(&mut random, 4);
            if !waits[replica] {
                if turn > turns / 2 {
                    let weight = gossip.nodes[replica].lock().unwrap().weight;
                    (least, most) = (least.min(weight), most.max(weight));
                    error += far(&x.point(replica), &mean);
                    count += 1.0;
                }
                x.descend(replica, &points[replica], 0.02);
            }
            waits[replica] = !gossip.step(&x, replica);
        }
        (error / count, least, most)
    }

    #[test]
    fn overlap_biases_those_who_ignore_weights_and_no_others() {
        for guarded in [true, false] {
            for overlap in 0..3 {
                let (error, least, most) = overlapped(overlap, false, guarded);
                let (biased, ..) = overlapped(overlap, true, guarded);
                let what = format!("{overlap} {guarded}: {error} {biased}, w from {least} to {most}");
                assert!(error < 0.1, "{what}");
                if overlap == 0 {
                    assert!(biased == error && (least, most) == (1.0, 1.0), "{what}");
                } else {
                    assert!(biased > 0.35 && biased > 8.0 * error && least < 0.3 && most > 1.1, "{what}");
                }
            }
        }
    }

    #[test]
    fn a_lost_message_takes_its_part_of_sums_and_weights_with_it() {
        let (points, mean) = targets(4);
        let faults = MessageFaults { message_loss: 0.2, message_delay: 0 };
        let gossip = PushSum::new(circle(Graph::new(GraphKind::Exponential, 4, &[]), D, faults, 3), 1, false);
        let x = Plain::new(&points);
        begin(&gossip, &x);
        let mut random = seeded(5);
        let mut before = 4.0;
        for _ in 0..40 {
            gossip.step(&x, draw(&mut random, 4));
            let (sum, weight) = total(&gossip, &x);
            assert!(weight <= before + 1e-12 && weight > 0.0 && sum.iter().all(|sum| sum.is_finite()));
            before = weight;
        }
        assert!(before < 3.0, "{before}");
        // What is left is still a mean of all points, with other weights.
        let (sum, weight) = total(&gossip, &x);
        let average: Vec<f64> = sum.iter().map(|sum| sum / weight).collect();
        assert!(far(&average, &mean) < 1.0, "{average:?}");
    }
}
