//! Every replica becomes the average of all (Zinkevich et al., NIPS 2010; DimmWitted's PerNode and PerCore, VLDB 2014).

pub(super) struct Average;

impl super::Rule for Average {
    fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>]) {
        let share = 1.0 / replicas.len() as f64;
        agreed.fill(0.0);
        for replica in replicas {
            for (sum, value) in agreed.iter_mut().zip(replica) {
                *sum += share * value;
            }
        }
    }
}
