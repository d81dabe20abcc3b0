//! A plan tried on this host, and a kernel that refuses to place memory.

use super::{
    refusal::{output, refused},
    solve::{data, setup},
};
use farrow::{
    config::{Count, DataMemory, Granularity, Layout, MethodKind, ParameterMemory, Setup},
    loss::Loss,
    os::memory::{Home, nodes::with_memory},
    placement::plan,
    solve::{Verified, verify},
    topology::Topology,
};
use serde_json::Value;
use std::{fs, path::Path, process::Command};

fn tried(change: impl Fn(&mut Setup)) -> Verified {
    let mut setup = setup(MethodKind::Auto, Loss::Logistic);
    setup.workers.count = Count::Exactly(2);
    change(&mut setup);
    let plan = plan(&Topology::of_host().expect("this host"), &setup).expect("a plan for this host");
    verify(data(400, 40, true), &setup, &plan).expect("placed")
}

#[test]
fn every_array_of_every_method_is_asked_after() {
    let cases: [(MethodKind, &[&str]); 3] = [
        (MethodKind::Hogwild, &["order and counters", "parameters", "rows", "sums"]),
        (
            MethodKind::Dual { penalize_intercept: false },
            &["dual variables", "order and counters", "parameters", "rows", "sums"],
        ),
        (
            MethodKind::Bcd,
            &["coefficients", "columns", "labels", "order and counters", "parameters", "slopes", "sums"],
        ),
    ];
    for (method, expected) in cases {
        let found = tried(|setup| setup.method = method.clone()).actual;
        let mut kinds: Vec<&str> = found.kinds().iter().map(|kind| kind.what).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds, expected);
        for array in &found.arrays {
            assert_eq!(array.residency.pages, array.residency.pages_asked, "{array}: every page");
            assert_eq!(array.residency.bytes_untouched, 0, "{array}: its owner has taken every page");
            assert!(array.residency.bytes_placed() > 0, "{array} is in memory: {:?}", array.residency);
        }
    }
}

#[test]
fn what_it_takes_is_known_before_it_is_taken() {
    let verified = tried(|setup| {
        (setup.method, setup.parameters.replicas) = (MethodKind::Hogwild, Some(Granularity::Machine));
    });
    let bytes = |what: &str| -> u64 {
        let of = |array: &&farrow::placement::actual::Array| array.what == what;
        verified.actual.arrays.iter().filter(of).map(|array| array.residency.bytes_placed()).sum()
    };
    let costs = verified.costs.total();
    // Whole pages against bytes: every array may have a page more, and a worker's rows are five arrays and a header.
    let within = |predicted: f64, found: u64, arrays: u64| {
        let found_least = found.saturating_sub(4096 * arrays) as f64;
        found_least <= predicted && predicted <= found as f64
    };
    assert!(within(costs.parameters, bytes("parameters"), 1), "{costs:?}");
    assert!(within(costs.data, bytes("rows"), 14), "{costs:?} {}", bytes("rows"));
}

#[test]
fn homes_of_all_kinds_are_met() {
    let topology = Topology::of_host().expect("this host");
    let node = (0..topology.nodes.len()).find(|&node| topology.has_memory(node)).expect("some node has memory");
    let node = topology.nodes[node].os;
    for memory in [
        ParameterMemory::Local,
        ParameterMemory::Interleave,
        ParameterMemory::Sharded,
        ParameterMemory::Node(node),
        ParameterMemory::FirstTouch,
    ] {
        for rows in [DataMemory::Shard, DataMemory::Replicate, DataMemory::Interleave, DataMemory::Node(node)] {
            let verified = tried(|setup| {
                (setup.parameters.memory, setup.data.memory) = (memory, rows);
                (setup.method, setup.parameters.layout) = (MethodKind::Hogwild, Layout::Padded);
            });
            assert!(verified.actual.met(), "{memory:?} {rows:?}: {:?}", verified.actual.notes());
        }
    }
}

#[test]
fn a_node_that_is_not_there_is_refused_by_the_plan_and_named() {
    for key in ["parameters", "data"] {
        let mut setup = setup(MethodKind::Auto, Loss::Logistic);
        match key {
            "data" => setup.data.memory = DataMemory::Node(7),
            _ => setup.parameters.memory = ParameterMemory::Node(7),
        }
        let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
        let error = plan(&topology, &setup).expect_err("two nodes").to_string();
        assert!(error.contains(&format!("{key}.memory is \"node:7\"")) && error.contains("0-1"), "{error}");
    }
}

#[test]
fn homes_follow_the_settings_on_a_machine_of_several_nodes() {
    let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
    let homes = |parameters, data| {
        let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
        (setup.parameters.memory, setup.data.memory) = (parameters, data);
        setup.parameters.replicas = Some(Granularity::Machine);
        let plan = plan(&topology, &setup).unwrap();
        (plan.replicas[0].home.clone(), plan.shards[1].home.clone(), plan.workers[3].home.clone())
    };
    use {DataMemory as D, ParameterMemory as P};
    assert_eq!(homes(P::Local, D::Shard), (Home::Node(0), Home::Node(1), Home::Node(1)));
    assert_eq!(homes(P::Sharded, D::Node(0)), (Home::Runs(vec![0, 0, 1, 1]), Home::Node(0), Home::Node(1)));
    let both = Home::Interleave(vec![0, 1]);
    assert_eq!(homes(P::Interleave, D::Interleave), (both.clone(), both, Home::Node(1)));
    assert_eq!(homes(P::FirstTouch, D::FirstTouch), (Home::FirstTouch, Home::FirstTouch, Home::Node(1)));
    let cut = Topology::from_synthetic("pack:1 [numa] core:4 pu:1").unwrap().with_virtual_nodes(2).unwrap();
    let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
    setup.virtual_nodes = 2;
    let plan = plan(&cut, &setup).unwrap();
    assert!(plan.shards.iter().all(|shard| shard.home == Home::FirstTouch), "virtual nodes are not the kernel's");
}

#[test]
fn balancing_is_warned_of_where_it_would_move_pages() {
    let mut topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
    topology.balancing = true;
    let warned = |topology: &Topology, memory| {
        let mut setup = setup(MethodKind::Hogwild, Loss::Logistic);
        setup.data.memory = memory;
        plan(topology, &setup).unwrap().warnings.iter().any(|warning| warning.contains("NUMA balancing"))
    };
    assert!(warned(&topology, DataMemory::FirstTouch));
    assert!(!warned(&topology, DataMemory::Shard), "bound pages stay");
    topology.balancing = false;
    assert!(!warned(&topology, DataMemory::FirstTouch));
}

fn farrow(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_farrow"));
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

/// Some rows of two classes as LIBSVM text.
fn written(folder: &Path) {
    let (rows, labels) = super::solve::sparse(200, 20, true);
    let line = |(row, label): (&Vec<(u32, f32)>, &f64)| {
        let entries: Vec<String> = row.iter().map(|(column, value)| format!("{}:{value}", column + 1)).collect();
        format!("{label} {}\n", entries.join(" "))
    };
    let text: String = rows.iter().zip(&labels).map(line).collect();
    fs::write(folder.join("data"), text).unwrap();
}

#[test]
fn the_command_says_what_was_asked_and_what_is_a_line_a_worker_and_a_line_an_array() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let output = farrow(folder.path(), "plan --verify data --workers 2").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for line in
        ["worker  cpus requested", "rows of worker 1", "parameters of replica 0", "where the plan puts them"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    let output = farrow(folder.path(), "plan --verify data --workers 2 --json").output().unwrap();
    let object: Value = serde_json::from_slice(&output.stdout).expect("one object and nothing else");
    assert_eq!(object["met"], true);
    assert_eq!(object["actual"].as_array().unwrap().len(), 2);
    assert!(object["memory"].as_array().unwrap().iter().any(|array| array["of"]["worker"] == 1));
    let output = farrow(folder.path(), "plan data").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "data are of no use without --verify");
    for flags in ["--format libsvm", "--verify --format libsvm", "--weights w"] {
        let output = farrow(folder.path(), &format!("plan {flags}")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("DATA"), "{flags}: {said}");
    }
}

#[test]
fn a_kernel_that_refuses_to_place_memory_is_told_of_once_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let test = "a_kernel_that_refuses_to_place_memory_is_told_of_once_and_the_run_goes_on";
    let mut command = farrow(folder.path(), "solve data --workers 2 --json");
    let Some(solved) = output(test, refused(&mut command)) else { return };
    let said = String::from_utf8_lossy(&solved.stderr).into_owned();
    assert!(solved.status.success(), "{said}");
    let object: Value = serde_json::from_slice(&solved.stdout).expect("JSON");
    assert_eq!(object["stop"], "target");
    // The kernel's count: hwloc shows one of the nodes that numa=fake makes.
    let several = with_memory().len() > 1;
    let warnings = object["warnings"].as_array().unwrap();
    let told = |text: &str| warnings.iter().filter(|warning| warning.as_str().unwrap().contains(text)).count();
    // With one node there is nothing to place, and nobody is bothered.
    assert_eq!(told("placement unavailable") > 0, several, "{object:#}");
    assert_eq!(said.contains("placement unavailable"), several, "{said}");
    if several {
        assert!(object["plan"]["memory"].as_array().unwrap().iter().all(|array| array["not_told"].is_string()));
        let mut command = farrow(folder.path(), "plan --verify data --workers 2");
        let verified = output(test, refused(&mut command)).unwrap();
        assert_eq!(verified.status.code(), Some(1), "what is not known to be met is not met");
    }
}

#[test]
fn a_limit_of_the_address_space_is_told_of_and_not_run_into() {
    let folder = tempfile::tempdir().unwrap();
    // 1.6 GB a vector, and 300 MiB may be mapped: less than the smallest guest has free.
    fs::write(folder.path().join("wide"), "1 1:1\n-1 200000000:1\n").unwrap();
    let program = env!("CARGO_BIN_EXE_farrow");
    let mut shell = Command::new("sh");
    shell
        .current_dir(folder.path())
        .args(["-c", &format!("ulimit -v 307200; exec {program} solve wide --workers 1")]);
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("ulimit -v") && said.contains("would take"), "{said}");
}
