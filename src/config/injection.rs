//! `[injection]`: delays and stragglers that a run is to meet whatever the machine gives it.

use super::MessageFaults;
use serde::Serialize;

/// How long the writes of a worker are put off, in its own updates: τₖ of the k-th update of a window, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "updates", rename_all = "kebab-case")]
pub enum DelayKind {
    /// Not at all.
    None,
    /// τₖ = D.
    Fixed(u64),
    /// Uniform on 0 … D.
    Uniform(u64),
    /// τₖ = k mod P.
    Sawtooth(u64),
    /// P(τₖ ≥ t) = 1/(t + 1) up to D: a heavy tail, cut off.
    Heavy(u64),
    /// D with probability 1/50, else uniform on 0 … D/8.
    Rare(u64),
}

impl DelayKind {
    /// Its name in configs, and its number.
    pub fn parts(self) -> (&'static str, u64) {
        match self {
            DelayKind::None => ("none", 0),
            DelayKind::Fixed(most) => ("fixed", most),
            DelayKind::Uniform(most) => ("uniform", most),
            DelayKind::Sawtooth(period) => ("sawtooth", period),
            DelayKind::Heavy(most) => ("heavy", most),
            DelayKind::Rare(most) => ("rare", most),
        }
    }

    /// The longest delay.
    pub fn most(self) -> u64 {
        match self {
            DelayKind::Sawtooth(period) => period - 1,
            other => other.parts().1,
        }
    }
}

/// A worker that is slower than the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Straggler {
    /// Nobody.
    None,
    /// Worker `worker` takes `factor` times as long for each update.
    Slow {
        /// Which.
        worker: usize,
        /// 1 or more.
        factor: f64,
    },
    /// Worker `worker` pauses after every `every` of its updates, for as long as `updates` of them take.
    Stall {
        /// Which.
        worker: usize,
        /// 1 or more.
        every: u64,
        /// 1 or more.
        updates: u64,
    },
}

impl Straggler {
    /// Which worker it is, if there is one.
    pub fn worker(self) -> Option<usize> {
        match self {
            Straggler::None => None,
            Straggler::Slow { worker, .. } | Straggler::Stall { worker, .. } => Some(worker),
        }
    }
}

/// `[injection]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Injection {
    /// `delay`.
    pub delay: DelayKind,
    /// `delay_workers`; `None` for all.
    pub workers: Option<Vec<u32>>,
    /// `delay_blocks`: the lines of the problem are cut into as many equal runs as there are factors, and what is drawn for
    /// an update is multiplied by the factor of its first line's run. Each is in [0, 1].
    pub blocks: Vec<f64>,
    /// `straggler`.
    pub straggler: Straggler,
    /// `message_loss` and `message_delay`.
    pub messages: MessageFaults,
}

impl Injection {
    /// The default: nothing is put off, nobody is slow.
    pub const fn none() -> Self {
        Injection {
            delay: DelayKind::None,
            workers: None,
            blocks: Vec::new(),
            straggler: Straggler::None,
            messages: MessageFaults { message_loss: 0.0, message_delay: 0 },
        }
    }

    /// Whether no update is put off and nobody is slow.
    pub fn is_none(&self) -> bool {
        self.delay == DelayKind::None && self.straggler == Straggler::None
    }
}
