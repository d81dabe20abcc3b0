//! How replicas are drawn together. A kind is one file below and two lines here: its module, and its place in the list of
//! [`Kind`]s.
//!
//! Some meet: all workers stop after the same number of updates, each combines its range of the coordinates over all
//! replicas into what is *agreed*, and each replica then takes over what is agreed: 8(K + 1)d/W bytes read and 8d/W
//! written a worker for the first, 8d for the second, W workers and K replicas. Such a kind is a rule for a block of
//! coordinates.
//!
//! Before a window all replicas hold what is agreed, so that a rule can change nothing where nobody wrote, and does not: an
//! exchange may pass over it, and ends with the same bits (`exchange.moves`). Of d slots in blocks of 8, a line of the
//! cache each, those are moved that a worker marked. With B of them d becomes 8B above; what it costs to know them is 4
//! bytes read an entry of the window, once more, and d/64 bytes of marks a replica, written once and read once by others.
//!
//! Others gossip: replicas go on at their own pace, each with its own point, and take a step of the exchange after
//! their windows ([`gossip`]). Between them only the average of all, what is on its way included, is ever judged or
//! saved, and judging it changes no replica. There an exchange moves all slots: replicas differ everywhere, and the weights of
//! push-sum divide all of a message's mass, untouched or not, so that what a step leaves out is lost or counted twice. Only
//! the token of `ring` passes over blocks, those in which it brings the next replica nothing.

use crate::{
    config::{
        Every, GraphKind, MessageFaults, Moves,
        keyed::{Key, Keys, Value, limit},
    },
    method::Form,
    os::memory::Site,
    sync::touched::BLOCK,
};
use gossip::{Circle, Gossip, Opening};
pub use graph::Graph;

mod adpsgd;
mod allreduce;
mod average;
pub mod gossip;
pub mod graph;
mod kinds;
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

/// agreed ← agreed + share Σₖ (xₖ − agreed) over the replicas' xₖ. Where no replica changed, and where changes cancel, it
/// stays what it was to the bit.
fn add_changes(agreed: &mut [f64], replicas: &[Vec<f64>], share: f64) {
    const PIECE: usize = 64;
    for (k, agreed) in agreed.chunks_mut(PIECE).enumerate() {
        let mut changes = [0.0; PIECE];
        for replica in replicas {
            let pairs = replica[k * PIECE..].iter().zip(&*agreed);
            changes.iter_mut().zip(pairs).for_each(|(change, (x, start))| *change += x - start);
        }
        move_by(agreed, &changes[..agreed.len()], share);
    }
}

/// agreed ← agreed + share · change, which leaves −0 what it is where the change is 0.
pub(crate) fn move_by(agreed: &mut [f64], changes: &[f64], share: f64) {
    for (value, change) in agreed.iter_mut().zip(changes) {
        let moved = *value + share * change;
        *value = if *change == 0.0 { *value } else { moved };
    }
}

/// The two ways.
#[derive(Debug)]
enum Way {
    Meet(Box<dyn Rule>),
    Gossip(Box<dyn Opening>),
}

kinds::exchanges! {
    /// All replicas become their average.
    "average" Average => average,
    /// All replicas become their common start plus the sum of their changes.
    "sum" Sum => sum,
    /// The average, taken on each node first and then between nodes.
    "allreduce" Allreduce => allreduce,
    /// Push-sum, each round of which waits for its messages.
    "sgp" Sgp {
        /// Who sends to whom.
        graph: GraphKind = GraphKind::Exponential
    } => sgp,
    /// Push-sum whose messages may be some rounds on their way.
    "osgp" Osgp {
        /// Who sends to whom.
        graph: GraphKind = GraphKind::Exponential;
        /// Rounds that a message may be on its way before its receiver waits for it.
        overlap: usize = 1, up to 64 or "kind \"sgp\", which has none";
        /// Whether weights are ignored.
        biased: bool = false
    } => osgp,
    /// Averages of two at a time.
    "adpsgd" Adpsgd {
        /// Who are neighbours.
        graph: GraphKind = GraphKind::Bipartite
    } => adpsgd,
    /// A token goes round, and with it each replica's change.
    "ring" Ring {
        /// Changes of a coordinate up to this are kept for the token's next visit.
        tolerance: f64 = 0.0
    } => ring,
}

impl Kind {
    /// The one that a method of this form has where none is named: x is averaged; of dual variables, and of columns, what each
    /// replica's changes add to the store is summed.
    pub fn usual(form: Form, every: Every) -> Self {
        match form {
            Form::Primal => Kind::Average { every },
            Form::Dual | Form::Columns => Kind::Sum { every },
        }
    }

    /// Who sends to whom, where that can be chosen.
    pub fn graph(&self) -> Option<GraphKind> {
        self.keys()
            .into_iter()
            .find_map(|(_, value)| if let Value::Graph(graph) = value { Some(graph) } else { None })
    }

    /// Whether replicas go on at their own pace, each with a point of its own, instead of meeting.
    pub fn gossips(&self) -> bool {
        matches!(self.way(), Way::Gossip(_))
    }

    /// Whether all replicas' changes are added.
    pub fn sums(&self) -> bool {
        matches!(self.way(), Way::Meet(rule) if rule.sums())
    }

    /// Whether replicas send messages, which can be lost or late; or what they do instead.
    pub fn sends(&self) -> Result<(), &'static str> {
        match self.way() {
            Way::Meet(_) => Err("has all workers meet"),
            Way::Gossip(opening) => opening.sends(),
        }
    }
}

/// To meet, in ns.
const MEET_NS: f64 = 4000.0;
/// A coordinate that is exchanged, in ns: it moves between caches twice.
const SLOT_NS: f64 = 5.0;
/// An entry whose block is marked, in ns.
const MARK_NS: f64 = 4.0;
/// A block of 8 coordinates that is exchanged by itself, in ns. `benches/exchange.rs` finds the two ways alike where 3 to 4 in ten
/// blocks are touched, of 10⁴ and of 10⁶ columns.
const BLOCK_NS: f64 = 130.0;

/// Updates between exchanges such that exchanges cost about a twentieth of the time of the updates between them, by
/// rough prices: [`MEET_NS`] and [`SLOT_NS`]; 20 ns an update and 2.2 ns an entry, or 0.3 ns in a dense line.
///
/// These are the prices of moving all: to mark an entry takes more than a twentieth of its update, so that what is touched
/// is never the cheaper way to keep exchanges that rare.
fn paced(width: usize, line_nonzeros: f64, dense: bool) -> usize {
    let entry_ns = if dense { 0.3 } else { 2.2 };
    let (meeting_ns, update_ns) = (MEET_NS + SLOT_NS * width as f64, 20.0 + entry_ns * line_nonzeros);
    (20.0 * meeting_ns / update_ns).ceil() as usize
}

/// What is written between two exchanges.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Slots of a replica that are exchanged.
    pub width: usize,
    /// Entries of the lines of one worker; as many slots are written, more than once some of them.
    pub entries: f64,
    /// Workers, of all replicas.
    pub workers: usize,
    /// What part of the slots is written in sweeps, or because updates are dense.
    pub swept: f64,
}

impl Window {
    /// Whether to move what is touched costs less than to move all, by rough prices: to mark an entry [`MARK_NS`], and a block that
    /// is touched, [`BLOCK_NS`], or in runs 8 [`SLOT_NS`]; against [`SLOT_NS`] for each of d slots.
    ///
    /// Of B blocks, n entries that fall anywhere touch B(1 − exp(−n/B)). Columns of text do not fall anywhere: they touch fewer.
    fn touched_is_cheaper(&self) -> bool {
        let blocks = (self.width as f64 / BLOCK as f64).max(1.0);
        let missed = (-self.entries * self.workers as f64 / blocks).exp();
        let share = 1.0 - (1.0 - self.swept.min(1.0)) * missed;
        let touched_ns = MARK_NS * self.entries + BLOCK_NS * share * blocks;
        touched_ns < SLOT_NS * self.width as f64
    }
}

/// A kind with its numbers, among some replicas.
#[derive(Debug)]
pub struct Exchange {
    every: Every,
    moves: Moves,
    way: Way,
    graph: Graph,
    faults: MessageFaults,
}

impl Exchange {
    /// `kind` among `replicas` replicas, `distance[i][j]` apart (empty where that is not known), with `faults` in its
    /// messages; where replicas meet, it `moves` what that says.
    ///
    /// # Panics
    /// As [`Graph::new`].
    pub fn new(kind: Kind, replicas: usize, distance: &[Vec<u64>], faults: MessageFaults, moves: Moves) -> Self {
        // A token's ring is a graph of its own.
        let graph = Graph::new(kind.graph().unwrap_or(GraphKind::Ring), replicas, distance);
        Exchange { every: kind.every(), moves, way: kind.way(), graph, faults }
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

    /// Whether only what was touched in a window is to be moved.
    pub fn moves_touched(&self, window: &Window) -> bool {
        let meets = matches!(self.way, Way::Meet(_)) && self.graph.replicas() > 1;
        meets
            && match self.moves {
                Moves::Auto => window.touched_is_cheaper(),
                Moves::All => false,
                Moves::Touched => true,
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

    fn exchange(kind: Kind) -> Exchange {
        Exchange::new(kind, 2, &[], MessageFaults::default(), Moves::Auto)
    }

    #[test]
    fn a_pace_of_its_own_is_a_twentieth_of_the_time() {
        let every = |every| exchange(Kind::Sum { every }).every(1000, 50.0, false);
        // 20 (4000 + 5 · 1000) ns over 20 + 2.2 · 50 ns.
        assert_eq!(every(Every::Auto), Some(1385));
        let dense = exchange(Kind::Sum { every: Every::Auto }).every(1000, 1000.0, true);
        // 9000 ns over 20 + 0.3 · 1000 ns.
        assert_eq!(dense, Some(563));
        assert_eq!((every(Every::Epoch), every(Every::Updates(7))), (None, Some(7)));
    }

    #[test]
    fn what_is_touched_moves_where_little_is() {
        let kind = Kind::Sum { every: Every::Auto };
        let moves = |moves, entries, swept| {
            let window = Window { width: 1 << 20, entries, workers: 2, swept };
            Exchange::new(kind, 2, &[], MessageFaults::default(), moves).moves_touched(&window)
        };
        assert!(moves(Moves::Auto, 1e3, 0.0) && !moves(Moves::Auto, 1e6, 0.0) && !moves(Moves::Auto, 1e3, 1.0));
        assert!(moves(Moves::Touched, 1e6, 1.0) && !moves(Moves::All, 1e3, 0.0));
        let gossip = Kind::Ring { every: Every::Auto, tolerance: 0.0 };
        let window = Window { width: 1 << 20, entries: 1e3, workers: 2, swept: 0.0 };
        assert!(!exchange(gossip).moves_touched(&window));
    }

    #[test]
    fn where_nothing_changed_no_rule_moves_a_bit() {
        for kind in [Kind::Average { every: Every::Auto }, Kind::Sum { every: Every::Auto }] {
            for replicas in [2, 3, 7] {
                let start = [0.1, -0.0, 1e300, -3.3e-7, 0.0];
                let mut agreed = start;
                let exchange = Exchange::new(kind, replicas, &[], MessageFaults::default(), Moves::Auto);
                exchange.combine(&mut agreed, &vec![start.to_vec(); replicas], 1.7);
                assert_eq!(agreed.map(f64::to_bits), start.map(f64::to_bits), "{kind:?} {replicas}");
            }
        }
    }

    #[test]
    fn each_rule_follows_its_formula() {
        let replicas = [vec![1.0, 4.0], vec![3.0, 0.0]];
        let combined = |kind| {
            let mut agreed = vec![1.0, 2.0];
            exchange(kind).combine(&mut agreed, &replicas, 4.0);
            agreed
        };
        assert_eq!(combined(Kind::Average { every: Every::Epoch }), [2.0, 2.0]);
        assert_eq!(combined(Kind::Allreduce { every: Every::Epoch }), [2.0, 2.0]);
        // 1 + (0 + 2)/4 and 2 + (2 − 2)/4.
        assert_eq!(combined(Kind::Sum { every: Every::Epoch }), [1.5, 2.0]);
    }
}
