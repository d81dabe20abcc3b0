//! `[exchange]`, and `message_*` of `[injection]`: how replicas are drawn together, and what goes wrong on purpose with their messages.

use super::keys::Named;
use serde::Serialize;

/// How often replicas are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Every {
    /// So often that exchanges cost about a twentieth of the time.
    Auto,
    /// Once an epoch.
    Epoch,
    /// After so many updates of one worker.
    Updates(usize),
}

/// `exchange.graph`: who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphKind {
    /// Both neighbours on a circle.
    Ring,
    /// Everybody.
    Complete,
    /// One peer a round, 1, 2, 4, … further on.
    Exponential,
    /// One peer a round, of the other parity.
    Bipartite,
    /// One peer a round, near ones more often than far ones.
    Hardware,
}

impl GraphKind {
    /// Its name in configs.
    pub fn name(self) -> &'static str {
        Named::name(self)
    }
}

/// `[exchange]`: how replicas are drawn together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExchangeKind {
    /// All replicas become their average.
    Average {
        /// How often.
        every: Every,
    },
    /// All replicas become their common start plus the sum of their changes.
    Sum {
        /// How often.
        every: Every,
    },
    /// The average, taken on each node first and then between nodes.
    Allreduce {
        /// How often.
        every: Every,
    },
    /// Push-sum, each round of which waits for its messages.
    Sgp {
        /// How often.
        every: Every,
        /// Who sends to whom.
        graph: GraphKind,
    },
    /// Push-sum whose messages may be some rounds on their way.
    Osgp {
        /// How often.
        every: Every,
        /// Who sends to whom.
        graph: GraphKind,
        /// Rounds that a message may be on its way before its receiver waits for it.
        overlap: usize,
        /// Whether weights are ignored.
        biased: bool,
    },
    /// Averages of two at a time.
    Adpsgd {
        /// How often.
        every: Every,
        /// Who are neighbours.
        graph: GraphKind,
    },
    /// A token goes round, and with it each replica's change.
    Ring {
        /// How often a replica looks for the token.
        every: Every,
        /// Changes of a coordinate up to this are kept for the token's next visit.
        tolerance: f64,
    },
}

impl ExchangeKind {
    /// Rounds of overlap where none are given.
    pub const OVERLAP: usize = 1;

    /// Its name in configs and flags.
    pub fn name(&self) -> &'static str {
        match self {
            ExchangeKind::Average { .. } => "average",
            ExchangeKind::Sum { .. } => "sum",
            ExchangeKind::Allreduce { .. } => "allreduce",
            ExchangeKind::Sgp { .. } => "sgp",
            ExchangeKind::Osgp { .. } => "osgp",
            ExchangeKind::Adpsgd { .. } => "adpsgd",
            ExchangeKind::Ring { .. } => "ring",
        }
    }

    /// How often.
    pub fn every(&self) -> Every {
        match *self {
            ExchangeKind::Average { every }
            | ExchangeKind::Sum { every }
            | ExchangeKind::Allreduce { every }
            | ExchangeKind::Sgp { every, .. }
            | ExchangeKind::Osgp { every, .. }
            | ExchangeKind::Adpsgd { every, .. }
            | ExchangeKind::Ring { every, .. } => every,
        }
    }

    /// Who sends to whom, where that can be chosen.
    pub fn graph(&self) -> Option<GraphKind> {
        match *self {
            ExchangeKind::Sgp { graph, .. }
            | ExchangeKind::Osgp { graph, .. }
            | ExchangeKind::Adpsgd { graph, .. } => Some(graph),
            _ => None,
        }
    }

    /// Whether replicas go on at their own pace, each with a point of its own, instead of meeting.
    pub fn gossips(&self) -> bool {
        self.graph().is_some() || matches!(self, ExchangeKind::Ring { .. })
    }
}

/// `message_loss` and `message_delay` of `[injection]`: what goes wrong on purpose with the messages of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MessageFaults {
    /// The probability that a message is lost.
    pub message_loss: f64,
    /// A message is late by 0 to so many of its receiver's rounds, all alike.
    pub message_delay: u64,
}

impl MessageFaults {
    /// Rounds of delay at most: each is a vector more in every mailbox.
    pub const DELAY_MAX: u64 = 64;

    /// Whether nothing is injected.
    pub fn is_none(&self) -> bool {
        *self == MessageFaults::default()
    }
}
