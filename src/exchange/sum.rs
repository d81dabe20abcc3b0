//! Every replica becomes the common start plus 1/σ′ of the sum of all changes: the adding of CoCoA+ (Ma et al., ICML
//! 2015), where a worker's own replica moves by σ′ times its change.

pub(super) fn make() -> super::Way {
    super::Way::Meet(Box::new(Sum))
}

#[derive(Debug)]
pub(super) struct Sum;

impl super::Rule for Sum {
    fn combine(&self, agreed: &mut [f64], replicas: &[Vec<f64>], damping: f64) {
        super::add_changes(agreed, replicas, 1.0 / damping);
    }

    fn sums(&self) -> bool {
        true
    }
}
