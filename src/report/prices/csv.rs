//! A price list as comma-separated values: every table in full, a line a figure, and each matrix as a square besides.

use crate::machine::{Cell, Curve, Matrix, PriceList};
use std::fmt::Display;

/// File stems and contents. `FIELD.csv` has a line for each figure of a field, with its reason where there is none;
/// `FIELD-TABLE.csv` a matrix of medians alone.
pub fn csv(prices: &PriceList) -> Vec<(String, String)> {
    let mut files = Vec::new();
    matrices(&mut files, "transfer_ns", &prices.transfer_ns);
    matrices(&mut files, "latency_by_node_ns", &prices.latency_by_node_ns);
    matrices(&mut files, "bandwidth_by_node_gb_per_s", &prices.bandwidth_by_node_gb_per_s);
    curves(&mut files, "latency_by_working_set_ns", &prices.latency_by_working_set_ns);
    curves(&mut files, "bandwidth_by_threads_gb_per_s", &prices.bandwidth_by_threads_gb_per_s);
    curves(&mut files, "loaded_latency_ns", &prices.loaded_latency_ns);
    curves(&mut files, "loaded_bandwidth_gb_per_s", &prices.loaded_bandwidth_gb_per_s);
    curves(&mut files, "contended_line_ns", &prices.contended_line_ns);
    curves(&mut files, "false_sharing_ns", &prices.false_sharing_ns);
    curves(&mut files, "update_ns", &prices.update_ns);
    curves(&mut files, "update_lost_share", &prices.update_lost_share);
    curves(&mut files, "handover_ns", &prices.handover_ns);
    curves(&mut files, "alpha_write_ns", &prices.alpha_write_ns);
    curves(&mut files, "alpha_read_ns", &prices.alpha_read_ns);
    curves(&mut files, "alpha", &prices.alpha);
    files
}

/// Letters, digits and single hyphens.
pub(super) fn stem(field: &str, of: &impl Display) -> String {
    let mut stem = format!("{field}-");
    for c in of.to_string().chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_alphanumeric() {
            stem.push(c);
        } else if !stem.ends_with('-') {
            stem.push('-');
        }
    }
    stem.trim_end_matches('-').to_string()
}

const FIGURE: [&str; 7] = ["median", "p10", "p90", "samples", "passes", "spread", "missing"];

fn figure(cell: &Cell, reasons: &[String]) -> Vec<String> {
    match cell {
        Cell::Figure(f) => {
            let numbers = [f.median, f.p10, f.p90, f64::from(f.samples), f64::from(f.passes), f.spread];
            numbers.iter().map(f64::to_string).chain([String::new()]).collect()
        }
        Cell::Missing(reason) => {
            let reason = reasons.get(*reason).cloned().unwrap_or_default();
            std::iter::repeat_n(String::new(), 6).chain([reason]).collect()
        }
    }
}

fn written(header: &[&str], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut put = |line: &[String]| writer.write_record(line).expect("memory takes everything, all lines as long");
    put(&header.iter().map(|name| name.to_string()).collect::<Vec<_>>());
    lines.for_each(|line| put(&line));
    String::from_utf8(writer.into_inner().expect("memory takes everything")).expect("text was written")
}

fn matrices<K: Display>(files: &mut Vec<(String, String)>, field: &str, matrices: &[Matrix<K>]) {
    if matrices.is_empty() {
        return;
    }
    let header: Vec<&str> = ["of", "row", "column"].into_iter().chain(FIGURE).collect();
    let lines = matrices.iter().flat_map(|matrix| {
        matrix.rows.iter().zip(&matrix.cells).flat_map(move |(row, cells)| {
            matrix.columns.iter().zip(cells).map(move |(column, cell)| {
                let place = [matrix.of.to_string(), row.to_string(), column.to_string()];
                place.into_iter().chain(figure(cell, &matrix.reasons)).collect()
            })
        })
    });
    files.push((field.into(), written(&header, lines)));
    for matrix in matrices {
        let columns: Vec<String> = matrix.columns.iter().map(u32::to_string).collect();
        let header: Vec<&str> = std::iter::once("").chain(columns.iter().map(String::as_str)).collect();
        let lines = matrix.rows.iter().zip(&matrix.cells).map(|(row, cells)| {
            let medians = cells.iter().map(|cell| cell.median().map_or(String::new(), |median| median.to_string()));
            std::iter::once(row.to_string()).chain(medians).collect()
        });
        files.push((stem(field, &matrix.of), written(&header, lines)));
    }
}

fn curves<K: Display>(files: &mut Vec<(String, String)>, field: &str, curves: &[Curve<K>]) {
    let Some(first) = curves.first() else { return };
    let header: Vec<&str> = ["of", first.by.as_str()].into_iter().chain(FIGURE).collect();
    let lines = curves.iter().flat_map(|curve| {
        curve.points.iter().map(move |point| {
            let place = [curve.of.to_string(), point.at.to_string()];
            place.into_iter().chain(figure(&point.value, &curve.reasons)).collect()
        })
    });
    files.push((field.into(), written(&header, lines)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_names_of_files_everywhere() {
        assert_eq!(stem("a_ns", &"0 and 1, same L3"), "a_ns-0-and-1-same-l3");
        assert_eq!(stem("a_ns", &"lossy, 10 %"), "a_ns-lossy-10");
    }
}
