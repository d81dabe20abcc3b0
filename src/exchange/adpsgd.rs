//! Averages of two at a time (AD-PSGD: Lian et al., ICML 2018). Odd replicas begin and even ones answer, so that no two
//! wait for each other.
//!
//! After a window an odd replica i asks the next of its neighbours j by a message with its x_i; at the end of j's
//! window j works out Δ = (x_j − x_i)/2, takes it from itself, and answers with it; at the end of a later window i adds
//! it. So each replica is written by its own workers alone, nobody waits, and Σ x, with the answers that are on their
//! way, moves by updates alone: where the paper averages what two replicas have at one moment, here i has moved on by
//! the time the answer comes, and keeps that move. One question of i is open at a time.
//!
//! Neighbours are those pairs of an odd and an even replica that the graph connects in either direction, asked in the
//! order of its rounds. A lost message is a question that is not asked: the exchange does not happen. Late ones are
//! late by whole rounds of whoever gets them.
//!
//! Traffic of an exchange, 8d bytes each: i reads x and writes the question; j reads it and x, writes x and the answer;
//! i reads that and x, and writes x. Each message lies with its receiver.

use super::{
    Graph, Way,
    gossip::{BLOCK, Block, Chance, Circle, Gossip, Opening, Replicas, blocks, populate},
};
use crate::{
    config::{GraphKind, MessageFaults},
    os::memory::{Asking, Pages, Residency},
};
use crossbeam_utils::CachePadded;
use std::{collections::BTreeMap, sync::Mutex};

pub(super) fn make(_graph: GraphKind) -> Way {
    Way::Gossip(Box::new(Adpsgd))
}

#[derive(Debug)]
pub(super) struct Adpsgd;

impl Opening for Adpsgd {
    fn open(&self, circle: Circle) -> Box<dyn Gossip> {
        Box::new(Pairs::new(circle))
    }

    fn vectors(&self, graph: &Graph, _faults: &MessageFaults, replica: usize) -> usize {
        let turns = turns(graph);
        if is_active(replica) { 1 } else { turns.iter().filter(|peers| peers.contains(&replica)).count() }
    }
}

fn is_active(replica: usize) -> bool {
    replica % 2 == 1
}

/// For each replica, whom it asks, in turn; nobody for even ones.
fn turns(graph: &Graph) -> Vec<Vec<usize>> {
    let n = graph.replicas();
    let mut turns: Vec<Vec<usize>> = vec![Vec::new(); n];
    for round in 0..graph.period() {
        let before: Vec<usize> = turns.iter().map(Vec::len).collect();
        for i in 0..n {
            for &j in graph.out_peers(i, round) {
                let (active, passive) = if is_active(i) { (i, j) } else { (j, i) };
                let fits = is_active(active) && !is_active(passive);
                // Both may name each other in one round.
                if fits && !turns[active][before[active]..].contains(&passive) {
                    turns[active].push(passive);
                }
            }
        }
    }
    turns
}

struct Pairs {
    width: usize,
    nodes: Vec<CachePadded<Mutex<Node>>>,
    /// Questions, one for each pair.
    questions: Vec<Question>,
    /// For odd replicas, the questions that they ask in turn; for even ones, those that they answer.
    own: Vec<Vec<usize>>,
    /// The answer to each odd replica's open question; empty for even ones.
    answers: Vec<CachePadded<Mutex<Letter>>>,
}

struct Node {
    round: u64,
    /// Whether a question is open.
    asked: bool,
    /// Questions asked, which says whom to ask next.
    count: usize,
    chance: Chance,
}

struct Question {
    active: usize,
    letter: CachePadded<Mutex<Letter>>,
}

/// A vector on its way, in its receiver's memory.
struct Letter {
    x: Pages<f64>,
    /// Whether it is there, and not read yet.
    full: bool,
    /// The receiver's round from which it may be read, and its round.
    due: u64,
    clock: u64,
}

impl Letter {
    fn new(x: Pages<f64>) -> CachePadded<Mutex<Self>> {
        CachePadded::new(Mutex::new(Letter { x, full: false, due: 0, clock: 0 }))
    }

    /// Whether its receiver may read it in its round `round`.
    fn is_due(&mut self, round: u64) -> bool {
        self.clock = round + 1;
        self.full && self.due <= round
    }

    fn post(&mut self, late: u64) {
        (self.full, self.due) = (true, self.clock + late);
    }
}

impl Pairs {
    fn new(circle: Circle) -> Self {
        let turns = turns(&circle.graph);
        let n = turns.len();
        let mut place = BTreeMap::new();
        let (mut questions, mut own) = (Vec::new(), vec![Vec::new(); n]);
        for (active, peers) in turns.iter().enumerate() {
            for &passive in peers {
                let at = *place.entry((active, passive)).or_insert_with(|| {
                    questions.push(Question { active, letter: Letter::new(circle.vector(passive)) });
                    own[passive].push(questions.len() - 1);
                    questions.len() - 1
                });
                own[active].push(at);
            }
        }
        let answer = |replica| {
            let pages = if is_active(replica) { circle.vector(replica) } else { Pages::default() };
            Letter::new(pages)
        };
        let node = |replica| Node { round: 0, asked: false, count: 0, chance: circle.chance(replica) };
        Pairs {
            width: circle.width,
            nodes: (0..n).map(|replica| CachePadded::new(Mutex::new(node(replica)))).collect(),
            answers: (0..n).map(answer).collect(),
            questions,
            own,
        }
    }

    fn collect(&self, x: &dyn Replicas, replica: usize, node: &mut Node) {
        let mut answer = self.answers[replica].lock().expect(PANICKED);
        if answer.is_due(node.round) {
            blocks(self.width).for_each(|range| x.add(replica, range.start, &answer.x[range.clone()]));
            (answer.full, node.asked) = (false, false);
        }
    }

    fn ask(&self, x: &dyn Replicas, replica: usize, node: &mut Node) {
        let own = &self.own[replica];
        if node.asked || own.is_empty() {
            return;
        }
        let question = own[node.count % own.len()];
        node.count += 1;
        let Some(late) = node.chance.late() else { return };
        let mut letter = self.questions[question].letter.lock().expect(PANICKED);
        x.read(replica, 0, &mut letter.x);
        letter.post(late);
        node.asked = true;
    }

    fn reply(&self, x: &dyn Replicas, replica: usize, node: &mut Node) {
        for &question in &self.own[replica] {
            let Question { active, letter } = &self.questions[question];
            let mut letter = letter.lock().expect(PANICKED);
            if !letter.is_due(node.round) {
                continue;
            }
            let mut answer = self.answers[*active].lock().expect(PANICKED);
            let mut here: Block = [0.0; BLOCK];
            for range in blocks(self.width) {
                let here = &mut here[..range.len()];
                x.read(replica, range.start, here);
                let both = here.iter_mut().zip(&letter.x[range.clone()]);
                for ((here, there), delta) in both.zip(&mut answer.x[range.clone()]) {
                    *delta = (*here - there) / 2.0;
                    *here = -*delta;
                }
                x.add(replica, range.start, here);
            }
            letter.full = false;
            // An answer is not lost: its question was not.
            answer.post(node.chance.late().unwrap_or(0));
        }
    }
}

const PANICKED: &str = "a worker panicked at an exchange";

impl Gossip for Pairs {
    fn begin(&self, _x: &dyn Replicas, replica: usize) {
        if is_active(replica) {
            return populate(&self.answers[replica].lock().expect(PANICKED).x);
        }
        for &question in &self.own[replica] {
            populate(&self.questions[question].letter.lock().expect(PANICKED).x);
        }
    }

    fn step(&self, x: &dyn Replicas, replica: usize) -> bool {
        let mut node = self.nodes[replica].lock().expect(PANICKED);
        if is_active(replica) {
            self.collect(x, replica, &mut node);
            self.ask(x, replica, &mut node);
        } else {
            self.reply(x, replica, &mut node);
        }
        node.round += 1;
        true
    }

    fn sum(&self, x: &dyn Replicas, start: usize, out: &mut [f64]) -> f64 {
        let mut one = vec![0.0; out.len()];
        out.fill(0.0);
        for (replica, answer) in self.answers.iter().enumerate() {
            x.read(replica, start, &mut one);
            out.iter_mut().zip(&one).for_each(|(out, x)| *out += x);
            let answer = answer.lock().expect(PANICKED);
            if answer.full {
                out.iter_mut().zip(&answer.x[start..]).for_each(|(out, delta)| *out += delta);
            }
        }
        self.nodes.len() as f64
    }

    fn residency(&self, replica: usize, asking: Asking) -> Residency {
        let mut all = self.answers[replica].lock().expect(PANICKED).x.settle(asking);
        let received = self.own[replica].iter().filter(|_| !is_active(replica));
        for &question in received {
            all.add(&self.questions[question].letter.lock().expect(PANICKED).x.settle(asking));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::GraphKind,
        exchange::gossip::tests::{Plain, circle, draw, seeded, total},
    };

    fn open(kind: GraphKind, n: usize, faults: MessageFaults) -> Box<dyn Gossip> {
        Adpsgd.open(circle(Graph::new(kind, n, &[]), 2, faults, 5))
    }

    /// The largest distance of a point from the mean of the targets after a run with falling steps in a random order.
    fn run(kind: GraphKind, n: usize, faults: MessageFaults, step: f64) -> f64 {
        let targets: Vec<Vec<f64>> = (0..n).map(|i| vec![(i as f64).sin(), (2.0 * i as f64).cos()]).collect();
        let mean = |j: usize| targets.iter().map(|target| target[j]).sum::<f64>() / n as f64;
        let (gossip, x) = (open(kind, n, faults), Plain::new(&targets));
        (0..n).for_each(|replica| gossip.begin(&x, replica));
        let mut random = seeded(6);
        for turn in 0..20_000 {
            let replica = draw(&mut random, n);
            x.descend(replica, &targets[replica], step / (1.0 + turn as f64 / 500.0));
            let (before, _) = total(&*gossip, &x);
            assert!(gossip.step(&x, replica), "nobody waits");
            let (after, weight) = total(&*gossip, &x);
            assert_eq!(weight, n as f64);
            assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-10), "mass was lost");
        }
        let off = |replica| {
            let point = x.point(replica);
            (point[0] - mean(0)).abs().max((point[1] - mean(1)).abs())
        };
        (0..n).map(off).fold(0.0, f64::max)
    }

    #[test]
    fn pairs_come_to_the_common_minimum_on_every_graph_and_keep_the_sum_at_every_step() {
        for kind in [
            GraphKind::Bipartite,
            GraphKind::Ring,
            GraphKind::Complete,
            GraphKind::Exponential,
            GraphKind::Hardware,
        ] {
            for n in [2, 3, 4, 7, 8] {
                let off = run(kind, n, MessageFaults::default(), 0.1);
                // Who is drawn more often by chance pulls by some ten steps of 2.4e-3.
                assert!(off < 0.08, "{kind:?} {n}: {off}");
            }
        }
    }

    #[test]
    fn averages_alone_come_to_the_mean_though_exchanges_are_lost_and_late() {
        let off = run(GraphKind::Bipartite, 6, MessageFaults { message_loss: 0.5, message_delay: 3 }, 0.0);
        assert!(off < 1e-9, "{off}");
        let none = run(GraphKind::Bipartite, 6, MessageFaults { message_loss: 1.0, message_delay: 0 }, 0.0);
        assert!(none > 0.5, "an exchange that is lost does not happen: {none}");
    }
}
