//! The price list: surveys of many machines under a fake clock, and one of this host.

use crate::topology::saved_machines;
use farrow::{
    contention::machine::{
        Answer, HostInstrument, Instrument, Item, Only, Progress, Question, Silent, Survey, measure, survey,
    },
    machine::{Operation, PriceList, State, Transfer},
    os::{
        disturbance::{Disturbance, Snapshot},
        host::Host,
    },
    report::{
        picture::{heat_map, line_chart},
        prices::{charts, csv, grids, page, survey_page},
    },
    topology::Topology,
};
use std::{collections::BTreeSet, fs, path::Path, process::Command};

/// A clock that goes on by what each question was given, and a figure that is a function of the question.
#[derive(Default)]
struct Fake {
    now: f64,
    asked: usize,
    /// Every so many questions is disturbed, and has figures ten times as large.
    disturbed_every: usize,
    /// What a question takes, over what it was given.
    slow: f64,
    refuses: Option<fn(&Item) -> Option<String>>,
    /// When the way between cpus becomes four times as long.
    moves_at: Option<f64>,
}

impl Fake {
    fn new() -> Self {
        Fake { slow: 1.0, ..Fake::default() }
    }
}

impl Instrument for Fake {
    fn seconds(&mut self) -> f64 {
        self.now
    }

    fn ask(&mut self, item: &Item) -> Result<Answer, String> {
        self.now += self.slow * item.seconds();
        self.asked += 1;
        if let Some(reason) = self.refuses.and_then(|refuses| refuses(item)) {
            return Err(reason);
        }
        let times = if self.disturbed() { 10.0 } else { 1.0 };
        let far = item.passes_lines() && self.moves_at.is_some_and(|moves| self.now > moves);
        let value = times * figure(item) * if far { 4.0 } else { 1.0 };
        Ok(Answer { main: vec![0.9 * value, value, 1.1 * value], side: vec![0.25] })
    }

    fn disturbed(&mut self) -> bool {
        self.disturbed_every > 0 && self.asked.is_multiple_of(self.disturbed_every)
    }

    fn conditions(&mut self) -> (Host, f64, Disturbance) {
        let now = Snapshot::now();
        (Host::now(), 1.7e9, now.until(&now))
    }
}

/// The two cpus' numbers tell a transfer; the number of workers all else.
fn figure(item: &Item) -> f64 {
    match item.question {
        Question::Transfer(_) => 10.0 + f64::from(item.cpus[0].min(item.cpus[1])) + 0.001 * f64::from(item.cpus[1]),
        _ => 5.0 * item.cpus.len() as f64,
    }
}

const LARGE: &str = "pack:8 [numa(memory=256GB)] l3:1(size=40000000) l2:28(size=1000000) core:1 pu:2";

/// This host, the machines of ../shared, those of this folder, and described ones.
fn machines(test: &str) -> Vec<Topology> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines");
    let own = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let own = own.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
    let texts = ["pu:1", "core:1 pu:2", "pack:2 [numa] l3:2 core:4 pu:2", LARGE, "pack:8 [numa] l3:1 core:28 pu:1"];
    let mut machines = vec![Topology::of_host().unwrap()];
    machines.extend(saved_machines(test).into_iter().chain(own).map(|path| Topology::from_xml(path).unwrap()));
    machines.extend(texts.map(|text| Topology::from_synthetic(text).unwrap()));
    machines
}

fn fields(prices: &PriceList) -> BTreeSet<String> {
    prices.missing.iter().map(|missing| missing.what.clone()).collect()
}

#[test]
fn a_survey_fits_any_time_on_any_machine_and_says_what_it_left_out() {
    for topology in machines("a_survey_fits_any_time_on_any_machine_and_says_what_it_left_out") {
        for budget_s in [0.01, 0.5, 5.0, 30.0, 120.0, 1000.0] {
            let survey = survey(&topology, budget_s, &Only::default());
            let name = topology.name();
            assert!(survey.seconds_expected <= budget_s, "{name}: {} of {budget_s}", survey.seconds_expected);
            // As planned, half as fast again, and three times as slow.
            for slow in [1.0, 1.5, 3.0] {
                let mut fake = Fake { slow, ..Fake::new() };
                let prices = measure(&survey, &mut fake, &mut Silent);
                let last = slow * survey.items.iter().map(Item::seconds).fold(0.0, f64::max);
                assert!(prices.seconds <= budget_s + last, "{name}: {} of {budget_s}, slow {slow}", prices.seconds);
                if slow <= 1.0 {
                    assert!(prices.seconds <= budget_s, "{name}: {} of {budget_s}", prices.seconds);
                }
                prices.check().unwrap();
            }
            let cut = survey.items.len() < self::survey(&topology, 1e6, &Only::default()).items.len();
            assert!(!cut || !survey.left_out.is_empty() || !survey.missing.is_empty(), "{name} in {budget_s}");
        }
    }
}

#[test]
fn more_seconds_never_ask_fewer_questions_of_the_large_machine_and_at_last_ask_all_pairs() {
    let topology = Topology::from_synthetic(LARGE).unwrap();
    let counts: Vec<usize> = [2.0, 20.0, 120.0, 1000.0, 20_000.0]
        .map(|budget_s| survey(&topology, budget_s, &Only::default()).items.len())
        .to_vec();
    assert!(counts.is_sorted() && counts[0] > 0, "{counts:?}");
    let all = survey(&topology, 20_000.0, &Only::default());
    let of = Transfer { operation: Operation::CompareExchange, state: State::Modified };
    let pairs = all.items.iter().filter(|item| item.question == Question::Transfer(of)).count();
    assert_eq!(pairs, 448 * 447 / 2);
}

#[test]
fn two_minutes_on_eight_sockets_have_all_pairs_within_a_socket_and_some_across_each_two() {
    let topology = Topology::from_synthetic(LARGE).unwrap();
    let survey = survey(&topology, 120.0, &Only::default());
    let of = Transfer { operation: Operation::CompareExchange, state: State::Modified };
    let socket = |cpu: u32| cpu / 56;
    let pairs: Vec<(u32, u32)> = survey
        .items
        .iter()
        .filter(|item| item.question == Question::Transfer(of))
        .map(|item| (socket(item.cpus[0]), socket(item.cpus[1])))
        .collect();
    // 28 cores a socket, and one core's siblings.
    assert_eq!(pairs.iter().filter(|(one, other)| one == other).count(), 8 * (28 * 27 / 2 + 1));
    let across: BTreeSet<_> = pairs.iter().filter(|(one, other)| one != other).collect();
    assert_eq!(across.len(), 8 * 7 / 2);
    assert!(
        survey.left_out.iter().any(|text| text.contains("compare-exchange, modified")),
        "{:?}",
        survey.left_out
    );
    let prices = measure(&survey, &mut Fake::new(), &mut Silent);
    let matrix = prices.transfer_ns.iter().find(|matrix| matrix.of == of).unwrap();
    assert_eq!(matrix.get(0, 2).unwrap().median, 10.002);
    assert_eq!(matrix.get(2, 0), matrix.get(0, 2), "a round trip is both ways");
    assert_eq!(matrix.rows.len(), 8 * 29, "one cpu a core, and a sibling a socket");
    assert!(matrix.get(2, 60).unwrap_err().contains("left out"), "not all pairs across sockets");
}

#[test]
fn pages_tables_and_pictures_of_every_machine_are_readable() {
    // For a person who wants to look at those of the large machine: a folder to put them in.
    let looked_at = std::env::var_os("FARROW_PICTURES").map(std::path::PathBuf::from);
    for topology in machines("pages_tables_and_pictures_of_every_machine_are_readable") {
        let name = topology.name();
        // Two minutes of the large machine have the largest tables; of the others, a quarter of that will do.
        let seconds = if topology.cpus.len() == 448 { 120.0 } else { 30.0 };
        let survey = survey(&topology, seconds, &Only::default());
        let prices = measure(&survey, &mut Fake::new(), &mut Silent);
        for text in [page(&prices, &topology), survey_page(&survey, &topology)] {
            let wide = text.lines().find(|line| line.chars().count() > 100);
            assert!(wide.is_none() && text.lines().count() > 10, "{name}: {wide:?}");
        }
        let lines = page(&prices, &topology).lines().count();
        assert!(lines < 400, "{name}: a page of {lines} lines is read by nobody");
        let figures: usize = csv(&prices).iter().map(|(_, text)| text.lines().count()).sum();
        assert!(figures > prices.figures(), "{name}");
        let svgs = grids(&prices).into_iter().map(|(stem, grid)| (stem, heat_map(&grid)));
        let charts = charts(&prices).into_iter().map(|(stem, chart)| (stem, line_chart(&chart)));
        let stems: Vec<String> = svgs
            .chain(charts)
            .map(|(stem, svg)| {
                let whole = roxmltree::Document::parse(&svg).is_ok();
                assert!(whole && svg.len() < 500_000, "{name}: {stem}: {} bytes, whole: {whole}", svg.len());
                if let Some(folder) = looked_at.as_ref().filter(|_| topology.cpus.len() == 448) {
                    fs::write(folder.join(format!("{stem}.svg")), &svg).unwrap();
                }
                stem
            })
            .collect();
        assert_eq!(stems.iter().collect::<BTreeSet<_>>().len(), stems.len(), "{name}: {stems:?}");
    }
}

#[test]
fn a_price_list_comes_back_from_its_file_as_it_was_and_a_bad_one_is_refused() {
    let topology = Topology::from_synthetic("pack:2 [numa] l3:2 core:4 pu:2").unwrap();
    let prices = measure(&survey(&topology, 60.0, &Only::default()), &mut Fake::new(), &mut Silent);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    prices.save(&path).unwrap();
    assert_eq!(PriceList::read(&path).unwrap(), prices);
    let text = prices.to_json();
    for (from, to, told) in [
        ("\"version\":1", "\"version\":2", "version 2"),
        ("\"seconds\":", "\"second\":", "unknown field"),
        ("\"alpha\":[", "\"alpha\":[],\"old\":[", "unknown field"),
        ("\"passes\":5", "\"passes\":0", "no samples"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let refused = PriceList::read(&path).unwrap_err().to_string();
        assert!(refused.contains(told) && refused.contains("prices.json"), "{refused}");
    }
    let mut emptied = prices.clone();
    emptied.update_ns.clear();
    assert!(emptied.check().unwrap_err().contains("update_ns"));
    assert!(PriceList::read(folder.path().join("none")).unwrap_err().to_string().contains("none"));
}

#[test]
fn what_a_machine_of_one_cpu_has_no_answer_to_is_missing_with_that_reason() {
    let topology = Topology::from_synthetic("pu:1").unwrap();
    let prices = measure(&survey(&topology, 60.0, &Only::default()), &mut Fake::new(), &mut Silent);
    let missing = fields(&prices);
    for field in ["transfer_ns", "false_sharing_ns", "handover_ns", "alpha", "loaded_latency_ns"] {
        assert!(missing.contains(field), "{field} of {missing:?}");
    }
    assert!(prices.missing.iter().all(|missing| missing.reason.contains("one") || missing.reason.contains("two")));
    assert!(prices.figures() > 20, "the rest is there");
    assert!(page(&prices, &topology).contains("transfer_ns: it needs two cpus"));
}

#[test]
fn sections_that_were_not_asked_for_are_missing_with_that_reason() {
    let topology = Topology::of_host().unwrap();
    let only: Only = "latency".parse().unwrap();
    let prices = measure(&survey(&topology, 30.0, &only), &mut Fake::new(), &mut Silent);
    prices.check().unwrap();
    let update = prices.missing.iter().find(|missing| missing.what == "update_ns").unwrap();
    assert!(update.reason.contains("--only"), "{}", update.reason);
    assert!(!prices.latency_by_working_set_ns.is_empty() && prices.timer.overhead_ns.is_some());
}

#[test]
fn a_refused_question_keeps_the_refusal_as_its_reason_and_is_asked_twice_at_most() {
    let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
    let survey = survey(&topology, 60.0, &Only::default());
    assert!(survey.passes > 2);
    let refuses = |item: &Item| item.cpus.contains(&3).then(|| "cpu 3 cannot be bound: a test".to_string());
    let mut fake = Fake { refuses: Some(refuses), ..Fake::new() };
    let prices = measure(&survey, &mut fake, &mut Silent);
    let touched = survey.items.iter().filter(|item| item.cpus.contains(&3)).count();
    let others = survey.items.len() - touched;
    assert_eq!(fake.asked, 2 * touched + survey.passes as usize * others);
    let matrix = &prices.transfer_ns[0];
    assert_eq!(matrix.get(0, 3), Err("cpu 3 cannot be bound: a test"));
    assert!(matrix.get(0, 1).is_ok());
    assert!(page(&prices, &topology).contains("cpu 3 cannot be bound: a test"));
    prices.check().unwrap();
}

#[test]
fn disturbed_questions_are_asked_again_within_the_time_and_do_not_move_a_median() {
    let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
    let survey = survey(&topology, 60.0, &Only::default());
    let mut fake = Fake { disturbed_every: 11, ..Fake::new() };
    let prices = measure(&survey, &mut fake, &mut Silent);
    let noise = prices.noise;
    assert!(noise.disturbed > 20 && noise.retried > 20 && prices.seconds <= 60.0, "{noise:?}");
    assert_eq!(noise.asked as usize, fake.asked);
    let figures = prices.transfer_ns.iter().flat_map(|matrix| matrix.cells.iter().flatten());
    let medians: Vec<f64> = figures.filter_map(|cell| cell.median()).collect();
    assert!(medians.len() > 20 && medians.iter().all(|&median| median < 20.0), "{medians:?}");
}

#[test]
fn cpus_that_move_while_it_measures_are_told_of_and_other_noise_is_not_taken_for_it() {
    let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
    let survey = survey(&topology, 60.0, &Only::default());
    let told = |mut fake: Fake| {
        let prices = measure(&survey, &mut fake, &mut Silent);
        (prices.noise, page(&prices, &topology).replace("\n", " ").contains("cpus of a virtual machine"))
    };
    let (moved, said) = told(Fake { moves_at: Some(25.0), ..Fake::new() });
    assert!(moved.cpus_move() && !moved.quiet() && said, "{moved:?}");
    let (still, said) = told(Fake::new());
    assert!(!still.cpus_move() && still.quiet() && !said, "{still:?}");
    let (disturbed, said) = told(Fake { disturbed_every: 7, ..Fake::new() });
    assert!(!disturbed.cpus_move() && !disturbed.quiet() && !said, "{disturbed:?}");
}

#[test]
fn an_interrupted_survey_keeps_what_was_measured_and_says_why_the_rest_is_missing() {
    struct Stops(usize);
    impl Progress for Stops {
        fn at(&mut self, share: f64, _item: &Item) -> bool {
            assert!((0.0..=1.0).contains(&share));
            self.0 -= 1;
            self.0 > 0
        }
    }
    let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:1").unwrap();
    let survey: Survey = survey(&topology, 60.0, &Only::default());
    let prices = measure(&survey, &mut Fake::new(), &mut Stops(6));
    prices.check().unwrap();
    assert!((1..10).contains(&prices.figures()), "{}", prices.figures());
    assert!(page(&prices, &topology).contains("interrupted before it was asked"));
}

#[test]
fn this_host_answers_every_question_or_says_why_not() {
    let topology = Topology::of_host().unwrap();
    // Those that fill no arrays; the command's own test has them all.
    let only: Only = "transfer,line,sharing,update,handover,alpha".parse().unwrap();
    let survey = survey(&topology, 5.0, &only);
    let prices = measure(&survey, &mut HostInstrument::new(&topology), &mut Silent);
    prices.check().unwrap();
    assert!(prices.figures() > 0, "{:?}", prices.missing);
    let overhead = prices.timer.overhead_ns.unwrap().median;
    assert!(overhead > 0.0, "{overhead}");
    let medians: Vec<_> = prices.contended_line_ns.iter().flat_map(|curve| curve.medians()).collect();
    assert!(medians.iter().all(|&(_, ns)| ns > 0.0), "{medians:?}");
    // Lossless and locked updates lose none, whatever else the machine does.
    for curve in &prices.update_lost_share {
        let keeps = curve.of.merge != farrow::machine::UpdateMerge::Lossy;
        assert!(
            curve.medians().all(|(workers, share)| share >= 0.0 && (share == 0.0 || !(keeps || workers == 1.0)))
        );
    }
}

#[test]
fn the_command_ends_with_a_valid_price_list_in_about_the_time_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let farrow = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_farrow")).current_dir(folder.path()).args(arguments).output().unwrap()
    };
    let done = farrow(&["contention", "machine", "--seconds", "5", "--save", "prices.json", "--out", "out"]);
    let (page, remarks) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    assert_eq!(done.status.code(), Some(0), "{remarks}");
    assert!(page.starts_with("Price list of ") && page.contains("timer: "), "{page}");
    let prices = PriceList::read(folder.path().join("prices.json")).unwrap();
    assert_eq!(prices, PriceList::read(folder.path().join("out/prices.json")).unwrap());
    assert_eq!(prices.budget_s, 5.0);
    Topology::named(folder.path().join("out/topology.json").to_str().unwrap()).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("out/page.txt")).unwrap(), page);
    assert!(folder.path().join("out/contended_line_ns.csv").exists());

    for (arguments, told) in [
        (&["contention", "machine", "--seconds", "0"][..], "above 0"),
        (&["contention", "machine", "--only", "speed"], "no section"),
        (&["contention", "machine", "--topology", "pu:1"], "--plan"),
    ] {
        let refused = farrow(arguments);
        let remarks = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && remarks.contains(told), "{arguments:?}: {remarks}");
    }
    let planned = farrow(&["contention", "machine", "--plan", "--topology", LARGE]);
    let words: Vec<String> =
        String::from_utf8(planned.stdout).unwrap().split_whitespace().map(String::from).collect();
    assert!(planned.status.success() && words.join(" ").contains("448 cpus"), "{words:?}");
}
