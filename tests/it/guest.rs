//! What only a machine with several nodes can show. `tests/vm/run` boots one of each shape in `tests/vm/shapes` and runs
//! these tests inside; elsewhere each says that it is skipped.

#![allow(unsafe_code)] // Which node a cpu belongs to is a system call without a safe wrapper.

mod shape;
mod strays;

use farrow::{
    config::{Settings, Setup},
    os::affinity,
    placement::{Label, Plan, plan, team},
    topology::Topology,
};
use shape::Shape;
use std::{collections::BTreeSet, env, fs, path::Path};

/// The shape of this guest; outside one, says that `test` is skipped.
fn this_guest(test: &str) -> Option<Shape> {
    if env::var_os("NUMA_VM").is_none() {
        eprintln!("skipped: {test}: not in the NUMA guest (tests/vm/run)");
        return None;
    }
    let path = env::var("NUMA_VM_SHAPE").expect("the guest names its shape");
    Some(Shape::read(Path::new(&path)))
}

#[test]
fn the_topology_is_what_the_shape_file_says() {
    let Some(shape) = this_guest("the_topology_is_what_the_shape_file_says") else { return };
    let topology = Topology::of_host().unwrap();
    assert_eq!(topology.packages, shape.packages(), "packages");

    let cores: BTreeSet<Vec<u32>> = topology.cores.iter().map(|core| core.cpus.clone()).collect();
    assert_eq!(cores, shape.cores(), "cores");
    let usable: BTreeSet<u32> = topology.usable_cpus().into_iter().collect();
    assert_eq!(usable, shape.usable_cpus(), "usable cpus");

    let nodes: BTreeSet<u32> = topology.nodes.iter().map(|node| node.os).collect();
    assert_eq!(nodes, shape.nodes.iter().map(|node| node.id).collect(), "nodes");
    for expected in &shape.nodes {
        let place = topology.find_node(expected.id).unwrap();
        let own = topology.cpus.iter().filter(|cpu| cpu.node == Some(place)).map(|cpu| cpu.os);
        assert_eq!(own.collect::<BTreeSet<u32>>(), expected.cpus, "cpus of node {}", expected.id);
        let node = &topology.nodes[place];
        let bytes = node.memory_bytes.expect("the kernel says how much memory a node has");
        // The kernel takes its image, its page tables and the initial file system from a node.
        let least = expected.memory_bytes.saturating_sub(100 << 20).max(expected.memory_bytes / 2);
        assert!((least..=expected.memory_bytes).contains(&bytes), "node {}: {bytes} bytes", expected.id);
        assert_eq!(node.allowed && bytes > 0, expected.allows_memory, "memory of node {}", expected.id);
        assert_eq!(topology.has_memory(place), expected.allows_memory, "memory of node {}", expected.id);
    }
}

#[test]
fn distances_are_those_of_the_shape_file() {
    let Some(shape) = this_guest("distances_are_those_of_the_shape_file") else { return };
    let topology = Topology::of_host().unwrap();
    let Some(rows) = &topology.distance else {
        assert_eq!(shape.nodes.len(), 1, "several nodes and no distances");
        return;
    };
    for (from, row) in topology.nodes.iter().zip(rows) {
        for (to, &distance) in topology.nodes.iter().zip(row) {
            assert_eq!(distance, shape.distance(from.os, to.os), "from node {} to node {}", from.os, to.os);
        }
    }
}

/// The shipped configs that this machine can meet, with their plans; those that it cannot are told, and why.
fn plans() -> Vec<(String, Plan, Topology)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("numa-configs");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let fits = |path: &Path| {
        let mut settings = Settings::new();
        settings.file(path).unwrap();
        let setup: Setup = settings.check().unwrap();
        let topology = Topology::of_host().unwrap().with_virtual_nodes(setup.virtual_nodes)?;
        plan(&topology, &setup).map(|plan| (plan, topology))
    };
    let mut plans = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match fits(&path) {
            Ok((plan, topology)) => plans.push((name, plan, topology)),
            Err(error) => eprintln!("does not fit: {name}: {error}"),
        }
    }
    assert!(plans.len() >= 3, "{} of the shipped configs fit: too few to show anything", plans.len());
    plans
}

/// The cpu and the node on which the calling thread runs, in one answer of the kernel.
fn cpu_and_node() -> (u32, u32) {
    let (mut cpu, mut node) = (0u32, 0u32);
    // SAFETY: the kernel writes two numbers to memory that is ours; the third argument is unused.
    let status = unsafe { libc::syscall(libc::SYS_getcpu, &mut cpu, &mut node, std::ptr::null::<u8>()) };
    assert_eq!(status, 0, "getcpu: {}", std::io::Error::last_os_error());
    (cpu, node)
}

#[test]
fn the_workers_of_every_config_that_fits_run_where_its_plan_binds_them() {
    let Some(shape) = this_guest("the_workers_of_every_config_that_fits_run_where_its_plan_binds_them") else {
        return;
    };
    for (name, plan, topology) in plans() {
        let seen = team::each(&plan, |_| (affinity::current().unwrap(), affinity::running_on(), cpu_and_node()));
        for (worker, (mask, running_on, (cpu, node))) in plan.workers.iter().zip(seen) {
            assert_eq!(mask, worker.cpus, "{name}");
            assert!(worker.cpus.contains(&cpu) && worker.cpus.contains(&running_on.unwrap()), "{name}: cpu {cpu}");
            if plan.label == Label::Measured && !shape.is_cut_by_the_kernel {
                let planned = topology.nodes[worker.node.expect("a cpu of a node")].os;
                assert_eq!(node, planned, "{name}: cpu {cpu}");
            }
        }
    }
}

#[test]
fn a_worker_on_every_cpu_is_granted_every_one() {
    let Some(shape) = this_guest("a_worker_on_every_cpu_is_granted_every_one") else { return };
    let mut settings = Settings::new();
    settings.set("workers.count=cpus").unwrap();
    settings.set("workers.smt=last").unwrap();
    let plan = plan(&Topology::of_host().unwrap(), &settings.check().unwrap()).unwrap();
    let standings = team::standings(&plan);
    assert!(standings.iter().all(|standing| standing.met()), "{standings:?}");
    let granted: BTreeSet<u32> = standings.iter().flat_map(|standing| standing.binding.actual.clone()).collect();
    assert_eq!(granted, shape.usable_cpus());
}

#[test]
fn a_cpu_that_is_offline_absent_or_outside_the_cpuset_is_refused_with_a_reason() {
    let test = "a_cpu_that_is_offline_absent_or_outside_the_cpuset_is_refused_with_a_reason";
    let Some(shape) = this_guest(test) else { return };
    let usable = shape.usable_cpus();
    let last = 1 + shape.cores().iter().flatten().copied().max().unwrap();
    let refused: Vec<u32> = (0..=last).filter(|cpu| !usable.contains(cpu)).collect();
    assert!(!refused.is_empty(), "one past the last is none of the machine's");
    for cpu in refused {
        let binding = std::thread::spawn(move || affinity::bind(&[cpu])).join().unwrap();
        assert!(!binding.met() && binding.reason.is_some(), "cpu {cpu}: {binding:?}");
        assert_eq!(binding.actual.into_iter().collect::<BTreeSet<u32>>(), usable, "cpu {cpu}");
    }
}

#[test]
fn every_shape_file_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vm/shapes");
    let shapes: Vec<Shape> =
        fs::read_dir(folder).unwrap().map(|entry| Shape::read(&entry.unwrap().path())).collect();
    assert!(shapes.len() >= 10, "{} shapes", shapes.len());
    assert!(shapes.iter().all(|shape| !shape.usable_cpus().is_empty() && !shape.nodes.is_empty()));
}
