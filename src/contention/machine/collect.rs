//! Goes through a survey and puts the answers where they belong: tables by place, curves by size.

use super::{
    Instrument, Item, Question, Survey,
    question::{How, Meet, Stream},
};
use crate::machine::{Curve, Line, Missing, Place, Price, PriceList, Quiet, Table, VERSION};
use crate::placement::Label;
use std::collections::BTreeMap;

/// The part of the expected time by which measuring again may make it longer.
const AGAIN_SHARE: f64 = 0.2;

/// What one question was answered.
#[derive(Default)]
struct Answer {
    passes: Vec<Vec<f64>>,
    reason: Option<String>,
}

/// Asks `instrument` all of `survey`, pass by pass. `told` hears of each question before it is asked, with how many were and how
/// many there are, and says whether to go on: what was answered is kept. Facts about the host are left for the caller to fill in.
pub fn measure(
    survey: &Survey,
    instrument: &mut dyn Instrument,
    mut told: impl FnMut(&Question, usize, usize) -> bool,
) -> PriceList {
    let start = instrument.seconds();
    let mut answers: Vec<Answer> = survey.items.iter().map(|_| Answer::default()).collect();
    let mut quiet = Quiet::default();
    let mut spare = AGAIN_SHARE * survey.seconds;
    let all = survey.items.len() * survey.passes as usize;
    let mut stopped = None;
    'passes: for pass in 0..survey.passes as usize {
        for (at, item) in survey.items.iter().enumerate() {
            let done = pass * survey.items.len() + at;
            if !told(&item.question, done, all) {
                stopped = Some(format!("it was interrupted after {done} of {all} measurements"));
                break 'passes;
            }
            if answers[at].reason.is_none() {
                ask(item, instrument, &mut answers[at], &mut quiet, &mut spare);
            }
        }
    }
    let mut list = PriceList {
        version: VERSION,
        label: Label::Measured,
        host: None,
        processor: None,
        unix_s: 0.0,
        seconds: instrument.seconds() - start,
        timer_ns: None,
        timer_step_ns: None,
        quiet,
        tables: Vec::new(),
        curves: Vec::new(),
        missing: Vec::new(),
        left_out: survey.left_out.iter().cloned().chain(stopped).collect(),
    };
    let mut spreads = Vec::new();
    for (item, answer) in survey.items.iter().zip(answers) {
        match (Price::of(&answer.passes), answer.reason) {
            (Some(price), _) => {
                spreads.push(price.spread);
                put(&mut list, survey, &item.question, price);
            }
            (None, Some(reason)) => missing(&mut list, &item.question, reason),
            (None, None) => missing(&mut list, &item.question, "it was interrupted before".into()),
        }
    }
    spreads.sort_by(f64::total_cmp);
    list.quiet.spread = spreads.get(spreads.len() / 2).copied().unwrap_or(0.0);
    for line in list.curves.iter_mut().flat_map(|curve| &mut curve.lines) {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    alpha(&mut list);
    alone(&mut list, survey);
    list
}

/// Once, and again while it is disturbed and there is time.
fn ask(item: &Item, instrument: &mut dyn Instrument, answer: &mut Answer, quiet: &mut Quiet, spare: &mut f64) {
    loop {
        let before = (instrument.disturbances(), instrument.seconds());
        let asked = instrument.ask(&item.question, item.slice_s);
        let (switches, took) = (instrument.disturbances() - before.0, instrument.seconds() - before.1);
        quiet.involuntary_switches += switches;
        match asked {
            Err(reason) => {
                answer.reason = Some(reason);
                return;
            }
            Ok(_) if switches > 0 && *spare >= took => {
                *spare -= took;
                quiet.retried += 1;
            }
            Ok(samples) => {
                quiet.kept_disturbed += u64::from(switches > 0);
                answer.passes.push(samples);
                return;
            }
        }
    }
}

/// Where an answer belongs.
enum Spot {
    Timer,
    Step,
    Cell { key: String, title: String, unit: &'static str, places: (Place, Place), at: (u32, u32), mirrored: bool },
    Point { key: &'static str, title: &'static str, unit: &'static str, size: &'static str, name: String, at: f64 },
}

fn spot(question: &Question) -> Spot {
    let cell = |key: &str, title: &str, unit, places, at, mirrored| Spot::Cell {
        key: key.into(),
        title: title.into(),
        unit,
        places,
        at,
        mirrored,
    };
    let point = |key, title, unit, size, name: String, at| Spot::Point { key, title, unit, size, name, at };
    let by_cpus = (Place::Cpu, Place::Cpu);
    match question {
        Question::Timer => Spot::Timer,
        Question::Step => Spot::Step,
        Question::Transfer { how, cpus } => {
            let (key, title) = match how {
                How::Read => ("transfer.read", "a line written by one cpu and read by another, one way"),
                How::Exchange => ("transfer.exchange", "a line by compare-exchange of both cpus, one way"),
                How::Add => ("transfer.add", "a line that both have read, by fetch-and-add, one way"),
            };
            cell(key, title, "ns", by_cpus, *cpus, true)
        }
        Question::Latency { cpu, node: Some(node), .. } => cell(
            "latency.node",
            "a dependent load of a cpu from the memory of a node",
            "ns",
            (Place::Cpu, Place::Node),
            (*cpu, *node),
            false,
        ),
        Question::Latency { bytes, huge, .. } => {
            let name = if *huge { "huge pages" } else { "small pages" };
            point("latency", "a dependent load, by the array's size", "ns", "bytes", name.into(), *bytes as f64)
        }
        Question::Bandwidth { stream, cpus, node: Some(node), .. } => {
            let (key, title) = match stream {
                Stream::Read => ("bandwidth.read", "reading by all cpus of a node, from the memory of a node"),
                Stream::Write => ("bandwidth.write", "writing by all cpus of a node, to the memory of a node"),
                Stream::Copy => ("bandwidth.copy", "copying by all cpus of a node, within the memory of a node"),
            };
            cell(key, title, "GB/s", (Place::Cpu, Place::Node), (cpus[0], *node), false)
        }
        Question::Bandwidth { stream, cpus, .. } => {
            let name = format!("{stream:?}").to_lowercase();
            point("bandwidth", "streaming, by threads of one node", "GB/s", "threads", name, cpus.len() as f64)
        }
        Question::Loaded { pause, latency, .. } => {
            let (key, title, unit) = match latency {
                true => ("loaded.latency", "a dependent load while other cpus stream with pauses", "ns"),
                false => ("loaded.bandwidth", "what they stream meanwhile", "GB/s"),
            };
            point(key, title, unit, "turns of a pause after 4 KiB", "beside all others".into(), f64::from(*pause))
        }
        Question::Contended { meet, cpus } => point(
            "contended",
            "an operation on one line that all workers write",
            "ns",
            "workers",
            name_of(*meet).into(),
            cpus.len() as f64,
        ),
        Question::Distance { cpus, bytes } => point(
            "false-sharing",
            "a write beside another cpu's, by the distance of the two",
            "ns",
            "bytes apart",
            format!("cpus {} and {}", cpus.0, cpus.1),
            f64::from(*bytes),
        ),
        Question::Update { meet, cpus, percent } => {
            let (key, title) = match meet {
                Meet::Lossy => {
                    ("update.lossy", "a lossy update of one parameter, by the share that goes to eight common ones")
                }
                Meet::Locked => ("update.locked", "the same under a stripe's lock"),
                Meet::Lossless | Meet::Count => ("update.lossless", "the same by compare-exchange"),
            };
            point(key, title, "ns", "workers", format!("{percent} % common"), cpus.len() as f64)
        }
        Question::Lost { cpus, percent } => point(
            "lost",
            "lossy updates that are gone, by the share that goes to eight common parameters",
            "%",
            "workers",
            format!("{percent} % common"),
            cpus.len() as f64,
        ),
        Question::Barrier { cpus } => point(
            "hand-over",
            "workers that wait for each other",
            "ns",
            "workers",
            "a barrier".into(),
            cpus.len() as f64,
        ),
        Question::Token { cpus } => point(
            "hand-over",
            "workers that wait for each other",
            "ns",
            "workers",
            "a token's hop".into(),
            cpus.len() as f64,
        ),
        Question::Block { cpus } => {
            cell("block", "4 KiB written by one cpu and read by another", "ns", by_cpus, *cpus, true)
        }
    }
}

fn name_of(meet: Meet) -> &'static str {
    match meet {
        Meet::Count => "fetch-and-add",
        Meet::Lossy => "lossy",
        Meet::Lossless => "lossless",
        Meet::Locked => "locked",
    }
}

fn missing(list: &mut PriceList, question: &Question, reason: String) {
    let what = match spot(question) {
        Spot::Timer | Spot::Step => "timer".into(),
        Spot::Cell { key, at, .. } => format!("{key} of {} and {}", at.0, at.1),
        Spot::Point { key, name, at, size, .. } => format!("{key}, {name}, at {at} {size}"),
    };
    list.missing.push(Missing { what, reason });
}

fn put(list: &mut PriceList, survey: &Survey, question: &Question, price: Price) {
    match spot(question) {
        Spot::Timer => list.timer_ns = Some(price),
        Spot::Step => list.timer_step_ns = Some(price.median),
        Spot::Cell { key, title, unit, places, at, mirrored } => {
            let found = list.tables.iter().position(|table| table.key == key);
            let index = found.unwrap_or_else(|| {
                list.tables.push(empty(survey, (key, title, unit), places));
                list.tables.len() - 1
            });
            let table = &mut list.tables[index];
            let place = |list: &[u32], value: u32| list.iter().position(|&place| place == value);
            if let Some((row, column)) = place(&table.rows, at.0).zip(place(&table.columns, at.1)) {
                table.prices[row][column] = Some(price);
            }
            if mirrored && let Some((row, column)) = place(&table.rows, at.1).zip(place(&table.columns, at.0)) {
                table.prices[row][column] = Some(price);
            }
        }
        Spot::Point { key, title, unit, size, name, at } => {
            let found = list.curves.iter().position(|curve| curve.key == key);
            let index = found.unwrap_or_else(|| {
                let [key, title, unit, size] = [key, title, unit, size].map(String::from);
                list.curves.push(Curve { key, title, unit, size, lines: Vec::new() });
                list.curves.len() - 1
            });
            let lines = &mut list.curves[index].lines;
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push((at, price)),
                None => lines.push(Line { name, points: vec![(at, price)] }),
            }
        }
    }
}

fn empty(survey: &Survey, (key, title, unit): (String, String, &str), places: (Place, Place)) -> Table {
    // Rows of nodes are named by the first of their cpus that is usable: memory alone has none.
    let heads: Vec<u32> = survey
        .items
        .iter()
        .filter_map(|item| match &item.question {
            Question::Latency { cpu, node: Some(_), .. } => Some(*cpu),
            Question::Bandwidth { cpus, node: Some(_), .. } => cpus.first().copied(),
            _ => None,
        })
        .fold(Vec::new(), |mut heads, cpu| {
            if !heads.contains(&cpu) {
                heads.push(cpu);
            }
            heads
        });
    let of = |place: Place| if place == Place::Node { survey.nodes.clone() } else { survey.cpus.clone() };
    let rows = if places == (Place::Cpu, Place::Node) { heads } else { of(places.0) };
    let columns = of(places.1);
    let prices = vec![vec![None; columns.len()]; rows.len()];
    Table { key, title, unit: unit.into(), places, rows, columns, prices }
}

/// DimmWitted's α (Zhang and Ré, VLDB 2014, §3.2: how many times as much a write costs as a read, where others write too): here a
/// lossy write of one line that so many workers write, by the same of one worker alone, whose line is in its own cache as a
/// read's would be.
fn alpha(list: &mut PriceList) {
    let Some(lossy) =
        list.curve("contended").and_then(|curve| curve.lines.iter().find(|line| line.name == "lossy"))
    else {
        return;
    };
    let Some((_, alone)) = lossy.points.first().copied().filter(|(workers, _)| *workers == 1.0) else { return };
    let ratio = |price: Price| Price {
        median: price.median / alone.median,
        p10: price.p10 / alone.median,
        p90: price.p90 / alone.median,
        ..price
    };
    let points = lossy.points.iter().map(|&(workers, price)| (workers, ratio(price))).collect();
    list.curves.push(Curve {
        key: "alpha".into(),
        title: "a write that others make, too, by one that nobody else makes (DimmWitted's α)".into(),
        unit: "times".into(),
        size: "workers".into(),
        lines: vec![Line { name: "one line".into(), points }],
    });
}

/// What one cpu cannot tell.
fn alone(list: &mut PriceList, survey: &Survey) {
    if survey.cpus.len() > 1 {
        return;
    }
    let needs_two = ["transfer", "loaded", "false-sharing", "hand-over"];
    let reason = "this process may use one cpu, and it takes two".to_string();
    list.missing.extend(needs_two.map(|what| Missing { what: what.into(), reason: reason.clone() }));
}

/// How often each section is asked, and for how long: what `--plan` prints.
pub(super) fn sections(survey: &Survey) -> BTreeMap<&'static str, (usize, f64)> {
    let mut sections = BTreeMap::new();
    for item in &survey.items {
        let entry = sections.entry(item.question.section()).or_insert((0, 0.0));
        entry.0 += 1;
        entry.1 += f64::from(survey.passes) * item.seconds;
    }
    sections
}

impl Survey {
    /// How many questions each section has, and how many seconds they take over all passes.
    pub fn sections(&self) -> BTreeMap<&'static str, (usize, f64)> {
        sections(self)
    }
}
