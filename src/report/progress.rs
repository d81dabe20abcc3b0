//! How long a run will still take, guessed from its samples.

use crate::{config::Stop, trace::Sample};

/// A guess at what is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLeft {
    /// Seconds to go.
    pub seconds: f64,
    /// Seconds spent over seconds in all, in [0, 1].
    pub share_done: f64,
}

/// Time until the first of the stopping rules is likely to be met: the epochs and the seconds that are left, and the
/// certificate on its way to the target, which is taken to fall by a constant factor an epoch, as over the last half
/// of `samples`. `None` before there are two samples.
pub fn time_left(samples: &[Sample], stop: &Stop) -> Option<TimeLeft> {
    let (first, last) = (samples.first()?, samples.last()?);
    let spent = |sample: &Sample| sample.seconds_solve + sample.seconds_evaluate;
    let epochs = last.epoch - first.epoch;
    if epochs <= 0.0 {
        return None;
    }
    let an_epoch = (spent(last) - spent(first)) / epochs;
    let by_epochs = (stop.max_epochs as f64 - last.epoch) * an_epoch;
    let by_seconds = stop.max_seconds.map_or(f64::INFINITY, |seconds| seconds - spent(last));
    let by_target =
        stop.target.and_then(|target| epochs_to(target, samples)).map_or(f64::INFINITY, |left| left * an_epoch);
    let seconds = by_epochs.min(by_seconds).min(by_target).max(0.0);
    let share_done = spent(last) / (spent(last) + seconds).max(f64::MIN_POSITIVE);
    Some(TimeLeft { seconds, share_done })
}

fn epochs_to(target: f64, samples: &[Sample]) -> Option<f64> {
    let (middle, last) = (&samples[samples.len() / 2], samples.last()?);
    let middle = if middle.epoch < last.epoch { middle } else { samples.first()? };
    let rate = (middle.certificate.ln() - last.certificate.ln()) / (last.epoch - middle.epoch);
    let left = (last.certificate.ln() - target.ln()) / rate;
    (rate > 0.0 && left.is_finite()).then_some(left.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(epoch: f64, certificate: f64) -> Sample {
        Sample {
            epoch,
            updates: 0,
            seconds_solve: 2.0 * epoch,
            seconds_evaluate: epoch,
            objective: 1.0,
            gap: None,
            certificate,
            support: 0,
            step: None,
            consensus: None,
            drift: None,
        }
    }

    fn seconds(samples: &[Sample], stop: &Stop) -> Option<f64> {
        time_left(samples, stop).map(|left| left.seconds)
    }

    #[test]
    fn the_first_rule_to_be_met_gives_the_time_left() {
        let stop =
            Stop { target: None, target_objective: None, max_epochs: 10, max_seconds: None, evaluate_every: None };
        let samples: Vec<_> = (0..5).map(|e| sample(f64::from(e), 10f64.powi(-e))).collect();
        // Three seconds an epoch, six epochs to go.
        assert_eq!(time_left(&samples, &stop), Some(TimeLeft { seconds: 18.0, share_done: 0.4 }));
        let timed = Stop { max_seconds: Some(20.0), ..stop };
        assert_eq!(seconds(&samples, &timed), Some(8.0));
        // The certificate falls tenfold an epoch and stands at 1e-4: two epochs to 1e-6.
        let aimed = Stop { target: Some(1e-6), ..stop };
        assert!((seconds(&samples, &aimed).unwrap() - 6.0).abs() < 1e-9);
    }

    #[test]
    fn samples_that_say_nothing_give_no_guess_and_a_stalled_certificate_leaves_the_epochs() {
        let stop = Stop {
            target: Some(1e-6),
            target_objective: None,
            max_epochs: 3,
            max_seconds: None,
            evaluate_every: None,
        };
        assert_eq!(seconds(&[], &stop), None);
        assert_eq!(seconds(&[sample(0.0, 1.0)], &stop), None);
        assert_eq!(seconds(&[sample(0.0, 1.0), sample(1.0, 1.0)], &stop), Some(6.0));
        assert_eq!(seconds(&[sample(0.0, f64::NAN), sample(1.0, f64::NAN)], &stop), Some(6.0));
    }
}
