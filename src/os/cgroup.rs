//! The cpu quota of the control group this process is in, under cgroup v2 and v1.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The quota in cpus (1.5 is 150 ms in every 100), the smallest of the group and those above it; `None` without one.
pub fn quota_cpus() -> Option<f64> {
    quota_cpus_below(Path::new("/"))
}

/// [`quota_cpus`] with the file system seen from `root`, for tests.
pub fn quota_cpus_below(root: &Path) -> Option<f64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let quotas = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        if controllers.is_empty() {
            smallest(&hierarchy(root, &mounts, "cgroup2", None, group)?, quota_v2)
        } else if controllers.split(',').any(|controller| controller == "cpu") {
            smallest(&hierarchy(root, &mounts, "cgroup", Some("cpu"), group)?, quota_v1)
        } else {
            None
        }
    });
    quotas.min_by(f64::total_cmp)
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

fn smallest(folders: &[PathBuf], quota: impl Fn(&Path) -> Option<f64>) -> Option<f64> {
    folders.iter().filter_map(|folder| quota(folder)).min_by(f64::total_cmp)
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
