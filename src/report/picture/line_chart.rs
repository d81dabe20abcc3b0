//! Curves over a pair of axes, drawn with plotters; title, legend and notes are ours, beside and below the curves.

use super::{
    Chart, Line,
    axis::Axis,
    colour,
    svg::{Anchor, SMALL_PX, Svg, TITLE_PX, fitted, px, width_px},
};
use plotters::prelude::*;

mod marker;

/// Width and height of the part with the curves, in px.
const PLOT: (u32, u32) = (640, 400);
const TOP: f64 = 34.0;
const GAP: f64 = 12.0;
/// How wide names in the legend may be, in px.
const NAME_PX: f64 = 260.0;
/// plotters writes a font's size divided by 1.24: this comes out as 11.3 px.
const FONT: (&str, u32) = ("system-ui, 'DejaVu Sans', Arial, sans-serif", 14);

/// `chart` as an SVG picture. Each curve has a colour, a marker and a dash; a legend to the right names them.
///
/// Points that are not finite, or not above 0 on a logarithmic axis, are left out, and a line below says how many.
pub fn line_chart(chart: &Chart) -> String {
    let is_shown = |&(x, y): &(f64, f64)| {
        x.is_finite() && y.is_finite() && (!chart.x_log || x > 0.0) && (!chart.y_log || y > 0.0)
    };
    let shown: Vec<Line> = (chart.lines.iter())
        .map(|line| Line { points: line.points.iter().copied().filter(is_shown).collect(), ..line.clone() })
        .collect();
    let count = |lines: &[Line]| lines.iter().map(|line| line.points.len()).sum::<usize>();
    let missing = count(&chart.lines) - count(&shown);

    let names = shown.iter().map(|line| width_px(&line.name, SMALL_PX)).fold(0.0, f64::max).min(NAME_PX);
    let width = f64::from(PLOT.0) + 56.0 + names + GAP;
    let height =
        (TOP + f64::from(PLOT.1)).max(TOP + 20.0 * shown.len() as f64) + if missing > 0 { 20.0 } else { 0.0 };
    let mut svg = Svg::new(width.max(width_px(&chart.title, TITLE_PX) + 2.0 * GAP).ceil(), height, &chart.title);
    svg.title(GAP, &chart.title);
    if count(&shown) == 0 {
        svg.text(GAP, TOP + 20.0, Anchor::Start, "", "nothing was measured");
        return svg.finish();
    }
    let plot = plotted(chart, &shown).replacen("<svg ", &format!("<svg x=\"0\" y=\"{TOP}\" "), 1);
    svg.push(format_args!("{plot}"));
    for (i, line) in shown.iter().enumerate() {
        let (x, y) = (f64::from(PLOT.0) + 12.0, TOP + 20.0 + 20.0 * i as f64);
        let dash = marker::dash(i).map_or(String::new(), |(on, off)| format!(" stroke-dasharray=\"{on} {off}\""));
        svg.push(format_args!(
            "<path d=\"M{} {}h30\" stroke=\"{}\" stroke-width=\"2\"{dash}/>\n",
            px(x),
            px(y),
            colour::hex(marker::colour(i))
        ));
        let outline = marker::outline(i);
        let place = |(dx, dy): &(i32, i32)| format!("{},{}", px(x + 15.0 + f64::from(*dx)), px(y + f64::from(*dy)));
        let points = outline.iter().map(place).collect::<Vec<_>>().join(" ");
        svg.push(format_args!("<polygon points=\"{points}\" fill=\"{}\"/>\n", colour::hex(marker::colour(i))));
        svg.text(x + 38.0, y + 4.0, Anchor::Start, "", &fitted(&line.name, NAME_PX));
    }
    if missing > 0 {
        let why = if chart.x_log || chart.y_log {
            "not finite, or not above 0 on a logarithmic axis"
        } else {
            "not finite"
        };
        let note = format!("left out: {missing} {}, {why}", if missing == 1 { "point" } else { "points" });
        svg.text(GAP, height - 8.0, Anchor::Start, "", &note);
    }
    svg.finish()
}

/// The axes and curves alone.
fn plotted(chart: &Chart, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| line.points.iter());
    let x = Axis::over(points().map(|point| point.0), chart.x_log, chart.x.ends_with("bytes"), None).padded();
    let y = Axis::over(points().map(|point| point.1), chart.y_log, chart.y.ends_with("bytes"), Some(0.0)).widened();
    let labels = y.labels().iter().map(|label| width_px(label, SMALL_PX)).fold(0.0, f64::max);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, PLOT).into_drawing_area();
    // Writing to memory does not fail, and there is room for the axes.
    let mut plot = ChartBuilder::on(&area)
        .margin(GAP as i32)
        .margin_left(4)
        .margin_right(30)
        .x_label_area_size(44)
        .y_label_area_size(34 + labels as i32)
        .build_cartesian_2d(x, y)
        .expect("drawn to memory");
    plot.configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .axis_style(RGBColor(60, 60, 60))
        .x_desc(chart.x.as_str())
        .y_desc(chart.y.as_str())
        .label_style(FONT)
        .axis_desc_style(FONT)
        .draw()
        .expect("drawn to memory");
    for (i, line) in lines.iter().enumerate() {
        let [red, green, blue] = marker::colour(i);
        let style = RGBColor(red, green, blue).stroke_width(2);
        let points = line.points.iter().copied();
        match marker::dash(i) {
            // A point alone has a marker and no curve.
            _ if line.points.len() < 2 => {}
            None => drop(plot.draw_series(LineSeries::new(points, style)).expect("drawn to memory")),
            Some((on, off)) => {
                plot.draw_series(DashedLineSeries::new(points, on, off, style)).expect("drawn to memory");
            }
        }
        let outline = marker::outline(i);
        let every = line.points.len().div_ceil(20).max(1);
        let marked = line.points.iter().step_by(every).map(|&point| {
            EmptyElement::at(point) + Polygon::new(outline.clone(), RGBColor(red, green, blue).filled())
        });
        plot.draw_series(marked).expect("drawn to memory");
    }
    drop(plot);
    area.present().expect("drawn to memory");
    drop(area);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: usize) -> Chart {
        let line = |i: usize| Line {
            name: format!("line <{i}>"),
            points: (12..=26).map(|power| (2f64.powi(power), 1.0 + (i * power as usize) as f64)).collect(),
        };
        Chart {
            title: "Latency & size".into(),
            x: "working set, bytes".into(),
            y: "latency, ns".into(),
            x_log: true,
            y_log: true,
            lines: (0..lines).map(line).collect(),
        }
    }

    /// The picture's texts; it must be XML with nothing smaller than 11 px.
    fn texts(svg: &str) -> Vec<String> {
        let tree = roxmltree::Document::parse(svg).expect("XML");
        for node in tree.descendants() {
            if let Some(size) = node.attribute("font-size") {
                assert!(size.parse::<f64>().expect("a number") >= 11.0, "{size}");
            }
        }
        let texts = tree.descendants().filter(|node| node.has_tag_name("text"));
        texts.map(|node| node.text().unwrap_or_default().trim().to_string()).collect()
    }

    #[test]
    fn curves_are_named_and_ticks_of_bytes_are_binary() {
        let svg = line_chart(&chart(8));
        let texts = texts(&svg);
        for expected in
            ["Latency & size", "line <0>", "line <7>", "16 KiB", "1 MiB", "working set, bytes", "latency, ns"]
        {
            assert!(texts.iter().any(|text| text == expected), "{expected} of {texts:?}");
        }
        assert_eq!(svg, line_chart(&chart(8)));
        assert!(svg.len() < 500_000, "{}", svg.len());
    }

    #[test]
    fn each_curve_has_a_colour_marker_and_dash_of_its_own() {
        let looks: Vec<_> = (0..12).map(|i| (marker::colour(i), marker::outline(i), marker::dash(i))).collect();
        for (i, one) in looks.iter().enumerate() {
            assert!(
                looks[..i].iter().all(|other| other.0 != one.0 && (&other.1, other.2) != (&one.1, one.2)),
                "{i}"
            );
        }
        assert_eq!(texts(&line_chart(&chart(14))).iter().filter(|text| text.starts_with("line")).count(), 14);
    }

    #[test]
    fn points_that_have_no_place_are_counted() {
        let mut odd = chart(1);
        odd.lines[0].points = vec![(0.0, 1.0), (4096.0, f64::NAN), (8192.0, 3.0), (16384.0, -1.0)];
        assert!(line_chart(&odd).contains("left out: 3 points"));
        (odd.x_log, odd.y_log) = (false, false);
        assert!(line_chart(&odd).contains("left out: 1 point, not finite"));
        odd.lines[0].points.truncate(2);
        odd.x_log = true;
        assert!(line_chart(&odd).contains("nothing was measured"));
    }

    #[test]
    fn no_lines_one_point_and_equal_points_are_pictures_too() {
        assert!(line_chart(&Chart::default()).contains("nothing was measured"));
        for points in [vec![(3.0, 3.0)], vec![(3.0, 3.0); 5], vec![(0.0, 1e300), (1e-300, -1e300)]] {
            for lines in 1..=3 {
                let line = Line { name: "a".into(), points: points.clone() };
                texts(&line_chart(&Chart { lines: vec![line; lines], ..Chart::default() }));
            }
        }
    }
}
