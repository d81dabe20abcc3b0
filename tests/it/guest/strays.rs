//! A run whose pages are taken to the wrong node while it goes on: the bill must find them.

use super::{super::solve::setup, this_guest};
use farrow::{
    config::{Count, Granularity, MethodKind, ParameterMemory},
    contention::run::{Cause, Look, bill},
    data::{self, Repeated},
    error::Result,
    loss::Loss,
    topology::Topology,
    trace::{Continue, Observer, Sample, Snapshot},
};
use std::{env, io, process::Command};

/// Takes all pages of this process from one node to another when it sees its first sample.
struct Thief {
    from: u32,
    to: u32,
    refused: Option<io::Error>,
    done: bool,
}

impl Observer for Thief {
    fn sample(&mut self, _: &Sample, _: &dyn Snapshot) -> Result<Continue> {
        if !std::mem::replace(&mut self.done, true) {
            let (from, to) = (1u64 << self.from, 1u64 << self.to);
            // SAFETY: the kernel reads two masks of 64 nodes, which are ours and live until it returns; it takes the last bit
            // for one more than there are.
            let left =
                unsafe { libc::syscall(libc::SYS_migrate_pages, 0, 65usize, &raw const from, &raw const to) };
            self.refused = (left < 0).then(io::Error::last_os_error);
        }
        Ok(Continue::Yes)
    }
}

/// Set for the process of its own.
const ALONE: &str = "FARROW_TEST_ALONE";

#[test]
fn pages_that_are_taken_to_another_node_are_found_named_and_sized() {
    let test = "pages_that_are_taken_to_another_node_are_found_named_and_sized";
    let Some(shape) = this_guest(test) else { return };
    // The kernel takes all pages of a process, and other tests of this one count theirs: so in a process of its own.
    if env::var_os(ALONE).is_none() {
        let name = format!("guest::strays::{test}");
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(ALONE, "1")
            .output();
        let child = child.unwrap();
        let said = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(child.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let topology = Topology::of_host().unwrap();
    let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
    (setup.stop.target, setup.stop.max_epochs) = (None, 4);
    setup.stop.evaluate_every = Some(1);
    setup.parameters.replicas = Some(Granularity::Node);
    setup.parameters.memory = ParameterMemory::Local;
    // One worker on each node that has memory of its own.
    let usable =
        |node: usize| topology.cpus.iter().find(|cpu| cpu.usable && cpu.node == Some(node)).map(|cpu| cpu.os);
    let with_memory = (0..topology.nodes.len()).filter(|&node| topology.has_memory(node));
    let (nodes, cpus): (Vec<u32>, Vec<u32>) =
        with_memory.filter_map(|node| Some((topology.nodes[node].os, usable(node)?))).unzip();
    setup.workers.count = Count::On(cpus);
    let [to, .., from] = nodes[..] else {
        eprintln!("skipped: {test}: one node with workers and memory");
        return;
    };
    if shape.is_cut_by_the_kernel {
        eprintln!("skipped: {test}: the kernel leaves nodes out");
        return;
    }
    let wide: Vec<_> =
        (0..4000u32).map(|i| (0..20).map(|k| ((i % 500) * 20 + k, 1.0)).collect::<Vec<_>>()).collect();
    let labels: Vec<f64> = (0..4000).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let data = Repeated::new(data::from_rows(&wide, &labels, 10_000).unwrap()).unwrap();
    let look = Look { rounds: 1, trial_seconds: 0.5, audit_epochs: 1 };
    let mut thief = Thief { from, to, refused: None, done: false };
    let (bill, outcome) = bill(&data, &setup, &topology, look, (&mut thief, &|| false), |_| ()).unwrap();
    assert!(thief.done && thief.refused.is_none(), "{:?}", thief.refused);
    // All was at home at first; so what was on that node is what was taken.
    let on = |node: u32| -> u64 {
        outcome.placed.arrays.iter().filter_map(|array| array.residency.bytes_by_node.get(&node)).sum()
    };
    let (planted, found) = (on(from), bill.memory.bytes_misplaced);
    assert_eq!(bill.memory.bytes_misplaced_at_first, 0, "{:?}", outcome.placed);
    assert!(planted > 100_000 && found.abs_diff(planted) * 5 <= planted, "planted {planted}, found {found}");
    let wrong = bill.findings.iter().find(|finding| finding.cause == Cause::WrongNode).expect("told of");
    assert!(wrong.why.contains("parameters") && wrong.why.contains("rows"), "{wrong:?}");
    // An emulated cpu that is busy with something else may make no update in a trial's time; then there is no price.
    assert_eq!(wrong.seconds.is_some(), bill.trials.figure().is_some(), "{wrong:?}");
    assert!(!wrong.change.is_empty() && !bill.clean, "{wrong:?}");
    let page = farrow::report::bill_table(&bill);
    assert!(page.contains("lost to wrong node"), "{page}");
}
