//! Which nodes the kernel has memory on, and which of them this process may use.

use crate::cpulist;
use std::{fs, path::Path, sync::OnceLock};

/// The nodes that the kernel has memory on, ascending, as they were when first asked; node 0 where it does not say,
/// which is a kernel without nodes.
pub fn with_memory() -> &'static [u32] {
    static NODES: OnceLock<Vec<u32>> = OnceLock::new();
    NODES.get_or_init(|| with_memory_below(Path::new("/")))
}

/// [`with_memory`] with the file system seen from `root`, as it is now.
pub fn with_memory_below(root: &Path) -> Vec<u32> {
    let told = fs::read_to_string(root.join("sys/devices/system/node/has_memory")).ok();
    told.and_then(|text| cpulist::parse(&text).ok()).unwrap_or_else(|| vec![0])
}

/// The nodes that the cpuset of this process lets it take memory from, with the file system seen from `root`; `None`
/// if the kernel does not say.
pub fn allowed_below(root: &Path) -> Option<Vec<u32>> {
    let text = fs::read_to_string(root.join("proc/self/status")).ok()?;
    let list = text.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"))?;
    cpulist::parse(list).ok()
}

/// The only node there is, if there is one: then every page lies on it, whatever the policy.
pub(super) fn only() -> Option<u32> {
    match with_memory() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Half a sentence on what there is to choose from.
pub(super) fn usable() -> String {
    let there = format!("nodes with memory: {}", cpulist::format(with_memory()));
    match allowed_below(Path::new("/")) {
        Some(allowed) => format!("{there}; allowed to this process: {}", cpulist::format(&allowed)),
        None => there,
    }
}
