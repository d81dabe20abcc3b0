//! What else the machine did meanwhile: time stolen by the hypervisor, involuntary switches, the cpus' frequency. A
//! measurement that was disturbed says so by these.

use super::{clock::Stopwatch, counters::stolen_s, host::rusage};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

/// Counts of the kernel at one moment. Two of them make a [`Disturbance`].
#[derive(Clone, Debug)]
pub struct Snapshot {
    clock: Stopwatch,
    switches: Switches,
    stolen_s: Option<f64>,
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
        let usage = rusage(libc::RUSAGE_SELF);
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
        Snapshot {
            clock: Stopwatch::start(),
            switches: Switches::now(),
            stolen_s: stolen_s(root).ok(),
            frequency_mhz: frequency_mhz_below(root),
        }
    }

    /// Seconds since it was taken.
    pub fn age_s(&self) -> f64 {
        self.clock.seconds()
    }

    /// What happened from this moment until `later`.
    pub fn until(&self, later: &Snapshot) -> Disturbance {
        let either = |of: fn(&(f64, f64)) -> f64, less: fn(f64, f64) -> f64| {
            let both = [self, later].into_iter().filter_map(|at| at.frequency_mhz.as_ref().map(of));
            both.reduce(less)
        };
        let frequency_mhz_min = either(|range| range.0, f64::min);
        Disturbance {
            seconds: (self.clock.seconds() - later.clock.seconds()).max(0.0),
            stolen_s: self.stolen_s.zip(later.stolen_s).map(|(then, now)| (now - then).max(0.0)),
            switches: later.switches.since(self.switches),
            frequency_mhz_min,
            frequency_mhz_max: either(|range| range.1, f64::max),
            frequency_unknown: frequency_mhz_min
                .is_none()
                .then(|| "the kernel has no cpufreq (scaling_cur_freq), as in most virtual machines".to_string()),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
