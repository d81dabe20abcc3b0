//! A matrix as a heat map.

use super::{
    Grid,
    aggregate::{Aggregate, aggregate},
    colour, number,
    svg::{Anchor, SMALL_PX, Svg, TITLE_PX, escape, fitted, px, width_px},
};

mod scale;
use scale::Scale;

/// Up to so many columns the values are printed in the cells.
const PRINTED: usize = 32;
/// Up to so many cells each has a text that a pointer over it shows.
const HOVERED: usize = 4096;
/// How wide names of rows and columns may be, in px.
const NAME_PX: f64 = 150.0;
/// A margin, in px.
const GAP: f64 = 12.0;
/// How thick the strip with the names of groups is, in px.
const STRIP: f64 = 16.0;

/// `grid` as a heat map, an SVG picture: light is low and dark is high, hatched is what was not measured.
///
/// Colours span the values from the 1st to the 99th percentile, so that one outlier does not make all others look
/// alike; a line below the map says how many lie outside. Up to 32 columns the values stand in the cells. More than
/// 64 rows or columns are shown in blocks of neighbours, by the median of each block: the title says so. Groups
/// have a border and their names along the axes.
pub fn heat_map(grid: &Grid) -> String {
    let shown = aggregate(grid);
    let title = match shown.block {
        (1, 1) => grid.title.clone(),
        (rows, columns) => {
            let what = if grid.rows == grid.columns { "cpus" } else { "cells" };
            format!("{} (median of {rows} × {columns} {what})", grid.title)
        }
    };
    if grid.rows.is_empty() || grid.columns.is_empty() {
        let mut svg = Svg::new(width_px(&title, TITLE_PX).max(300.0) + 2.0 * GAP, 70.0, &title);
        svg.title(GAP, &title);
        svg.text(GAP, 50.0, Anchor::Start, "", "nothing was measured: there are no rows or no columns");
        return svg.finish();
    }
    let map = Map::laid_out(&shown);
    let notes = map.notes();
    let bottom = map.top + map.height().max(map.bar_height()) + GAP;
    let widest = notes.iter().map(|note| map.left + width_px(note, SMALL_PX));
    let width = widest.fold(map.bar_left() + 90.0, f64::max).max(width_px(&title, TITLE_PX) + 2.0 * GAP);
    let mut svg = Svg::new(width.ceil(), (bottom + 16.0 * notes.len() as f64 + GAP).ceil(), &title);
    svg.title(GAP, &title);
    map.draw_cells(&mut svg);
    map.draw_names(&mut svg);
    map.draw_groups(&mut svg);
    map.draw_bar(&mut svg);
    for (i, note) in notes.iter().enumerate() {
        svg.text(map.left, bottom + 16.0 * i as f64 + SMALL_PX, Anchor::Start, "", note);
    }
    svg.finish()
}

/// The map with its measures in px.
struct Map<'a> {
    grid: &'a Grid,
    column_groups: &'a [(usize, String)],
    scale: Option<Scale>,
    left: f64,
    top: f64,
    cell_width: f64,
    cell_height: f64,
    is_printed: bool,
    is_upward: bool,
    are_rows_named: bool,
    are_columns_named: bool,
}

impl<'a> Map<'a> {
    fn laid_out(shown: &'a Aggregate) -> Self {
        let grid = &shown.grid;
        let (rows, columns) = (grid.rows.len(), grid.columns.len());
        let cells = || (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        let values: Vec<f64> = cells().filter_map(|(i, j)| grid.value(i, j)).collect();
        let widest = |texts: &mut dyn Iterator<Item = &str>| {
            texts.map(|text| width_px(text, SMALL_PX)).fold(0.0, f64::max).min(NAME_PX)
        };
        let printed: Vec<String> = values.iter().map(|&value| number::short(value)).collect();
        let is_printed = columns <= PRINTED;
        let (cell_width, cell_height) = if is_printed {
            let room = widest(&mut printed.iter().map(String::as_str)) + 6.0;
            ((560.0 / columns as f64).min(64.0).max(room).ceil(), (480.0 / rows as f64).clamp(18.0, 40.0).floor())
        } else {
            ((900.0 / columns as f64).clamp(14.0, 24.0).floor(), (900.0 / rows as f64).clamp(14.0, 24.0).floor())
        };
        let names = widest(&mut grid.columns.iter().map(String::as_str));
        let is_upward = names + 4.0 > cell_width;
        let strip = |is_named: bool| if is_named { STRIP } else { 0.0 };
        let are_rows_named = are_named(&grid.groups, rows);
        let are_columns_named = are_named(&shown.column_groups, columns);
        let row_names = widest(&mut grid.rows.iter().map(String::as_str));
        let column_names = if is_upward { names } else { SMALL_PX };
        Map {
            grid,
            column_groups: &shown.column_groups,
            scale: Scale::of(values),
            left: (GAP + strip(are_rows_named) + row_names + 6.0).ceil(),
            top: (34.0 + strip(are_columns_named) + column_names + 6.0).ceil(),
            cell_width,
            cell_height,
            is_printed,
            is_upward,
            are_rows_named,
            are_columns_named,
        }
    }

    fn width(&self) -> f64 {
        self.cell_width * self.grid.columns.len() as f64
    }

    fn height(&self) -> f64 {
        self.cell_height * self.grid.rows.len() as f64
    }

    fn draw_cells(&self, svg: &mut Svg) {
        let Map { grid, cell_width: width, cell_height: height, .. } = *self;
        let is_hovered = grid.rows.len() * grid.columns.len() <= HOVERED;
        let mut hatch = String::new();
        svg.push(format_args!("<g text-anchor=\"middle\">\n"));
        for (i, row) in grid.rows.iter().enumerate() {
            let y = self.top + i as f64 * height;
            svg.push(format_args!("<g transform=\"translate({} {})\">\n", px(self.left), px(y)));
            for (j, column) in grid.columns.iter().enumerate() {
                let (value, x) = (grid.value(i, j), j as f64 * width);
                let fill = self.scale.as_ref().zip(value).map(|(scale, value)| colour::at(scale.share(value)));
                let ground = fill.map_or("#e6e6e6".into(), colour::hex);
                let told = value.map_or("not measured".into(), number::short);
                let path = format!(
                    "<path d=\"M{} 0h{width}v{height}h-{width}z\" fill=\"{ground}\" shape-rendering=\"crispEdges\"",
                    px(x)
                );
                let hover = if is_hovered {
                    let unit = if value.is_some() { grid.unit.as_str() } else { "" };
                    let text = format!("{row}, {column}: {told} {unit}");
                    format!("<title>{}</title>", escape(text.trim_end()))
                } else {
                    String::new()
                };
                match fill {
                    Some(fill) if self.is_printed => svg.push(format_args!(
                        "<g>{hover}{path}/><text x=\"{}\" y=\"{}\" fill=\"{}\">{told}</text></g>\n",
                        px(x + width / 2.0),
                        px(height / 2.0 + 4.0),
                        colour::ink(fill)
                    )),
                    _ => svg.push(format_args!(
                        "{}>{hover}</path>\n",
                        path.replace(" shape-rendering=\"crispEdges\"", "")
                    )),
                }
                if value.is_none() {
                    let (x, y) = (px(self.left + x), px(y + height));
                    hatch.push_str(&format!("M{x} {y}l{width} -{height}"));
                }
            }
            svg.push(format_args!("</g>\n"));
        }
        svg.push(format_args!("</g>\n"));
        if !hatch.is_empty() {
            svg.push(format_args!("<path d=\"{hatch}\" stroke=\"#aaa\" fill=\"none\" pointer-events=\"none\"/>\n"));
        }
    }

    fn draw_names(&self, svg: &mut Svg) {
        for (i, name) in self.grid.rows.iter().enumerate() {
            let y = self.top + (i as f64 + 0.5) * self.cell_height + 4.0;
            svg.text(self.left - 5.0, y, Anchor::End, "", &fitted(name, NAME_PX));
        }
        for (j, name) in self.grid.columns.iter().enumerate() {
            let x = self.left + (j as f64 + 0.5) * self.cell_width;
            let name = fitted(name, NAME_PX);
            if self.is_upward {
                svg.upward(x + 4.0, self.top - 5.0, Anchor::Start, "", &name);
            } else {
                svg.text(x, self.top - 5.0, Anchor::Middle, "", &name);
            }
        }
    }

    fn draw_groups(&self, svg: &mut Svg) {
        let bold = " font-weight=\"600\"";
        for (from, to, name) in spans(&self.grid.groups, self.grid.rows.len()) {
            let (y, end) = (self.top + from * self.cell_height, self.top + to * self.cell_height);
            svg.line((GAP, y), (self.left, y), "#999", 1.0);
            svg.line((self.left, y), (self.left + self.width(), y), "#222", 1.5);
            let name = if self.are_rows_named { fitted(name, end - y - 4.0) } else { String::new() };
            svg.upward(GAP + SMALL_PX, (y + end) / 2.0, Anchor::Middle, bold, &name);
        }
        for (from, to, name) in spans(self.column_groups, self.grid.columns.len()) {
            let (x, end) = (self.left + from * self.cell_width, self.left + to * self.cell_width);
            svg.line((x, 34.0), (x, self.top), "#999", 1.0);
            svg.line((x, self.top), (x, self.top + self.height()), "#222", 1.5);
            let name = if self.are_columns_named { fitted(name, end - x - 4.0) } else { String::new() };
            svg.text((x + end) / 2.0, 34.0 + SMALL_PX, Anchor::Middle, bold, &name);
        }
    }

    fn bar_left(&self) -> f64 {
        self.left + self.width() + 2.0 * GAP
    }

    fn bar_height(&self) -> f64 {
        self.height().clamp(130.0, 320.0)
    }

    fn draw_bar(&self, svg: &mut Svg) {
        let Some(scale) = &self.scale else { return };
        let (x, top, height) = (self.bar_left(), self.top, self.bar_height());
        svg.text(x, top - 6.0, Anchor::Start, " font-weight=\"600\"", &fitted(&self.grid.unit, 85.0));
        let step = height / colour::STEPS as f64;
        for i in 0..colour::STEPS {
            let share = if scale.is_constant() { 0.5 } else { i as f64 / (colour::STEPS - 1) as f64 };
            let y = top + height - (i + 1) as f64 * step;
            let (fill, tall) = (colour::hex(colour::at(share)), px(step + 0.5));
            svg.push(format_args!("<path d=\"M{} {}h14v{tall}h-14z\" fill=\"{fill}\"/>\n", px(x), px(y)));
        }
        for (share, label) in scale.ticks() {
            let y = top + height * (1.0 - share);
            svg.line((x + 14.0, y), (x + 18.0, y), "#222", 1.0);
            svg.text(x + 22.0, y + 4.0, Anchor::Start, "", &label);
        }
    }

    /// What the colours do not tell.
    fn notes(&self) -> Vec<String> {
        let (rows, columns) = (self.grid.rows.len(), self.grid.columns.len());
        let missing = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        let missing = missing.filter(|&(i, j)| self.grid.value(i, j).is_none()).count();
        let mut notes = self.scale.as_ref().map_or(Vec::new(), |scale| scale.notes(&self.grid.unit));
        if missing == rows * columns {
            notes.push("nothing was measured".into());
        } else if missing > 0 {
            notes.push("hatched: not measured".into());
        }
        notes
    }
}

/// Whether groups have names beside the axis: those of one row each say no more than the rows' own.
fn are_named(groups: &[(usize, String)], count: usize) -> bool {
    !groups.is_empty() && groups.len() < count
}

/// Where each group begins and ends, and its name.
fn spans(groups: &[(usize, String)], count: usize) -> impl Iterator<Item = (f64, f64, &str)> {
    let ends = groups.iter().skip(1).map(|(begin, _)| *begin).chain([count]);
    groups.iter().zip(ends).map(|((begin, name), end)| (*begin as f64, end as f64, name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(count: usize, group: usize, value: impl Fn(usize, usize) -> Option<f64>) -> Grid {
        let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
        Grid {
            title: "Line transfer".into(),
            unit: "ns".into(),
            rows: names.clone(),
            columns: names,
            values: (0..count).map(|i| (0..count).map(|j| value(i, j)).collect()).collect(),
            groups: (0..count).step_by(group).map(|begin| (begin, format!("node {}", begin / group))).collect(),
        }
    }

    /// The texts that pointers over cells show, of a picture that must be XML with nothing smaller than 11 px.
    fn hovers(svg: &str) -> Vec<String> {
        let tree = roxmltree::Document::parse(svg).expect("XML");
        for node in tree.descendants() {
            if let Some(size) = node.attribute("font-size") {
                assert!(size.parse::<f64>().expect("a number") >= 11.0);
            }
            assert!(node.attribute("id").is_none(), "two pictures of a page would share it");
        }
        let titles = tree.descendants().filter(|node| node.has_tag_name("title")).skip(1);
        titles.map(|node| node.text().unwrap_or_default().to_string()).collect()
    }

    #[test]
    fn each_cell_tells_its_value_and_what_is_missing_is_hatched() {
        let svg = heat_map(&square(2, 2, |i, j| (i != j).then_some(100.0 * (i + 1) as f64)));
        assert_eq!(hovers(&svg), ["0, 0: not measured", "0, 1: 100 ns", "1, 0: 200 ns", "1, 1: not measured"]);
        assert!(
            svg.contains("hatched: not measured") && svg.contains(">node 0</text>") && svg.contains(">200</text>")
        );
    }

    #[test]
    fn groups_of_one_row_each_are_borders_without_names() {
        let svg = heat_map(&square(2, 1, |_, _| Some(1.0)));
        assert!(!svg.contains("node 1") && svg.matches("#222\" stroke-width=\"1.5\"").count() == 4, "{svg}");
    }

    #[test]
    fn large_machines_are_told_in_blocks_below_half_a_megabyte() {
        for (count, group, cells, block) in
            [(224, 28, 56 * 56, "4 × 4"), (448, 56, 64 * 64, "7 × 7"), (64, 8, 4096, "")]
        {
            let svg = heat_map(&square(count, group, |i, j| (i != j).then_some(1234.5 + (i * 7 + j) as f64)));
            assert_eq!(hovers(&svg).len(), cells, "{count}");
            assert!(svg.len() < 500_000, "{count}: {} bytes", svg.len());
            assert_eq!(svg.contains(&format!("(median of {block} cpus)")), !block.is_empty(), "{count}");
        }
    }

    #[test]
    fn empty_single_constant_and_unmeasured_matrices_are_pictures_too() {
        for (grid, cells) in [
            (Grid::default(), 0),
            (square(1, 1, |_, _| Some(5.0)), 1),
            (square(3, 3, |_, _| Some(5.0)), 9),
            (square(3, 3, |_, _| None), 9),
            (square(3, 3, |i, _| Some([f64::NAN, f64::INFINITY, -1e300][i])), 9),
            (Grid { columns: vec!["only".into()], ..square(40, 8, |i, _| Some(i as f64)) }, 40),
        ] {
            assert_eq!(hovers(&heat_map(&grid)).len(), cells, "{grid:?}");
        }
        assert!(heat_map(&square(3, 3, |_, _| None)).contains("nothing was measured"));
    }

    #[test]
    fn the_same_matrix_is_the_same_text_and_names_are_escaped() {
        let mut grid = square(3, 3, |i, j| Some((i + j) as f64));
        grid.title = "a < b & \"c\"".into();
        grid.rows[1] = "<svg>".into();
        grid.unit = "µs&".into();
        let svg = heat_map(&grid);
        assert_eq!(svg, heat_map(&grid));
        assert_eq!(hovers(&svg)[3], "<svg>, 0: 1 µs&");
        let tree = roxmltree::Document::parse(&svg).expect("XML");
        let title = tree.descendants().find(|node| node.has_tag_name("title")).expect("a title");
        assert_eq!(title.text(), Some("a < b & \"c\""));
    }
}
