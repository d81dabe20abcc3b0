//! Plans: on every saved machine, on described ones where the right plan is known, and on random ones.

use crate::topology::saved_machines;
use farrow::{
    config::{Count, Granularity, MergeKind, Pin, Setup, Smt, WorkerOrder},
    error::Error,
    placement::{Label, Plan, default_granularity, plan},
    topology::Topology,
};
use proptest::prelude::*;
use std::{collections::BTreeSet, path::Path};

fn machine(text: &str) -> Topology {
    Topology::from_synthetic(text).unwrap()
}

fn setup(change: impl FnOnce(&mut Setup)) -> Setup {
    let mut setup = Setup::default();
    change(&mut setup);
    setup
}

/// The one cpu of each worker.
fn cpus(plan: &Plan) -> Vec<u32> {
    plan.workers.iter().map(|worker| worker.cpus[0]).collect()
}

fn count(n: usize) -> Setup {
    setup(|setup| setup.workers.count = Count::Exactly(n))
}

fn refusal(topology: &Topology, setup: &Setup) -> String {
    let error = plan(topology, setup).expect_err("a plan was made");
    assert!(matches!(error, Error::Unmet { .. }), "{error}");
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

/// What holds of every plan.
fn assert_sound(topology: &Topology, plan: &Plan) {
    for (kind, count, groups) in [
        ("replica", plan.replicas.len(), plan.replicas.iter().map(|replica| &replica.workers).collect::<Vec<_>>()),
        ("shard", plan.shards.len(), plan.shards.iter().map(|shard| &shard.workers).collect()),
    ] {
        let mut members: Vec<usize> = groups.iter().flat_map(|group| group.iter().copied()).collect();
        assert!(groups.iter().all(|group| !group.is_empty() && group.is_sorted()), "{kind} {count}");
        members.sort_unstable();
        assert_eq!(members, (0..plan.workers.len()).collect::<Vec<_>>(), "each worker has one {kind}");
    }
    for (number, worker) in plan.workers.iter().enumerate() {
        assert!(plan.replicas[worker.replica].workers.contains(&number));
        assert!(plan.shards[worker.shard].workers.contains(&number));
        let usable = topology.usable_cpus();
        assert!(!worker.cpus.is_empty() && worker.cpus.iter().all(|cpu| usable.contains(cpu)));
    }
    for shard in &plan.shards {
        assert!(shard.workers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "a shard's workers are contiguous");
        let nodes: BTreeSet<_> = shard.workers.iter().map(|&worker| plan.workers[worker].node).collect();
        assert_eq!(nodes.len(), 1, "a shard's workers share a node");
    }
    let homes = plan.replicas.iter().map(|replica| replica.node).chain(plan.shards.iter().map(|shard| shard.node));
    for home in homes.flatten() {
        assert!(topology.has_memory(home), "nothing lives on a node without memory");
    }
}

fn usable_cores(topology: &Topology) -> usize {
    topology.cpus.iter().filter(|cpu| cpu.usable).map(|cpu| cpu.core).collect::<BTreeSet<_>>().len()
}

#[test]
fn the_default_plan_is_made_on_every_saved_machine() {
    for path in saved_machines("the_default_plan_is_made_on_every_saved_machine") {
        let topology = Topology::from_xml(&path).unwrap();
        let plan = plan(&topology, &Setup::default()).unwrap();
        assert_sound(&topology, &plan);
        let cores: BTreeSet<usize> = plan.workers.iter().map(|worker| worker.core).collect();
        assert_eq!(cores.len(), usable_cores(&topology), "{}: a worker on every usable core", path.display());
        assert_eq!(plan.workers.len(), cores.len());
        assert_eq!(plan.granularity, default_granularity(plan.workers.len(), plan.shards.len(), MergeKind::Lossy));
        let named = plan.describe(&topology);
        assert!(plan.warnings.iter().all(|warning| named.contains(warning.as_str())));
    }
}

#[test]
fn one_replica_a_node_is_made_on_every_saved_machine() {
    for path in saved_machines("one_replica_a_node_is_made_on_every_saved_machine") {
        let topology = Topology::from_xml(&path).unwrap();
        let plan = plan(&topology, &setup(|setup| setup.parameters.replicas = Some(Granularity::Node))).unwrap();
        assert_sound(&topology, &plan);
        let nodes: BTreeSet<_> = topology.cpus.iter().filter(|cpu| cpu.usable).map(|cpu| cpu.node).collect();
        assert_eq!(plan.replicas.len(), nodes.len(), "{}", path.display());
        for replica in &plan.replicas {
            let node = plan.workers[replica.workers[0]].node;
            assert!(node.is_none() || replica.node == node, "{}: every node here has memory", path.display());
        }
    }
}

#[test]
fn one_replica_an_l3_is_made_on_every_saved_machine_that_states_them_and_else_falls_back_with_a_warning() {
    let without = [
        "16amd64-8n2c-cpusets",
        "16amd64-8n2c-distances",
        "192em64t-24n8c2t",
        "28intel64-2p2g7c-CoD",
        "8em64t-2s2ca2c-buggynuma",
        "8intel64-4n2t-memattrs",
    ];
    for path in saved_machines("one_replica_an_l3") {
        let topology = Topology::from_xml(&path).unwrap();
        let plan = plan(&topology, &setup(|setup| setup.parameters.replicas = Some(Granularity::L3))).unwrap();
        assert_sound(&topology, &plan);
        let warned = plan.warnings.iter().any(|warning| warning.contains("states no L3"));
        if without.contains(&path.file_stem().unwrap().to_str().unwrap()) {
            assert!(warned && plan.granularity == Granularity::Node, "{}", path.display());
            assert_eq!(plan.replicas.len(), plan.shards.len());
        } else {
            let l3s: BTreeSet<_> = topology.cpus.iter().filter(|cpu| cpu.usable).filter_map(|cpu| cpu.l3).collect();
            assert!(!warned && plan.granularity == Granularity::L3, "{}", path.display());
            assert_eq!(plan.replicas.len(), l3s.len(), "{}", path.display());
        }
    }
}

#[test]
fn eight_scattered_workers_are_placed_on_every_saved_machine() {
    for path in saved_machines("eight_scattered_workers_are_placed_on_every_saved_machine") {
        let topology = Topology::from_xml(&path).unwrap();
        let eight = setup(|setup| {
            setup.workers.count = Count::Exactly(8);
            setup.workers.order = WorkerOrder::Scatter;
        });
        let plan = plan(&topology, &eight).unwrap();
        assert_sound(&topology, &plan);
        let (usable, cores) = (topology.usable_cpus().len(), usable_cores(&topology));
        let used: BTreeSet<u32> = cpus(&plan).into_iter().collect();
        let used_cores: BTreeSet<usize> = plan.workers.iter().map(|worker| worker.core).collect();
        assert_eq!((plan.workers.len(), used.len(), used_cores.len()), (8, usable.min(8), cores.min(8)));
        let shared = plan.warnings.iter().any(|warning| warning.contains("8 workers share"));
        assert_eq!(shared, usable < 8, "{}: {:?}", path.display(), plan.warnings);
        let nodes: BTreeSet<_> = topology.cpus.iter().filter(|cpu| cpu.usable).map(|cpu| cpu.node).collect();
        assert_eq!(plan.shards.len(), nodes.len().min(8), "{}: as many nodes as can be", path.display());
    }
}

#[test]
fn workers_on_cpus_of_an_offline_node_have_their_data_on_a_node_that_is_there() {
    let path = saved_machines("workers_on_cpus_of_an_offline_node");
    let Some(path) = path.iter().find(|path| path.to_string_lossy().contains("21intel64")) else { return };
    let topology = Topology::from_xml(path).unwrap();
    let plan = plan(&topology, &Setup::default()).unwrap();
    assert_eq!(plan.shards.len(), 2);
    assert!(plan.shards.iter().all(|shard| shard.node == Some(0)));
    assert!(plan.warnings.iter().any(|warning| warning.contains("belong to no node")), "{:?}", plan.warnings);
}

#[test]
fn compact_fills_a_node_and_scatter_deals_over_nodes_and_l3_groups() {
    // Two nodes of two L3 groups of two cores of two cpus: cpus 0-7 and 8-15, siblings are neighbours.
    let topology = machine("pack:2 [numa] l3:2 core:2 pu:2");
    assert_eq!(cpus(&plan(&topology, &count(5)).unwrap()), [0, 2, 4, 6, 8]);
    let scattered = |n| {
        let mut setup = count(n);
        setup.workers.order = WorkerOrder::Scatter;
        cpus(&plan(&topology, &setup).unwrap())
    };
    assert_eq!(scattered(2), [0, 8]);
    assert_eq!(scattered(4), [0, 4, 8, 12]);
    // The fifth is the second core of the first L3 group; workers of a group are numbered together.
    assert_eq!(scattered(5), [0, 2, 4, 8, 12]);
    // All sixteen: within each L3 group the first cpus of its cores, then their siblings.
    assert_eq!(scattered(16), [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15]);
    let mut named = count(6);
    named.workers.order = WorkerOrder::Nodes(vec![1, 0]);
    assert_eq!(cpus(&plan(&topology, &named).unwrap()), [8, 10, 12, 14, 0, 2]);
}

#[test]
fn siblings_come_last_or_first_or_never() {
    let topology = machine("pack:2 [numa] core:2 pu:2");
    let with = |smt, n| {
        let mut setup = count(n);
        setup.workers.smt = smt;
        setup
    };
    let placed = |smt, n| cpus(&plan(&topology, &with(smt, n)).unwrap());
    assert_eq!(placed(Smt::Last, 4), [0, 2, 4, 6]);
    assert_eq!(placed(Smt::Last, 5), [0, 2, 1, 4, 6]);
    assert_eq!(placed(Smt::First, 3), [0, 1, 2]);
    assert_eq!(placed(Smt::Never, 4), [0, 2, 4, 6]);
    let refused = refusal(&topology, &with(Smt::Never, 5));
    assert!(refused.contains("5 workers") && refused.contains("there are 4"), "{refused}");
}

#[test]
fn counts_by_word_are_the_usable_cores_and_cpus() {
    let mut topology = machine("pack:2 [numa] core:4 pu:2");
    for cpu in &mut topology.cpus {
        cpu.usable = cpu.os < 5;
    }
    assert_eq!(cpus(&plan(&topology, &Setup::default()).unwrap()), [0, 2, 4]);
    let all = setup(|setup| setup.workers.count = Count::Cpus);
    assert_eq!(cpus(&plan(&topology, &all).unwrap()), [0, 2, 4, 1, 3]);
    let only = setup(|setup| setup.workers.order = WorkerOrder::Nodes(vec![0]));
    assert_eq!(cpus(&plan(&machine("pack:2 [numa] core:4 pu:2"), &only).unwrap()), [0, 2, 4, 6]);
}

#[test]
fn a_list_of_cpus_keeps_its_order_within_each_node() {
    let topology = machine("pack:2 [numa] core:4 pu:1");
    let on = |cpus: &[u32]| setup(|setup| setup.workers.count = Count::On(cpus.to_vec()));
    assert_eq!(cpus(&plan(&topology, &on(&[3, 1, 0])).unwrap()), [3, 1, 0]);
    assert_eq!(cpus(&plan(&topology, &on(&[6, 3, 4, 0])).unwrap()), [6, 4, 3, 0]);
}

#[test]
fn what_does_not_exist_or_is_not_usable_is_named_with_what_there_is() {
    let mut topology = machine("pack:2 [numa] core:4 pu:1");
    topology.cpus[5].usable = false;
    let on = |cpus: &[u32]| setup(|setup| setup.workers.count = Count::On(cpus.to_vec()));
    let nodes = |nodes: &[u32]| setup(|setup| setup.workers.order = WorkerOrder::Nodes(nodes.to_vec()));
    let absent = refusal(&topology, &on(&[0, 96]));
    assert!(absent.contains("lists cpu 96") && absent.contains("has 0-7"), "{absent}");
    let forbidden = refusal(&topology, &on(&[5]));
    assert!(forbidden.contains("cpu 5") && forbidden.contains("usable are 0-4,6-7"), "{forbidden}");
    assert!(refusal(&topology, &on(&[1, 1])).contains("twice"));
    assert!(refusal(&topology, &on(&[])).contains("empty"));
    let no_node = refusal(&topology, &nodes(&[3]));
    assert!(no_node.contains("node 3") && no_node.contains("has 0-1"), "{no_node}");
    assert!(refusal(&topology, &nodes(&[1, 1])).contains("twice"));
    assert!(refusal(&topology, &nodes(&[])).contains("no node"));
    assert!(refusal(&topology, &count(0)).contains("is 0"));
    assert!(refusal(&topology, &count(1_000_000_000)).contains("1000000000"));
    for cpu in &mut topology.cpus {
        cpu.usable = cpu.os < 4;
    }
    assert!(refusal(&topology, &nodes(&[1])).contains("none of whose cpus 4-7 is usable"));
    for cpu in &mut topology.cpus {
        cpu.usable = false;
    }
    assert!(refusal(&topology, &Setup::default()).contains("no usable cpu"));
}

#[test]
fn a_list_that_contradicts_another_setting_is_refused() {
    let topology = machine("pack:2 [numa] core:2 pu:2");
    let mut both = setup(|setup| setup.workers.count = Count::On(vec![0, 1]));
    both.workers.smt = Smt::Never;
    assert!(refusal(&topology, &both).contains("siblings"));
    let mut elsewhere = setup(|setup| setup.workers.count = Count::On(vec![0, 4]));
    elsewhere.workers.order = WorkerOrder::Nodes(vec![0]);
    assert!(refusal(&topology, &elsewhere).contains("cpu 4"));
    elsewhere.workers.order = WorkerOrder::NodesExcept(vec![1]);
    assert!(refusal(&topology, &elsewhere).contains("cpu 4"));
    assert!(refusal(&topology, &setup(|setup| setup.virtual_nodes = 2)).contains("virtual_nodes is 2"));
}

#[test]
fn a_worker_is_bound_to_its_cpu_or_its_node_or_nothing() {
    let mut topology = machine("pack:2 [numa] core:2 pu:2");
    topology.cpus[7].usable = false;
    let with = |pin| plan(&topology, &setup(|setup| setup.workers.pin = pin)).unwrap();
    assert_eq!(with(Pin::Cpu).workers[3].cpus, [6]);
    assert_eq!(with(Pin::Node).workers[3].cpus, [4, 5, 6]);
    let free = with(Pin::None);
    assert!(free.workers.iter().all(|worker| !worker.pinned && worker.cpus == [0, 1, 2, 3, 4, 5, 6]));
    assert!(with(Pin::Node).workers.iter().all(|worker| worker.pinned));
}

#[test]
fn granularity_groups_the_workers() {
    let topology = machine("pack:2 [numa] l3:2 core:2 pu:1");
    let replicas = |granularity| {
        let plan = plan(&topology, &setup(|setup| setup.parameters.replicas = Some(granularity))).unwrap();
        assert_eq!(plan.granularity, granularity);
        plan.replicas.into_iter().map(|replica| replica.workers).collect::<Vec<_>>()
    };
    assert_eq!(replicas(Granularity::Machine), [(0..8).collect::<Vec<_>>()]);
    assert_eq!(replicas(Granularity::Node), [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!(replicas(Granularity::L3), [[0, 1], [2, 3], [4, 5], [6, 7]]);
    assert_eq!(replicas(Granularity::Core), (0..8).map(|worker| vec![worker]).collect::<Vec<_>>());
}

#[test]
fn by_default_up_to_eight_workers_of_one_node_have_a_replica_each_and_else_each_node_has_one() {
    assert_eq!(default_granularity(1, 1, MergeKind::Lossy), Granularity::Core);
    assert_eq!(default_granularity(8, 1, MergeKind::Lossy), Granularity::Core);
    assert_eq!(default_granularity(9, 1, MergeKind::Lossy), Granularity::Node);
    assert_eq!(default_granularity(2, 2, MergeKind::Lossy), Granularity::Node);
    assert_eq!(default_granularity(1, 1, MergeKind::Lossless), Granularity::Node);
    let small = plan(&machine("core:8 pu:2"), &Setup::default()).unwrap();
    assert_eq!((small.granularity, small.replicas.len()), (Granularity::Core, 8));
    let large = plan(&machine("core:9 pu:2"), &Setup::default()).unwrap();
    assert_eq!((large.granularity, large.replicas.len()), (Granularity::Node, 1));
}

#[test]
fn what_workers_of_a_node_without_memory_use_lives_on_the_nearest_that_has_some() {
    let mut topology = machine("pack:4 [numa(memory=1GB)] core:2 pu:1");
    let rows = [[10, 31, 15, 20], [31, 10, 20, 15], [15, 20, 10, 31], [20, 15, 31, 10]];
    topology.distance = Some(rows.iter().map(|row| row.to_vec()).collect());
    topology.nodes[0].memory_bytes = Some(0);
    topology.nodes[1].allowed = false;
    let plan = plan(&topology, &Setup::default()).unwrap();
    let homes: Vec<_> = plan.shards.iter().map(|shard| shard.node).collect();
    assert_eq!(homes, [Some(2), Some(3), Some(2), Some(3)]);
    assert!(
        plan.warnings.iter().any(|warning| warning.contains("node 0 has workers and has no memory")
            && warning.contains("node 2, at distance 15")),
        "{:?}",
        plan.warnings
    );
    assert!(plan.warnings.iter().any(|warning| warning.contains("cpuset allows") && warning.contains("node 3")));
}

/// A machine of tests/it/machines.
fn kept(name: &str) -> Topology {
    Topology::from_xml(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines").join(name)).unwrap()
}

/// OS numbers of the node of each shard's workers, and of the node it lives on.
fn shard_nodes(topology: &Topology, plan: &Plan) -> Vec<(u32, u32)> {
    let os = |node: Option<usize>| topology.nodes[node.unwrap()].os;
    plan.shards.iter().map(|shard| (os(plan.workers[shard.workers[0]].node), os(shard.node))).collect()
}

#[test]
fn data_of_a_memoryless_node_live_where_the_kernel_puts_a_first_touch() {
    // In that virtual machine a page first touched on node 1 came to lie on node 0, at distance 15, not on node 2.
    let mut topology = kept("memoryless.xml");
    // As seen from within the machine: the kernel does not list it among the allowed.
    topology.nodes[1].allowed = false;
    let made = plan(&topology, &Setup::default()).unwrap();
    assert_eq!(shard_nodes(&topology, &made), [(0, 0), (1, 0), (2, 2)]);
    assert_eq!(
        made.warnings,
        ["node 1 has workers and has no memory: what they use lives on node 0, at distance 15"]
    );
}

#[test]
fn a_node_that_is_only_memory_gets_no_worker() {
    let topology = kept("cxl-hmat.xml");
    let made = plan(&topology, &Setup::default()).unwrap();
    assert_eq!(shard_nodes(&topology, &made), [(0, 0), (1, 1)]);
    assert_eq!(made.warnings, Vec::<String>::new());
    let named = setup(|setup| setup.workers.order = WorkerOrder::Nodes(vec![2]));
    assert!(refusal(&topology, &named).contains("node 2, whose cpus count as those of node 0"));
    let offline = kept("offline.xml");
    assert_eq!(plan(&offline, &Setup::default()).unwrap().shards.len(), 3);
    let named = setup(|setup| setup.workers.order = WorkerOrder::Nodes(vec![3]));
    assert!(refusal(&offline, &named).contains("node 3, which has no cpu"));
}

#[test]
fn a_cpuset_that_allows_cpus_of_one_node_and_memory_of_another_is_obeyed() {
    let topology = kept("cgroup-cross.xml");
    let made = plan(&topology, &Setup::default()).unwrap();
    assert_eq!(cpus(&made), [1, 2]);
    assert_eq!(shard_nodes(&topology, &made), [(0, 1), (1, 1)]);
    let warned = |words: &str| made.warnings.iter().any(|warning| warning.contains(words));
    assert!(
        warned("leaves 2 of 4 cpus: 1-2") && warned("node 0 has workers and has no memory that the cpuset allows")
    );
}

#[test]
fn a_plan_warns_where_people_go_wrong() {
    let smt = machine("pack:1 [numa] core:4 pu:2");
    let warned = |topology: &Topology, setup: &Setup, words: &str| {
        let warnings = plan(topology, setup).unwrap().warnings;
        warnings.iter().any(|warning| warning.contains(words))
    };
    let mut first = count(2);
    first.workers.smt = Smt::First;
    assert!(warned(&smt, &first, "SMT siblings share 1 cores (cpus 0-1) while 3 usable cores"));
    assert!(!warned(&smt, &count(2), "SMT"));
    assert!(!warned(&smt, &count(8), "SMT"), "no core is free");
    assert!(warned(&smt, &count(9), "9 workers share 8 cpus"));
    assert!(!warned(&smt, &count(8), "share"));
    let mut narrowed = smt.clone();
    narrowed.cpus[1].usable = false;
    assert!(warned(&narrowed, &count(2), "leaves 7 of 8 cpus: 0,2-7"));
    assert!(warned(&narrowed, &count(2), "cuts through 1 cores (the first has cpus 0-1)"));
    let mut limited = smt.clone();
    limited.quota_cpus = Some(2.5);
    assert!(warned(&limited, &count(3), "quota is 2.5 cpus and there are 3 workers"));
    assert!(!warned(&limited, &count(2), "quota"));
    assert_eq!(plan(&smt, &count(4)).unwrap().warnings, Vec::<String>::new(), "nothing is wrong with this one");
}

#[test]
fn a_plan_on_virtual_nodes_is_labelled() {
    let two = setup(|setup| setup.virtual_nodes = 2);
    let cut = machine("core:4 pu:1").with_virtual_nodes(2).unwrap();
    let plan_cut = plan(&cut, &two).unwrap();
    assert_eq!((plan_cut.label, plan_cut.shards.len()), (Label::Virtual, 2));
    assert!(plan_cut.describe(&cut).contains("virtual"));
    assert_eq!(plan(&machine("core:4 pu:1"), &Setup::default()).unwrap().label, Label::Measured);
}

#[test]
fn a_large_plan_is_shown_in_runs_that_name_every_worker_and_cpu() {
    let topology = machine("pack:4 [numa] l3:2 core:16 pu:1");
    let plan = plan(&topology, &Setup::default()).unwrap();
    let text = plan.describe(&topology);
    assert!(text.contains("128 workers are shown in runs"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("112-127") && line.contains("  112-127")), "{text}");
    let small = count(64);
    let shown = super::placement::plan(&topology, &small).unwrap().describe(&topology);
    assert!(!shown.contains("in runs") && shown.lines().any(|line| line.starts_with("63 ")), "{shown}");
}

/// A machine of up to 4 packages with nodes, some of whose cpus are not usable and whose nodes may lack memory.
fn machines() -> impl Strategy<Value = Topology> {
    let shape = (1..5usize, 1..3usize, 1..4usize, 1..4usize);
    (shape, proptest::collection::vec(0.0..1.0f64, 96), 0.0..1.0f64, any::<[bool; 4]>()).prop_map(
        |((packs, l3s, cores, threads), draws, share, memory)| {
            let mut topology = machine(&format!("pack:{packs} [numa] l3:{l3s} core:{cores} pu:{threads}"));
            for (cpu, draw) in topology.cpus.iter_mut().zip(draws) {
                cpu.usable = draw < share;
            }
            for (node, has) in topology.nodes.iter_mut().zip(memory) {
                node.memory_bytes = has.then_some(1 << 30);
                node.allowed = has;
            }
            topology
        },
    )
}

fn setups() -> impl Strategy<Value = Setup> {
    let counts = prop_oneof![Just(Count::Cores), Just(Count::Cpus), (1..120usize).prop_map(Count::Exactly)];
    let orders = prop_oneof![Just(WorkerOrder::Compact), Just(WorkerOrder::Scatter)];
    let smts = prop_oneof![Just(Smt::Last), Just(Smt::First), Just(Smt::Never)];
    let pins = prop_oneof![Just(Pin::Cpu), Just(Pin::Node), Just(Pin::None)];
    let replicas = proptest::option::of(prop_oneof![
        Just(Granularity::Machine),
        Just(Granularity::Node),
        Just(Granularity::L3),
        Just(Granularity::Core),
    ]);
    (counts, orders, smts, pins, replicas).prop_map(|(count, order, smt, pin, replicas)| {
        setup(|setup| {
            setup.workers.count = count;
            setup.workers.order = order;
            setup.workers.smt = smt;
            setup.workers.pin = pin;
            setup.parameters.replicas = replicas;
        })
    })
}

proptest! {
    #[test]
    fn a_plan_is_sound_and_the_same_every_time(topology in machines(), setup in setups()) {
        let usable = topology.usable_cpus().len();
        let cores = usable_cores(&topology);
        let asked = match setup.workers.count {
            Count::Cores => cores,
            Count::Cpus => usable,
            Count::Exactly(n) => n,
            Count::On(_) | Count::At(_) => unreachable!("not drawn"),
        };
        let refused = usable == 0 || setup.workers.smt == Smt::Never && asked > cores;
        match plan(&topology, &setup) {
            Err(error) => prop_assert!(refused, "{}", error),
            Ok(made) => {
                prop_assert!(!refused);
                assert_sound(&topology, &made);
                prop_assert_eq!(made.workers.len(), asked);
                let pinned = Setup { workers: farrow::config::Workers { pin: Pin::Cpu, ..setup.workers.clone() }, ..setup.clone() };
                let distinct: BTreeSet<u32> = cpus(&plan(&topology, &pinned).unwrap()).into_iter().collect();
                prop_assert_eq!(distinct.len(), asked.min(usable), "two workers on one cpu");
                prop_assert_eq!(plan(&topology, &setup).unwrap(), made);
            }
        }
    }
}
