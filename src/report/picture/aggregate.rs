//! A large matrix made small: blocks of neighbours, each shown by the median of its cells.

use super::Grid;

/// The most rows, and the most columns, that a picture shows.
pub(super) const MOST: usize = 64;

/// A matrix of at most [`MOST`] rows and columns.
pub(super) struct Aggregate {
    /// What is shown.
    pub(super) grid: Grid,
    /// Where groups begin among the columns; empty where they are groups of rows only.
    pub(super) column_groups: Vec<(usize, String)>,
    /// How many rows and columns at most stand in one cell.
    pub(super) block: (usize, usize),
}

/// `grid` with at most [`MOST`] rows and columns. Blocks are the smallest that are few enough, and lie within
/// groups as long as there are no more groups than that.
pub(super) fn aggregate(grid: &Grid) -> Aggregate {
    let (rows, columns) = (grid.rows.len(), grid.columns.len());
    let groups = clean(&grid.groups, rows);
    let is_square = grid.rows == grid.columns;
    let column_groups = if is_square { groups.clone() } else { Vec::new() };
    let (row_begins, row_block) = blocks(rows, &groups);
    let (column_begins, column_block) = blocks(columns, &column_groups);
    if (row_block, column_block) == (1, 1) {
        let grid = Grid { groups, ..grid.clone() };
        return Aggregate { grid, column_groups, block: (1, 1) };
    }
    let cell = |rows: (usize, usize), columns: (usize, usize)| {
        let values = (rows.0..rows.1).flat_map(|i| (columns.0..columns.1).map(move |j| (i, j)));
        median(values.filter_map(|(i, j)| grid.value(i, j)).collect())
    };
    let spans = |begins: &[usize], end: usize| -> Vec<(usize, usize)> {
        let ends = begins.iter().skip(1).copied().chain([end]);
        begins.iter().copied().zip(ends).collect()
    };
    let (row_spans, column_spans) = (spans(&row_begins, rows), spans(&column_begins, columns));
    let line = |rows: &(usize, usize)| column_spans.iter().map(|columns| cell(*rows, *columns)).collect();
    let shown = Grid {
        title: grid.title.clone(),
        unit: grid.unit.clone(),
        rows: row_spans.iter().map(|&span| name(&grid.rows, span)).collect(),
        columns: column_spans.iter().map(|&span| name(&grid.columns, span)).collect(),
        values: row_spans.iter().map(line).collect(),
        groups: moved(&groups, &row_begins),
    };
    let column_groups = moved(&column_groups, &column_begins);
    Aggregate { grid: shown, column_groups, block: (row_block, column_block) }
}

/// The groups that begin within `count`, each place once, ascending.
fn clean(groups: &[(usize, String)], count: usize) -> Vec<(usize, String)> {
    let mut groups: Vec<_> = groups.iter().filter(|(begin, _)| *begin < count).cloned().collect();
    groups.sort_by_key(|(begin, _)| *begin);
    groups.dedup_by_key(|(begin, _)| *begin);
    groups
}

/// Where blocks begin, and how many rows the longest may hold.
fn blocks(count: usize, groups: &[(usize, String)]) -> (Vec<usize>, usize) {
    let mut begins: Vec<usize> = groups.iter().map(|(begin, _)| *begin).filter(|begin| *begin > 0).collect();
    if begins.len() >= MOST {
        begins.clear();
    }
    begins.insert(0, 0);
    let cut = |block: usize| -> Vec<usize> {
        let ends = begins.iter().skip(1).copied().chain([count]);
        begins.iter().zip(ends).flat_map(|(&begin, end)| (begin..end).step_by(block)).collect()
    };
    let fits = (1..=count.max(1)).find(|&block| cut(block).len() <= MOST).unwrap_or(1);
    (cut(fits), fits)
}

/// The groups with their begin counted in blocks; of several that begin in one block the first.
fn moved(groups: &[(usize, String)], begins: &[usize]) -> Vec<(usize, String)> {
    let block_of = |row: usize| begins.partition_point(|begin| *begin <= row).saturating_sub(1);
    let mut moved: Vec<_> = groups.iter().map(|(begin, name)| (block_of(*begin), name.clone())).collect();
    moved.dedup_by_key(|(begin, _)| *begin);
    moved
}

/// The first and the last of the names in a block.
fn name(names: &[String], (begin, end): (usize, usize)) -> String {
    let (first, last) = (&names[begin], &names[end - 1]);
    if end - begin == 1 {
        return first.clone();
    }
    // "cpu 4" and "cpu 7" are told as "cpu 4…7".
    let digits = |text: &str| text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (start, tail) = (first.len() - digits(first), last.len() - digits(last));
    let last = if start == tail && first[..start] == last[..tail] { &last[tail..] } else { last.as_str() };
    format!("{first}…{last}")
}

/// The middle of the values, the mean of the two middle ones where they are even in number.
fn median(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    Some(if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(count: usize, group: usize, value: impl Fn(usize, usize) -> Option<f64>) -> Grid {
        let names: Vec<String> = (0..count).map(|i| format!("cpu {i}")).collect();
        Grid {
            rows: names.clone(),
            columns: names,
            values: (0..count).map(|i| (0..count).map(|j| value(i, j)).collect()).collect(),
            groups: (0..count).step_by(group).map(|begin| (begin, format!("node {}", begin / group))).collect(),
            ..Grid::default()
        }
    }

    #[test]
    fn what_is_small_enough_stays_as_it_is() {
        let small = grid(64, 16, |i, j| Some((i * j) as f64));
        let shown = aggregate(&small);
        assert_eq!((shown.grid, shown.block), (small.clone(), (1, 1)));
        assert_eq!(shown.column_groups, small.groups);
    }

    #[test]
    fn eight_nodes_of_28_cpus_become_56_blocks_of_four_within_the_nodes() {
        // The median of i + j over a block of 4 × 4 that begins at (i, j) is i + j + 3; cells on the diagonal are
        // missing, and are symmetric about it.
        let shown = aggregate(&grid(224, 28, |i, j| (i != j).then_some((i + j) as f64)));
        assert_eq!((shown.grid.rows.len(), shown.grid.columns.len(), shown.block), (56, 56, (4, 4)));
        for (i, row) in shown.grid.values.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                assert_eq!(*cell, Some((4 * i + 4 * j + 3) as f64), "{i} {j}");
            }
        }
        assert_eq!((shown.grid.rows[0].as_str(), shown.grid.rows[55].as_str()), ("cpu 0…3", "cpu 220…223"));
        assert_eq!(shown.column_groups[7], (49, "node 7".to_string()));
    }

    #[test]
    fn blocks_do_not_straddle_groups_of_odd_sizes() {
        let mut uneven = grid(70, 1000, |i, _| Some(i as f64));
        uneven.groups = vec![(0, "a".into()), (3, "b".into())];
        let shown = aggregate(&uneven);
        assert_eq!(shown.grid.rows[..3], ["cpu 0…1", "cpu 2", "cpu 3…4"]);
        assert_eq!(shown.grid.groups, [(0, "a".to_string()), (2, "b".to_string())]);
        assert_eq!(shown.grid.values[1][0], Some(2.0));
    }

    #[test]
    fn more_groups_than_rows_to_show_are_no_bounds() {
        let shown = aggregate(&grid(448, 2, |i, j| Some((i + j) as f64)));
        assert_eq!((shown.grid.rows.len(), shown.block), (64, (7, 7)));
        assert!(shown.grid.groups.len() <= 64);
        assert_eq!(shown.grid.values[0][0], Some(6.0));
    }

    #[test]
    fn a_block_without_a_value_has_none_and_a_long_axis_alone_is_cut() {
        let mut wide = grid(2, 1000, |_, _| None);
        wide.columns = (0..130).map(|j| format!("{j}")).collect();
        wide.values = vec![(0..130).map(|j| (j >= 3).then_some(j as f64)).collect(), vec![]];
        let shown = aggregate(&wide);
        assert_eq!((shown.grid.rows.len(), shown.grid.columns.len(), shown.block), (2, 44, (1, 3)));
        assert_eq!(shown.grid.values[0][..3], [None, Some(4.0), Some(7.0)]);
        assert_eq!(shown.grid.values[1][43], None);
        assert_eq!(shown.grid.columns[43], "129");
    }
}
