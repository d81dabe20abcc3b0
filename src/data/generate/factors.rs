//! Matrices of known rank of which some entries are seen: the sparse rows' places, with other values in them.

use super::{FactorSpec, Generated, pieces, require, require_room, sparse};
use crate::{
    config::Problem,
    data::{
        Block,
        stream::{Stream, Use},
    },
    error::Result,
};

pub(super) fn generate(spec: &FactorSpec, threads: usize) -> Result<Generated> {
    let &FactorSpec { ref places, rank } = spec;
    let (rows, columns) = (places.rows, places.columns);
    let remedy = format!("ask for a rank from 1 to {}", Problem::RANK_MAX);
    require((1..=Problem::RANK_MAX).contains(&rank), format!("rank {rank}"), &remedy)?;
    let bytes = 8.0 * rank as f64 * (rows as f64 + columns as f64);
    require_room(bytes, &format!("{rank} numbers for each of {rows} rows and {columns} columns"))?;
    let Generated { mut blocks, .. } = sparse::generate(places, threads)?;
    // The variance of a product of blocks is 1.
    let scale = (rank as f64).powf(-0.25);
    let block = |number: usize| {
        let mut stream = Stream::new(places.seed, Use::Factors, number as u64);
        (0..rank).map(move |_| scale * stream.normal())
    };
    let ranges = pieces::cut(rows + columns, rank as f64);
    let truth = pieces::map(ranges, threads, |range| range.flat_map(block).collect::<Vec<f64>>()).concat();
    let mut first = 0;
    let numbered: Vec<_> = blocks
        .iter_mut()
        .map(|block| {
            let start = first;
            first += block.rows();
            (start, block)
        })
        .collect();
    pieces::map(numbered, threads, |(first, block)| fill(spec, &truth, first, block));
    Ok(Generated { blocks, labels: vec![0.0; rows], truth, intercept: 0.0, columns })
}

/// Puts uᵢᵀvⱼ + s·ε for what the entries of `block` held, whose first row is row `first`.
fn fill(spec: &FactorSpec, truth: &[f64], first: usize, block: &mut Block) {
    let Block::Sparse { starts, columns, values } = block else { return };
    let rank = spec.rank;
    for (i, ends) in starts.windows(2).enumerate() {
        let row = first + i;
        let mut noise = Stream::new(spec.places.seed, Use::Noise, row as u64);
        let u = &truth[rank * row..][..rank];
        for k in ends[0] as usize..ends[1] as usize {
            let v = &truth[rank * (spec.places.rows + columns[k] as usize)..][..rank];
            let product: f64 = u.iter().zip(v).map(|(u, v)| u * v).sum();
            values[k] = (product + spec.places.rule.noise * noise.normal()) as f32;
        }
    }
}
