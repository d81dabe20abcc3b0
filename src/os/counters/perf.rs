//! Events of the calling thread, by `perf_event_open`.
//!
//! What the kernel itself counts (switches, migrations, faults) is not asked for here, though it could be: it keeps those of
//! every thread anyway ([`ThreadUsage`](super::ThreadUsage)), while the first event of a thread to be opened, and the last
//! to be closed, make it rewrite its own scheduler's code and interrupt every cpu for that. Where there is no unit that
//! counts for the cpu nothing is opened.

use super::{
    Reading,
    encoding::Cpu,
    event::{Event, Request},
    refusal::Grounds,
};
use perf_event::{Builder, Counter, CounterData};
use std::{fs, io, path::Path, time::Duration};

/// Counters of the thread that opened them, in user mode.
///
/// The thread itself opens, starts and stops them; threads that it starts are not counted. An event that cannot be
/// opened has a reason instead, and the others count all the same.
///
/// A core has four to eight counters, some fewer for certain events. With more events than that the kernel gives
/// each a counter in turns, and readings are scaled up by the time that each had one ([`Reading::scaled`]). For
/// exact counts open [few](Counters::of).
#[derive(Debug)]
pub struct Counters {
    opened: Vec<Opened>,
}

#[derive(Debug)]
struct Opened {
    event: Event,
    by: String,
    counter: Result<(Counter, Option<Tally>), String>,
}

/// What a counter says at one moment: it keeps counting up over starts and stops.
#[derive(Clone, Copy, Debug)]
struct Tally {
    count: u64,
    enabled: Duration,
    running: Duration,
}

impl Tally {
    fn read(counter: &mut Counter) -> io::Result<Self> {
        let data: CounterData = counter.read_full()?;
        Ok(Tally {
            count: data.count(),
            enabled: data.time_enabled().unwrap_or_default(),
            running: data.time_running().unwrap_or_default(),
        })
    }

    /// The count since `begin` for the whole time, and the share of the time that was counted.
    fn since(self, begin: Tally) -> Result<(f64, f64), String> {
        let count = self.count.saturating_sub(begin.count) as f64;
        let enabled = self.enabled.saturating_sub(begin.enabled).as_secs_f64();
        let running = self.running.saturating_sub(begin.running).as_secs_f64();
        if running > 0.0 && running < enabled {
            Ok((count * enabled / running, running / enabled))
        } else if running > 0.0 || enabled == 0.0 {
            Ok((count, 1.0))
        } else {
            Err("it never had a counter of the cpu, others held them all the time: count fewer events, or end \
                 what else counts (perf; the kernel.nmi_watchdog holds one)"
                .into())
        }
    }
}

impl Counters {
    /// Opens all events, stopped.
    pub fn open() -> Self {
        Self::of(&Event::ALL)
    }

    /// Opens these events, stopped. Never fails: see [`Reading::reason`].
    pub fn of(events: &[Event]) -> Self {
        Self::below(Path::new("/"), events)
    }

    /// [`of`](Self::of), with what the file system says of the cpu and of permissions seen from `root`, for tests.
    pub fn below(root: &Path, events: &[Event]) -> Self {
        let cpu = Cpu::from_cpuinfo(&fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default());
        let grounds = Grounds::below(root);
        let opened = events.iter().map(|&event| opened(event, &cpu, grounds)).collect();
        Counters { opened }
    }

    /// Starts them, one right after the other.
    pub fn start(&mut self) {
        for opened in &mut self.opened {
            let begun = |(counter, begin): &mut (Counter, Option<Tally>)| {
                *begin = Some(Tally::read(counter)?);
                counter.enable()
            };
            if let Ok(Err(error)) = opened.counter.as_mut().map(begun) {
                opened.counter = Err(format!("it was opened, and could not be started: {error}"));
            }
        }
    }

    /// Stops them, and gives the readings since the last start, in the order of the events.
    pub fn stop(&mut self) -> Vec<Reading> {
        for (counter, _) in self.opened.iter_mut().filter_map(|opened| opened.counter.as_mut().ok()) {
            // One that goes on counting is read all the same.
            let _ = counter.disable();
        }
        self.opened.iter_mut().map(Opened::reading).collect()
    }
}

fn opened(event: Event, cpu: &Cpu, grounds: Grounds) -> Opened {
    let request = match event.request(cpu) {
        Ok(request) => request,
        Err(reason) => return Opened { event, by: "perf event".into(), counter: Err(reason) },
    };
    let by = event.by(&request);
    let mut builder = match request {
        Request::Hardware(event) => Builder::new(event),
        Request::Cache(event) => Builder::new(event),
        Request::Raw(encoding) => Builder::new(perf_event::events::Raw::new(encoding.config)),
    };
    builder.exclude_kernel(true);
    let counter = builder.build();
    let refused = |error| grounds.reason(&error);
    Opened { event, by, counter: counter.map(|counter| (counter, None)).map_err(refused) }
}

impl Opened {
    fn reading(&mut self) -> Reading {
        let counted = match &mut self.counter {
            Ok((_, None)) => Err("it was not started".into()),
            Ok((counter, Some(begin))) => Tally::read(counter)
                .map_err(|error| format!("it counted, and could not be read: {error}"))
                .and_then(|end| end.since(*begin)),
            Err(reason) => Err(reason.clone()),
        };
        let scaled = counted.as_ref().ok().map(|&(_, share)| share);
        let value = counted.map(|(count, _)| count);
        Reading { scaled, ..Reading::of(self.event.name(), "events", self.by.as_str(), value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn value(readings: &[Reading], event: Event) -> Option<f64> {
        readings.iter().find(|reading| reading.name == event.name()).expect("asked for").value
    }

    #[test]
    fn every_event_has_a_value_or_a_reason_and_never_both() {
        let mut counters = Counters::open();
        counters.start();
        let mut sum = 0u64;
        for i in 0..1_000_000u64 {
            sum = black_box(sum.wrapping_add(i));
        }
        let readings = counters.stop();
        assert_eq!(readings.len(), Event::ALL.len());
        for reading in &readings {
            assert!(reading.value.is_some() != reading.reason.is_some(), "{reading:?}");
            assert!(!reading.by.is_empty() && reading.reason.as_ref().is_none_or(|reason| reason.len() > 20));
            assert!(reading.scaled.is_none_or(|share| reading.value.is_some() && share > 0.0 && share <= 1.0));
        }
        // A loop of a million turns retires at least as many instructions, where they are counted.
        assert!(value(&readings, Event::Instructions).is_none_or(|instructions| instructions > 1e6));
    }

    /// An event of the kernel alone would be opened there, and closing it rewrites code under all cpus: in an emulated guest
    /// some of them then ran into the old code for ever.
    #[test]
    fn nothing_is_opened_where_the_cpu_has_no_unit_that_counts() {
        if Grounds::below(Path::new("/")).has_pmu {
            return eprintln!("skipped: this cpu has a unit that counts");
        }
        let opened = Counters::open().opened;
        assert!(opened.iter().all(|opened| opened.counter.is_err()), "{opened:?}");
    }

    #[test]
    fn each_start_counts_anew_and_what_was_not_started_says_so() {
        let mut counters = Counters::of(&[Event::Instructions]);
        if let Err(reason) = &counters.opened[0].counter {
            return eprintln!("skipped: instructions are not counted here, for {reason}");
        }
        assert_eq!(counters.stop()[0].reason.as_deref(), Some("it was not started"));
        let busy = |turns: u64| (0..turns).fold(0u64, |sum, i| black_box(sum ^ i));
        counters.start();
        black_box(busy(30_000_000));
        let long = counters.stop()[0].value.expect("opened");
        counters.start();
        let short = counters.stop()[0].value.expect("opened");
        // The second counts next to nothing: were it added to the first, it would be more.
        assert!(3e7 <= long && 0.0 <= short && short < long, "{short} {long}");
    }

    #[test]
    fn a_count_is_scaled_to_the_time_that_it_missed() {
        let at = |count, enabled, running| Tally {
            count,
            enabled: Duration::from_millis(enabled),
            running: Duration::from_millis(running),
        };
        assert_eq!(at(150, 50, 20).since(at(50, 10, 10)), Ok((400.0, 0.25)));
        assert_eq!(at(150, 50, 50).since(at(50, 10, 10)), Ok((100.0, 1.0)));
        assert_eq!(at(50, 10, 10).since(at(50, 10, 10)), Ok((0.0, 1.0)));
        assert!(at(50, 30, 10).since(at(50, 10, 10)).expect_err("never ran").contains("fewer events"));
    }
}
