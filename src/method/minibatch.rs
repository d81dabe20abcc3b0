//! Asynchronous mini-batch SGD (Agarwal and Duchi, NIPS 2011; Lian, Huang, Li, Liu, NIPS 2015): every worker takes b rows, reads
//! what they touch, and adds the mean of their gradients, without locks.
//!
//! x ← x − γ (1/b) Σ (n/W) wᵢ φ′(aᵢᵀx̂ + c) aᵢ over the rows i of the batch, all read before the first is written: O(nnz) a
//! batch. It is [`hogwild`] with b rows an update, whose regulariser is put off in the same way: prox_{kγr} for
//! the k batches of the replica since the last sweep. The last batch of a window may have fewer rows; its gradients are still
//! divided by b, so that each row weighs the same in an epoch.
//!
//! What is read is *inconsistent* unless `parameters.merge = "consistent"`: other workers write between the reads of two rows of
//! a batch, and x̂ need never have existed. On a replica a worker, with an exchange after every batch, it is the synchronous
//! mini-batch method.

use super::{About, Facts, Hogwild, hogwild};

pub(super) const FACTS: Facts = Facts {
    fixed: Some(
        "adds gradients that were all read before the first is written, and with a rank the rows move in between",
    ),
    ..Facts::PRIMAL
};

pub(super) fn make(about: &About<'_>, rows: usize) -> Hogwild {
    minibatch(hogwild::make(about), rows)
}

/// `hogwild` with `rows` rows an update.
pub fn minibatch(mut hogwild: Hogwild, rows: usize) -> Hogwild {
    hogwild.scale /= rows as f64;
    hogwild.rows = rows;
    hogwild
}
