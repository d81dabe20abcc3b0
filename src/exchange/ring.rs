//! HogWild++ (Zhang, Hsieh, Akella, ICDM 2016): replicas on a directed ring and one token. Replica i, when it finds the
//! token at the end of a window, passes its change Δ = w_i − w̃_i since the token's last visit on to the next replica,
//! draws what that has, and passes the token: by coordinates
//!
//! > next ← next + βΔ;  w_i ← λ next + (1 − λ)w_i + (β + λ − 1)Δ;  w̃_i ← w_i,
//!
//! with next as it was before. For C replicas β solves β^C + β = 1, and λ = 1 − β^(C−1): after a round of the token a
//! change has come to every replica with the same weight. Where |Δ| ≤ `tolerance` next is left alone, w_i ← λ next + (1
//! − λ)w_i + λΔ, and w̃_i ← w_i − Δ: small changes wait until they are large, and nobody's line is written for them.
//!
//! The token is looked for at the ends of windows: `every` is the paper's τ₀. Where next is its worker's alone (a
//! replica a core), that worker waits between two windows while it is written. Companions are averaged with next's
//! instead: the rule above does not keep sums, and theirs must be kept. The published code multiplies Δ by the step
//! length once more; this is the paper's formula, without.
//!
//! What is judged is the plain average of the replicas. Traffic of a visit, 8d bytes each: reads w_i, w̃_i and next,
//! writes all three; next is remote.

use super::{
    Graph,
    gossip::{BLOCK, Block, Circle, Gossip, Opening, Replicas, blocks},
};
use crate::{
    config::MessageFaults,
    os::memory::{Asking, Pages, Residency},
};
use crossbeam_utils::CachePadded;
use std::sync::Mutex;

pub(super) fn make(tolerance: f64) -> super::Way {
    super::Way::Gossip(Box::new(Ring { tolerance }))
}

#[derive(Debug)]
pub(super) struct Ring {
    pub(super) tolerance: f64,
}

impl Opening for Ring {
    fn open(&self, circle: Circle) -> Box<dyn Gossip> {
        let n = circle.sites.len();
        Box::new(Token {
            rule: Rule::new(n, self.tolerance),
            width: circle.width,
            at: Mutex::new(At { holder: 0, busy: false }),
            last: (0..n).map(|replica| CachePadded::new(Mutex::new(circle.vector(replica)))).collect(),
        })
    }

    fn sends(&self) -> Result<(), &'static str> {
        Err("writes straight to the next replica")
    }

    fn vectors(&self, _graph: &Graph, _faults: &MessageFaults, _replica: usize) -> usize {
        1
    }
}

/// The numbers of the rule.
#[derive(Clone, Copy, Debug)]
struct Rule {
    beta: f64,
    lambda: f64,
    tolerance: f64,
}

impl Rule {
    /// For `clusters` replicas.
    fn new(clusters: usize, tolerance: f64) -> Self {
        // β^C + β rises from 0 to 2 on [0, 1].
        let (mut low, mut high) = (0.0f64, 1.0f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if middle.powi(clusters as i32) + middle < 1.0 { low = middle } else { high = middle }
        }
        Rule { beta: low, lambda: 1.0 - low.powi(clusters as i32 - 1), tolerance }
    }

    /// (what next gains, what w_i gains, the new w̃_i).
    fn pass(&self, own: f64, last: f64, next: f64) -> (f64, f64, f64) {
        let Rule { beta, lambda, tolerance } = *self;
        let delta = own - last;
        let drawn = lambda * next + (1.0 - lambda) * own;
        if delta.abs() <= tolerance {
            let new = drawn + lambda * delta;
            return (0.0, new - own, new - delta);
        }
        let new = drawn + (beta + lambda - 1.0) * delta;
        (beta * delta, new - own, new)
    }
}

struct Token {
    rule: Rule,
    width: usize,
    at: Mutex<At>,
    /// w̃ of each replica.
    last: Vec<CachePadded<Mutex<Pages<f64>>>>,
}

struct At {
    holder: usize,
    /// Whether the holder is passing it, and writes the next replica.
    busy: bool,
}

impl Token {
    fn next(&self, replica: usize) -> usize {
        (replica + 1) % self.last.len()
    }

    fn pass(&self, x: &dyn Replicas, replica: usize) {
        let to = self.next(replica);
        let mut last = self.last[replica].lock().expect(PANICKED);
        let companions = x.companions();
        let (mut own, mut next): (Block, Block) = ([0.0; BLOCK], [0.0; BLOCK]);
        for range in blocks(self.width) {
            let (own, next) = (&mut own[..range.len()], &mut next[..range.len()]);
            x.read(replica, range.start, own);
            x.read(to, range.start, next);
            let mut touched = false;
            for (j, last) in range.clone().zip(&mut last[range.clone()]) {
                let (own, next) = (&mut own[j - range.start], &mut next[j - range.start]);
                let gains = if j < companions {
                    let (to_next, to_own, now) = self.rule.pass(*own, *last, *next);
                    *last = now;
                    (to_next, to_own)
                } else {
                    let half = (*own - *next) / 2.0;
                    (half, -half)
                };
                touched |= gains.0 != 0.0;
                (*next, *own) = gains;
            }
            if touched {
                x.add(to, range.start, next);
            }
            x.add(replica, range.start, own);
        }
    }
}

const PANICKED: &str = "a worker panicked at an exchange";

impl Gossip for Token {
    fn begin(&self, x: &dyn Replicas, replica: usize) {
        x.read(replica, 0, &mut self.last[replica].lock().expect(PANICKED));
    }

    fn step(&self, x: &dyn Replicas, replica: usize) -> bool {
        {
            let mut at = self.at.lock().expect(PANICKED);
            if at.busy || at.holder != replica {
                return !(at.busy && self.next(at.holder) == replica);
            }
            at.busy = true;
        }
        self.pass(x, replica);
        *self.at.lock().expect(PANICKED) = At { holder: self.next(replica), busy: false };
        true
    }

    fn sum(&self, x: &dyn Replicas, start: usize, out: &mut [f64]) -> f64 {
        let mut one = vec![0.0; out.len()];
        out.fill(0.0);
        for replica in 0..self.last.len() {
            x.read(replica, start, &mut one);
            out.iter_mut().zip(&one).for_each(|(out, x)| *out += x);
        }
        self.last.len() as f64
    }

    fn residency(&self, replica: usize, asking: Asking) -> Residency {
        self.last[replica].lock().expect(PANICKED).settle(asking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::GraphKind,
        exchange::gossip::tests::{Plain, circle, draw, seeded},
    };

    #[test]
    fn beta_and_lambda_are_the_papers() {
        for (clusters, beta, lambda) in
            [(2, 0.618, 0.382), (3, 0.682, 0.534), (4, 0.725, 0.620), (8, 0.812, 0.768), (16, 0.877, 0.860)]
        {
            let rule = Rule::new(clusters, 0.0);
            assert!((rule.beta.powi(clusters as i32) + rule.beta - 1.0).abs() < 1e-12);
            let close = |a: f64, b: f64| (a - b).abs() < 6e-4;
            assert!(close(rule.beta, beta) && close(rule.lambda, lambda), "{clusters}: {rule:?}");
        }
    }

    fn open(n: usize, width: usize, tolerance: f64) -> Box<dyn Gossip> {
        Ring { tolerance }.open(circle(Graph::new(GraphKind::Ring, n, &[]), width, MessageFaults::default(), 1))
    }

    #[test]
    fn a_ring_of_any_number_of_clusters_comes_to_the_common_minimum() {
        for n in [2, 4, 8] {
            for tolerance in [0.0, 1e-4] {
                let targets: Vec<Vec<f64>> =
                    (0..n).map(|i| vec![(i as f64).sin(), (2.0 * i as f64).cos()]).collect();
                let mean = |j: usize| targets.iter().map(|target| target[j]).sum::<f64>() / n as f64;
                let (gossip, x) = (open(n, 2, tolerance), Plain::new(&vec![vec![0.0; 2]; n]));
                (0..n).for_each(|replica| gossip.begin(&x, replica));
                let mut random = seeded(2);
                for turn in 0..60_000 {
                    let replica = draw(&mut random, n);
                    x.descend(replica, &targets[replica], 0.1 / (1.0 + turn as f64 / 500.0));
                    assert!(gossip.step(&x, replica));
                }
                for replica in 0..n {
                    let point = x.point(replica);
                    let off = (point[0] - mean(0)).abs().max((point[1] - mean(1)).abs());
                    // Who is drawn more often by chance pulls by some twenty steps of 8e-4.
                    assert!(off < 0.05, "{n} {tolerance} {replica}: {off}");
                }
            }
        }
    }

    #[test]
    fn small_changes_wait_and_are_not_lost() {
        let rule = Rule::new(4, 1e-3);
        // A change of 0.4·10⁻³ a visit, next staying where it is.
        let (mut own, mut last, mut given) = (0.0, 0.0, 0);
        for _ in 0..10 {
            own += 0.4e-3;
            let (to_next, to_own, now) = rule.pass(own, last, own);
            given += usize::from(to_next != 0.0);
            (own, last) = (own + to_own, now);
        }
        assert!((2..6).contains(&given), "{given} visits of ten wrote next");
    }

    /// Replicas whose second coordinate is a companion.
    struct Accompanied(Plain);

    impl Replicas for Accompanied {
        fn count(&self) -> usize {
            self.0.count()
        }
        fn width(&self) -> usize {
            self.0.width()
        }
        fn companions(&self) -> usize {
            1
        }
        fn read(&self, replica: usize, start: usize, out: &mut [f64]) {
            self.0.read(replica, start, out);
        }
        fn add(&self, replica: usize, start: usize, delta: &[f64]) {
            self.0.add(replica, start, delta);
        }
    }

    #[test]
    fn companions_are_averaged_with_the_next_ones_and_keep_their_sum() {
        let x = Accompanied(Plain::new(&[vec![1.0, 4.0], vec![2.0, 0.0], vec![3.0, -1.0]]));
        let gossip = open(3, 2, 0.0);
        (0..3).for_each(|replica| gossip.begin(&x, replica));
        assert!(gossip.step(&x, 0));
        assert_eq!([0, 1, 2].map(|replica| x.0.point(replica)[1]), [2.0, 2.0, -1.0]);
        for turn in 1..90 {
            assert!(gossip.step(&x, turn % 3));
            let sum: f64 = (0..3).map(|replica| x.0.point(replica)[1]).sum();
            assert!((sum - 3.0).abs() < 1e-13);
        }
        assert!((x.0.point(0)[1] - 1.0).abs() < 1e-6);
    }
}
