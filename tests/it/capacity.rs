//! How much memory may still be taken, on file systems made for the test.

use farrow::os::{
    capacity::{memory_allowed, memory_allowed_below, node_available, node_available_below},
    cgroup, host,
};
use std::{fs, path::Path};

const MIB: u64 = 1 << 20;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A machine with 8000 MiB available.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "proc/meminfo", "MemTotal: 16384000 kB\nMemFree: 100 kB\nMemAvailable:    8192000 kB\n");
    root
}

/// Node `node` with 4096 MiB, of which 1000 are free, and 500, 250 and 50 MiB can be taken back.
fn node(root: &Path, node: u32) {
    let lines = [
        ("MemTotal", 4096),
        ("MemFree", 1000),
        ("Active", 900),
        ("Active(file)", 500),
        ("Inactive(file)", 250),
        ("SReclaimable", 50),
    ];
    let text: String = lines.iter().map(|(key, mib)| format!("Node {node} {key}:  {} kB\n", mib * 1024)).collect();
    write(root, &format!("sys/devices/system/node/node{node}/meminfo"), &text);
}

#[test]
fn the_machine_is_the_bound_where_nothing_else_is() {
    let root = machine();
    let capacity = memory_allowed_below(root.path()).unwrap();
    assert_eq!(capacity.bytes, 8000 * MIB);
    assert!(capacity.limited_by.contains("MemAvailable"), "{capacity:?}");
    assert_eq!(memory_allowed_below(tempfile::tempdir().unwrap().path()), None);
}

#[test]
fn a_node_has_its_free_pages_and_what_can_be_taken_back_less_a_margin() {
    let root = machine();
    node(root.path(), 3);
    assert_eq!(node_available_below(root.path(), 3), Some((1000 + 500 + 250 + 50 - 4096 / 64) * MIB));
    assert_eq!(node_available_below(root.path(), 2), None);
    // A node of 128 MiB whose kernel tells nothing else: 16 MiB are kept.
    write(
        root.path(),
        "sys/devices/system/node/node2/meminfo",
        "Node 2 MemTotal: 131072 kB\nNode 2 MemFree: 102400 kB\n",
    );
    assert_eq!(node_available_below(root.path(), 2), Some(84 * MIB));
    write(root.path(), "sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: x kB\ngarbage\n\n");
    assert_eq!(node_available_below(root.path(), 1), None);
    // A full node has nothing, not less.
    write(root.path(), "sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 4 kB\nNode 1 MemFree: 4 kB\n");
    assert_eq!(node_available_below(root.path(), 1), Some(0));
}

#[test]
fn a_cpuset_that_leaves_nodes_out_bounds_what_may_be_taken() {
    let root = machine();
    let root = root.path();
    for os in [0, 2, 4] {
        node(root, os);
    }
    write(root, "sys/devices/system/node/has_memory", "0,2,4\n");
    write(root, "proc/self/status", "Name:\tx\nMems_allowed_list:\t0-7\n");
    assert_eq!(memory_allowed_below(root).unwrap().bytes, 8000 * MIB, "all of them are allowed");
    write(root, "proc/self/status", "Name:\tx\nMems_allowed_list:\t2,4\n");
    let capacity = memory_allowed_below(root).unwrap();
    assert_eq!(capacity.bytes, 2 * (1800 - 64) * MIB);
    assert!(capacity.limited_by.contains("nodes 2,4"), "{capacity:?}");
}

/// A group of cgroup v2, and what it uses: of 300 MiB, 100 are idle pages of files and 60 active ones.
fn group_v2(root: &Path, group: &str, limit: &str) {
    write(root, &format!("sys/fs/cgroup/{group}/memory.max"), limit);
    write(root, &format!("sys/fs/cgroup/{group}/memory.current"), &format!("{}\n", 300 * MIB));
    let stat = format!("anon 1\ninactive_file {}\nactive_file {}\n", 100 * MIB, 60 * MIB);
    write(root, &format!("sys/fs/cgroup/{group}/memory.stat"), &stat);
}

#[test]
fn the_tightest_control_group_above_the_process_bounds_what_may_be_taken() {
    let root = machine();
    let root = root.path();
    write(root, "proc/self/cgroup", "0::/a/b\n");
    write(root, "proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    group_v2(root, "a", &format!("{}\n", 512 * MIB));
    group_v2(root, "a/b", "max\n");
    let capacity = memory_allowed_below(root).unwrap();
    assert_eq!(capacity.bytes, (512 - 300 + 100 + 30) * MIB);
    assert!(capacity.limited_by.ends_with("536870912 bytes (/sys/fs/cgroup/a/memory.max)"), "{capacity:?}");
    // What stalls is as good as what kills.
    write(root, "sys/fs/cgroup/a/b/memory.high", &format!("{}\n", 200 * MIB));
    assert_eq!(memory_allowed_below(root).unwrap().bytes, 30 * MIB);
    write(root, "sys/fs/cgroup/a/b/memory.high", &format!("{}\n", 100 * MIB));
    assert_eq!(memory_allowed_below(root).unwrap().bytes, 0, "beyond the limit there is nothing, not less");
    // Counts that cannot be are no reason to promise more than the limit.
    write(root, "sys/fs/cgroup/a/b/memory.stat", &format!("inactive_file {}\n", u64::MAX));
    assert_eq!(memory_allowed_below(root).unwrap().bytes, 100 * MIB);
    write(root, "sys/fs/cgroup/a/b/memory.stat", "inactive_file x\n");
    assert_eq!(memory_allowed_below(root).unwrap().bytes, 0);
}

#[test]
fn the_memory_limit_of_cgroup_v1_holds() {
    let root = machine();
    let root = root.path();
    write(root, "proc/self/cgroup", "4:memory:/job\n3:cpuset:/job\n0::/\n");
    write(root, "proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    let folder = "sys/fs/cgroup/memory/job";
    write(root, &format!("{folder}/memory.limit_in_bytes"), "9223372036854771712\n");
    write(root, &format!("{folder}/memory.usage_in_bytes"), &format!("{}\n", 100 * MIB));
    write(root, &format!("{folder}/memory.stat"), &format!("cache 5\ntotal_inactive_file {}\n", 40 * MIB));
    assert_eq!(cgroup::memory_left_below(root), None, "that is no limit");
    write(root, &format!("{folder}/memory.limit_in_bytes"), &format!("{}\n", 256 * MIB));
    assert_eq!(memory_allowed_below(root).unwrap().bytes, (256 - 100 + 40) * MIB);
    assert_eq!(cgroup::memory_left_below(root).unwrap().limit_bytes, 256 * MIB);
}

#[test]
fn this_host_says_what_may_be_taken() {
    let capacity = memory_allowed().unwrap();
    let available = host::memory_available_bytes_below(Path::new("/")).unwrap();
    assert!(capacity.bytes > 0 && capacity.bytes < available + (1 << 30), "{capacity:?} of {available}");
    assert_eq!(node_available(1023), None);
}

#[test]
fn balancing_is_on_where_the_kernel_says_so() {
    let root = tempfile::tempdir().unwrap();
    assert!(!host::balancing_below(root.path()), "a kernel without nodes has no such setting");
    for (text, on) in [("0\n", false), ("1\n", true), ("2\n", true), ("3\n", true)] {
        write(root.path(), "proc/sys/kernel/numa_balancing", text);
        assert_eq!(host::balancing_below(root.path()), on, "{text:?}");
    }
}
