//! Asking all questions of a survey, pass after pass, within its seconds.

use super::{Item, Survey, gather};
use crate::{
    machine::{Noise, PriceList},
    os::{disturbance::Disturbance, host::Host},
};

/// What a question came to in one pass, in the units of its fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Samples of the figure that the question is about.
    pub main: Vec<f64>,
    /// Samples of a second figure, where there is one: the bandwidth beside a loaded latency, the share of lost updates,
    /// the read beside a write for α, the step of the clock.
    pub side: Vec<f64>,
}

/// What answers questions: this host, or a fake in tests.
pub trait Instrument {
    /// Seconds since it was made.
    fn seconds(&mut self) -> f64;
    /// Answers one question, in about [`Item::seconds`].
    ///
    /// # Errors
    /// Why there is no answer, as half a sentence.
    fn ask(&mut self, item: &Item) -> Result<Answer, String>;
    /// Whether the last question was disturbed.
    fn disturbed(&mut self) -> bool;
    /// What the machine is, the time of day, and what disturbed all that was asked.
    fn conditions(&mut self) -> (Host, f64, Disturbance);
}

/// Who is told how far it has come.
pub trait Progress {
    /// A question is about to be asked and this share of the time is over; false stops with what there is.
    fn at(&mut self, share: f64, item: &Item) -> bool;
}

/// Nobody.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn at(&mut self, _share: f64, _item: &Item) -> bool {
        true
    }
}

/// Refusals after which a question is asked no more.
const REFUSALS_MAX: u32 = 2;

/// What became of one question.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) passes: Vec<Answer>,
    refusals: u32,
    pub(super) reason: Option<String>,
}

struct Asking<'a> {
    survey: &'a Survey,
    instrument: &'a mut dyn Instrument,
    progress: &'a mut dyn Progress,
    found: Vec<Found>,
    noise: Noise,
    stopped: bool,
}

/// Asks the survey's questions of `instrument`, all of them in each pass, and makes the price list of the answers. A question
/// is not begun if its expected time would go beyond the survey's seconds.
pub fn measure(survey: &Survey, instrument: &mut dyn Instrument, progress: &mut dyn Progress) -> PriceList {
    let found = vec![Found::default(); survey.items.len()];
    let mut asking = Asking { survey, instrument, progress, found, noise: Noise::default(), stopped: false };
    let pass_s: f64 = survey.items.iter().map(Item::seconds).sum();
    for pass in 0..survey.passes {
        let disturbed = asking.pass();
        let kept_s = pass_s * f64::from(survey.passes - 1 - pass);
        asking.again(&disturbed, survey.budget_s - kept_s);
    }
    let Asking { instrument, found, noise, .. } = asking;
    let seconds = instrument.seconds();
    gather::price_list(survey, &found, noise, seconds, instrument.conditions())
}

impl Asking<'_> {
    /// Asks everything once; returns what was disturbed.
    fn pass(&mut self) -> Vec<usize> {
        let mut disturbed = Vec::new();
        for place in 0..self.survey.items.len() {
            if self.found[place].refusals >= REFUSALS_MAX {
                continue;
            }
            let Some(answer) = self.ask(place, self.survey.budget_s) else { continue };
            if self.instrument.disturbed() {
                self.noise.disturbed += 1;
                disturbed.push(place);
            }
            self.found[place].passes.push(answer);
        }
        disturbed
    }

    /// Asks those once more that were disturbed, until `until_s`, and puts the new answer in place of the old one.
    fn again(&mut self, disturbed: &[usize], until_s: f64) {
        for &place in disturbed {
            if let Some(answer) = self.ask(place, until_s) {
                self.noise.retried += 1;
                self.found[place].passes.pop();
                self.found[place].passes.push(answer);
            }
        }
    }

    /// One question, if there is time for it.
    fn ask(&mut self, place: usize, until_s: f64) -> Option<Answer> {
        let item = &self.survey.items[place];
        let now = self.instrument.seconds();
        if !self.stopped {
            let share = if self.survey.budget_s > 0.0 { (now / self.survey.budget_s).min(1.0) } else { 1.0 };
            self.stopped = !self.progress.at(share, item);
        }
        let found = &mut self.found[place];
        if self.stopped || now + item.seconds() > until_s {
            self.noise.skipped += 1;
            let reason =
                if self.stopped { "interrupted before it was asked" } else { "the time was used up before" };
            found.reason.get_or_insert_with(|| reason.into());
            return None;
        }
        self.noise.asked += 1;
        match self.instrument.ask(item) {
            Ok(answer) => Some(answer),
            Err(reason) => {
                found.refusals += 1;
                found.reason = Some(reason);
                None
            }
        }
    }
}
