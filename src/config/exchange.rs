//! What the kinds of `[exchange]` have in common, and `message_*` of `[injection]`: what goes wrong on purpose with their messages.

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

/// `exchange.moves`: which parts of the replicas an exchange at which all workers meet reads and writes. The outcome is the
/// same to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moves {
    /// What is cheaper by rough prices.
    Auto,
    /// All coordinates.
    All,
    /// Blocks of eight coordinates that an update or a sweep touched since the last exchange.
    Touched,
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
