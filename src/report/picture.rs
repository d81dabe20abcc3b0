//! Pictures of measurements: inert values in, SVG text out, the same text for the same value.
//!
//! * [`heat_map`]: a matrix, such as what a line costs between each two cpus.
//! * [`line_chart`]: curves, such as latency by working set, on plain or logarithmic axes.
//! * [`bars`]: a few figures side by side.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_short_or_missing_was_not_measured() {
        let names = vec!["0".to_string(), "1".to_string()];
        let values = vec![vec![Some(1.0), Some(f64::NAN)], vec![Some(2.0)]];
        let grid = Grid { rows: names.clone(), columns: names, values, ..Grid::default() };
        let told = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)].map(|(i, j)| grid.value(i, j));
        assert_eq!(told, [Some(1.0), None, Some(2.0), None, None]);
    }
}
