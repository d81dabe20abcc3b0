//! The price list: its plan on any topology, gone through with an instrument that has a clock and a machine of its own.

use super::topology::saved_machines;
use farrow::{
    contention::machine::{How, Instrument, Meet, Only, Question, Survey, measure, survey},
    machine::PriceList,
    report::{curve_csv, prices_table, table_csv},
    topology::Topology,
};
use std::{collections::BTreeSet, fs, path::Path};

/// A machine by formula: a line takes 10 ns within a core, 20 within an L3, 40 within a node, 100 beyond.
struct Model<'a> {
    topology: &'a Topology,
    clock: f64,
    asked: usize,
    /// Every so many questions a thread loses its cpu.
    disturbed_every: usize,
    disturbances: u64,
}

impl<'a> Model<'a> {
    fn new(topology: &'a Topology, disturbed_every: usize) -> Self {
        Model { topology, clock: 0.0, asked: 0, disturbed_every, disturbances: 0 }
    }

    fn line_ns(&self, (one, other): (u32, u32)) -> f64 {
        use farrow::topology::Shared::*;
        match self.topology.shared_by(one, other) {
            Core => 10.0,
            L3 => 20.0,
            Node => 40.0,
            Package | Machine => 100.0,
        }
    }
}

impl Instrument for Model<'_> {
    fn ask(&mut self, question: &Question, seconds: f64) -> Result<Vec<f64>, String> {
        self.asked += 1;
        // Threads start and arrays are made, at half the speed that the plan reckons with.
        let bytes = match question {
            Question::Latency { bytes, .. } => 3 * bytes,
            Question::Bandwidth { bytes, .. } => *bytes,
            Question::Loaded { bytes, cpus, .. } => 2 * bytes * cpus.len() as u64,
            _ => 0,
        };
        self.clock += seconds + 0.001 + 0.3e-9 * bytes as f64;
        if self.disturbed_every > 0 && self.asked.is_multiple_of(self.disturbed_every) {
            self.disturbances += 1;
        }
        let value = match question {
            Question::Transfer { cpus, .. } | Question::Distance { cpus, .. } | Question::Block { cpus } => {
                self.line_ns(*cpus)
            }
            Question::Latency { cpu, node: Some(node), .. } => {
                if self.topology.is_local(*cpu, *node) {
                    90.0
                } else {
                    150.0
                }
            }
            Question::Contended { meet: Meet::Lossy, cpus } => 3.0 * cpus.len() as f64,
            Question::Contended { meet: Meet::Locked, .. } => return Err("no locks here".into()),
            _ => 7.0,
        };
        Ok(vec![value; 9])
    }

    fn seconds(&self) -> f64 {
        self.clock
    }

    fn disturbances(&self) -> u64 {
        self.disturbances
    }
}

fn go(topology: &Topology, seconds: f64, disturbed_every: usize) -> (Survey, PriceList, f64) {
    let survey = survey(topology, seconds, &Only::default());
    let mut model = Model::new(topology, disturbed_every);
    let list = measure(&survey, &mut model, |_, _, _| true);
    (survey, list, model.clock)
}

fn synthetic(text: &str) -> Topology {
    Topology::from_synthetic(text).expect("a topology")
}

#[test]
fn a_survey_of_eight_sockets_of_28_cores_fits_the_time_it_is_given() {
    for (text, cpus) in [("pack:8 [numa] l3:1 core:28 pu:1", 224), ("pack:8 [numa] l3:1 core:28 pu:2", 448)] {
        let topology = synthetic(text);
        assert_eq!(topology.cpus.len(), cpus);
        for seconds in [20.0, 60.0, 180.0, 600.0, 3600.0] {
            let (survey, list, took) = go(&topology, seconds, 0);
            assert!(survey.seconds <= 1.05 * seconds, "{text}: {} s of {seconds}", survey.seconds);
            assert!(took <= survey.seconds, "{text}: the model took {took} s of {}", survey.seconds);
            // What is left out is said; what is there covers every pair of sockets.
            let read = list.table("transfer.read").expect("lines");
            let sockets: BTreeSet<(Option<usize>, Option<usize>)> =
                pairs(read).map(|(one, other)| (package(&topology, one), package(&topology, other))).collect();
            if seconds >= 60.0 {
                assert_eq!(sockets.len(), 64, "{text} in {seconds} s");
            }
            assert_eq!(
                survey.left_out.is_empty(),
                pairs(read).count() == cpus * (cpus - 1),
                "{:?}",
                survey.left_out
            );
        }
    }
}

fn package(topology: &Topology, cpu: u32) -> Option<usize> {
    topology.cpus.iter().find(|known| known.os == cpu).and_then(|known| known.package)
}

fn pairs(table: &farrow::machine::Table) -> impl Iterator<Item = (u32, u32)> {
    table.rows.iter().zip(&table.prices).flat_map(|(&row, prices)| {
        let there = table.columns.iter().zip(prices).filter(|(_, price)| price.is_some());
        there.map(move |(&column, _)| (row, column))
    })
}

#[test]
fn every_saved_topology_has_a_survey_that_fits_and_a_page_that_can_be_read() {
    let mut seen = 0;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines");
    let here = fs::read_dir(here).expect("machines").map(|entry| entry.expect("readable").path());
    let here = here.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
    for path in here.chain(saved_machines("every_saved_topology_has_a_survey_that_fits")) {
        let topology = Topology::named(path.to_str().expect("a name")).expect("a topology");
        let (survey, list, took) = go(&topology, 120.0, 0);
        let name = path.display();
        assert!(survey.seconds <= 1.05 * 120.0 && took <= survey.seconds, "{name}: {} {took}", survey.seconds);
        let page = prices_table(&list, &topology);
        let longest = page.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= 150 && page.lines().count() < 400, "{name}: {longest} wide\n{page}");
        let asked: BTreeSet<&str> = survey.items.iter().map(|item| item.question.section()).collect();
        for section in Only::NAMES {
            let told = asked.contains(section)
                || list.missing.iter().any(|missing| missing.what == section)
                || list.left_out.iter().any(|told| told.contains(section));
            assert!(told || survey.cpus.len() == 1, "{name}: nothing is said of {section}");
        }
        seen += 1;
    }
    assert!(seen >= 4);
}

#[test]
fn prices_stand_where_they_belong_and_are_read_back() {
    let topology = synthetic("pack:2 [numa] l3:2 core:2 pu:2");
    let (survey, list, _) = go(&topology, 300.0, 0);
    assert!(survey.left_out.is_empty() && list.missing.is_empty(), "{:?}", list.missing);
    let model = Model::new(&topology, 0);
    for key in ["transfer.read", "transfer.exchange", "transfer.add"] {
        let table = list.table(key).expect("a table");
        assert_eq!(table.rows, (0..16).collect::<Vec<u32>>(), "in the order of the topology");
        for (row, prices) in table.rows.iter().zip(&table.prices) {
            for (column, price) in table.columns.iter().zip(prices) {
                let expected = (row != column).then(|| model.line_ns((*row, *column)));
                assert_eq!(price.map(|price| price.median), expected, "{key} {row} {column}");
            }
        }
    }
    let nodes = list.table("latency.node").expect("a table");
    let medians: Vec<Vec<f64>> =
        nodes.prices.iter().map(|row| row.iter().map(|price| price.expect("taken").median).collect()).collect();
    assert_eq!((&nodes.rows[..], medians), (&[0, 8][..], vec![vec![90.0, 150.0], vec![150.0, 90.0]]));
    let alpha = &list.curve("alpha").expect("α").lines[0].points;
    assert_eq!(
        alpha.iter().map(|(w, price)| (*w, price.median)).collect::<Vec<_>>(),
        [1.0, 2.0, 4.0, 8.0, 16.0].map(|w| (w, w))
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("prices.json");
    list.save(&path).expect("saved");
    assert_eq!(PriceList::read(&path).expect("read"), list);
    assert_eq!(table_csv(nodes).lines().count(), 1 + 4);
    let points: usize = list.curves.iter().flat_map(|curve| &curve.lines).map(|line| line.points.len()).sum();
    let lines: usize = list.curves.iter().map(|curve| curve_csv(curve).lines().count() - 1).sum();
    assert_eq!(points, lines);
}

#[test]
fn what_was_disturbed_is_taken_again_while_there_is_time() {
    let topology = synthetic("core:4 pu:1");
    let (survey, list, took) = go(&topology, 60.0, 10);
    let asked = survey.items.len() as u64 * u64::from(survey.passes);
    assert!(list.quiet.retried > asked / 20, "{:?} of {asked}", list.quiet);
    assert!(took <= 1.25 * survey.seconds, "{took} of {}", survey.seconds);
    let (survey, list, took) = go(&topology, 60.0, 1);
    // Nothing is ever undisturbed: what there is no time for is kept, and counted.
    assert!(list.quiet.kept_disturbed >= u64::from(survey.passes) && took <= 1.25 * survey.seconds);
    assert!(list.table("transfer.read").is_some());
}

#[test]
fn who_stops_it_keeps_what_was_taken() {
    let topology = synthetic("core:4 pu:1");
    let survey = survey(&topology, 60.0, &Only::default());
    let mut model = Model::new(&topology, 0);
    let list = measure(&survey, &mut model, |_, done, _| done < 5);
    assert!(list.timer_ns.is_some() && list.left_out.iter().any(|told| told.contains("interrupted after 5 of")));
    assert!(list.missing.iter().all(|missing| missing.reason.contains("interrupted")) && !list.missing.is_empty());
}

#[test]
fn one_cpu_says_what_takes_two_and_only_sections_that_are_asked_for_are_taken() {
    let alone = synthetic("core:1 pu:1");
    let (_, list, _) = go(&alone, 30.0, 0);
    assert!(
        list.missing.iter().any(|missing| missing.what == "transfer" && missing.reason.contains("it takes two"))
    );
    assert!(list.curve("latency").is_some());
    let four = synthetic("core:4 pu:1");
    let only = Only::parse("transfer, timer").expect("sections");
    let some = survey(&four, 30.0, &only);
    let hows = some.items.iter().filter(|item| matches!(item.question, Question::Transfer { how: How::Read, .. }));
    assert_eq!(hows.count(), 6);
    assert!(some.items.iter().all(|item| ["transfer", "timer"].contains(&item.question.section())));
    let told = Only::parse("transfers").expect_err("none");
    assert!(told.contains("transfer, latency"), "{told}");
}
