//! What a refused event means, and what to do about it.

use std::{fs, io, path::Path};

/// What of the system decides whether an event can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grounds {
    /// kernel.perf_event_paranoid: up to 2 a user may count his threads in user mode, at 3 and above (of distributions'
    /// kernels) nothing.
    pub(super) paranoid: Option<i32>,
    /// Whether the kernel has a driver for the cpu's performance monitoring unit.
    pub(super) has_pmu: bool,
}

/// The highest kernel.perf_event_paranoid at which a user may count his threads in user mode.
const USER_MODE: i32 = 2;

impl Grounds {
    /// As the file system seen from `root` says.
    pub(super) fn below(root: &Path) -> Self {
        let paranoid = fs::read_to_string(root.join("proc/sys/kernel/perf_event_paranoid"));
        let devices = fs::read_dir(root.join("sys/bus/event_source/devices"));
        // "cpu" on x86, POWER and s390 ("cpum_cf"), "cpu_core" and "cpu_atom" on hybrids, "armv8_pmuv3_0" on Arm.
        let is_cpu = |name: &str| name.starts_with("cpu") || name.starts_with("armv");
        let mut names = devices.into_iter().flatten().flatten().map(|entry| entry.file_name());
        Grounds {
            paranoid: paranoid.ok().and_then(|text| text.trim().parse().ok()),
            has_pmu: names.any(|name| is_cpu(&name.to_string_lossy())),
        }
    }

    /// Why `perf_event_open` failed with `error` for an event of the cpu in user mode.
    pub(super) fn reason(self, error: &io::Error) -> String {
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) if !self.has_pmu => {
                "this kernel sees no performance monitoring unit of the cpu, as in most virtual machines: have the \
                 host expose one (a vPMU), or count on bare metal"
                    .into()
            }
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
                "the driver of this cpu's performance monitoring unit has no such event: take another counter, or \
                 a newer kernel"
                    .into()
            }
            Some(libc::EACCES | libc::EPERM) => self.forbidden(),
            Some(libc::ENOSYS) => {
                "this kernel or its container has no perf_event_open: allow that call in the container's seccomp \
                 profile, or take a kernel with CONFIG_PERF_EVENTS"
                    .into()
            }
            Some(libc::EINVAL) => "the kernel calls this event invalid on this cpu: take another counter".into(),
            Some(libc::EMFILE | libc::ENFILE) => {
                "no file descriptor is left for this counter: raise `ulimit -n`, or count fewer events".into()
            }
            Some(libc::EBUSY) => {
                "another program holds the cpu's counters for itself: end it (perf, for one)".into()
            }
            _ => format!("perf_event_open failed: {error}"),
        }
    }

    fn forbidden(self) -> String {
        match self.paranoid {
            Some(level) if level <= USER_MODE => format!(
                "refused though kernel.perf_event_paranoid = {level} allows it, so by a container or security \
                 module: allow perf_event_open in its seccomp profile (docker: --cap-add PERFMON)"
            ),
            level => format!(
                "kernel.perf_event_paranoid {}: `sysctl kernel.perf_event_paranoid={USER_MODE}`, or give the program \
                 CAP_PERFMON",
                level.map_or("forbids it".into(), |level| format!("= {level} forbids it"))
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(grounds: Grounds, errno: i32) -> String {
        grounds.reason(&io::Error::from_raw_os_error(errno))
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        let bare = Grounds { paranoid: Some(4), has_pmu: true };
        let guest = Grounds { paranoid: Some(2), has_pmu: false };
        assert!(reason(guest, libc::ENOENT).contains("virtual machines"));
        assert!(reason(bare, libc::ENOENT).contains("no such event"));
        assert!(reason(bare, libc::EACCES).contains("kernel.perf_event_paranoid = 4 forbids it"));
        assert!(reason(bare, libc::EACCES).contains("perf_event_paranoid=2"));
        assert!(reason(guest, libc::EPERM).contains("seccomp"));
        assert!(reason(bare, libc::ENOSYS).contains("seccomp"));
        assert!(reason(bare, libc::EINVAL).contains("invalid"));
        assert!(reason(bare, libc::EMFILE).contains("ulimit -n"));
        assert!(reason(bare, libc::EIO).contains("perf_event_open failed"));
        let unsaid = Grounds { paranoid: None, has_pmu: true };
        assert!(reason(unsaid, libc::EACCES).starts_with("kernel.perf_event_paranoid forbids it"));
    }

    #[test]
    fn the_unit_and_the_level_are_found_in_the_file_system() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(Grounds::below(root.path()), Grounds { paranoid: None, has_pmu: false });
        let devices = root.path().join("sys/bus/event_source/devices");
        fs::create_dir_all(devices.join("software")).expect("made");
        fs::create_dir_all(root.path().join("proc/sys/kernel")).expect("made");
        fs::write(root.path().join("proc/sys/kernel/perf_event_paranoid"), "-1\n").expect("written");
        assert_eq!(Grounds::below(root.path()), Grounds { paranoid: Some(-1), has_pmu: false });
        fs::create_dir(devices.join("armv8_pmuv3_0")).expect("made");
        assert!(Grounds::below(root.path()).has_pmu);
    }
}
