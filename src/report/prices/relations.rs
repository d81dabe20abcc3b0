//! A matrix of cpus in short: by what two cpus share, and by the distance of their nodes.

use crate::{
    contention::machine::View,
    machine::{Matrix, Relation},
    topology::Topology,
};
use std::collections::BTreeMap;

/// What a relation's pairs came to.
pub(super) struct Range {
    /// Relation, and distance of the nodes where there are several.
    pub(super) name: String,
    /// Pairs measured.
    pub(super) pairs: usize,
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) most: f64,
}

/// One line for each relation that was measured, the nearest first.
pub(super) fn by_relation<K>(matrix: &Matrix<K>, topology: &Topology) -> Vec<Range> {
    let view = View::of(topology);
    let of: BTreeMap<u32, _> = view.cpus.iter().map(|&cpu| (cpu.os, cpu)).collect();
    let mut values: BTreeMap<(Relation, u64), Vec<f64>> = BTreeMap::new();
    for (row, one) in matrix.rows.iter().enumerate() {
        for (column, other) in matrix.columns.iter().enumerate().skip(row + 1) {
            let (Some(&one), Some(&other)) = (of.get(one), of.get(other)) else { continue };
            let (relation, distance) = (view.relation(one, other), view.distance(one, other));
            let distance = if relation == Relation::Machine { distance } else { 0 };
            values.entry((relation, distance)).or_default().extend(matrix.cells[row][column].median());
        }
    }
    values.into_iter().filter_map(|((relation, distance), values)| range(relation, distance, values)).collect()
}

fn range(relation: Relation, distance: u64, mut values: Vec<f64>) -> Option<Range> {
    values.sort_by(f64::total_cmp);
    let (&least, &most) = values.first().zip(values.last())?;
    let name = if distance > 0 { format!("{relation}, distance {distance}") } else { relation.to_string() };
    Some(Range { name, pairs: values.len(), least, median: values[values.len() / 2], most })
}
