//! How long a step is. A rule is one file below and two lines here: one by epochs is a `Rule`, one by the delay of each
//! update a `DelayRule`.

use crate::config::StepKind;
use window::Window;

mod adaptive1;
mod adaptive2;
mod backoff;
mod constant;
mod decay;
mod diminishing;
mod fixed_delay;
mod naive_delay;
mod window;

/// A rule for γ by the epoch.
trait Rule {
    /// γ/γ₀ after `epoch` epochs, fractions counting.
    fn factor(&self, epoch: f64) -> f64;
}

/// A rule for γₖ by the delay τₖ of update k.
///
/// What keeps a delayed step safe is 0 ≤ γₖ ≤ max(γ′ − Σ γₜ over k − τₖ ≤ t < k, 0) with γ′ = h/L, h < 1 (Wu et al., ICML
/// 2022): no bound on the delays need be known.
trait DelayRule {
    /// γₖ; `full` is γ′, `spent` the sum of the last τₖ = `delay` steps, infinite where they are no longer remembered.
    fn length(&self, full: f64, spent: f64, delay: u64) -> f64;
}

/// A rule with its first length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Which rule.
    pub kind: StepKind,
    /// γ₀, or γ′ for the rules by delay.
    pub initial: f64,
}

/// A rule by delay, and the steps that it has taken on one replica: a state machine that knows nothing of a run.
#[derive(Clone, Debug)]
pub struct Adaptive {
    step: Step,
    window: Window,
    last: f64,
}

impl Adaptive {
    /// γₖ of the next update, whose delay is `delay` updates, and whose γ′ is `weight` times the rule's: 1, or as many times as its
    /// gradient is smoother than the others'.
    pub fn next(&mut self, delay: u64, weight: f64) -> f64 {
        let (full, spent) = (weight * self.step.initial, self.window.spent(delay));
        self.last = match self.step.kind {
            StepKind::Adaptive1 { alpha, .. } => adaptive1::Adaptive1 { alpha }.length(full, spent, delay),
            StepKind::Adaptive2 { .. } => adaptive2::Adaptive2.length(full, spent, delay),
            StepKind::NaiveDelay { .. } => naive_delay::NaiveDelay.length(full, spent, delay),
            _ => weight * self.step.length(0.0),
        };
        self.window.push(self.last);
        self.last
    }

    /// The last γₖ; γ′ before the first.
    pub fn last(&self) -> f64 {
        self.last
    }
}

impl Step {
    /// The state machine of a rule by delay; `None` for a rule by epochs.
    pub fn adaptive(self) -> Option<Adaptive> {
        self.kind.is_by_delay().then(|| Adaptive { step: self, window: Window::new(), last: self.initial })
    }

    /// γ after `epoch` epochs; γ′ for a rule by delay.
    pub fn length(&self, epoch: f64) -> f64 {
        self.initial
            * match self.kind {
                StepKind::Constant { .. } => constant::Constant.factor(epoch),
                StepKind::Diminishing { half, .. } => diminishing::Diminishing { half }.factor(epoch),
                StepKind::Decay { factor, .. } => decay::Decay { factor }.factor(epoch),
                StepKind::Backoff { factor, epochs, .. } => backoff::Backoff { factor, epochs }.factor(epoch),
                StepKind::FixedDelay { delay, .. } => fixed_delay::FixedDelay { delay }.factor(epoch),
                StepKind::Adaptive1 { .. } | StepKind::Adaptive2 { .. } | StepKind::NaiveDelay { .. } => 1.0,
            }
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

    const GIVEN: Option<f64> = None;
    const ADAPTIVE1: StepKind = StepKind::Adaptive1 { initial: GIVEN, alpha: 0.9 };
    const ADAPTIVE2: StepKind = StepKind::Adaptive2 { initial: GIVEN };
    const NAIVE: StepKind = StepKind::NaiveDelay { initial: GIVEN };

    /// Σ γₖ of a rule with γ′ = 1 over the delays given.
    fn total(kind: StepKind, delays: impl Iterator<Item = u64>) -> f64 {
        let step = Step { kind, initial: 1.0 };
        match step.adaptive() {
            Some(mut rule) => delays.map(|delay| rule.next(delay, 1.0)).sum(),
            None => delays.map(|_| step.length(0.0)).sum(),
        }
    }

    /// |x| after 4000 steps on x²/2 from 1, each by the gradient at the x of τₖ = k mod 40 steps before.
    fn end_of_sawtooth(kind: StepKind) -> f64 {
        let step = Step { kind, initial: 1.0 };
        let mut rule = step.adaptive();
        let mut x = vec![1.0f64];
        for k in 0..4000usize {
            let delay = k % 40;
            let length = rule.as_mut().map_or_else(|| step.length(0.0), |rule| rule.next(delay as u64, 1.0));
            x.push(x[k] - length * x[k - delay]);
        }
        x[4000].abs()
    }

    #[test]
    fn the_naive_rule_blows_up_on_sawtooth_delays_where_the_others_converge() {
        assert!(end_of_sawtooth(NAIVE) > 1e20, "{}", end_of_sawtooth(NAIVE));
        for kind in [ADAPTIVE1, ADAPTIVE2, StepKind::FixedDelay { initial: GIVEN, delay: 39 }] {
            assert!(end_of_sawtooth(kind) < 1e-6, "{kind:?}: {}", end_of_sawtooth(kind));
        }
    }

    #[test]
    fn rules_by_delay_go_as_far_on_rare_long_delays_as_in_the_literature() {
        use rand::{RngExt, SeedableRng};
        let delays = || {
            let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
            (0..20_000).map(move |_| if random.random_bool(0.02) { 64 } else { random.random_range(0..=8) })
        };
        let fixed = StepKind::FixedDelay { initial: GIVEN, delay: 64 };
        for (kind, expected) in [(ADAPTIVE1, 5403.0), (ADAPTIVE2, 4480.0), (fixed, 310.0)] {
            let total = total(kind, delays());
            assert!((total / expected - 1.0).abs() < 0.3, "{kind:?}: {total} for {expected}");
        }
        assert!(total(ADAPTIVE1, delays()) > total(ADAPTIVE2, delays()));
    }

    #[test]
    fn no_step_leaves_the_room_that_the_steps_since_its_read_have_left() {
        for kind in [ADAPTIVE1, ADAPTIVE2] {
            let mut rule = Step { kind, initial: 0.5 }.adaptive().expect("a rule by delay");
            let mut taken: Vec<f64> = Vec::new();
            for k in 0..500usize {
                let delay = (k * k + 3 * k) % 23;
                let since: f64 = taken.iter().rev().take(delay).sum();
                let length = rule.next(delay as u64, 1.0);
                assert!(length >= 0.0 && length <= (0.5 - since).max(0.0) + 1e-9, "{kind:?}, step {k}");
                taken.push(length);
            }
        }
    }

    #[test]
    fn while_the_delay_is_constant_the_second_adaptive_rule_takes_every_step() {
        assert!((total(ADAPTIVE2, std::iter::repeat_n(9, 300_000)) - 30_000.0).abs() < 1e-3);
        // A delay beyond what is remembered, once there are as many steps.
        let mut rule = Step { kind: ADAPTIVE2, initial: 1.0 }.adaptive().expect("a rule by delay");
        for _ in 0..1 << 16 {
            rule.next(0, 1.0);
        }
        assert_eq!(rule.next(1 << 16, 1.0), 0.0);
    }
}
