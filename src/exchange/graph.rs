//! Who sends to whom: communication graphs as plain values. A graph is one file below and two lines here.
//!
//! A graph of n replicas is a list of rounds that repeats; in a round every replica has some out-peers, maybe none. A
//! replica with k of them keeps 1/(k + 1) of what it has and sends as much to each: W_ji = 1/(k + 1), so that the
//! columns of a round's mixing matrix W sum to 1 (x ← Wx keeps Σ x). Where its rows do too, every replica keeps the
//! weight 1.
//!
//! Sources: Assran et al., ICML 2019 (exponential, bipartite); Lian et al., ICML 2018 (roles). The hardware graph is
//! ours.

use crate::config::GraphKind;

mod bipartite;
mod complete;
mod exponential;
mod gap;
mod hardware;
mod ring;

/// The out-peers of every replica in one round.
type Round = Vec<Vec<usize>>;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Which graph.
    pub kind: GraphKind,
    replicas: usize,
    rounds: Vec<Round>,
}

impl Graph {
    /// The graph of `replicas` replicas, `distance[i][j]` apart; without distances all are equally far.
    ///
    /// # Panics
    /// If there are no replicas, or distances of another number of them.
    pub fn new(kind: GraphKind, replicas: usize, distance: &[Vec<u64>]) -> Self {
        assert!(replicas > 0, "a graph has replicas");
        assert!(distance.is_empty() || distance.len() == replicas, "a distance for each pair");
        let rounds = match kind {
            _ if replicas == 1 => vec![vec![Vec::new()]],
            GraphKind::Ring => ring::rounds(replicas),
            GraphKind::Complete => complete::rounds(replicas),
            GraphKind::Exponential => exponential::rounds(replicas),
            GraphKind::Bipartite => bipartite::rounds(replicas),
            GraphKind::Hardware => hardware::rounds(replicas, distance),
        };
        Graph { kind, replicas, rounds }
    }

    /// Its name in configs.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Number of replicas.
    pub fn replicas(&self) -> usize {
        self.replicas
    }

    /// Rounds after which it repeats.
    pub fn period(&self) -> usize {
        self.rounds.len()
    }

    /// Whom `replica` sends to in round `round`.
    pub fn out_peers(&self, replica: usize, round: usize) -> &[usize] {
        &self.rounds[round % self.rounds.len()][replica]
    }

    /// Every pair (from, to) that is in some round, once, in the order of their first round.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let mut seen = vec![false; self.replicas * self.replicas];
        let mut edges = Vec::new();
        for round in &self.rounds {
            for (from, peers) in round.iter().enumerate() {
                for &to in peers {
                    if !std::mem::replace(&mut seen[from * self.replicas + to], true) {
                        edges.push((from, to));
                    }
                }
            }
        }
        edges
    }

    /// W of round `round`, by rows: W\[j\]\[i\] is the part of what i has that j gets.
    pub fn mixing(&self, round: usize) -> Vec<Vec<f64>> {
        let mut mixing = vec![vec![0.0; self.replicas]; self.replicas];
        for (from, peers) in self.rounds[round % self.rounds.len()].iter().enumerate() {
            let share = 1.0 / (peers.len() + 1) as f64;
            peers.iter().chain([&from]).for_each(|&to| mixing[to][from] = share);
        }
        mixing
    }

    /// 1 − |λ₂| of the product of a period's mixing matrices, λ₂ their second largest eigenvalue: the part by which
    /// what the replicas differ in shrinks a period, in the long run. 1 for one replica, which has nothing to differ
    /// in; `None` for more than 256 replicas, where it would take seconds.
    pub fn gap(&self) -> Option<f64> {
        const REPLICAS_MAX: usize = 256;
        (self.replicas <= REPLICAS_MAX).then(|| gap::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [GraphKind; 5] =
        [GraphKind::Ring, GraphKind::Complete, GraphKind::Exponential, GraphKind::Bipartite, GraphKind::Hardware];

    /// The largest entry by which a period's product differs from the exact mean.
    fn residual(graph: &Graph) -> f64 {
        let n = graph.replicas();
        let product = gap::period(graph);
        (0..n * n).map(|k| (product[k] - 1.0 / n as f64).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn one_peer_exponential_gives_the_exact_mean_for_powers_of_two_alone() {
        for n in [2, 4, 8, 16, 32] {
            let graph = Graph::new(GraphKind::Exponential, n, &[]);
            assert_eq!(1 << graph.period(), n);
            assert!(residual(&graph) < 1e-15 && graph.gap().unwrap() > 1.0 - 1e-9, "{n}");
        }
        for (n, expected) in [(3, 0.17), (6, 0.08), (12, 0.04)] {
            let graph = Graph::new(GraphKind::Exponential, n, &[]);
            let found = residual(&graph);
            assert!((found - expected).abs() < 0.006 && graph.gap().unwrap() < 0.99, "{n}: {found}");
        }
    }

    #[test]
    fn the_gaps_of_ring_and_complete_are_their_closed_forms() {
        for n in [3, 4, 5, 8, 11] {
            // Circulant, with 1/3 on the diagonal and beside it: eigenvalues 1/3 + 2/3 cos(2πk/n).
            let eigenvalue =
                |k: usize| (1.0 + 2.0 * (2.0 * std::f64::consts::PI * k as f64 / n as f64).cos()) / 3.0;
            let second = (1..n).map(|k| eigenvalue(k).abs()).fold(0.0, f64::max);
            let found = Graph::new(GraphKind::Ring, n, &[]).gap().unwrap();
            assert!((found - (1.0 - second)).abs() < 1e-6, "{n}: {found}");
        }
        for n in [1, 2, 3, 7, 40] {
            assert!(Graph::new(GraphKind::Complete, n, &[]).gap().unwrap() > 1.0 - 1e-12);
        }
        assert_eq!(Graph::new(GraphKind::Ring, 257, &[]).gap(), None);
    }

    #[test]
    fn every_graph_of_any_number_of_replicas_keeps_sums_and_draws_all_together() {
        for n in 1..14 {
            for kind in KINDS {
                let graph = Graph::new(kind, n, &[]);
                for round in 0..graph.period() {
                    let mixing = graph.mixing(round);
                    for i in 0..n {
                        let column: f64 = mixing.iter().map(|row| row[i]).sum();
                        assert!((column - 1.0).abs() < 1e-15);
                        let peers = graph.out_peers(i, round);
                        assert!(peers.iter().all(|&j| j != i && j < n), "{kind:?} {n}: {peers:?}");
                    }
                }
                assert!(graph.gap().unwrap() > 0.0, "{kind:?} {n}: {:?}", graph.gap());
            }
        }
    }

    #[test]
    fn bipartite_peers_are_of_the_other_parity_and_answer() {
        for n in 2..12 {
            let graph = Graph::new(GraphKind::Bipartite, n, &[]);
            for round in 0..graph.period() {
                for active in (1..n).step_by(2) {
                    let [passive] = graph.out_peers(active, round)[..] else { panic!("one peer") };
                    assert_eq!(passive % 2, 0);
                    assert!(graph.out_peers(passive, round).contains(&active));
                }
            }
        }
    }

    #[test]
    fn a_round_of_the_hardware_graph_pairs_replicas_and_near_pairs_come_more_often() {
        // Two packages of two nodes of two replicas each.
        let at = |i: usize, j: usize| match (i / 2 == j / 2, i / 4 == j / 4) {
            (true, _) => 10,
            (_, true) => 12,
            _ => 32,
        };
        let distance: Vec<Vec<u64>> = (0..8).map(|i| (0..8).map(|j| at(i, j)).collect()).collect();
        let graph = Graph::new(GraphKind::Hardware, 8, &distance);
        let mut met = std::collections::BTreeMap::new();
        for round in 0..graph.period() {
            for (i, distance) in distance.iter().enumerate() {
                let peers = graph.out_peers(i, round);
                assert!(peers.len() <= 1);
                for &j in peers {
                    assert_eq!(graph.out_peers(j, round), [i]);
                    *met.entry(distance[j]).or_insert(0) += 1;
                }
            }
        }
        assert_eq!(graph.edges().len(), 8 * 7, "everybody meets everybody");
        assert!(met[&10] > met[&12] && met[&10] == 2 * met[&12], "{met:?}");
    }
}
