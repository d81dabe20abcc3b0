//! Where the feeder is put.

use super::*;
use crate::topology::saved_machines;
use std::path::Path;

fn machine() -> Topology {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines/gpu-far.xml");
    Topology::from_xml(path).expect("a machine")
}

fn on(on: GradientsOn, count: Count) -> Setup {
    let mut setup = Setup { gradients: Gradients { on, ..Gradients::cpu() }, ..Setup::default() };
    setup.workers.count = count;
    setup
}

#[test]
fn the_card_that_computes_is_found_and_the_screen_is_not() {
    let machine = machine();
    let found: Vec<_> = machine.gpus.iter().map(|gpu| (gpu.name.as_deref(), &*gpu.pci, gpu.node)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].1, found[0].2), ("0000:81:00.0", Some(1)));
    assert!(machine.to_string().contains("0000:81:00.0, on node 1"), "{machine}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved.json");
    machine.save(&path).expect("written");
    assert_eq!(Topology::named(path.to_str().unwrap()).expect("read").gpus, machine.gpus);
}

#[test]
fn the_feeder_is_on_the_node_on_which_the_card_hangs() {
    let machine = machine();
    for (on_what, count, workers, feeder, cpu) in [
        (GradientsOn::Gpu, Count::Cores, 1, 0, 2),
        (GradientsOn::Gpu, Count::Exactly(1), 1, 0, 2),
        (GradientsOn::Both, Count::Cores, 4, 3, 3),
        // Compact order takes node 0's two: the last of them moves.
        (GradientsOn::Both, Count::Exactly(2), 2, 1, 2),
        (GradientsOn::Both, Count::On(vec![3, 0, 1]), 3, 0, 3),
    ] {
        let plan = plan(&machine, &on(on_what, count.clone())).expect("a plan");
        let found = plan.feeder.as_ref().expect("a feeder");
        let what = format!("{on_what:?} {count:?}: {found:?}");
        assert_eq!((plan.workers.len(), found.worker), (workers, feeder), "{what}");
        assert_eq!(plan.workers[found.worker].cpus, [cpu], "{what}");
        assert_eq!(found.gpu.as_deref(), Some("0000:81:00.0"));
        assert!(found.why.contains("on node 1, where GPU 0000:81:00.0 hangs"), "{what}");
        let text = plan.describe(&machine);
        assert!(text.contains(&format!("worker {feeder} feeds the GPU, on node 1")), "{text}");
        assert!(text.contains("is the first that is no software, its batches have as many rows as"), "{text}");
    }
}

#[test]
fn cpus_that_are_named_stay_and_the_plan_says_that_the_card_is_far() {
    let plan = plan(&machine(), &on(GradientsOn::Both, Count::On(vec![0, 1]))).expect("a plan");
    let feeder = plan.feeder.expect("a feeder");
    assert_eq!(plan.workers[feeder.worker].cpus, [1]);
    assert!(plan.warnings.iter().any(|warning| warning.contains("hangs on node 1")), "{:?}", plan.warnings);
}

#[test]
fn the_first_node_is_taken_where_no_card_is_shown() {
    let machine = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").expect("a machine");
    let plan = plan(&machine, &on(GradientsOn::Both, Count::Cores)).expect("a plan");
    let feeder = plan.feeder.clone().expect("a feeder");
    assert_eq!((feeder.worker, feeder.gpu), (1, None));
    assert!(feeder.why.contains("shows no GPU, and the first node is taken"), "{}", feeder.why);
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
}

#[test]
fn of_several_cards_the_one_that_is_named_is_taken() {
    let mut machine = machine();
    let mut other = machine.gpus[0].clone();
    (other.name, other.pci, other.node) = (Some("Example Accelerator E100".into()), "0000:01:00.0".into(), Some(0));
    machine.gpus.insert(0, other);
    let of = |adapter: Option<&str>| {
        let mut setup = on(GradientsOn::Gpu, Count::Cores);
        setup.gradients.adapter = adapter.map(String::from);
        setup.gradients.rows = Some(512);
        plan(&machine, &setup).expect("a plan")
    };
    let named = of(Some("e100"));
    assert_eq!(named.workers[0].node, Some(0));
    let text = named.describe(&machine);
    assert!(text.contains("is the one with `e100` in its name or address, its batches have 512 rows"), "{text}");
    assert_eq!(of(Some("0000:81")).workers[0].node, Some(1));
    let unsaid = of(None);
    assert_eq!(unsaid.workers[0].node, Some(0));
    assert!(unsaid.warnings.iter().any(|warning| warning.contains("--adapter")), "{:?}", unsaid.warnings);
}

#[test]
fn every_saved_machine_has_a_worker_that_feeds() {
    for path in saved_machines("every_saved_machine_has_a_worker_that_feeds") {
        let machine = Topology::from_xml(&path).expect("a machine");
        for what in [GradientsOn::Gpu, GradientsOn::Both] {
            let plan = plan(&machine, &on(what, Count::Cores)).expect("a plan");
            let feeder = plan.feeder.expect("a feeder");
            assert!(feeder.worker < plan.workers.len(), "{}", path.display());
            assert_eq!(plan.workers.len() == 1, what == GradientsOn::Gpu);
        }
    }
}

#[test]
fn too_few_and_too_many_workers_are_refused() {
    let machine = machine();
    let refused = |setup: Setup| plan(&machine, &setup).expect_err("refused").to_string();
    let one = refused(on(GradientsOn::Both, Count::Exactly(1)));
    assert!(one.contains("the plan has 1") && one.contains("--workers 2"), "{one}");
    let three = refused(on(GradientsOn::Gpu, Count::On(vec![0, 1, 2])));
    assert!(three.contains("would have 3") && three.contains("both"), "{three}");
}
