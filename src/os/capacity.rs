//! How much memory may still be taken, and what says so.

use super::{cgroup, host, memory::nodes};
use crate::cpulist;
use serde::Serialize;
use std::{fs, path::Path};

/// Memory that may still be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capacity {
    /// Bytes.
    pub bytes: u64,
    /// What sets the bound, to be read after "limited by".
    pub limited_by: String,
}

/// What this process may still take without swapping or being killed: the least of what the machine has available, what
/// the nodes have that its cpuset allows, what its control groups leave, and what its address space does if that is limited. `None` if the kernel tells none of them.
pub fn memory_allowed() -> Option<Capacity> {
    let address_space = host::address_space_left_bytes()
        .map(|bytes| Capacity { bytes, limited_by: "the limit of the address space (ulimit -v)".to_string() });
    let bounds = [memory_allowed_below(Path::new("/")), address_space];
    bounds.into_iter().flatten().min_by_key(|capacity| capacity.bytes)
}

/// [`memory_allowed`] with the file system seen from `root`, for tests.
pub fn memory_allowed_below(root: &Path) -> Option<Capacity> {
    let bounds = [machine(root), cpuset(root), control_groups(root)];
    bounds.into_iter().flatten().min_by_key(|capacity| capacity.bytes)
}

fn machine(root: &Path) -> Option<Capacity> {
    let bytes = host::memory_available_bytes_below(root)?;
    Some(Capacity {
        bytes,
        limited_by: "the machine's available memory (MemAvailable in /proc/meminfo)".to_string(),
    })
}

/// The nodes of the cpuset, if it leaves any out: for all of them, the machine's figure is the better one.
fn cpuset(root: &Path) -> Option<Capacity> {
    let allowed = nodes::allowed_below(root)?;
    let there = nodes::with_memory_below(root);
    if there.iter().all(|node| allowed.contains(node)) {
        return None;
    }
    let usable: Vec<u32> = there.into_iter().filter(|node| allowed.contains(node)).collect();
    let each = usable.iter().map(|&node| node_available_below(root, node));
    let bytes = each.sum::<Option<u64>>()?;
    let limited_by = format!("what is free on nodes {}, which the cpuset allows", cpulist::format(&usable));
    Some(Capacity { bytes, limited_by })
}

fn control_groups(root: &Path) -> Option<Capacity> {
    let left = cgroup::memory_left_below(root)?;
    let file = left.file.strip_prefix(root).unwrap_or(&left.file);
    let limited_by = format!("the control group's limit of {} bytes (/{})", left.limit_bytes, file.display());
    Some(Capacity { bytes: left.bytes, limited_by })
}

/// Bytes that arrays bound to `node` may take: free memory and what the kernel can take back there (file pages and
/// slabs), less a margin of 1/64 of the node and at least 16 MiB for what the kernel keeps free itself and for page tables.
/// Going beyond it ends in the process being killed, however empty other nodes are. `None` if there is no such node, or the
/// kernel does not say.
pub fn node_available(node: u32) -> Option<u64> {
    node_available_below(Path::new("/"), node)
}

/// [`node_available`] with the file system seen from `root`, for tests.
pub fn node_available_below(root: &Path, node: u32) -> Option<u64> {
    const MARGIN_BYTES_MIN: u64 = 16 << 20;
    let text = fs::read_to_string(root.join(format!("sys/devices/system/node/node{node}/meminfo"))).ok()?;
    // "Node 0 Active(file):    3268660 kB"
    let bytes = |key: &str| -> Option<u64> {
        let of_key = |line: &str| {
            let mut fields = line.split_whitespace().skip(2);
            (fields.next()? == key).then(|| fields.next()?.parse::<u64>().ok()?.checked_mul(1024))?
        };
        text.lines().find_map(of_key)
    };
    let reclaimable = ["Active(file):", "Inactive(file):", "SReclaimable:"].map(|key| bytes(key).unwrap_or(0));
    let margin = (bytes("MemTotal:")? / 64).max(MARGIN_BYTES_MIN);
    Some((bytes("MemFree:")? + reclaimable.iter().sum::<u64>()).saturating_sub(margin))
}
