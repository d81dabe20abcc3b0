//! The tables of a page, each as narrow as a terminal.

use super::{bytes, figure, or_dash, relations, short};
use crate::{
    machine::{Curve, Matrix, PriceList},
    topology::{Topology, describe::table},
};
use std::{collections::BTreeSet, fmt::Display};

/// Matrices of more rows are told by relation, or by their extremes.
const WHOLE_MAX: usize = 16;
/// Matrices of more columns have no room for the mark of a figure whose passes do not agree.
pub(super) const MARKED_MAX: usize = 8;
/// Columns for the names of curves that stand side by side, two blanks after each.
const SIDE_BY_SIDE: usize = 88;
/// Curves of a field that a page shows.
pub(super) const CURVES_MAX: usize = 18;
/// Points of a curve that have a line each; of more, those spaced evenly.
const POINTS_MAX: usize = 24;

/// A matrix of cpus: whole if it is small, else a line for each relation.
pub(super) fn of_cpus<K: Display>(matrix: &Matrix<K>, topology: &Topology) -> String {
    if matrix.rows.len() <= WHOLE_MAX {
        return whole(matrix, "cpu");
    }
    let lines = relations::by_relation(matrix, topology).into_iter().map(|range| {
        vec![range.name, range.pairs.to_string(), short(range.least), short(range.median), short(range.most)]
    });
    table(&["cpus", "pairs", "least", "median", "most"], lines)
}

/// A matrix of nodes: whole if it is small, else the least, median and most of what is a node's own and of the rest.
pub(super) fn of_nodes<K: Display>(matrix: &Matrix<K>) -> String {
    if matrix.rows.len() <= WHOLE_MAX {
        return whole(matrix, "node");
    }
    let part = |name: &str, own: bool| -> Option<Vec<String>> {
        let cells =
            matrix.cells.iter().enumerate().flat_map(|(row, cells)| {
                cells.iter().enumerate().filter(move |(column, _)| (row == *column) == own)
            });
        let mut values: Vec<f64> = cells.filter_map(|(_, cell)| cell.median()).collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = values.first().zip(values.last())?;
        let figures = [*least, values[values.len() / 2], *most].map(short);
        Some([name.into(), values.len().to_string()].into_iter().chain(figures).collect())
    };
    let lines = [part("own memory", true), part("other node's memory", false)];
    table(&["nodes", "pairs", "least", "median", "most"], lines.into_iter().flatten())
}

fn whole<K>(matrix: &Matrix<K>, kind: &str) -> String {
    let columns: Vec<String> = matrix.columns.iter().map(u32::to_string).collect();
    let header: Vec<&str> = std::iter::once(kind).chain(columns.iter().map(String::as_str)).collect();
    let lines = matrix.rows.iter().zip(&matrix.cells).map(|(row, cells)| {
        let cells = cells.iter().map(|cell| match cell.median() {
            _ if matrix.columns.len() <= MARKED_MAX => figure(cell.figure()),
            // Five columns each, or sixteen do not fit a line.
            Some(median) if median >= 10.0 => format!("{median:.0}"),
            median => or_dash(median),
        });
        std::iter::once(row.to_string()).chain(cells).collect()
    });
    table(&header, lines)
}

/// Curves side by side, some at a time, a line a point.
pub(super) fn curves<K: Display>(curves: &[Curve<K>]) -> String {
    let shown = &curves[..curves.len().min(CURVES_MAX)];
    let blocks = side_by_side(shown).into_iter().map(|curves| {
        let mut at: Vec<f64> = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.at)).collect();
        at.sort_by(f64::total_cmp);
        at.dedup();
        let step = at.len().div_ceil(POINTS_MAX).max(1);
        let last = at.len().saturating_sub(1);
        let by = curves[0].by.as_str();
        let names: Vec<String> = curves.iter().map(|curve| curve.of.to_string()).collect();
        let header: Vec<&str> = std::iter::once(by).chain(names.iter().map(String::as_str)).collect();
        let shown = at.iter().enumerate().filter(|(place, _)| place % step == 0 || *place == last);
        let lines = shown.map(|(_, &at)| {
            let name = if by == "bytes" { bytes(at) } else { format!("{at:.0}") };
            let values = curves.iter().map(|curve| figure(curve.get(at).ok()));
            std::iter::once(name).chain(values).collect()
        });
        table(&header, lines)
    });
    let more = curves.len() - shown.len();
    let more = (more > 0).then(|| format!("{more} more are in the CSV that --out writes"));
    blocks.chain(more).collect::<Vec<_>>().join("\n\n")
}

/// As many at a time as fit a line.
fn side_by_side<K: Display>(curves: &[Curve<K>]) -> Vec<&[Curve<K>]> {
    let (mut blocks, mut begin, mut width) = (Vec::new(), 0, 0);
    for (place, curve) in curves.iter().enumerate() {
        let more = curve.of.to_string().chars().count().max(8) + 2;
        if width + more > SIDE_BY_SIDE && place > begin {
            blocks.push(&curves[begin..place]);
            (begin, width) = (place, 0);
        }
        width += more;
    }
    blocks.push(&curves[begin..]);
    blocks
}

/// Why cells are missing, each reason once, of all tables that a page shows.
pub(super) fn reasons(prices: &PriceList) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut lines: Vec<String> =
        prices.missing.iter().map(|missing| format!("{}: {}", missing.what, missing.reason)).collect();
    for (field, tables) in prices.shapes() {
        for reason in tables.iter().flat_map(|table| table.used_reasons()) {
            // That of the diagonal is no gap.
            if reason != crate::machine::TO_ITSELF && seen.insert((field, reason)) {
                lines.push(format!("{field}: {reason}"));
            }
        }
    }
    lines
}
