//! What the kernel is asked, and what it answers.

use farrow::{
    os::{affinity, cgroup, clock::Stopwatch, host, signals::Interrupt},
    topology::Topology,
};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// Binding holds for a thread of its own: the harness's threads stay as they are.
fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::spawn(work).join().expect("the thread panicked")
}

#[test]
fn a_thread_bound_to_a_cpu_runs_there_and_the_kernel_says_so() {
    for cpu in Topology::of_host().unwrap().usable_cpus() {
        let binding = on_a_thread(move || affinity::bind(&[cpu]));
        assert!(binding.met(), "{binding:?}");
        assert_eq!((binding.actual, binding.running_on), (vec![cpu], Some(cpu)));
    }
}

#[test]
fn a_thread_bound_to_a_set_may_run_on_all_of_it() {
    let mut cpus = affinity::at_start().unwrap();
    cpus.truncate(2);
    let wanted = cpus.clone();
    let binding = on_a_thread(move || affinity::bind(&wanted));
    assert!(binding.met(), "{binding:?}");
    assert_eq!(binding.actual, cpus);
}

#[test]
fn a_cpu_that_does_not_exist_is_reported_with_what_the_thread_has_instead() {
    for cpu in [1023, 1024, 5000, 1_000_000] {
        let (before, binding) = on_a_thread(move || (affinity::current().unwrap(), affinity::bind(&[cpu])));
        assert!(!binding.met());
        assert_eq!((binding.requested, binding.actual), (vec![cpu], before));
        assert!(binding.reason.as_ref().unwrap().contains(&cpu.to_string()), "{:?}", binding.reason);
    }
}

#[test]
fn a_set_that_the_kernel_narrows_is_reported() {
    let first = affinity::at_start().unwrap()[0];
    let binding = on_a_thread(move || affinity::bind(&[first, 4000]));
    assert_eq!((binding.actual.clone(), binding.met()), (vec![first], false));
    assert!(binding.reason.unwrap().contains("granted cpus"));
    assert!(!on_a_thread(|| affinity::bind(&[])).met(), "binding to nothing is no binding");
}

#[test]
fn the_mask_at_start_is_not_that_of_a_bound_thread() {
    let start = affinity::at_start().unwrap();
    let first = start[0];
    let seen = on_a_thread(move || {
        affinity::bind(&[first]);
        affinity::at_start().unwrap()
    });
    assert_eq!(seen, start);
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn the_smallest_quota_above_a_group_of_cgroup_v2_holds() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "proc/self/cgroup", "0::/a/b\n");
    write(root, "proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
    write(root, "sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    write(root, "sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    assert_eq!(cgroup::quota_cpus_below(root), Some(1.5));
    write(root, "sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_eq!(cgroup::quota_cpus_below(root), Some(4.0));
    write(root, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_eq!(cgroup::quota_cpus_below(root), None);
    // A container whose mount shows its own group as the root.
    write(root, "proc/self/mountinfo", "31 23 0:28 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write(root, "sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_eq!(cgroup::quota_cpus_below(root), Some(0.5));
}

#[test]
fn the_quota_of_cgroup_v1_holds() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "proc/self/cgroup", "3:cpuset:/x\n1:cpu,cpuacct:/job\n0::/\n");
    let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
                  34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
    write(root, "proc/self/mountinfo", mounts);
    write(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_eq!(cgroup::quota_cpus_below(root), None);
    write(root, "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "250000\n");
    write(root, "sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    assert_eq!(cgroup::quota_cpus_below(root), Some(2.5));
}

#[test]
fn a_system_without_control_groups_has_no_quota() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(cgroup::quota_cpus_below(root.path()), None);
    write(root.path(), "proc/self/cgroup", "garbage\n0::/a\n::\n");
    write(root.path(), "proc/self/mountinfo", "garbage\n1 2 3 - x\n");
    assert_eq!(cgroup::quota_cpus_below(root.path()), None);
}

#[test]
fn the_host_and_its_use_are_told() {
    let stopwatch = Stopwatch::start();
    let host = host::Host::now();
    assert!(host.hostname.is_some_and(|name| !name.is_empty()));
    assert!(host.kernel.unwrap().starts_with("Linux "));
    assert!(host.load_average.unwrap() >= 0.0);
    // Touch 32 MiB: the peak is at least that.
    let touched = vec![1u8; 32 << 20];
    let sum: u64 = touched.iter().map(|&byte| u64::from(byte)).sum();
    let usage = host::Usage::now();
    assert_eq!(sum, 32 << 20);
    assert!(usage.peak_resident_bytes >= 32 << 20 && usage.user_s > 0.0);
    assert!(stopwatch.seconds() > 0.0);
}

/// Set in the process that the test below starts of itself.
const SIGNALLED: &str = "FARROW_TEST_SIGNALLED";

/// The child: says when it listens and when it was told, then waits to be ended.
fn signalled_child() {
    let interrupt = Interrupt::install().unwrap();
    assert_eq!((interrupt.received(), interrupt.exit_code()), (false, None));
    eprintln!("listening");
    while !interrupt.received() {
        thread::sleep(Duration::from_millis(5));
    }
    eprintln!("told to exit with {}", interrupt.exit_code().unwrap());
    thread::sleep(Duration::from_secs(60));
}

#[test]
fn the_first_signal_is_noted_and_the_second_ends_the_process() {
    if std::env::var_os(SIGNALLED).is_some() {
        return signalled_child();
    }
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "os::the_first_signal_is_noted_and_the_second_ends_the_process", "--nocapture"])
            .env(SIGNALLED, "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let send =
            || assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert!(lines.any(|line| line == "listening"));
        send();
        assert!(lines.any(|line| line == format!("told to exit with {code}")));
        send();
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}
