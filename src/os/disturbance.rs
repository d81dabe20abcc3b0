//! What else the machine did meanwhile: time stolen by the hypervisor, involuntary switches, the cpus' frequency. A
//! measurement that was disturbed says so by these.

// getrusage has no safe wrapper.
#![allow(unsafe_code)]

use super::clock::Stopwatch;
use serde::{Deserialize, Serialize};
use std::{fs, mem::MaybeUninit, path::Path};

/// Counts of the kernel at one moment. Two of them make a [`Disturbance`].
#[derive(Clone, Debug)]
pub struct Snapshot {
    clock: Stopwatch,
    switches: Switches,
    stolen_ticks: Option<u64>,
    frequency_mhz: Option<(f64, f64)>,
}

/// How often the threads of this process gave up a cpu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    /// Because they waited.
    pub voluntary: u64,
    /// Because the kernel gave it to somebody else.
    pub involuntary: u64,
}

impl Switches {
    /// Of all threads of this process so far, those that have ended too. About a microsecond.
    pub fn now() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the place has the size of the struct that the kernel writes; RUSAGE_SELF is always accepted.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
        // SAFETY: all fields are integers, zero to begin with, so the struct is valid whatever the call did.
        let usage = unsafe { usage.assume_init() };
        let count = |count: i64| u64::try_from(count).unwrap_or(0);
        Switches { voluntary: count(usage.ru_nvcsw), involuntary: count(usage.ru_nivcsw) }
    }

    /// How many there were after `earlier`.
    pub fn since(self, earlier: Switches) -> Switches {
        Switches {
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

/// What happened between two moments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disturbance {
    /// Seconds between them.
    pub seconds: f64,
    /// Seconds of cpu, all cpus together, that the hypervisor gave to other guests; `None` if /proc/stat does not say.
    pub stolen_s: Option<f64>,
    /// Context switches of this process.
    pub switches: Switches,
    /// Runnable processes averaged over the last minute, at the end; `None` if the kernel does not say.
    pub load_average: Option<f64>,
    /// The lowest frequency of a cpu at either moment, in MHz; `None` where [`Disturbance::frequency_unknown`] says why.
    pub frequency_mhz_min: Option<f64>,
    /// The highest.
    pub frequency_mhz_max: Option<f64>,
    /// Why there is no frequency.
    pub frequency_unknown: Option<String>,
}

impl Snapshot {
    /// Asks. Reading /proc/stat takes some 50 µs on a small machine and milliseconds on a large one.
    pub fn now() -> Self {
        Snapshot::below(Path::new("/"))
    }

    /// [`Snapshot::now`] with the file system seen from `root`, for tests.
    pub fn below(root: &Path) -> Self {
        let stat = fs::read_to_string(root.join("proc/stat")).ok();
        Snapshot {
            clock: Stopwatch::start(),
            switches: Switches::now(),
            stolen_ticks: stat.and_then(|text| stolen(&text)),
            frequency_mhz: frequency_mhz_below(root),
        }
    }

    /// Seconds since it was taken.
    pub fn age_s(&self) -> f64 {
        self.clock.seconds()
    }

    /// What happened from this moment until `later`.
    pub fn until(&self, later: &Snapshot) -> Disturbance {
        let ticks = self.stolen_ticks.zip(later.stolen_ticks).map(|(then, now)| now.saturating_sub(then));
        let either = |of: fn(&(f64, f64)) -> f64, less: fn(f64, f64) -> f64| {
            let both = [self, later].into_iter().filter_map(|at| at.frequency_mhz.as_ref().map(of));
            both.reduce(less)
        };
        let frequency_mhz_min = either(|range| range.0, f64::min);
        Disturbance {
            seconds: (self.clock.seconds() - later.clock.seconds()).max(0.0),
            stolen_s: ticks.map(|ticks| ticks as f64 / ticks_per_second()),
            switches: later.switches.since(self.switches),
            load_average: load_average(),
            frequency_mhz_min,
            frequency_mhz_max: either(|range| range.1, f64::max),
            frequency_unknown: frequency_mhz_min
                .is_none()
                .then(|| "the kernel has no cpufreq (scaling_cur_freq), as in most virtual machines".to_string()),
        }
    }
}

/// The eighth number of the line `cpu` of /proc/stat.
fn stolen(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    line.split_whitespace().nth(7)?.parse().ok()
}

/// Lowest and highest `scaling_cur_freq` of the cpus that state one.
fn frequency_mhz_below(root: &Path) -> Option<(f64, f64)> {
    let cpus = fs::read_dir(root.join("sys/devices/system/cpu")).ok()?;
    let khz = cpus.flatten().filter_map(|cpu| {
        let text = fs::read_to_string(cpu.path().join("cpufreq/scaling_cur_freq")).ok()?;
        text.trim().parse::<f64>().ok()
    });
    khz.map(|khz| (khz / 1e3, khz / 1e3)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn ticks_per_second() -> f64 {
    // SAFETY: takes a number and returns one.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_number_of_the_line_of_all_cpus() {
        let stat = "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(stolen(stat), Some(80));
        assert_eq!(stolen("cpu  1 2 3\n"), None);
        assert_eq!(stolen(""), None);
    }

    #[test]
    fn the_range_of_frequencies_goes_over_all_cpus_and_both_moments() {
        let root = tempfile::tempdir().unwrap();
        let write = |cpu: u32, khz: &str| {
            let folder = root.path().join(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("scaling_cur_freq"), khz).unwrap();
        };
        write(0, "2000000\n");
        write(1, "2500000\n");
        let first = Snapshot::below(root.path());
        write(0, "1500000\n");
        let told = first.until(&Snapshot::below(root.path()));
        assert_eq!((told.frequency_mhz_min, told.frequency_mhz_max), (Some(1500.0), Some(2500.0)));
        assert_eq!(told.frequency_unknown, None);
        assert_eq!(told.stolen_s, None, "the folder has no /proc/stat");
    }

    #[test]
    fn a_frequency_that_is_not_told_has_a_reason() {
        let root = tempfile::tempdir().unwrap();
        let told = Snapshot::below(root.path()).until(&Snapshot::below(root.path()));
        assert!(told.frequency_mhz_min.is_none() && told.frequency_unknown.is_some() && told.seconds >= 0.0);
    }

    #[test]
    fn a_thread_that_sleeps_is_a_voluntary_switch() {
        let before = Switches::now();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(Switches::now().since(before).voluntary > 0);
    }
}
