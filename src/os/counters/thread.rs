//! What the kernel keeps of every thread anyway.

use super::Reading;
use crate::os::host::rusage;
use std::{fs, path::Path};

/// What a thread has used so far: of [two moments](ThreadUsage::since) the difference is what it used between them.
///
/// By `getrusage(RUSAGE_THREAD)`, /proc/thread-self/schedstat (time on a cpu and time ready to run and waiting for
/// one, nanoseconds) and /proc/thread-self/sched (migrations).
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadUsage {
    user_s: f64,
    system_s: f64,
    switches: [i64; 2],
    faults: [i64; 2],
    /// Nanoseconds on a cpu, and waiting for one.
    schedule_ns: Result<[u64; 2], String>,
    migrations: Result<u64, String>,
}

const RUSAGE: &str = "getrusage(RUSAGE_THREAD)";
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";
const SCHED: &str = "/proc/thread-self/sched";

impl ThreadUsage {
    /// Of the calling thread.
    pub fn now() -> Self {
        Self::below(Path::new("/"))
    }

    /// [`now`](Self::now) with the file system seen from `root`, for tests.
    pub fn below(root: &Path) -> Self {
        let usage = rusage(libc::RUSAGE_THREAD);
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        let text = |path: &str, remedy: &str| {
            let place = root.join(path.trim_start_matches('/'));
            fs::read_to_string(place).map_err(|error| format!("{path} cannot be read ({error}): {remedy}"))
        };
        let schedstat = text(SCHEDSTAT, "it takes a kernel with CONFIG_SCHED_INFO and a mounted /proc");
        let sched = text(SCHED, "it takes a kernel with CONFIG_SCHED_DEBUG and a mounted /proc");
        #[allow(clippy::useless_conversion, reason = "the fields are 32 bits wide on some targets")]
        ThreadUsage {
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            switches: [i64::from(usage.ru_nvcsw), i64::from(usage.ru_nivcsw)],
            faults: [i64::from(usage.ru_minflt), i64::from(usage.ru_majflt)],
            schedule_ns: schedstat.and_then(|text| schedule_ns(&text)),
            migrations: sched.and_then(|text| migrations(&text)),
        }
    }

    /// What was used since `begin`, of the same thread: `user_time`, `system_time`, `run_time` and `wait_time`
    /// (ready to run, and another thread had the cpu) in s; `voluntary_switches`, `involuntary_switches`,
    /// `migrations`, `minor_faults` and `major_faults` in events.
    pub fn since(&self, begin: &ThreadUsage) -> Vec<Reading> {
        let used = |name, seconds| Reading::of(name, "s", RUSAGE, Ok(seconds));
        let events = |name, count: i64| Reading::of(name, "events", RUSAGE, Ok(count as f64));
        let time = |name, which| Reading::of(name, "s", SCHEDSTAT, self.schedule_s(begin, which));
        vec![
            used("user_time", self.user_s - begin.user_s),
            used("system_time", self.system_s - begin.system_s),
            time("run_time", 0),
            time("wait_time", 1),
            events("voluntary_switches", self.switches[0] - begin.switches[0]),
            events("involuntary_switches", self.switches[1] - begin.switches[1]),
            Reading::of("migrations", "events", SCHED, self.migrations_since(begin)),
            events("minor_faults", self.faults[0] - begin.faults[0]),
            events("major_faults", self.faults[1] - begin.faults[1]),
        ]
    }

    fn schedule_s(&self, begin: &ThreadUsage, which: usize) -> Result<f64, String> {
        let (begin, end) = (begin.schedule_ns.as_ref(), self.schedule_ns.as_ref());
        let (begin, end) = (begin.map_err(String::clone)?, end.map_err(String::clone)?);
        Ok(end[which].saturating_sub(begin[which]) as f64 * 1e-9)
    }

    fn migrations_since(&self, begin: &ThreadUsage) -> Result<f64, String> {
        let (begin, end) = (begin.migrations.clone()?, self.migrations.clone()?);
        Ok(end.saturating_sub(begin) as f64)
    }
}

/// "369805 100758 2": nanoseconds on a cpu, nanoseconds waiting for one, times that it got one.
fn schedule_ns(text: &str) -> Result<[u64; 2], String> {
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(run)), Some(Ok(wait))) => Ok([run, wait]),
        _ => Err(format!(
            "{SCHEDSTAT} holds {:?}, not the three numbers of Linux: is this another system?",
            text.trim()
        )),
    }
}

/// The line `se.nr_migrations : 12`.
fn migrations(text: &str) -> Result<u64, String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(name, _)| name.trim().ends_with("nr_migrations"));
    let number = found.and_then(|(_, value)| value.trim().parse().ok());
    number.ok_or_else(|| {
        format!("{SCHED} says nothing of migrations: the kernel was built without SMP or schedstats")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_busy_loop_uses_time_and_fresh_pages_fault() {
        let begin = ThreadUsage::now();
        let fresh: Vec<u8> = vec![1; 64 << 20];
        black_box(&fresh);
        let readings = ThreadUsage::now().since(&begin);
        let of = |name| readings.iter().find(|reading| reading.name == name).expect("there").value;
        assert!(of("user_time").expect("always") + of("system_time").expect("always") > 0.0);
        assert!(of("minor_faults").expect("always") + of("major_faults").expect("always") >= 1.0);
        for reading in &readings {
            assert!(reading.value.is_some() != reading.reason.is_some(), "{reading:?}");
            assert!(reading.value.is_none_or(|value| value >= -1e-9), "{reading:?}");
        }
    }

    #[test]
    fn the_wait_for_a_cpu_and_migrations_are_read_and_subtracted() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("proc/thread-self");
        fs::create_dir_all(&folder).expect("made");
        let write = |schedstat: &str, sched: &str| {
            fs::write(folder.join("schedstat"), schedstat).expect("written");
            fs::write(folder.join("sched"), sched).expect("written");
            ThreadUsage::below(root.path())
        };
        let begin = write("1000000000 500000000 12\n", "x (7, #threads: 1)\n---\nse.nr_migrations   :    3\n");
        let end = write("3500000000 750000000 20\n", "x (7, #threads: 1)\n---\nse.nr_migrations   :    10\n");
        let readings = end.since(&begin);
        let of = |name| readings.iter().find(|reading| reading.name == name).expect("there").value;
        assert_eq!((of("run_time"), of("wait_time"), of("migrations")), (Some(2.5), Some(0.25), Some(7.0)));
    }

    #[test]
    fn a_missing_or_foreign_file_is_a_reason_and_leaves_the_rest() {
        let root = tempfile::tempdir().expect("a folder");
        let usage = ThreadUsage::below(root.path());
        let readings = usage.since(&usage);
        let missing: Vec<_> = readings.iter().filter(|reading| reading.value.is_none()).collect();
        assert_eq!(
            missing.iter().map(|reading| reading.name).collect::<Vec<_>>(),
            ["run_time", "wait_time", "migrations"]
        );
        assert!(missing.iter().all(|reading| reading.reason.as_ref().expect("said").contains("CONFIG_")));
        assert!(schedule_ns("what").is_err() && schedule_ns("").is_err() && migrations("none").is_err());
    }
}
