//! The instrument of this host.

use super::{
    Answer, Instrument, Item, Question, Sizes, alpha, bandwidth, contended, handover, latency, loaded, pool::Pool,
    sharing, timer, transfer, update, window::Reading,
};
use crate::os::{
    clock::{self, Stopwatch},
    disturbance::{Disturbance, Snapshot, Switches},
    host::Host,
};
use crate::topology::Topology;

/// Involuntary switches of a question that say nothing: so many, and so many more a second of each worker.
const SWITCHES_FREE: f64 = 2.0;
const SWITCHES_PER_S: f64 = 10.0;
/// Stolen time above this share of a cpu's is a disturbance.
const STOLEN_SHARE_MAX: f64 = 0.05;
/// How often /proc/stat is read: it counts in hundredths of a second, and takes milliseconds on large machines.
const LOOK_S: f64 = 0.1;

/// Probes on the cpus and in the memory of this host. It keeps the arrays that it has filled for as long as it lives.
pub struct HostInstrument {
    clock: Stopwatch,
    reading: Reading,
    cache: u64,
    pool: Pool,
    begin: Snapshot,
    looked: Snapshot,
    disturbed: bool,
}

impl HostInstrument {
    /// For the topology of this host. Its clock begins to run.
    pub fn new(topology: &Topology) -> Self {
        let clock = Stopwatch::start();
        let begin = Snapshot::now();
        HostInstrument {
            clock,
            reading: Reading(timer::reading_s()),
            cache: Sizes::cache_bytes(topology),
            pool: Pool::default(),
            looked: begin.clone(),
            begin,
            disturbed: false,
        }
    }

    fn answer(&mut self, item: &Item) -> Result<Answer, String> {
        let (pool, reading) = (&mut self.pool, self.reading);
        match item.question {
            Question::Timer => timer::ask(item),
            Question::Transfer(of) => transfer::ask(of, item, reading),
            Question::WorkingSet(of, bytes) => latency::of_set(of, (bytes, self.cache), item, pool, reading),
            Question::NodeLatency { of, memory, .. } => latency::of_node(of, memory, item, pool, reading),
            Question::NodeStream { of, memory, .. } => {
                bandwidth::ask(of.stream, (of.bytes, memory), item, pool, reading)
            }
            Question::Threads(of, bytes) => bandwidth::ask(of.stream, (bytes, of.node), item, pool, reading),
            Question::Loaded { of, spins, bytes } => loaded::ask((of, spins), bytes, item, pool, reading),
            Question::Contended(of) => contended::ask(of, item, reading),
            Question::FalseSharing(_, bytes) => sharing::ask(bytes, item, reading),
            Question::Update(of) => update::ask(of, item, reading),
            Question::Handover(of) => handover::ask(of, item, reading),
            Question::Alpha(_) => alpha::ask(item, reading),
        }
    }

    /// Whether time was stolen since /proc/stat was last read; false while that is a moment ago.
    fn stolen(&mut self, workers: f64) -> bool {
        if self.looked.age_s() < LOOK_S {
            return false;
        }
        let now = Snapshot::now();
        let meanwhile = self.looked.until(&now);
        self.looked = now;
        meanwhile.stolen_s.is_some_and(|stolen_s| stolen_s > STOLEN_SHARE_MAX * workers * meanwhile.seconds)
    }
}

impl Instrument for HostInstrument {
    fn seconds(&mut self) -> f64 {
        self.clock.seconds()
    }

    fn ask(&mut self, item: &Item) -> Result<Answer, String> {
        let (switches, clock, workers) = (Switches::now(), Stopwatch::start(), item.cpus.len() as f64);
        let answer = self.answer(item);
        let involuntary = Switches::now().since(switches).involuntary as f64;
        let crowded = involuntary > SWITCHES_FREE + SWITCHES_PER_S * workers * clock.seconds();
        self.disturbed = self.stolen(workers) || crowded;
        answer
    }

    fn disturbed(&mut self) -> bool {
        self.disturbed
    }

    fn conditions(&mut self) -> (Host, f64, Disturbance) {
        (Host::now(), clock::unix_seconds(), self.begin.until(&Snapshot::now()))
    }
}
