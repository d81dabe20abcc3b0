//! The probes of this host.

use super::{Instrument, Question, bandwidth, crew::Crew, hand_over, latency, lines, updates};
use crate::os::clock::Stopwatch;

/// Readings of the clock a sample.
const READINGS: u32 = 1000;

/// Asks this host.
#[derive(Debug)]
pub struct Probes {
    clock: Stopwatch,
    crew: Crew,
}

impl Default for Probes {
    fn default() -> Self {
        Probes { clock: Stopwatch::start(), crew: Crew::default() }
    }
}

impl Instrument for Probes {
    fn ask(&mut self, question: &Question, seconds: f64) -> Result<Vec<f64>, String> {
        match question {
            Question::Timer => Ok(timer(seconds)),
            Question::Step => Ok(vec![step()]),
            &Question::Transfer { how, cpus } => lines::transfer(&self.crew, how, cpus, seconds),
            &Question::Latency { cpu, node, bytes, huge } => {
                latency::alone(&self.crew, cpu, bytes, &latency::site(node, huge), seconds)
            }
            Question::Bandwidth { stream, cpus, node, bytes } => {
                bandwidth::together(&self.crew, *stream, cpus, *node, *bytes, seconds)
            }
            Question::Loaded { cpus, pause, latency, bytes } => {
                latency::loaded(&self.crew, cpus, *pause, *latency, *bytes, seconds)
            }
            Question::Contended { meet, cpus } => lines::contended(&self.crew, *meet, cpus, seconds),
            &Question::Distance { cpus, bytes } => lines::distance(&self.crew, cpus, bytes, seconds),
            Question::Update { meet, cpus, percent } => updates::time(&self.crew, *meet, cpus, *percent, seconds),
            Question::Lost { cpus, percent } => updates::lost(&self.crew, cpus, *percent, seconds),
            Question::Barrier { cpus } => hand_over::barrier(&self.crew, cpus, seconds),
            Question::Token { cpus } => hand_over::token(&self.crew, cpus, seconds),
            &Question::Block { cpus } => hand_over::block(&self.crew, cpus, seconds),
        }
    }

    fn seconds(&self) -> f64 {
        self.clock.seconds()
    }

    fn disturbances(&self) -> u64 {
        self.crew.disturbances()
    }
}

/// ns a reading of the clock.
fn timer(seconds: f64) -> Vec<f64> {
    let (all, mut samples) = (Stopwatch::start(), Vec::new());
    while all.seconds() < seconds {
        let clock = Stopwatch::start();
        for _ in 0..READINGS {
            std::hint::black_box(clock.seconds());
        }
        samples.push(1e9 * clock.seconds() / f64::from(READINGS));
    }
    samples
}

/// The smallest step of the clock that is not 0, in ns.
fn step() -> f64 {
    let clock = Stopwatch::start();
    let mut least = f64::INFINITY;
    let mut before = clock.seconds();
    for _ in 0..READINGS {
        let now = clock.seconds();
        if now > before {
            least = least.min(now - before);
        }
        before = now;
    }
    1e9 * least
}
