//! The gradient of all rows of a sparse matrix, column by column from their slopes: the twin of `sparse_columns.wgsl`.

use super::team;
use crate::gpu::{Cut, Entries, Terms};
use std::ops::Range;

/// How columns are walked through.
pub(in crate::gpu) fn cut(terms: &Terms) -> Cut {
    Cut::walking((terms.values().len() / terms.width().max(1)).max(1))
}

/// The entries by column.
#[derive(Clone, Debug)]
pub(in crate::gpu) struct Columns {
    /// Columns + 1 offsets.
    pub(in crate::gpu) starts: Vec<usize>,
    /// Row of each entry, ascending in a column.
    pub(in crate::gpu) rows: Vec<u32>,
    /// Value of each entry.
    pub(in crate::gpu) values: Vec<f32>,
}

impl Columns {
    /// Those of `terms`; none for dense rows.
    pub(in crate::gpu) fn of(terms: &Terms) -> Option<Self> {
        let sparse = matches!(terms.entries(), Entries::Sparse { .. });
        sparse.then(|| Columns::of_rows(terms, 0..terms.rows()))
    }

    /// Those of a run of rows, numbered from its first.
    pub(in crate::gpu) fn of_rows(terms: &Terms, run: Range<usize>) -> Self {
        let mut starts = vec![0; terms.width() + 1];
        run.clone().for_each(|row| terms.row(row).for_each(|(slot, _)| starts[slot + 1] += 1));
        (1..starts.len()).for_each(|j| starts[j] += starts[j - 1]);
        let mut next = starts.clone();
        let entries = starts[terms.width()];
        let (mut rows, mut values) = (vec![0; entries], vec![0.0; entries]);
        for row in run.clone() {
            for (slot, value) in terms.row(row) {
                (rows[next[slot]], values[next[slot]]) = ((row - run.start) as u32, value);
                next[slot] += 1;
            }
        }
        Columns { starts, rows, values }
    }

    /// Adds Σ sᵢ aᵢ over all rows to `out`, with slopes s by row.
    pub(super) fn gradient(&self, cut: Cut, slopes: &[f32], out: &mut [f32]) {
        let mut lanes = vec![0.0f32; cut.team()];
        for (out, range) in out.iter_mut().zip(self.starts.windows(2)) {
            lanes.fill(0.0);
            let team = lanes.len();
            let entries = self.rows[range[0]..range[1]].iter().zip(&self.values[range[0]..range[1]]);
            entries.enumerate().for_each(|(k, (&row, &value))| lanes[k % team] += slopes[row as usize] * value);
            *out += team::sum(&lanes);
        }
    }
}
