//! What the kernel counts of the whole machine.

use super::Reading;
use std::{fs, path::Path};

/// What the machine has counted so far: of [two moments](MachineUsage::since) the difference is what happened
/// between.
///
/// * `steal`: time in which the host ran others on this guest's cpus, summed over cpus, s (/proc/stat).
/// * `cpu_pressure`: time in which at least one thread was ready to run and had no cpu, s (/proc/pressure/cpu).
/// * `numa_hit … other_node` of each node, pages: where allocations went (its `numastat`).
/// * `numa_…` and `pgmigrate_…` of /proc/vmstat, events: hint faults and pages that the kernel moved.
///
/// All but the steal of the own guest counts what other programs do, too.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineUsage(Vec<Count>);

#[derive(Clone, Debug, PartialEq)]
struct Count {
    name: &'static str,
    node: Option<usize>,
    unit: &'static str,
    by: String,
    /// What a count is in units.
    scale: f64,
    count: Result<u64, String>,
}

const PRESSURE: &str = "/proc/pressure/cpu";
const VMSTAT: &str = "/proc/vmstat";
/// Of each node: allocations that were meant for it and got there; meant for another node; meant for it and went to
/// another; interleaved there; made by a thread that ran there; made by a thread of another node.
const NUMASTAT: [&str; 6] = ["numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node"];
const MOVES: [&str; 7] = [
    "numa_pte_updates",
    "numa_huge_pte_updates",
    "numa_hint_faults",
    "numa_hint_faults_local",
    "numa_pages_migrated",
    "pgmigrate_success",
    "pgmigrate_fail",
];

impl MachineUsage {
    /// Asks.
    pub fn now() -> Self {
        Self::below(Path::new("/"))
    }

    /// [`now`](Self::now) with the file system seen from `root`, for tests.
    pub fn below(root: &Path) -> Self {
        let read = |path: &str, remedy: &str| read(root, path, remedy);
        let pressure =
            read(PRESSURE, "it takes Linux 4.20 with CONFIG_PSI, and psi=1 on some kernels' command lines");
        let mut counts = vec![
            Count {
                name: "steal",
                node: None,
                unit: "s",
                by: "/proc/stat".into(),
                scale: 1.0 / TICKS_A_SECOND,
                count: stolen_ticks(root),
            },
            Count {
                name: "cpu_pressure",
                node: None,
                unit: "s",
                by: PRESSURE.into(),
                scale: 1e-6,
                count: pressure.and_then(|text| pressure_us(&text)),
            },
        ];
        for node in nodes(root) {
            let path = format!("/sys/devices/system/node/node{node}/numastat");
            let text = read(&path, "it takes a kernel with CONFIG_NUMA and a mounted /sys");
            counts.extend(NUMASTAT.map(|name| listed(name, Some(node), "pages", &path, &text)));
        }
        let text = read(VMSTAT, "mount /proc");
        counts.extend(MOVES.map(|name| listed(name, None, "events", VMSTAT, &text)));
        MachineUsage(counts)
    }

    /// What happened since `begin`, figure by figure.
    pub fn since(&self, begin: &MachineUsage) -> Vec<Reading> {
        let of = |end: &Count| {
            let begin = begin.0.iter().find(|begin| (begin.name, begin.node) == (end.name, end.node));
            let begin = begin.ok_or_else(|| format!("{} came up in between", end.by));
            let value = begin.and_then(|begin| {
                let (begin, end) = (begin.count.clone()?, end.count.clone()?);
                let fell = || "the count fell in between: a cpu or node went offline, ask again".to_string();
                end.checked_sub(begin).ok_or_else(fell)
            });
            let value = value.map(|count| count as f64 * end.scale);
            Reading { node: end.node, ..Reading::of(end.name, end.unit, end.by.as_str(), value) }
        };
        self.0.iter().map(of).collect()
    }
}

/// USER_HZ, in which /proc tells times: 100 on every architecture but Alpha, whatever the kernel's own HZ (proc(5)).
const TICKS_A_SECOND: f64 = 100.0;

/// Seconds of cpu, all cpus together, that the hypervisor has given to other guests so far, with the file system seen from `root`.
///
/// # Errors
/// Why the kernel does not say.
pub fn stolen_s(root: &Path) -> Result<f64, String> {
    stolen_ticks(root).map(|ticks| ticks as f64 / TICKS_A_SECOND)
}

fn stolen_ticks(root: &Path) -> Result<u64, String> {
    steal_ticks(&read(root, "/proc/stat", "mount /proc")?)
}

/// The text of a file of the kernel's, or why there is none.
fn read(root: &Path, path: &str, remedy: &str) -> Result<String, String> {
    let text = fs::read_to_string(root.join(path.trim_start_matches('/')));
    text.map_err(|error| format!("{path} cannot be read ({error}): {remedy}"))
}

/// The eighth number of the line `cpu`, which is the sum over cpus.
fn steal_ticks(stat: &str) -> Result<u64, String> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "));
    let ticks = line.and_then(|line| line.split_whitespace().nth(7)?.parse().ok());
    ticks.ok_or_else(|| "/proc/stat has no column of stolen time: it takes Linux 2.6.11 or newer".into())
}

/// The total of the line `some avg10=0.00 avg60=0.02 avg300=0.15 total=5139164611`, in microseconds.
fn pressure_us(text: &str) -> Result<u64, String> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "));
    let total = line.and_then(|line| line.split_whitespace().find_map(|word| word.strip_prefix("total=")));
    let total = total.and_then(|total| total.parse().ok());
    total.ok_or_else(|| format!("{PRESSURE} holds no `some … total=`: pressure is switched off (boot with psi=1)"))
}

/// The line `name number`, or the reason why there is none.
fn listed(
    name: &'static str,
    node: Option<usize>,
    unit: &'static str,
    path: &str,
    text: &Result<String, String>,
) -> Count {
    let count = text.as_ref().map_err(String::clone).and_then(|text| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.trim().parse().ok());
        found.ok_or_else(|| {
            format!(
                "{path} has no {name}: this kernel was built without what it counts (NUMA, balancing or migration)"
            )
        })
    });
    Count { name, node, unit, by: path.into(), scale: 1.0, count }
}

/// The numbers of the folders node0, node1, …; node 0, whose files are then missing with a reason, where there are
/// none.
fn nodes(root: &Path) -> Vec<usize> {
    let folder = fs::read_dir(root.join("sys/devices/system/node"));
    let names = folder.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let number = |name: std::ffi::OsString| name.to_str()?.strip_prefix("node")?.parse().ok();
    let mut nodes: Vec<usize> = names.filter_map(number).collect();
    nodes.sort_unstable();
    if nodes.is_empty() { vec![0] } else { nodes }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str =
        "numa_hit 100\nnuma_miss 7\nnuma_foreign 0\ninterleave_hit 3\nlocal_node 90\nother_node 17\n";
    const STAT: &str = "cpu  2651829 68682 222680 4972467 11314 0 2160 14111 0 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n";
    const PSI: &str = "some avg10=0.00 avg60=0.02 avg300=0.15 total=5139164611\nfull avg10=0.00 total=9\n";

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("below a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn value(readings: &[Reading], name: &str, node: Option<usize>) -> Option<f64> {
        readings.iter().find(|reading| reading.name == name && reading.node == node).expect("there").value
    }

    #[test]
    fn recorded_files_are_read_and_subtracted_node_by_node() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        write(root, "proc/stat", STAT);
        write(root, "proc/pressure/cpu", PSI);
        write(root, "proc/vmstat", "nr_free_pages 5\nnuma_pages_migrated 40\npgmigrate_success 50\n");
        write(root, "sys/devices/system/node/node0/numastat", NODE);
        write(root, "sys/devices/system/node/node10/numastat", NODE);
        write(root, "sys/devices/system/node/has_cpu", "0\n");
        let begin = MachineUsage::below(root);
        write(root, "proc/stat", &STAT.replace("14111", "14136"));
        write(root, "proc/pressure/cpu", &PSI.replace("5139164611", "5139414611"));
        write(root, "proc/vmstat", "numa_pages_migrated 44\npgmigrate_success 60\n");
        write(root, "sys/devices/system/node/node10/numastat", &NODE.replace("other_node 17", "other_node 117"));
        let readings = MachineUsage::below(root).since(&begin);
        assert_eq!(value(&readings, "steal", None), Some(0.25));
        assert_eq!(value(&readings, "cpu_pressure", None), Some(0.25));
        assert_eq!(value(&readings, "numa_pages_migrated", None), Some(4.0));
        assert_eq!(value(&readings, "pgmigrate_success", None), Some(10.0));
        assert_eq!(value(&readings, "other_node", Some(10)), Some(100.0));
        assert_eq!(value(&readings, "other_node", Some(0)), Some(0.0));
        assert_eq!(value(&readings, "numa_hint_faults", None), None);
        assert!(readings.iter().all(|reading| reading.value.is_some() != reading.reason.is_some()));
    }

    #[test]
    fn missing_and_foreign_files_are_reasons_that_name_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let begin = MachineUsage::below(folder.path());
        let readings = begin.since(&begin);
        assert_eq!(readings.len(), 2 + NUMASTAT.len() + MOVES.len());
        for reading in &readings {
            assert!(
                reading.value.is_none() && reading.reason.as_ref().expect("said").contains(&reading.by),
                "{reading:?}"
            );
        }
        assert!(steal_ticks("cpu  1 2 3\n").is_err() && steal_ticks("").is_err());
        assert!(pressure_us("some avg10=0\n").is_err() && pressure_us("some total=x").is_err());
    }

    #[test]
    fn a_count_that_fell_is_no_figure() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "proc/stat", STAT);
        let begin = MachineUsage::below(folder.path());
        write(folder.path(), "proc/stat", &STAT.replace("14111", "14000"));
        let readings = MachineUsage::below(folder.path()).since(&begin);
        assert!(readings[0].reason.as_ref().expect("said").contains("fell"));
    }

    #[test]
    fn this_machine_gives_a_value_or_a_reason_for_each() {
        let begin = MachineUsage::now();
        let readings = MachineUsage::now().since(&begin);
        assert!(readings.len() >= 2 + NUMASTAT.len() + MOVES.len());
        assert!(readings.iter().all(|reading| reading.value.is_some() != reading.reason.is_some()));
        assert!(readings.iter().any(|reading| reading.value.is_some()), "{readings:?}");
    }
}
