//! Machines: this host, saved ones, described ones, and bad ones of each.

use crate::shared;
use farrow::{
    error::Error,
    topology::{Origin, Topology},
};
use std::{collections::BTreeSet, fs, path::PathBuf};

/// Every file of ../shared/topologies, or none where they are not at hand.
pub(crate) fn saved_machines(test: &str) -> Vec<PathBuf> {
    let Some(folder) = shared::file(test, "topologies") else { return Vec::new() };
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    assert_eq!(files.len(), 20, "the folder holds 20 machines");
    files
}

/// File, packages, node ids, cores, cpus, usable cpus, and the distinct distances: the table in the folder's README.
type Stated = (&'static str, usize, &'static [u32], usize, usize, usize, &'static [u64]);

const STATED: [Stated; 20] = [
    ("24em64t-2n6c2t", 2, &[0, 1], 12, 24, 24, &[10, 20]),
    ("28intel64-2p2g7c-CoD", 2, &[0, 1, 2, 3], 28, 28, 28, &[10, 21, 31]),
    ("16amd64-8n2c-distances", 8, &[0, 1, 2, 3, 4, 5, 6, 7], 16, 16, 16, &[10, 20]),
    ("16amd64-8n2c-cpusets", 6, &[1, 2, 3, 4, 5], 10, 10, 10, &[10, 20]),
    ("16em64t-4s2c2t-offlines", 4, &[0], 6, 7, 7, &[]),
    ("32amd64-4s2n4c-cgroup2", 4, &[0, 1, 2, 3, 4, 5, 6, 7], 32, 32, 6, &[10, 16, 22]),
    ("48amd64-4d2n6c-sparse", 4, &[0, 1, 2, 33, 34, 45, 72, 73], 48, 48, 48, &[10, 16, 22]),
    ("96em64t-4n4d3ca2co", 16, &[0, 1, 2, 3], 96, 96, 96, &[10, 26]),
    (
        "192em64t-24n8c2t",
        24,
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23],
        192,
        384,
        384,
        &[10, 50, 65, 79],
    ),
    ("64intel64-8n-irregulargroups", 8, &[0, 1, 2, 3, 4, 5, 6, 7], 64, 64, 16, &[10, 50, 65, 79]),
    ("64intel64-KNL-SNC4-hybrid", 1, &[0, 1, 2, 3, 4, 5, 6, 7], 16, 64, 64, &[]),
    ("80intel64-2p4n-memorysidecaches", 2, &[0, 1, 2, 3], 40, 80, 80, &[10, 11, 21]),
    ("8intel64-4n2t-memattrs", 0, &[0, 1, 2, 3], 8, 8, 8, &[]),
    ("6fake-heteromemtiers", 1, &[0, 1, 2, 4, 6, 8, 9], 6, 6, 6, &[10, 20]),
    ("64fake-2p4d2n2c2t", 4, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 32, 64, 64, &[10, 20]),
    ("21intel64-offline-cpu0-node0", 2, &[1], 17, 17, 17, &[]),
    ("8em64t-2s2ca2c-buggynuma", 2, &[0], 8, 8, 8, &[]),
    ("256ppc-8n8s4t", 64, &[0, 1, 4, 5, 8, 9, 12, 13], 64, 256, 256, &[10, 20, 40]),
    ("32ppc-2n-nvidiagpunumanodes", 2, &[0, 8], 8, 32, 32, &[10, 40]),
    ("128arm-2pa2n8cluster4co", 2, &[0, 1, 2, 3], 128, 128, 128, &[10, 16, 25, 32, 33]),
];

#[test]
fn every_saved_machine_has_the_counts_that_its_readme_states() {
    let files = saved_machines("every_saved_machine_has_the_counts_that_its_readme_states");
    for path in &files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let stated = STATED.iter().find(|stated| stated.0 == name).expect(name);
        let topology = Topology::from_xml(path).unwrap();
        assert_eq!(topology.origin, Origin::Xml(path.clone()));
        assert_eq!(topology.packages, stated.1, "{name}: packages");
        let nodes: BTreeSet<u32> = topology.nodes.iter().map(|node| node.os).collect();
        assert_eq!(nodes, stated.2.iter().copied().collect(), "{name}: nodes");
        assert_eq!(topology.cores.len(), stated.3, "{name}: cores");
        assert_eq!(topology.cpus.len(), stated.4, "{name}: cpus");
        assert_eq!(topology.usable_cpus().len(), stated.5, "{name}: usable cpus");
        let distances: BTreeSet<u64> = topology.distance.iter().flatten().flatten().copied().collect();
        assert_eq!(distances, stated.6.iter().copied().collect(), "{name}: distances");
        assert_consistent(&topology);
    }
}

/// Everything that refers to something refers to what refers back.
fn assert_consistent(topology: &Topology) {
    let seen: BTreeSet<u32> = topology.cpus.iter().map(|cpu| cpu.os).collect();
    assert_eq!(seen.len(), topology.cpus.len(), "a cpu twice");
    for cpu in &topology.cpus {
        assert_eq!(topology.cores[cpu.core].cpus[cpu.smt as usize], cpu.os);
        assert!(cpu.l3.is_none_or(|l3| topology.l3s[l3].cpus.contains(&cpu.os)));
        assert!(cpu.l2.is_none_or(|l2| topology.l2s[l2].cpus.contains(&cpu.os)));
        assert!(cpu.node.is_none_or(|node| topology.nodes[node].cpus.contains(&cpu.os)));
        assert!(cpu.package.is_none_or(|package| package < topology.packages));
    }
    assert_eq!(topology.cores.iter().map(|core| core.cpus.len()).sum::<usize>(), topology.cpus.len());
    if let Some(rows) = &topology.distance {
        assert!(rows.len() == topology.nodes.len() && rows.iter().all(|row| row.len() == rows.len()));
    }
}

#[test]
fn oddities_of_saved_machines_are_seen() {
    let Some(folder) = shared::file("oddities_of_saved_machines_are_seen", "topologies") else { return };
    let load = |name: &str| Topology::from_xml(folder.join(format!("{name}.xml"))).unwrap();
    let node = |topology: &Topology, os: u32| topology.nodes[topology.find_node(os).unwrap()].clone();

    // Nodes 4 and 5 are memory without a cpu.
    let cpuset = load("16amd64-8n2c-cpusets");
    assert!(node(&cpuset, 4).cpus.is_empty() && node(&cpuset, 5).cpus.is_empty());
    assert!(cpuset.has_memory(cpuset.find_node(4).unwrap()));
    // The cgroup allows 6 cpus and 6 nodes of 8.
    let cgroup = load("32amd64-4s2n4c-cgroup2");
    assert_eq!(cgroup.usable_cpus(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(cgroup.nodes.iter().filter(|node| node.allowed).count(), 6);
    // Node 0 is offline: the cpus of the first package have no node.
    let offline = load("21intel64-offline-cpu0-node0");
    assert!(offline.cpus.iter().any(|cpu| cpu.node.is_none()));
    // Memory of unknown size is not none.
    let unknown = load("16em64t-4s2c2t-offlines");
    assert_eq!(unknown.nodes[0].memory_bytes, None);
    assert!(unknown.has_memory(0));
    // DRAM and MCDRAM on the same cpus: the local node is the DRAM one.
    let knl = load("64intel64-KNL-SNC4-hybrid");
    let local: BTreeSet<u32> = knl.cpus.iter().map(|cpu| knl.nodes[cpu.node.unwrap()].os).collect();
    assert_eq!(local, [0, 1, 2, 3].into());
    // Four threads a core, numbered together.
    let power = load("256ppc-8n8s4t");
    assert!(power.cores.iter().all(|core| core.cpus.len() == 4));
    // No core objects: a core a cpu.
    let bare = load("8intel64-4n2t-memattrs");
    assert!(bare.cores.iter().all(|core| core.cpus.len() == 1));
}

#[test]
fn a_synthetic_description_becomes_the_machine_it_describes() {
    let topology = Topology::from_synthetic("pack:2 [numa(memory=4GB)] l3:2 core:4 pu:2").unwrap();
    assert_consistent(&topology);
    assert_eq!((topology.packages, topology.nodes.len(), topology.l3s.len()), (2, 2, 4));
    assert_eq!((topology.cores.len(), topology.cpus.len()), (16, 32));
    assert_eq!(topology.usable_cpus(), (0..32).collect::<Vec<_>>());
    assert_eq!(topology.nodes[1].cpus, (16..32).collect::<Vec<_>>());
    assert!(topology.nodes[1].memory_bytes.unwrap() >= 4_000_000_000);
    assert_eq!(topology.distance, None, "hwloc states no distances for described machines");
    assert_eq!((topology.cpus[9].core, topology.cpus[9].smt, topology.cpus[9].l3), (4, 1, Some(1)));
}

#[test]
fn cpus_beyond_1023_have_their_numbers() {
    let topology = Topology::from_synthetic("pack:4 [numa] core:300 pu:2").unwrap();
    assert_eq!(topology.cpus.len(), 2400);
    assert_eq!(topology.cpus[2399].os, 2399);
    assert_eq!(topology.nodes[3].cpus, (1800..2400).collect::<Vec<_>>());
}

#[test]
fn a_bad_synthetic_string_is_an_error_and_never_this_host() {
    for text in
        ["", " ", "foo:3", "pack:0", "pack:x", "pack:2 core", "pu:2 core:2", "pack:2\0 pu:1", "core:-1 pu:1"]
    {
        let error = Topology::from_synthetic(text).expect_err(text);
        assert!(matches!(error, Error::Topology { .. }), "{error}");
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("pack:2 [numa] l3:2 core:4 pu:2"), "{error} shows no example");
    }
}

#[test]
fn a_description_of_too_many_cpus_is_refused_before_it_fills_the_memory() {
    for text in ["pack:1000 core:1000 pu:2", "pack:4294967296 core:4294967296", "999999999", "pack:2 [numa] 70000"]
    {
        let error = Topology::from_synthetic(text).expect_err(text).to_string();
        assert!(error.contains("8192"), "{error}");
    }
    // Numbers in attributes and attached memory are not counted.
    Topology::from_synthetic("pack:2 [numa(memory=1073741824)] l3:1(size=33554432) core:2 pu:1").unwrap();
}

#[test]
fn a_bad_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let machine = r#"<topology version="2.0"><object type="Machine" cpuset="0x1" complete_cpuset="0x1">"#;
    let node = r#"<object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1"/>"#;
    let cpu = r#"<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1"/>"#;
    let incomplete = format!("{machine}{node}\n<object type=\"PU\" cpuset=\"0x1\"/></object></topology>");
    let setless = format!("{machine}{node}{cpu}\n\n<object type=\"Core\"/></object></topology>");
    let nodeless = format!("{machine}{cpu}</object></topology>");
    let cpuless = format!("{machine}{node}</object></topology>");
    let nested = format!("{machine}{node}{cpu}<object type=\"Machine\"/></object></topology>");
    let zero = format!("{machine}{node}{cpu}</object></topology>").replace("0x1", "0x0");
    let cut = format!("{machine}\n{node}\n<object type=\"PU");
    let deep = "<object>".repeat(100_000);
    let cases: [(&str, &[u8], &str); 17] = [
        ("empty.xml", b"", "empty"),
        ("blank.xml", b"\n \n", "empty"),
        ("binary.xml", b"\x00\xff\xfe", "UTF-8"),
        ("garbage.xml", b"garbage", "1:1"),
        ("other.xml", b"<?xml version=\"1.0\"?><html></html>", "root is <html>"),
        ("cut.xml", cut.as_bytes(), "end of stream"),
        ("deep.xml", deep.as_bytes(), "neither"),
        ("three.xml", b"<topology version=\"3.0\"><object type=\"Machine\"/></topology>", "version is 3.0"),
        ("nodeless.xml", nodeless.as_bytes(), "no NUMA node"),
        // hwloc 2.9 crashes on it.
        ("incomplete.xml", incomplete.as_bytes(), "line 2: an object has a cpuset and no complete_cpuset"),
        ("setless.xml", setless.as_bytes(), "line 3: an object of type Core has no cpuset"),
        ("nested.xml", nested.as_bytes(), "one <object type=\"Machine\">"),
        ("cpuless.xml", cpuless.as_bytes(), "no cpu"),
        // Well formed, and no machine.
        ("zero.xml", zero.as_bytes(), "hwloc cannot"),
        ("other.json", b"{\"a\": 1}", "saved by farrow"),
        ("cut.json", b"{\"origin\": \"host\", ", "saved by farrow"),
        ("array.json", b"[1, 2]", "neither"),
    ];
    for (name, contents, word) in cases {
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        let error = Topology::named(path.to_str().unwrap()).expect_err(name);
        assert!(matches!(error, Error::Topology { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(name) && message.contains(word), "{message:?} lacks {name} or {word}");
    }
    let missing = Topology::named("no/such/file.xml").unwrap_err().to_string();
    assert!(missing.contains("no/such/file.xml") && missing.contains("no such file"), "{missing}");
    assert!(matches!(Topology::from_xml(folder.path().join("gone.xml")), Err(Error::Topology { .. })));
    assert!(matches!(Topology::named(folder.path().to_str().unwrap()), Err(Error::Topology { .. })));
}

#[test]
fn a_saved_topology_is_read_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machine.json");
    let machines = [
        Topology::of_host().unwrap(),
        Topology::from_synthetic("pack:2 [numa] l3:2 core:4 pu:2").unwrap(),
        Topology::from_synthetic("core:6 pu:2").unwrap().with_virtual_nodes(3).unwrap(),
    ];
    for machine in machines {
        machine.save(&path).unwrap();
        let mut read = Topology::named(path.to_str().unwrap()).unwrap();
        assert_eq!(read.origin, Origin::Saved(path.clone()), "a saved host is not this host");
        read.origin = machine.origin.clone();
        assert_eq!(read, machine);
    }
}

#[test]
fn a_saved_topology_that_contradicts_itself_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edited.json");
    let edits: [fn(&mut Topology); 9] = [
        |t| t.cpus.clear(),
        |t| t.cpus[1].os = 0,
        |t| t.cpus[0].node = Some(7),
        |t| t.cpus[0].core = 1,
        |t| t.cpus[0].l3 = Some(99),
        |t| t.nodes[0].cpus.push(500),
        |t| t.l3s[0].cpus.push(500),
        |t| t.distance = Some(vec![vec![10, 20]]),
        |t| t.quota_cpus = Some(-1.0),
    ];
    for (i, edit) in edits.into_iter().enumerate() {
        let mut machine = Topology::from_synthetic("pack:2 [numa] l3:2 core:2 pu:1").unwrap();
        edit(&mut machine);
        machine.save(&path).unwrap();
        let error = Topology::named(path.to_str().unwrap()).expect_err(&format!("edit {i}"));
        assert!(error.to_string().contains("edited.json"), "{error}");
    }
}

#[test]
fn a_topology_that_cannot_be_written_is_an_error() {
    let machine = Topology::from_synthetic("core:2 pu:1").unwrap();
    assert!(matches!(machine.save("/no/such/folder/machine.json"), Err(Error::Io { .. })));
    assert!(matches!(machine.save("/dev/full"), Err(Error::Io { .. })));
}

#[test]
fn one_node_is_cut_into_virtual_nodes_by_cores() {
    let machine = Topology::from_synthetic("[numa(memory=6GB)] core:6 pu:2").unwrap();
    let cut = machine.clone().with_virtual_nodes(4).unwrap();
    assert_consistent(&cut);
    assert!(cut.virtual_nodes);
    let cores_of = |node: usize| {
        let cores: BTreeSet<usize> =
            cut.cpus.iter().filter(|cpu| cpu.node == Some(node)).map(|cpu| cpu.core).collect();
        cores.into_iter().collect::<Vec<_>>()
    };
    assert_eq!((0..4).map(cores_of).collect::<Vec<_>>(), [vec![0, 1], vec![2], vec![3, 4], vec![5]]);
    assert_eq!(cut.nodes[2].memory_bytes, machine.nodes[0].memory_bytes.map(|bytes| bytes / 4));
    assert!(cut.to_string().contains("virtual"));
    assert_eq!(machine.clone().with_virtual_nodes(0).unwrap(), machine);
    assert!(!machine.clone().with_virtual_nodes(1).unwrap().virtual_nodes);
}

#[test]
fn a_machine_that_cannot_be_cut_says_why() {
    let two = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap().with_virtual_nodes(2).unwrap_err();
    assert!(two.to_string().contains("2 nodes"), "{two}");
    let few = Topology::from_synthetic("core:3 pu:2").unwrap().with_virtual_nodes(4).unwrap_err();
    assert!(few.to_string().contains("needs 4") || few.to_string().contains("need 4"), "{few}");
    assert!(few.to_string().contains("at most 3"), "{few}");
}

#[test]
fn this_host_has_the_cpus_of_its_affinity_mask() {
    let host = Topology::of_host().unwrap();
    assert_consistent(&host);
    assert_eq!(host.origin, Origin::Host);
    let mut usable = host.usable_cpus();
    usable.sort_unstable();
    let start = farrow::os::affinity::at_start().unwrap();
    assert!(!usable.is_empty() && usable.iter().all(|cpu| start.contains(cpu)));
    assert_eq!(usable.len(), host.cpus.iter().filter(|cpu| start.contains(&cpu.os)).count());
}

#[test]
fn the_text_names_every_node_and_every_cpu() {
    for path in saved_machines("the_text_names_every_node_and_every_cpu") {
        let topology = Topology::from_xml(&path).unwrap();
        let text = topology.to_string();
        let lines: Vec<&str> = text.lines().collect();
        for node in &topology.nodes {
            let row = lines.iter().find(|line| line.split_whitespace().next() == Some(&node.os.to_string()));
            assert!(row.is_some(), "{}: no row for node {} in\n{text}", path.display(), node.os);
        }
        let groups = lines.iter().skip_while(|line| !line.contains("SMT siblings")).skip(1);
        let mut named = BTreeSet::new();
        for row in groups {
            let cpus = row.rsplit("  ").next().unwrap();
            for list in cpus.split('+') {
                named.extend(farrow::topology::cpulist::parse(list).unwrap());
            }
        }
        assert_eq!(named, topology.cpus.iter().map(|cpu| cpu.os).collect(), "{}", path.display());
    }
}
