//! Messages on their way along one edge of the graph, in their receiver's memory.

use crate::os::memory::Pages;
use crossbeam_utils::CachePadded;
use std::sync::{Mutex, MutexGuard};

/// From one replica to another.
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    mail: CachePadded<Mutex<Mail>>,
}

/// Its messages.
pub(super) struct Mail {
    pub(super) slots: Vec<Slot>,
    /// Rounds that the sender has passed, whether or not something was sent in them.
    pub(super) sent: u64,
    /// The receiver's round.
    pub(super) clock: u64,
    /// The slot that is being written.
    filling: Option<usize>,
}

/// Room for one.
pub(super) struct Slot {
    pub(super) x: Pages<f64>,
    pub(super) weight: f64,
    /// The receiver's round from which it may be read.
    due: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Empty,
    Filling,
    Ready,
}

impl Slot {
    /// Whether it has a message that may be read in round `round` of its receiver.
    pub(super) fn is_due(&self, round: u64) -> bool {
        self.is_full() && self.due <= round
    }

    /// Whether it has a message.
    pub(super) fn is_full(&self) -> bool {
        self.state == State::Ready
    }

    /// The message was read.
    pub(super) fn empty(&mut self) {
        self.state = State::Empty;
    }
}

impl Edge {
    /// With `slots` vectors for messages, each made by `vector`.
    pub(super) fn new(from: usize, to: usize, slots: usize, vector: impl Fn() -> Pages<f64>) -> Self {
        let slot = |_| Slot { x: vector(), weight: 0.0, due: 0, state: State::Empty };
        let mail = Mail { slots: (0..slots).map(slot).collect(), sent: 0, clock: 0, filling: None };
        Edge { from, to, mail: CachePadded::new(Mutex::new(mail)) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().expect(super::PANICKED)
    }

    /// Whether there is an empty slot.
    pub(super) fn has_room(&self) -> bool {
        self.lock().slots.iter().any(|slot| slot.state == State::Empty)
    }

    /// Keeps a slot from its receiver while it is written: an empty one, or the last one that is full. It may be read
    /// `late` rounds after its own, or after its receiver's present one.
    pub(super) fn claim(&self, late: u64, round: Option<u64>) {
        let mut mail = self.lock();
        let due = round.unwrap_or(mail.clock) + late;
        let empty = mail.slots.iter().position(|slot| slot.state == State::Empty);
        let newest = || (0..mail.slots.len()).max_by_key(|&slot| mail.slots[slot].due);
        let at = empty.or_else(newest).expect("there are slots");
        let slot = &mut mail.slots[at];
        if slot.state == State::Empty {
            (slot.weight, slot.due) = (0.0, due);
        }
        slot.state = State::Filling;
        mail.filling = Some(at);
    }

    /// Adds `part` to the claimed slot, if there is one.
    pub(super) fn fill(&self, start: usize, part: &[f64]) {
        let mut mail = self.lock();
        if let Some(at) = mail.filling {
            let slot = &mut mail.slots[at];
            let x = &mut slot.x[start..start + part.len()];
            // A weight of 0 is that of a slot that was empty, whose content is an old message.
            if slot.weight == 0.0 {
                x.copy_from_slice(part);
            } else {
                x.iter_mut().zip(part).for_each(|(x, part)| *x += part);
            }
        }
    }

    /// Lets the receiver have it.
    pub(super) fn post(&self, weight: f64) {
        let mut mail = self.lock();
        if let Some(at) = mail.filling.take() {
            mail.slots[at].weight += weight;
            mail.slots[at].state = State::Ready;
        }
    }
}
