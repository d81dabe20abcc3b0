//! Hot columns: so many rows have them that two random rows conflict with the probability asked for.

use super::{SparseSpec, pieces::Piece, require};
use crate::{
    data::stream::{Stream, Use},
    error::Result,
};

/// Pairs of rows that are tried to learn the conflict that the popularity gives: a standard error of at most 0.002.
const PAIRS: usize = 1 << 16;

/// q: each hot column is in a row with probability q, so that with the c₀ that the popularity gives (measured on
/// pairs of rows), 1 − (1 − c₀)(1 − q²)^hot is the conflict asked for.
pub(super) fn share(spec: &SparseSpec, conflict: f64, hot: usize, pieces: &[Piece]) -> Result<f64> {
    let mut stream = Stream::new(spec.seed, Use::Pairs, 0);
    let row = |i: usize| {
        let piece = &pieces[pieces.partition_point(|piece| piece.first_row <= i) - 1];
        &piece.columns[piece.range(i - piece.first_row)]
    };
    let mut meet = 0_usize;
    let pairs = if spec.rows > 1 { PAIRS } else { 0 };
    for _ in 0..pairs {
        let first = stream.below(spec.rows);
        let second = (first + 1 + stream.below(spec.rows - 1)) % spec.rows;
        meet += usize::from(share_a_column(row(first), row(second)));
    }
    let natural = meet as f64 / pairs.max(1) as f64;
    let error = (natural * (1.0 - natural) / pairs.max(1) as f64).sqrt();
    let what = format!("a conflict of {conflict} where the popularity of columns alone gives {natural:.3}");
    let remedy = "ask for more columns, fewer entries a row, a smaller power, or a larger conflict";
    require(natural <= conflict + 3.0 * error, what, remedy)?;
    let apart = ((1.0 - conflict) / (1.0 - natural).max(f64::MIN_POSITIVE)).min(1.0);
    // The hot-th root; a logarithm of 0 cannot come up, conflict < 1.
    Ok((1.0 - libm::exp(libm::log(apart) / hot as f64)).max(0.0).sqrt())
}

/// Whether two ascending lists meet.
fn share_a_column(a: &[u32], b: &[u32]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}

/// The piece with hot columns put in front of rows.
pub(super) fn heat(spec: &SparseSpec, share: f64, hot: usize, cold: Piece) -> Piece {
    let mut piece = Piece::new(cold.first_row);
    for i in 0..cold.rows() {
        let mut stream = Stream::new(spec.seed, Use::Hot, (cold.first_row + i) as u64);
        for column in 0..hot {
            if stream.uniform() < share {
                piece.columns.push(column as u32);
                piece.values.push(1.0);
            }
        }
        piece.columns.extend_from_slice(&cold.columns[cold.range(i)]);
        piece.values.extend_from_slice(&cold.values[cold.range(i)]);
        piece.end_row();
    }
    piece
}
