//! Locations in hwloc's words. The cpus expected are the output of hwloc 2.9's
//! `hwloc-calc -i MACHINE --po -I pu LOCATION`.

use farrow::{
    config::{Location, Settings},
    placement::{location, plan},
    topology::Topology,
};

/// Two sockets, two L3 caches each, two cores below each, siblings numbered last: system numbers are not logical ones.
const MACHINE: &str = "pack:2 [numa] l3:2 core:2 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)";

const HWLOC_CALC: &[(&str, &[u32])] = &[
    ("package:0.core:0-3", &[0, 8, 1, 9, 2, 10, 3, 11]),
    ("numa:1", &[4, 12, 5, 13, 6, 14, 7, 15]),
    ("core:odd", &[1, 9, 3, 11, 5, 13, 7, 15]),
    ("core:even", &[0, 8, 2, 10, 4, 12, 6, 14]),
    ("pack:all.core:0.pu:0", &[0, 4]),
    ("socket:1.core:0", &[4, 12]),
    ("core:6-", &[6, 14, 7, 15]),
    ("core:6:4", &[0, 8, 1, 9, 6, 14, 7, 15]),
    ("l3:2.core:1.pu:1", &[13]),
    ("numa:1.l3:0", &[4, 12, 5, 13]),
    ("pack:all.l3:odd.core:0", &[2, 10, 6, 14]),
    ("pu:15", &[15]),
    ("pack:1.numa:0.core:2-3.pu:all", &[6, 14, 7, 15]),
    ("numa:0.package:0", &[0, 8, 1, 9, 2, 10, 3, 11]),
    ("L3:3.pu:1-2", &[14, 7]),
    ("Core:3", &[3, 11]),
    ("pack:1.pu:6:3", &[4, 7, 15]),
];

fn cpus_of(topology: &Topology, places: &[usize]) -> Vec<u32> {
    places.iter().map(|&place| topology.cpus[place].os).collect()
}

#[test]
fn locations_cover_the_cpus_that_hwloc_calc_names() {
    let topology = Topology::from_synthetic(MACHINE).unwrap();
    for (text, cpus) in HWLOC_CALC {
        let location: Location = text.parse().unwrap();
        let covered = location::covered(&topology, &location).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(cpus_of(&topology, &covered), *cpus, "{text}");
        assert_eq!(location.to_string().parse::<Location>().unwrap(), location, "{text} as written out");
    }
}

fn workers(text: &str) -> Result<Vec<u32>, String> {
    let mut settings = Settings::new();
    settings.set(&format!("workers.locations={text}")).unwrap();
    let setup = settings.check().map_err(|error| error.to_string())?;
    let topology = Topology::from_synthetic(MACHINE).unwrap();
    let made = plan(&topology, &setup).map_err(|error| settings.locate(error).to_string())?;
    Ok(made.workers.iter().flat_map(|worker| worker.cpus.clone()).collect())
}

#[test]
fn one_worker_runs_on_each_core_and_with_pu_on_each_cpu() {
    assert_eq!(workers("package:0.core:0-3").unwrap(), [0, 1, 2, 3]);
    assert_eq!(workers("numa:1").unwrap(), [4, 5, 6, 7]);
    assert_eq!(workers("core:2.pu:all").unwrap(), [2, 10]);
    assert_eq!(workers("pu:1").unwrap(), [8], "a sibling, where it is named");
    assert_eq!(workers("core:3 core:0").unwrap(), [3, 0], "as listed, each L3 by itself");
    assert_eq!(workers("[\"numa:0\", \"~core:1\", \"core:0\"]").unwrap(), [0, 2, 3], "named twice, used once");
}

#[test]
fn a_location_that_the_machine_lacks_is_an_error_that_says_what_there_is() {
    for (text, fragments) in [
        ("core:8", ["--set workers.locations=core:8: ", "core:0-7"]),
        ("package:1.core:2-5", ["a place before its dot has", "core:0-3"]),
        ("package:2", ["has package:0-1", "logical"]),
        ("l2:0", ["has no l2", "`farrow topology`"]),
        ("core:0.pu:4:1", ["pu:0-1", "logical"]),
        ("pack:0.pack:1", ["only package:0", "logical"]),
        ("core:1 ~numa:0", ["takes away every cpu", "leave one"]),
        ("numa:18446744073709551615", ["numa:0-1", "logical"]),
        ("core:99999999999999999999", ["is no index", "TYPE:INDEX"]),
    ] {
        let message = workers(text).expect_err(text);
        for fragment in fragments {
            assert!(message.contains(fragment), "{text} lacks `{fragment}`: {message}");
        }
    }
}

#[test]
fn cpus_that_may_not_be_used_are_left_out_of_a_location() {
    let mut topology = Topology::from_synthetic(MACHINE).unwrap();
    for cpu in &mut topology.cpus {
        cpu.usable = ![0, 1, 9].contains(&cpu.os);
    }
    let chosen = |text: &str| {
        let found = location::chosen(&topology, &[text.parse().unwrap()]);
        found.map(|places| cpus_of(&topology, &places)).map_err(|error| error.to_string())
    };
    assert_eq!(chosen("numa:0").unwrap(), [8, 2, 3], "core 0 by its sibling, core 1 not at all");
    assert_eq!(chosen("core:0.pu:all").unwrap(), [8]);
    assert!(chosen("core:1").unwrap_err().contains("none of whose cpus is usable"));
}

#[test]
fn a_node_without_cpus_is_counted_and_refused() {
    let mut topology = Topology::from_synthetic("pack:1 [numa] core:2 pu:1").unwrap();
    let memory_only = farrow::topology::Node { os: 4, memory_bytes: Some(1), cpus: Vec::new(), allowed: true };
    topology.nodes.insert(0, memory_only);
    let covered = |text: &str| location::covered(&topology, &text.parse().unwrap());
    assert_eq!(covered("numa:1").unwrap(), [0, 1]);
    assert!(covered("numa:0").unwrap_err().to_string().contains("no cpu"));
}
