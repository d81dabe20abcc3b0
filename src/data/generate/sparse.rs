//! Sparse rows. Until they are named at the end, columns are numbered by popularity: hot columns first.

use super::{
    Generated, SparseSpec, Values, check, hot, labels,
    pieces::{self, Piece},
    popularity::Popularity,
    require, require_room,
};
use crate::{
    data::{
        Block,
        stream::{Stream, Use},
    },
    error::Result,
    os::memory::Pages,
};
use std::ops::Range;

pub(super) fn generate(spec: &SparseSpec, threads: usize) -> Result<Generated> {
    check_spec(spec)?;
    let (rows, columns) = (spec.rows as f64, spec.columns as f64);
    let bytes = rows * (8.0 * spec.nonzeros_per_row + 16.0) + 32.0 * columns;
    require_room(bytes, &format!("{rows} rows of {} entries in {columns} columns", spec.nonzeros_per_row))?;
    let hot = if spec.conflict.is_some() { spec.hot_columns } else { 0 };
    let popularity = Popularity::new(spec.columns - hot, spec.power, spec.shift);
    let ranges = pieces::cut(spec.rows, spec.nonzeros_per_row);
    let mut pieces = pieces::map(ranges, threads, |rows| draw(spec, &popularity, hot, rows));
    if let Some(conflict) = spec.conflict {
        let share = hot::share(spec, conflict, hot, &pieces)?;
        pieces = pieces::map(pieces, threads, |piece| hot::heat(spec, share, hot, piece));
    }
    let counts = counts(spec.columns, &pieces);
    pieces = pieces::map(pieces, threads, |piece| value(spec, &counts, piece));
    if let Some(kappa) = spec.condition {
        let scales = scales(spec, kappa, &counts, &pieces);
        pieces = pieces::map(pieces, threads, |piece| scale(piece, |_, column| scales[column as usize]));
    }
    if spec.unit_rows {
        pieces = pieces::map(pieces, threads, |piece| {
            let norms: Vec<f64> = (0..piece.rows()).map(|i| norm(&piece, i)).collect();
            scale(piece, |i, _| if norms[i] > 0.0 { 1.0 / norms[i] } else { 1.0 })
        });
    }
    let popular = |stream: &mut Stream| hot + popularity.draw(stream);
    let mut truth = labels::truth(spec.seed, spec.columns, spec.rule.support, popular);
    let by_piece = pieces::map(pieces.iter().collect(), threads, |piece: &Piece| margins(piece, &truth));
    let mut margins: Vec<f64> = by_piece.into_iter().flatten().collect();
    let (labels, intercept) = labels::label(spec.seed, &spec.rule, &mut truth, &mut margins);
    let names = Stream::new(spec.seed, Use::Names, 0).permutation(spec.columns);
    let blocks = pieces::map(pieces, threads, |piece| name(piece, &names));
    let mut named = vec![0.0; spec.columns];
    names.iter().zip(&truth).for_each(|(&column, &x)| named[column as usize] = x);
    Ok(Generated { blocks, labels, truth: named, intercept, columns: spec.columns })
}

fn check_spec(spec: &SparseSpec) -> Result<()> {
    check(spec.rows, spec.columns, spec.condition, &spec.rule)?;
    let SparseSpec { nonzeros_per_row: mean, columns, spread, power, shift, .. } = *spec;
    let hot = if spec.conflict.is_some() { spec.hot_columns } else { 0 };
    let remedy = format!("ask for 1 to {} columns that bring the conflict about, fewer than all", columns - 1);
    require(spec.conflict.is_none() || (1..columns).contains(&hot), format!("{hot} hot columns"), &remedy)?;
    let remedy = format!("ask for 1 to {} entries a row: as many as there are columns at most", columns - hot);
    let fits = mean >= 1.0 && mean <= (columns - hot) as f64;
    require(fits, format!("{mean} entries a row of {columns} columns"), &remedy)?;
    let sane = (0.0..=3.0).contains(&spread);
    require(sane, format!("spread {spread}"), "the spread of row lengths is a number from 0 to 3")?;
    let sane = (0.0..=20.0).contains(&power);
    require(sane, format!("power {power}"), "the power of the popularity is a number from 0 to 20")?;
    require(shift > 0.0 && shift.is_finite(), format!("shift {shift}"), "the shift is a number above 0")?;
    let conflict = spec.conflict.unwrap_or(0.0);
    let sane = (0.0..1.0).contains(&conflict);
    require(sane, format!("conflict {conflict}"), "the conflict is a probability from 0 to below 1")?;
    let both = spec.condition.is_some() && spec.unit_rows;
    require(
        !both,
        "a condition number together with rows of norm 1",
        "ask for one of the two: each undoes the other",
    )
}

/// Columns of rows `rows`, ascending, with how often each was drawn as its value: until a row has as many distinct
/// ones as it shall have. A row that would take too long (many columns that are hardly ever drawn) is filled up with
/// the most popular ones that it lacks.
fn draw(spec: &SparseSpec, popularity: &Popularity, hot: usize, rows: Range<usize>) -> Piece {
    let mut piece = Piece::new(rows.start);
    let mut times: Vec<u32> = vec![0; popularity.columns()];
    let mut drawn: Vec<u32> = Vec::new();
    for i in rows {
        let mut stream = Stream::new(spec.seed, Use::Rows, i as u64);
        let length = length(spec, times.len(), &mut stream);
        drawn.clear();
        let mut draws_left = 64 + 32 * length;
        while drawn.len() < length && draws_left > 0 {
            let column = popularity.draw(&mut stream);
            if times[column] == 0 {
                drawn.push(column as u32);
            }
            times[column] += 1;
            draws_left -= 1;
        }
        let mut next = 0;
        while drawn.len() < length {
            if times[next] == 0 {
                drawn.push(next as u32);
                times[next] = 1;
            }
            next += 1;
        }
        drawn.sort_unstable();
        for &column in &drawn {
            piece.columns.push(hot as u32 + column);
            piece.values.push(std::mem::take(&mut times[column as usize]) as f32);
        }
        piece.end_row();
    }
    piece
}

fn counts(columns: usize, pieces: &[Piece]) -> Vec<u64> {
    let mut counts = vec![0; columns];
    for column in pieces.iter().flat_map(|piece| &piece.columns) {
        counts[*column as usize] += 1;
    }
    counts
}

/// A row's number of entries: lognormal about the mean, rounded; a fraction of an entry is a chance of one.
fn length(spec: &SparseSpec, columns: usize, stream: &mut Stream) -> usize {
    let sigma = spec.spread;
    let factor = if sigma > 0.0 { libm::exp(sigma * stream.normal() - 0.5 * sigma * sigma) } else { 1.0 };
    let length = (spec.nonzeros_per_row * factor + stream.uniform()).floor();
    (length as usize).clamp(1, columns)
}

/// Values in place of how often a column was drawn.
fn value(spec: &SparseSpec, counts: &[u64], mut piece: Piece) -> Piece {
    for i in 0..piece.rows() {
        let mut stream = Stream::new(spec.seed, Use::Values, (piece.first_row + i) as u64);
        for k in piece.range(i) {
            let (times, count) = (f64::from(piece.values[k]), counts[piece.columns[k] as usize]);
            let value = match spec.values {
                Values::Normal => stream.normal(),
                Values::Ones => 1.0,
                Values::TfIdf => (1.0 + libm::log(times)) * libm::log(1.0 + spec.rows as f64 / count as f64),
            };
            piece.values[k] = value as f32;
        }
    }
    piece
}

/// Factors that give the columns that occur second moments from 1 to 1/κ.
fn scales(spec: &SparseSpec, kappa: f64, counts: &[u64], pieces: &[Piece]) -> Vec<f64> {
    let mut moments = vec![0.0; spec.columns];
    for piece in pieces {
        for (&column, &value) in piece.columns.iter().zip(&piece.values) {
            moments[column as usize] += f64::from(value) * f64::from(value) / spec.rows as f64;
        }
    }
    let mut used: Vec<usize> = (0..spec.columns).filter(|&column| counts[column] > 0).collect();
    let order = Stream::new(spec.seed, Use::Scales, 0).permutation(used.len());
    used = order.iter().map(|&k| used[k as usize]).collect();
    let steps = used.len().saturating_sub(1).max(1) as f64;
    for (k, column) in used.into_iter().enumerate() {
        let target = libm::exp(-libm::log(kappa) * k as f64 / steps);
        moments[column] = (target / moments[column].max(f64::MIN_POSITIVE)).sqrt();
    }
    moments
}

fn scale(mut piece: Piece, factor: impl Fn(usize, u32) -> f64) -> Piece {
    for i in 0..piece.rows() {
        for k in piece.range(i) {
            piece.values[k] = (f64::from(piece.values[k]) * factor(i, piece.columns[k])) as f32;
        }
    }
    piece
}

fn norm(piece: &Piece, i: usize) -> f64 {
    piece.values[piece.range(i)].iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt()
}

fn margins(piece: &Piece, truth: &[f64]) -> Vec<f64> {
    let margin = |i: usize| {
        let range = piece.range(i);
        let entries = piece.columns[range.clone()].iter().zip(&piece.values[range]);
        entries.map(|(&column, &value)| f64::from(value) * truth[column as usize]).sum()
    };
    (0..piece.rows()).map(margin).collect()
}

/// The rows with columns named, ascending again.
fn name(piece: Piece, names: &[u32]) -> Block {
    let mut columns = Pages::zeroed(piece.columns.len());
    let mut values = Pages::zeroed(piece.values.len());
    let mut row: Vec<(u32, f32)> = Vec::new();
    for i in 0..piece.rows() {
        let range = piece.range(i);
        row.clear();
        row.extend(range.clone().map(|k| (names[piece.columns[k] as usize], piece.values[k])));
        row.sort_unstable_by_key(|entry| entry.0);
        for (k, &(column, value)) in range.zip(&row) {
            (columns[k], values[k]) = (column, value);
        }
    }
    Block::Sparse { starts: piece.starts, columns, values }
}
