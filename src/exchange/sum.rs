//! Every replica becomes the common start plus 1/σ′ of the sum of all changes: the adding of CoCoA+ (Ma et al., ICML
//! 2015), where a worker's own replica moves by σ′ times its change.

#[derive(Debug)]
pub(super) struct Sum;

impl super::Rule for Sum {
    fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>], damping: f64) {
        let share = 1.0 / damping;
        // K replicas each hold the start once: (1 − K/σ′) of it plus 1/σ′ of their sum is start + Σ change / σ′.
        let kept = 1.0 - replicas.len() as f64 * share;
        for value in agreed.iter_mut() {
            *value *= kept;
        }
        for replica in replicas {
            for (sum, value) in agreed.iter_mut().zip(replica) {
                *sum += share * value;
            }
        }
    }

    fn sums(&self) -> bool {
        true
    }
}
