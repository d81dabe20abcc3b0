//! What the head and the foot of a record say of the host and of this process.

// getrusage has no safe wrapper.
#![allow(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fs, mem::MaybeUninit, path::Path};

/// The machine and the program, as they were when asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Its name on the network.
    pub hostname: Option<String>,
    /// Kernel and release, such as `Linux 6.1.0-18-amd64`.
    pub kernel: Option<String>,
    /// The processor's name.
    pub processor: Option<String>,
    /// Runnable processes, averaged over the last minute.
    pub load_average: Option<f64>,
    /// The commit that the program was built from, if it was built in a checkout; changes not committed are not seen.
    pub commit: Option<Cow<'static, str>>,
}

impl Host {
    /// Asks. What the system does not say is `None`.
    pub fn now() -> Self {
        let line = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_string());
        let kernel = line("/proc/sys/kernel/ostype").zip(line("/proc/sys/kernel/osrelease"));
        Host {
            hostname: line("/proc/sys/kernel/hostname"),
            kernel: kernel.map(|(name, release)| format!("{name} {release}")),
            processor: fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| processor(&text)),
            load_average: line("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            commit: option_env!("FARROW_COMMIT").map(Cow::Borrowed),
        }
    }
}

/// The first `model name` (x86) or `cpu` (POWER) of /proc/cpuinfo.
fn processor(cpuinfo: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "cpu").then(|| value.trim().to_string())
    })
}

/// What this process has used so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Usage {
    /// Resident memory at its peak, in bytes.
    pub peak_resident_bytes: u64,
    /// Seconds of cpu in the program, all threads.
    pub user_s: f64,
    /// Seconds of cpu in the kernel, all threads.
    pub system_s: f64,
}

impl Usage {
    /// Asks.
    pub fn now() -> Self {
        let usage = rusage(libc::RUSAGE_SELF);
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        Usage {
            // Linux counts KiB.
            peak_resident_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
        }
    }
}

/// What the process, or the calling thread, has used so far.
pub(super) fn rusage(whose: libc::c_int) -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place has the size of the struct that the kernel writes; what it does not know it refuses.
    unsafe { libc::getrusage(whose, usage.as_mut_ptr()) };
    // SAFETY: all fields are integers, zero to begin with, so the struct is valid whatever the call did.
    unsafe { usage.assume_init() }
}

/// Bytes of memory that the machine has to give without swapping, as the kernel reckons, with the file system seen from
/// `root`; `None` if it does not say. What this process may take of it is
/// [`capacity::memory_allowed`](super::capacity::memory_allowed).
pub fn memory_available_bytes_below(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Whether the kernel moves pages between nodes on its own, to the threads that use them: pages of arrays without a home
/// then stay nowhere.
pub fn balancing() -> bool {
    balancing_below(Path::new("/"))
}

/// [`balancing`] with the file system seen from `root`, for tests.
pub fn balancing_below(root: &Path) -> bool {
    // 1 is between nodes, 2 between tiers of memory, 0 is off; a kernel without nodes has no such file.
    let told = fs::read_to_string(root.join("proc/sys/kernel/numa_balancing"));
    told.is_ok_and(|text| text.trim() != "0")
}

/// Bytes of address space that this process may still map, if that is limited (`ulimit -v`).
pub fn address_space_left_bytes() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one struct of this type to a place of ours.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    if status != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    // "12345 678 …": pages mapped, pages resident.
    let pages: u64 = fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    // SAFETY: takes a number and returns one.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    Some(limit.rlim_cur.saturating_sub(pages * page_bytes))
}
