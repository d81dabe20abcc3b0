//! What the control group this process is in lets it have: cpu and memory, under cgroup v2 and v1.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A generation of the interface; on some systems controllers are divided between both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

/// The quota in cpus (1.5 is 150 ms in every 100), the smallest of the group and those above it; `None` without one.
pub fn quota_cpus() -> Option<f64> {
    quota_cpus_below(Path::new("/"))
}

/// [`quota_cpus`] with the file system seen from `root`, for tests.
pub fn quota_cpus_below(root: &Path) -> Option<f64> {
    let quotas = folders(root, "cpu").into_iter().filter_map(|(version, folder)| match version {
        Version::V1 => quota_v1(&folder),
        Version::V2 => quota_v2(&folder),
    });
    quotas.min_by(f64::total_cmp)
}

/// What a control group leaves of its limit on memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLeft {
    /// Bytes that may still be taken: the limit less what is used, and what the kernel can take back from files.
    pub bytes: u64,
    /// The limit, in bytes.
    pub limit_bytes: u64,
    /// The file that sets it.
    pub file: PathBuf,
}

/// The least that the group and those above it leave, with the file system seen from `root`; `None` without a limit.
///
/// Pages of files count half where they are in use, as the kernel gives those up last.
pub fn memory_left_below(root: &Path) -> Option<MemoryLeft> {
    let left = folders(root, "memory").into_iter().flat_map(|(version, folder)| match version {
        Version::V1 => vec![memory_v1(&folder)],
        Version::V2 => vec![memory_v2(&folder, "memory.max"), memory_v2(&folder, "memory.high")],
    });
    left.flatten().min_by_key(|left| left.bytes)
}

/// The folders of all groups that limit this process in what `controller` controls: its own and those above it.
fn folders(root: &Path, controller: &str) -> Vec<(Version, PathBuf)> {
    let read = |path| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (groups, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let of_group = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let (version, folders) = if controllers.is_empty() {
            (Version::V2, hierarchy(root, &mounts, "cgroup2", None, group)?)
        } else if controllers.split(',').any(|one| one == controller) {
            (Version::V1, hierarchy(root, &mounts, "cgroup", Some(controller), group)?)
        } else {
            return None;
        };
        Some(folders.into_iter().map(move |folder| (version, folder)))
    };
    groups.lines().filter_map(of_group).flatten().collect()
}

/// The folders from the hierarchy's mount point down to the group's.
fn hierarchy(root: &Path, mounts: &str, kind: &str, option: Option<&str>, group: &str) -> Option<Vec<PathBuf>> {
    let (mount_root, mount_point) = mounts.lines().find_map(|line| {
        // "31 23 0:28 ROOT POINT options … - type source superoptions"
        let (front, back) = line.split_once(" - ")?;
        let mut back = back.split(' ');
        let (this, superoptions) = (back.next()?, back.nth(1)?);
        let has = option.is_none_or(|option| superoptions.split(',').any(|one| one == option));
        let mut front = front.split(' ').skip(3);
        (this == kind && has).then_some((front.next()?, front.next()?))
    })?;
    let top = root.join(mount_point.trim_start_matches('/'));
    // In a container the mount shows the group itself as its root.
    let below = group.strip_prefix(mount_root).unwrap_or(group);
    let mut folders = vec![top];
    for part in below.split('/').filter(|part| !part.is_empty()) {
        let next = folders.last()?.join(part);
        folders.push(next);
    }
    Some(folders)
}

/// `cpu.max`: "max 100000" or "150000 100000", microseconds in a period of microseconds.
fn quota_v2(folder: &Path) -> Option<f64> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let mut fields = text.split_whitespace();
    ratio(fields.next()?, fields.next()?)
}

/// `cpu.cfs_quota_us` is -1 without a quota.
fn quota_v1(folder: &Path) -> Option<f64> {
    let read = |name| fs::read_to_string(folder.join(name)).ok();
    ratio(read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim())
}

fn ratio(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// `memory.max` kills and `memory.high` stalls what goes beyond; either says "max" without a limit.
fn memory_v2(folder: &Path, limit: &str) -> Option<MemoryLeft> {
    memory(folder, limit, "memory.current", ["inactive_file", "active_file"])
}

/// `memory.limit_in_bytes` is 2^63 rounded down to a page without a limit.
fn memory_v1(folder: &Path) -> Option<MemoryLeft> {
    let files = ["total_inactive_file", "total_active_file"];
    memory(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", files)
}

fn memory(folder: &Path, limit: &str, used: &str, [idle, active]: [&str; 2]) -> Option<MemoryLeft> {
    let read = |name| fs::read_to_string(folder.join(name)).ok();
    let number = |name| read(name)?.trim().parse::<u64>().ok();
    let limit_bytes = number(limit).filter(|&bytes| bytes < 1 << 62)?;
    let used = number(used)?;
    let stat = read("memory.stat").unwrap_or_default();
    let of =
        |key: &str| stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok());
    let reclaimable = of(idle).unwrap_or(0u64).saturating_add(of(active).unwrap_or(0u64) / 2).min(used);
    let bytes = limit_bytes.saturating_sub(used - reclaimable);
    Some(MemoryLeft { bytes, limit_bytes, file: folder.join(limit) })
}
