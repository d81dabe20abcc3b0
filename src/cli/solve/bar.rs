//! The progress bar: on a terminal only, and gone when the run is done.

use farrow::{config::Stop, report::time_left, trace::Sample};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};

/// Length of the bar's scale.
const FULL: u64 = 1000;

/// A bar that fills with the share of the time that is over, as far as it can be guessed.
pub(super) struct Bar {
    bar: ProgressBar,
    stop: Stop,
    samples: Vec<Sample>,
}

impl Bar {
    /// A bar, if standard error is a terminal.
    pub(super) fn on_terminal(stop: Stop) -> Option<Self> {
        if !stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(Some(FULL), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {msg}") {
            bar.set_style(style);
        }
        Some(Bar { bar, stop, samples: Vec::new() })
    }

    /// Shows one more sample.
    pub(super) fn show(&mut self, sample: &Sample) {
        self.samples.push(sample.clone());
        let gap = match sample.gap {
            Some(gap) => format!("gap {gap:.2e}"),
            None => format!("certificate {:.2e}", sample.certificate),
        };
        let left = match time_left(&self.samples, &self.stop) {
            Some(left) => {
                self.bar.set_position((left.share_done * FULL as f64) as u64);
                format!("  {:.0} s left", left.seconds)
            }
            None => String::new(),
        };
        self.bar.set_message(format!("epoch {:.0}  objective {:.6}  {gap}{left}", sample.epoch, sample.objective));
    }

    /// A line above the bar.
    pub(super) fn line(&self, text: &str) {
        self.bar.println(text);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
