//! Dense rows: independent normal entries, or a matrix of known spectrum.

use super::{DenseSpec, Generated, check, labels, pieces, require, require_room};
use crate::{
    data::{
        Block,
        stream::{Stream, Use},
    },
    error::Result,
    os::memory::Pages,
};

/// Householder reflections that turn the eigenvectors away from the axes, at most.
const REFLECTIONS: usize = 32;

pub(super) fn generate(spec: &DenseSpec, threads: usize) -> Result<Generated> {
    let DenseSpec { rows, columns, condition, .. } = *spec;
    check(rows, columns, condition, &spec.rule)?;
    let fits = rows.checked_mul(columns).is_some_and(|entries| entries < 1 << 40);
    require(fits, format!("{rows} rows of {columns} columns"), "dense data have fewer than 2^40 entries")?;
    let bytes = 4.0 * rows as f64 * columns as f64;
    require_room(bytes, &format!("{rows} rows of {columns} columns"))?;
    let ranges = pieces::cut(rows, columns as f64);
    let normal = |range: std::ops::Range<usize>| {
        let mut values = Vec::with_capacity(range.len() * columns);
        for i in range {
            let mut stream = Stream::new(spec.seed, Use::Rows, i as u64);
            values.extend((0..columns).map(|_| stream.normal()));
        }
        values
    };
    let blocks: Vec<Block> = match condition {
        None => pieces::map(ranges, threads, |range| block(columns, &normal(range))),
        Some(kappa) => {
            let remedy = "ask for at least as many rows as columns, or for no condition number";
            require(rows >= columns, format!("a condition number for {rows} rows of {columns} columns"), remedy)?;
            let matrix = conditioned(spec, kappa, normal(0..rows));
            ranges.iter().map(|range| block(columns, &matrix[range.start * columns..range.end * columns])).collect()
        }
    };
    let mut truth = labels::truth(spec.seed, columns, spec.rule.support, |stream| stream.below(columns));
    let margins = pieces::map(blocks.iter().collect(), threads, |block| margins(block, &truth));
    let mut margins: Vec<f64> = margins.into_iter().flatten().collect();
    let (labels, intercept) = labels::label(spec.seed, &spec.rule, &mut truth, &mut margins);
    Ok(Generated { blocks, labels, truth, intercept, columns })
}

fn block(columns: usize, values: &[f64]) -> Block {
    let mut pages = Pages::zeroed(values.len());
    pages.iter_mut().zip(values).for_each(|(to, from)| *to = *from as f32);
    Block::Dense { columns, values: pages }
}

fn margins(block: &Block, truth: &[f64]) -> Vec<f64> {
    let Block::Dense { columns, values } = block else { return Vec::new() };
    let margin = |row: &[f32]| row.iter().zip(truth).map(|(&value, x)| f64::from(value) * x).sum();
    values.chunks(*columns).map(margin).collect()
}

/// √n Q S H₁ … Hₘ: Q the normal matrix with its columns made orthonormal, S² geometric from 1 to 1/κ, H reflections. Its
/// AᵀA/n has the eigenvalues S².
fn conditioned(spec: &DenseSpec, kappa: f64, matrix: Vec<f64>) -> Vec<f64> {
    let (n, d) = (spec.rows, spec.columns);
    let mut columns: Vec<Vec<f64>> = (0..d).map(|j| matrix.iter().skip(j).step_by(d).copied().collect()).collect();
    drop(matrix);
    for j in 0..d {
        let (before, rest) = columns.split_at_mut(j);
        let column = &mut rest[0];
        // Twice is enough (Kahan): what the first pass leaves by rounding, the second takes.
        for _ in 0..2 {
            for other in before.iter() {
                let along = dot(other, column);
                column.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
            }
            let norm = dot(column, column).sqrt();
            column.iter_mut().for_each(|x| *x /= norm);
        }
    }
    let mut rows = vec![0.0; n * d];
    for (j, column) in columns.iter().enumerate() {
        let scale = (n as f64).sqrt() * libm::exp(-0.5 * libm::log(kappa) * j as f64 / (d - 1).max(1) as f64);
        column.iter().enumerate().for_each(|(i, x)| rows[i * d + j] = scale * x);
    }
    for k in 0..REFLECTIONS.min(d) {
        let mut stream = Stream::new(spec.seed, Use::Directions, k as u64);
        let axis: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
        let norm2 = dot(&axis, &axis);
        for row in rows.chunks_exact_mut(d) {
            let along = 2.0 * dot(row, &axis) / norm2;
            row.iter_mut().zip(&axis).for_each(|(x, a)| *x -= along * a);
        }
    }
    rows
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
