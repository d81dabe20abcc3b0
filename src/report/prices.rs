//! A machine's price list as a page of text and as CSV.

use super::{
    picture::{Chart, Grid, Line, heat_map, line_chart},
    short,
    table::entry,
};
use crate::{
    machine::{Curve, Place, Price, PriceList, Table},
    placement::Label,
    topology::Topology,
};
use std::{collections::BTreeMap, fmt::Write};

/// Cpus whose tables are printed whole.
const WHOLE: usize = 16;
/// Lines of a chart that can be told apart.
const LINES: usize = 12;
/// A list whose passes differ by more than this was not taken on a quiet machine.
const QUIET: f64 = 0.1;

/// The page, with a newline at its end. Tables of more than 16 cpus are told by what two cpus share.
pub fn prices_table(list: &PriceList, topology: &Topology) -> String {
    let mut text = entry("machine", &machine(list, topology));
    text += &entry("taken", &taken(list));
    if let Some(timer) = list.timer_ns {
        let step = list.timer_step_ns.map_or(String::new(), |step| format!(", in steps of {} ns", short(step)));
        text += &entry(
            "clock",
            &format!(
                "{} ns a reading{step}; a sample is of a batch that takes far longer, and counts one reading",
                short(timer.median)
            ),
        );
    }
    for table in &list.tables {
        text += &told(table, topology);
    }
    for curve in &list.curves {
        text += &curve_told(curve);
    }
    for missing in &list.missing {
        text += &entry("missing", &format!("{}: {}", missing.what, missing.reason));
    }
    for left_out in &list.left_out {
        text += &entry("left out", left_out);
    }
    text
}

fn machine(list: &PriceList, topology: &Topology) -> String {
    let name = list.processor.as_deref().unwrap_or("an unknown processor");
    let usable = topology.cpus.iter().filter(|cpu| cpu.usable).count();
    let label = match list.label {
        Label::Measured => "measured",
        Label::Virtual => "virtual nodes",
        Label::Simulated => "simulated",
    };
    format!("{name}, {usable} cpus, {} nodes ({label})", topology.nodes.len())
}

fn taken(list: &PriceList) -> String {
    let quiet = &list.quiet;
    let noise = match quiet.spread {
        spread if spread <= QUIET => format!("quiet: passes differ by {:.1} % in the median", 100.0 * spread),
        spread => format!(
            "NOT QUIET: passes differ by {:.1} % in the median; take it again with less beside it",
            100.0 * spread
        ),
    };
    format!(
        "in {} s; {noise}; {} measurements taken again and {} kept although threads lost their cpus ({} times), {} s stolen by the \
         hypervisor",
        short(list.seconds),
        quiet.retried,
        quiet.kept_disturbed,
        quiet.involuntary_switches,
        short(quiet.steal_s)
    )
}

fn told(table: &Table, topology: &Topology) -> String {
    let mut text = format!("\n{} [{}]: {}\n", table.key, table.unit, table.title);
    if table.rows.len().max(table.columns.len()) <= WHOLE {
        let head = |place: Place| if place == Place::Cpu { "cpu" } else { "node" };
        let columns: String = table
            .columns
            .iter()
            .map(|column| format!("{:>8}", format!("{} {column}", head(table.places.1))))
            .collect();
        let _ = writeln!(text, "{:>8}{columns}", "");
        for (row, prices) in table.rows.iter().zip(&table.prices) {
            let cells: String = prices
                .iter()
                .map(|price| format!("{:>8}", price.map_or("-".into(), |price| figure(price.median))))
                .collect();
            let _ = writeln!(text, "{:>8}{cells}", format!("{} {row}", head(table.places.0)));
        }
        return text;
    }
    let _ = writeln!(text, "{:>22} {:>8} {:>8} {:>8} {:>8}", "between cpus of", "pairs", "least", "median", "most");
    for (relation, mut medians) in by_relation(table, topology) {
        medians.sort_by(f64::total_cmp);
        let [least, median, most] = [0, medians.len() / 2, medians.len() - 1].map(|at| figure(medians[at]));
        let _ = writeln!(text, "{relation:>22} {:>8} {least:>8} {median:>8} {most:>8}", medians.len());
    }
    text
}

/// Medians of the table by what its two places share, nearest first.
fn by_relation(table: &Table, topology: &Topology) -> BTreeMap<String, Vec<f64>> {
    let mut relations: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (row, prices) in table.rows.iter().zip(&table.prices) {
        for (column, price) in table.columns.iter().zip(prices) {
            if let Some(price) = price {
                let name = match table.places.1 {
                    Place::Cpu => topology.shared_by(*row, *column).to_string(),
                    Place::Node => match topology.is_local(*row, *column) {
                        true => "the node itself".into(),
                        false => "another node".into(),
                    },
                };
                relations.entry(name).or_default().push(price.median);
            }
        }
    }
    relations
}

fn curve_told(curve: &Curve) -> String {
    let mut text = format!("\n{} [{}]: {}\n", curve.key, curve.unit, curve.title);
    let mut sizes: Vec<f64> = curve.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    // Sizes down, or across where they are few and lines are many.
    let name = |size: f64| if curve.size == "bytes" { bytes(size) } else { short(size) };
    if curve.lines.len() > 4 {
        let heads: String = sizes.iter().map(|&size| format!("{:>9}", name(size))).collect();
        let _ = writeln!(text, "{:>24}{heads}   {}", "", curve.size);
        for line in &curve.lines {
            let cells: String = sizes.iter().map(|size| format!("{:>9}", at(&line.points, *size))).collect();
            let _ = writeln!(text, "{:>24}{cells}", line.name);
        }
        return text;
    }
    let heads: String = curve.lines.iter().map(|line| format!(" {:>14}", line.name)).collect();
    let _ = writeln!(text, "{:>28}{heads}", curve.size);
    for size in sizes {
        let cells: String = curve.lines.iter().map(|line| format!(" {:>14}", at(&line.points, size))).collect();
        let _ = writeln!(text, "{:>28}{cells}", name(size));
    }
    text
}

fn at(points: &[(f64, Price)], size: f64) -> String {
    points.iter().find(|point| point.0 == size).map_or("-".into(), |point| figure(point.1.median))
}

/// Three digits.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || size == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn bytes(size: f64) -> String {
    let kib = size / 1024.0;
    if kib >= 1024.0 { format!("{} MiB", kib / 1024.0) } else { format!("{kib} KiB") }
}

/// A table as CSV: `row,column,median,p10,p90,samples,spread`, places by the system's numbers.
pub fn table_csv(table: &Table) -> String {
    let mut text = String::from("row,column,median,p10,p90,samples,spread\n");
    for (row, prices) in table.rows.iter().zip(&table.prices) {
        for (column, price) in table.columns.iter().zip(prices) {
            if let Some(price) = price {
                let _ = writeln!(text, "{row},{column},{}", figures(price));
            }
        }
    }
    text
}

/// A curve as CSV: `line,size,median,p10,p90,samples,spread`; names of lines have their commas replaced.
pub fn curve_csv(curve: &Curve) -> String {
    let mut text = String::from("line,size,median,p10,p90,samples,spread\n");
    for line in &curve.lines {
        for (size, price) in &line.points {
            let _ = writeln!(text, "{},{size},{}", line.name.replace(',', ";"), figures(price));
        }
    }
    text
}

fn figures(price: &Price) -> String {
    let Price { median, p10, p90, samples, spread } = price;
    format!("{median},{p10},{p90},{samples},{spread}")
}

/// The tables as heat maps, a name and an SVG each; places of one L3, or of one node, are framed.
pub fn heat_maps(list: &PriceList, topology: &Topology) -> Vec<(String, String)> {
    let map = |table: &Table| {
        let head = |place: Place| if place == Place::Cpu { "cpu" } else { "node" };
        let names = |place: Place, numbers: &[u32]| {
            numbers.iter().map(|number| format!("{} {number}", head(place))).collect()
        };
        let grid = Grid {
            title: table.title.clone(),
            unit: table.unit.clone(),
            rows: names(table.places.0, &table.rows),
            columns: names(table.places.1, &table.columns),
            values: table
                .prices
                .iter()
                .map(|row| row.iter().map(|price| Some((*price)?.median)).collect())
                .collect(),
            groups: groups(table, topology),
        };
        (table.key.clone(), heat_map(&grid))
    };
    list.tables.iter().map(map).collect()
}

/// Where another L3 begins, or another node on a machine that tells of no L3.
fn groups(table: &Table, topology: &Topology) -> Vec<(usize, String)> {
    let mut groups: Vec<(usize, String)> = Vec::new();
    let square = table.places == (Place::Cpu, Place::Cpu);
    for (at, number) in table.rows.iter().enumerate().filter(|_| square) {
        let Some(cpu) = topology.cpus.iter().find(|cpu| cpu.os == *number) else { continue };
        let name = match (topology.l3s.len() > topology.nodes.len(), cpu.l3, cpu.node) {
            (true, Some(l3), _) => format!("L3 {l3}"),
            (_, _, Some(node)) => format!("node {}", topology.nodes[node].os),
            _ => continue,
        };
        if groups.last().is_none_or(|(_, last)| *last != name) {
            groups.push((at, name));
        }
    }
    groups
}

/// The curves as charts, a name and an SVG each.
pub fn charts(list: &PriceList) -> Vec<(String, String)> {
    let chart = |curve: &Curve| {
        let positive = curve.lines.iter().all(|line| line.points.iter().all(|point| point.1.median > 0.0));
        let line = |line: &crate::machine::Line| Line {
            name: line.name.clone(),
            points: line.points.iter().map(|(size, price)| (*size, price.median)).collect(),
        };
        let chart = Chart {
            title: curve.title.clone(),
            x: curve.size.clone(),
            y: curve.unit.clone(),
            x_log: !curve.key.starts_with("loaded"),
            y_log: positive,
            lines: curve.lines.iter().take(LINES).map(line).collect(),
        };
        (curve.key.clone(), line_chart(&chart))
    };
    list.curves.iter().map(chart).collect()
}
