//! How long a step is. A rule is one file below and two lines here.

use crate::config::StepKind;

mod backoff;
mod constant;
mod decay;
mod diminishing;

/// A rule for γ.
trait Rule {
    /// γ/γ₀ after `epoch` epochs, fractions counting.
    fn factor(&self, epoch: f64) -> f64;
}

/// A rule with its first length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Which rule.
    pub kind: StepKind,
    /// γ₀.
    pub initial: f64,
}

impl Step {
    /// γ after `epoch` epochs.
    pub fn length(&self, epoch: f64) -> f64 {
        self.initial
            * match self.kind {
                StepKind::Constant { .. } => constant::Constant.factor(epoch),
                StepKind::Diminishing { half, .. } => diminishing::Diminishing { half }.factor(epoch),
                StepKind::Decay { factor, .. } => decay::Decay { factor }.factor(epoch),
                StepKind::Backoff { factor, epochs, .. } => backoff::Backoff { factor, epochs }.factor(epoch),
            }
    }
}

/// γ₀ as set, if it was.
pub fn initial(kind: StepKind) -> Option<f64> {
    match kind {
        StepKind::Constant { initial }
        | StepKind::Diminishing { initial, .. }
        | StepKind::Decay { initial, .. }
        | StepKind::Backoff { initial, .. } => initial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_follows_its_formula() {
        let at = |kind, epoch| Step { kind, initial: 2.0 }.length(epoch);
        assert_eq!(at(StepKind::Constant { initial: None }, 9.0), 2.0);
        assert_eq!(at(StepKind::Diminishing { initial: None, half: 3.0 }, 3.0), 1.0);
        assert_eq!(at(StepKind::Decay { initial: None, factor: 0.5 }, 2.7), 0.5);
        let backoff = StepKind::Backoff { initial: None, factor: 0.5, epochs: 2.0 };
        // Phases of 2, 4 and 8 epochs at 2, 1 and 1/2.
        let lengths: Vec<f64> = [0.0, 1.9, 2.0, 5.9, 6.0, 13.9, 14.0].map(|epoch| at(backoff, epoch)).to_vec();
        assert_eq!(lengths, [2.0, 2.0, 1.0, 1.0, 0.5, 0.5, 0.25]);
    }
}
