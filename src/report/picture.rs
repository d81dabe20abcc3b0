//! Pictures of measurements: inert values in, SVG text out, the same text for the same value.
//!
//! * [`heat_map`]: a matrix, such as what a line costs between each two cpus.
//! * [`line_chart`]: curves, such as latency by working set, on plain or logarithmic axes.
//! * [`bars`]: a few figures side by side.
//! * [`csv()`]: a matrix as text, whole, however large.
//!
//! The pictures stand on their own or within a page: they refer to nothing, hold no identifiers that two of them
//! could share, and have text of 11 px and more. Colours are told apart with any colour vision, and curves by
//! marker and dash besides.

mod aggregate;
mod axis;
mod bars;
mod colour;
mod heat_map;
mod line_chart;
mod number;
mod svg;

pub use bars::bars;
pub use heat_map::heat_map;
pub use line_chart::line_chart;

/// A matrix with names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// The unit of its values, such as `ns`.
    pub unit: String,
    /// The names of the rows, top down, such as cpus in the order of the topology.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// A row of values for each row; what is `None`, missing or not finite was not measured.
    pub values: Vec<Vec<Option<f64>>>,
    /// Where an L3 cache or a node begins, the index of its first row, and its name; ascending. They hold of the
    /// columns too where these have the names of the rows.
    pub groups: Vec<(usize, String)>,
}

impl Grid {
    /// The value at a row and a column, if one was measured.
    pub fn value(&self, row: usize, column: usize) -> Option<f64> {
        self.values.get(row)?.get(column).copied().flatten().filter(|value| value.is_finite())
    }
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points (x, y), in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

/// Curves over one pair of axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The name of the x axis; ticks of one that ends with `bytes` are powers of two, such as `64 KiB`.
    pub x: String,
    /// The name of the y axis, likewise.
    pub y: String,
    /// Whether x is logarithmic. Points that are not above 0 are then left out, and the picture says how many.
    pub x_log: bool,
    /// Whether y is logarithmic, likewise. A plain y axis begins at 0 where no value is below.
    pub y_log: bool,
    /// The curves, twelve at most to be told apart.
    pub lines: Vec<Line>,
}

/// A few figures side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// Their unit, such as `s`.
    pub unit: String,
    /// Names and values, top down. A value that is not finite has no bar.
    pub bars: Vec<(String, f64)>,
}

/// The matrix as CSV: a head of the unit and the names of the columns, then a line a row; what was not measured is
/// empty. Nothing is left out or rounded.
pub fn csv(grid: &Grid) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = std::iter::once(grid.unit.clone()).chain(grid.columns.iter().cloned());
    // Writing to memory does not fail, and all lines have one length.
    out.write_record(head).expect("written to memory");
    for (i, name) in grid.rows.iter().enumerate() {
        let value = |j| grid.value(i, j).map_or(String::new(), |value| value.to_string());
        let line = std::iter::once(name.clone()).chain((0..grid.columns.len()).map(value));
        out.write_record(line).expect("written to memory");
    }
    String::from_utf8(out.into_inner().expect("written to memory")).expect("made of text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_csv_with_names_and_empty_places_where_nothing_was_measured() {
        let grid = Grid {
            unit: "ns".into(),
            rows: vec!["cpu 0".into(), "a \"b\", c".into()],
            columns: vec!["0".into(), "1".into()],
            values: vec![vec![None, Some(0.1)], vec![Some(123456.75), Some(f64::NAN)]],
            ..Grid::default()
        };
        assert_eq!(csv(&grid), "ns,0,1\ncpu 0,,0.1\n\"a \"\"b\"\", c\",123456.75,\n");
        assert_eq!(csv(&Grid::default()), "\"\"\n");
    }

    #[test]
    fn a_row_that_is_short_or_missing_was_not_measured() {
        let names = vec!["0".to_string(), "1".to_string()];
        let grid = Grid { rows: names.clone(), columns: names, values: vec![vec![Some(1.0)]], ..Grid::default() };
        assert_eq!(csv(&grid), ",0,1\n0,1,\n1,,\n");
    }
}
