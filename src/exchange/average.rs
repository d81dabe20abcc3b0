//! Every replica becomes the average of all (Zinkevich et al., NIPS 2010; DimmWitted's PerNode and PerCore, VLDB 2014).
//!
//! For methods whose store follows from a state (`dual`, `bcd`) this is the averaging of CoCoA (Jaggi et al., NIPS
//! 2014) as Ma et al. (ICML 2015) write it: each of K replicas solves the subproblem of σ′ = K, and moves K times its
//! change, so that the average of the replicas is the common start plus the sum of the changes, which is what the state
//! says.

pub(super) fn make() -> super::Way {
    super::Way::Meet(Box::new(Average))
}

#[derive(Debug)]
pub(super) struct Average;

impl super::Rule for Average {
    fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>], _damping: f64) {
        super::add_changes(agreed, replicas, 1.0 / replicas.len() as f64);
    }
}
