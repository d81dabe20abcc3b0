//! A price list as pictures: what is drawn, as values; [`picture`](crate::report::picture) draws it.

use super::csv::stem;
use crate::{
    machine::{Curve, Group, Matrix, PriceList, UpdateMerge},
    report::picture::{Chart, Grid, Line},
};
use std::fmt::Display;

/// Curves of a chart; of more, the first ones.
const LINES_MAX: usize = 12;

/// Every matrix of more than one figure: file stem and grid.
pub fn grids(prices: &PriceList) -> Vec<(String, Grid)> {
    let mut grids = Vec::new();
    let (l3s, nodes) = (&prices.machine.l3s, &prices.machine.nodes);
    for matrix in &prices.transfer_ns {
        let title = format!("Line transfer between cpus, one way: {}", matrix.of);
        let groups = if nodes.len() > 1 { groups(matrix, nodes, "node") } else { groups(matrix, l3s, "L3") };
        grids.push((stem("transfer_ns", &matrix.of), grid(matrix, title, "ns", groups)));
    }
    for matrix in &prices.latency_by_node_ns {
        let title = "Load latency: cpus of the row's node, memory of the column's".to_string();
        grids.push((stem("latency_by_node_ns", &matrix.of), grid(matrix, title, "ns", Vec::new())));
    }
    for matrix in &prices.bandwidth_by_node_gb_per_s {
        let title = format!("Bandwidth, {}: cpus of the row's node, memory of the column's", matrix.of);
        let grid = grid(matrix, title, "GB/s", Vec::new());
        grids.push((stem("bandwidth_by_node_gb_per_s", &matrix.of), grid));
    }
    grids.retain(|(_, grid)| grid.rows.len() > 1);
    grids
}

fn grid<K>(matrix: &Matrix<K>, title: String, unit: &str, groups: Vec<(usize, String)>) -> Grid {
    let names = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect();
    let values = matrix.cells.iter().map(|cells| cells.iter().map(|cell| cell.median()).collect()).collect();
    Grid { title, unit: unit.into(), rows: names(&matrix.rows), columns: names(&matrix.columns), values, groups }
}

/// Where the rows of a group begin, and its name. Cpus that are in none are in the group before.
fn groups<K>(matrix: &Matrix<K>, of: &[Group], kind: &str) -> Vec<(usize, String)> {
    let group = |cpu: &u32| of.iter().find(|group| group.cpus.contains(cpu)).map(|group| group.number);
    let mut groups: Vec<(usize, String)> = Vec::new();
    for (row, number) in matrix.rows.iter().map(group).enumerate() {
        let Some(name) = number.map(|number| format!("{kind} {number}")) else { continue };
        if groups.last().is_none_or(|(_, last)| *last != name) {
            groups.push((row, name));
        }
    }
    groups
}

/// Every field of curves: file stem and chart.
pub fn charts(prices: &PriceList) -> Vec<(String, Chart)> {
    let mut charts: Vec<(String, Chart)> = Vec::new();
    let mut add = |field: &str, chart: Chart| charts.push((field.into(), chart));
    let working_sets = &prices.latency_by_working_set_ns;
    add("latency_by_working_set_ns", chart(working_sets, "Load latency by working set", "bytes", "ns a load"));
    let by_threads = &prices.bandwidth_by_threads_gb_per_s;
    add("bandwidth_by_threads_gb_per_s", chart(by_threads, "Bandwidth by threads", "threads", "GB/s"));
    add("loaded_latency_ns", loaded(prices));
    let line = &prices.contended_line_ns;
    add("contended_line_ns", chart(line, "One line that all workers use", "workers", "ns an operation"));
    let sharing = &prices.false_sharing_ns;
    add("false_sharing_ns", chart(sharing, "False sharing of two workers", "distance in bytes", "ns an addition"));
    // More would not be told apart.
    let some = prices.update_ns.iter().filter(|curve| [0, 10, 100].contains(&curve.of.conflict_percent));
    add(
        "update_ns",
        chart(
            &some.cloned().collect::<Vec<_>>(),
            "Update, by merge and share that meets",
            "workers",
            "ns an update",
        ),
    );
    // The others lose none.
    let lossy = prices.update_lost_share.iter().filter(|curve| curve.of.merge == UpdateMerge::Lossy);
    let mut lost = chart(&lossy.cloned().collect::<Vec<_>>(), "Updates lost", "workers", "share of all updates");
    lost.y_log = false;
    add("update_lost_share", lost);
    add("handover_ns", chart(&prices.handover_ns, "Hand-over", "workers", "ns"));
    add("alpha", chart(&prices.alpha, "DimmWitted's alpha", "groups that write", "write / read"));
    charts.retain(|(_, chart)| chart.lines.iter().any(|line| line.points.len() > 1));
    charts
}

fn chart<K: Display>(curves: &[Curve<K>], title: &str, x: &str, y: &str) -> Chart {
    let lines = curves.iter().take(LINES_MAX);
    let lines = lines.map(|curve| Line { name: curve.of.to_string(), points: curve.medians().collect() });
    Chart { title: title.into(), x: x.into(), y: y.into(), x_log: true, y_log: true, lines: lines.collect() }
}

/// Latency over bandwidth, where both are known.
fn loaded(prices: &PriceList) -> Chart {
    let pairs = prices.loaded_latency_ns.iter().zip(&prices.loaded_bandwidth_gb_per_s).take(LINES_MAX);
    let lines = pairs.map(|(latency, bandwidth)| {
        let both = latency.points.iter().zip(&bandwidth.points);
        let mut points: Vec<(f64, f64)> =
            both.filter_map(|(ns, gb)| Some((gb.value.median()?, ns.value.median()?))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Line { name: latency.of.to_string(), points }
    });
    Chart {
        title: "Loaded latency".into(),
        x: "GB/s read by the others".into(),
        y: "ns a load".into(),
        x_log: false,
        y_log: false,
        lines: lines.collect(),
    }
}
