//! Answers, put into the tables of the price list.

use super::{Item, Question, Survey, measure::Found, survey::fields};
use crate::{
    machine::{Curve, Figure, Matrix, Missing, Noise, PriceList, TO_ITSELF, Timer, Transfer, VERSION},
    os::{disturbance::Disturbance, host::Host},
};
use std::collections::BTreeSet;

/// What a question came to: its figure, and a second one where there is one.
struct Told {
    main: Result<Figure, String>,
    side: Result<Figure, String>,
}

impl Told {
    fn of(found: &Found) -> Self {
        let reason = || found.reason.clone().unwrap_or_else(|| "no sample was taken in the time".into());
        let figure = |pick: fn(&super::Answer) -> &Vec<f64>| {
            let passes: Vec<Vec<f64>> = found.passes.iter().map(|answer| pick(answer).clone()).collect();
            Figure::of(&passes).ok_or_else(reason)
        };
        Told { main: figure(|answer| &answer.main), side: figure(|answer| &answer.side) }
    }

    /// Main over side, pass by pass.
    fn ratio(&self) -> Result<Figure, String> {
        let (main, side) = (self.main.clone()?, self.side.clone()?);
        // The extremes are of the main figure: the read varies less than the write by far.
        let over = |value: f64| value / side.median;
        Ok(Figure { median: over(main.median), p10: over(main.p10), p90: over(main.p90), ..main })
    }
}

/// Whether a question fills a field.
pub(super) fn fills(question: &Question, field: &str) -> bool {
    match question {
        Question::WorkingSet(..) => field == "latency_by_working_set_ns",
        Question::NodeLatency { .. } => field == "latency_by_node_ns",
        Question::NodeStream { .. } => field == "bandwidth_by_node_gb_per_s",
        Question::Threads(..) => field == "bandwidth_by_threads_gb_per_s",
        _ => fields(question.section()).contains(&field),
    }
}

/// The price list of what was found.
pub(super) fn price_list(
    survey: &Survey,
    found: &[Found],
    noise: Noise,
    seconds: f64,
    (host, unix_time_s, disturbance): (Host, f64, Disturbance),
) -> PriceList {
    let told: Vec<(&Item, Told)> =
        survey.items.iter().zip(found).map(|(item, found)| (item, Told::of(found))).collect();
    let mut prices = empty(survey, seconds, host, unix_time_s, disturbance);
    prices.noise = spread(noise, &told);
    let cpus = Cpus::of(survey);
    for (item, told) in told {
        put(&mut prices, &cpus, item, told);
    }
    let fields: Vec<&'static str> =
        prices.shapes().into_iter().filter(|(_, tables)| tables.is_empty()).map(|(field, _)| field).collect();
    for field in fields {
        if !prices.missing.iter().any(|missing| missing.what == field) {
            prices.missing.push(Missing { what: field.into(), reason: "no question was asked about it".into() });
        }
    }
    prices
}

fn empty(survey: &Survey, seconds: f64, host: Host, unix_time_s: f64, disturbance: Disturbance) -> PriceList {
    PriceList {
        version: VERSION,
        label: survey.label,
        unix_time_s,
        host,
        machine: survey.machine.clone(),
        worker_cpus: survey.worker_cpus.clone(),
        budget_s: survey.budget_s,
        seconds,
        left_out: survey.left_out.clone(),
        disturbance,
        noise: Noise::default(),
        timer: Timer { overhead_ns: None, resolution_ns: None },
        transfer_ns: Vec::new(),
        latency_by_working_set_ns: Vec::new(),
        latency_by_node_ns: Vec::new(),
        bandwidth_by_node_gb_per_s: Vec::new(),
        bandwidth_by_threads_gb_per_s: Vec::new(),
        loaded_latency_ns: Vec::new(),
        loaded_bandwidth_gb_per_s: Vec::new(),
        contended_line_ns: Vec::new(),
        false_sharing_ns: Vec::new(),
        update_ns: Vec::new(),
        update_lost_share: Vec::new(),
        handover_ns: Vec::new(),
        alpha_write_ns: Vec::new(),
        alpha_read_ns: Vec::new(),
        alpha: Vec::new(),
        missing: survey.missing.clone(),
    }
}

/// How far apart the passes of each figure lie.
fn spread(noise: Noise, told: &[(&Item, Told)]) -> Noise {
    let spreads = |of: fn(&Item) -> bool| -> Vec<f64> {
        let figures = told.iter().filter(|(item, _)| of(item)).filter_map(|(_, told)| told.main.as_ref().ok());
        let repeated = figures.filter(|figure| figure.passes > 1);
        let mut spreads: Vec<f64> = repeated.map(|figure| figure.spread).collect();
        spreads.sort_by(f64::total_cmp);
        spreads
    };
    let at = crate::machine::quantile_or_0;
    let all = spreads(|_| true);
    let between = spreads(Item::passes_lines);
    Noise {
        figures: all.len() as u32,
        spread_median: at(&all, 0.5),
        spread_p90: at(&all, 0.9),
        spread_between_cpus: at(&between, 0.5),
        ..noise
    }
}

/// Rows of each matrix of cpus: those that are in one of its pairs, in the topology's order.
struct Cpus(Vec<(Transfer, Vec<u32>)>);

impl Cpus {
    fn of(survey: &Survey) -> Self {
        let mut named: Vec<(Transfer, BTreeSet<u32>)> = Vec::new();
        for item in &survey.items {
            let Question::Transfer(of) = item.question else { continue };
            let place = named.iter().position(|(other, _)| *other == of).unwrap_or_else(|| {
                named.push((of, BTreeSet::new()));
                named.len() - 1
            });
            named[place].1.extend(&item.cpus);
        }
        let of_machine = &survey.machine.cpus;
        let ordered = |named: BTreeSet<u32>| of_machine.iter().copied().filter(|cpu| named.contains(cpu)).collect();
        Cpus(named.into_iter().map(|(of, named)| (of, ordered(named))).collect())
    }

    fn rows(&self, of: Transfer) -> &[u32] {
        self.0.iter().find(|(other, _)| *other == of).map_or(&[], |(_, rows)| rows)
    }
}

fn place(numbers: &[u32], number: u32) -> Option<usize> {
    numbers.iter().position(|&other| other == number)
}

/// The matrix of a key, made where it is not there yet.
fn matrix<K: PartialEq>(matrices: &mut Vec<Matrix<K>>, of: K, rows: &[u32], columns: &[u32]) -> usize {
    matrices.iter().position(|matrix| matrix.of == of).unwrap_or_else(|| {
        let reason = "left out: the survey chose other pairs to stand for it";
        matrices.push(Matrix::missing(of, rows.to_vec(), columns.to_vec(), reason));
        matrices.len() - 1
    })
}

/// The curve of a key, made where it is not there yet.
fn curve<'a, K: PartialEq>(curves: &'a mut Vec<Curve<K>>, of: K, by: &str) -> &'a mut Curve<K> {
    let place = curves.iter().position(|curve| curve.of == of).unwrap_or_else(|| {
        curves.push(Curve::new(of, by));
        curves.len() - 1
    });
    &mut curves[place]
}

fn put(prices: &mut PriceList, cpus: &Cpus, item: &Item, told: Told) {
    let workers = item.cpus.len() as f64;
    let nodes: Vec<u32> = prices.machine.nodes.iter().map(|node| node.number).collect();
    let by_node = |rows: &[u32], node, memory| place(rows, node).zip(place(rows, memory));
    match item.question {
        Question::Timer => {
            prices.timer = Timer { overhead_ns: told.main.ok(), resolution_ns: told.side.ok() };
        }
        Question::Transfer(of) => {
            let rows = cpus.rows(of);
            let table = matrix(&mut prices.transfer_ns, of, rows, rows);
            let table = &mut prices.transfer_ns[table];
            if table.reasons.len() == 1 {
                // The diagonal has a reason of its own.
                (0..rows.len()).for_each(|i| table.put(i, i, Err(TO_ITSELF.into())));
            }
            if let Some((row, column)) = place(rows, item.cpus[0]).zip(place(rows, item.cpus[1])) {
                table.put(row, column, told.main.clone());
                table.put(column, row, told.main);
            }
        }
        Question::WorkingSet(of, bytes) => {
            curve(&mut prices.latency_by_working_set_ns, of, "bytes").put(bytes as f64, told.main);
        }
        Question::NodeLatency { of, node, memory } => {
            let table = matrix(&mut prices.latency_by_node_ns, of, &nodes, &nodes);
            if let Some((row, column)) = by_node(&nodes, node, memory) {
                prices.latency_by_node_ns[table].put(row, column, told.main);
            }
        }
        Question::NodeStream { of, node, memory } => {
            let table = matrix(&mut prices.bandwidth_by_node_gb_per_s, of, &nodes, &nodes);
            if let Some((row, column)) = by_node(&nodes, node, memory) {
                prices.bandwidth_by_node_gb_per_s[table].put(row, column, told.main);
            }
        }
        Question::Threads(of, _) => {
            curve(&mut prices.bandwidth_by_threads_gb_per_s, of, "threads").put(workers, told.main);
        }
        Question::Loaded { of, spins, .. } => {
            curve(&mut prices.loaded_latency_ns, of, "spins").put(f64::from(spins), told.main);
            curve(&mut prices.loaded_bandwidth_gb_per_s, of, "spins").put(f64::from(spins), told.side);
        }
        Question::Contended(of) => curve(&mut prices.contended_line_ns, of, "workers").put(workers, told.main),
        Question::FalseSharing(of, bytes) => {
            curve(&mut prices.false_sharing_ns, of, "bytes").put(f64::from(bytes), told.main);
        }
        Question::Update(of) => {
            curve(&mut prices.update_ns, of, "workers").put(workers, told.main);
            curve(&mut prices.update_lost_share, of, "workers").put(workers, told.side);
        }
        Question::Handover(of) => curve(&mut prices.handover_ns, of, "workers").put(workers, told.main),
        Question::Alpha(of) => {
            curve(&mut prices.alpha, of, "groups").put(workers, told.ratio());
            curve(&mut prices.alpha_write_ns, of, "groups").put(workers, told.main);
            curve(&mut prices.alpha_read_ns, of, "groups").put(workers, told.side);
        }
    }
}
