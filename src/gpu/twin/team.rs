//! The sum over a team: the twin of `team.wgsl`.

use crate::gpu::cut::FAN;

/// Σ of one number an invocation: sixteen sums of every sixteenth, then these one after the other.
pub(super) fn sum(numbers: &[f32]) -> f32 {
    let fan = FAN.min(numbers.len());
    let mut second = [0.0; FAN];
    numbers.chunks(fan).for_each(|chunk| second.iter_mut().zip(chunk).for_each(|(sum, n)| *sum += n));
    second[..fan].iter().fold(0.0, |sum, n| sum + n)
}
