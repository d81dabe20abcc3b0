//! A few figures as bars.

use super::{
    Bars, number,
    svg::{Anchor, SMALL_PX, Svg, TITLE_PX, fitted, px, width_px},
};

/// How long the longest bar is, in px.
const LONGEST: f64 = 420.0;
/// How wide names may be, in px.
const NAME_PX: f64 = 260.0;
const ROW: f64 = 24.0;
const TOP: f64 = 40.0;
const GAP: f64 = 12.0;

/// `bars` as horizontal bars from a common zero, an SVG picture, in the order given, each with its value and unit
/// at its end. Negative values go to the left of zero.
pub fn bars(bars: &Bars) -> String {
    let told = |value: f64| {
        if value.is_finite() { format!("{} {}", number::short(value), bars.unit) } else { "not measured".into() }
    };
    let names = bars.bars.iter().map(|(name, _)| width_px(name, SMALL_PX)).fold(0.0, f64::max).min(NAME_PX);
    let values = bars.bars.iter().map(|(_, value)| width_px(&told(*value), SMALL_PX)).fold(0.0, f64::max);
    let finite = || bars.bars.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
    let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    // Halved, so that a span beyond the greatest number does not overflow.
    let span = high / 2.0 - low / 2.0;
    let long = |value: f64| if span > 0.0 { value / 2.0 / span * LONGEST } else { 0.0 };
    let left = GAP + names + 6.0;
    let zero = left - long(low) + if low < 0.0 { values + 6.0 } else { 0.0 };
    let width =
        (zero + long(high) + 6.0 + values + GAP).max(width_px(&bars.title, TITLE_PX) + 2.0 * GAP).max(200.0);
    let height = TOP + ROW * bars.bars.len().max(1) as f64 + GAP;
    let mut svg = Svg::new(width.ceil(), height, &bars.title);
    svg.title(GAP, &bars.title);
    if bars.bars.is_empty() {
        svg.text(GAP, TOP + 14.0, Anchor::Start, "", "nothing was measured");
        return svg.finish();
    }
    for (i, (name, value)) in bars.bars.iter().enumerate() {
        let y = TOP + ROW * i as f64;
        let length = if value.is_finite() { long(*value) } else { 0.0 };
        svg.text(left - 6.0, y + 16.0, Anchor::End, "", &fitted(name, NAME_PX));
        let (x, wide) = (px(zero + length.min(0.0)), px(length.abs()));
        svg.push(format_args!(
            "<rect x=\"{x}\" y=\"{}\" width=\"{wide}\" height=\"16\" fill=\"#0072b2\"/>\n",
            px(y + 4.0)
        ));
        let (end, anchor) = if length < 0.0 { (-6.0, Anchor::End) } else { (6.0, Anchor::Start) };
        svg.text(zero + length + end, y + 16.0, anchor, "", &told(*value));
    }
    svg.line((zero, TOP), (zero, TOP + ROW * bars.bars.len() as f64), "#222", 1.0);
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(svg: &str) -> Vec<f64> {
        let tree = roxmltree::Document::parse(svg).expect("XML");
        let rects = tree.descendants().filter(|node| node.attribute("fill") == Some("#0072b2"));
        rects.map(|node| node.attribute("width").expect("wide").parse().expect("a number")).collect()
    }

    fn of(values: &[f64]) -> Bars {
        let bars = values.iter().enumerate().map(|(i, &value)| (format!("<cause {i}>"), value)).collect();
        Bars { title: "Seconds & causes".into(), unit: "s".into(), bars }
    }

    #[test]
    fn bars_are_as_long_as_their_values_in_the_order_given() {
        assert_eq!(widths(&bars(&of(&[1.0, 4.0, 0.0, 2.0]))), [105.0, 420.0, 0.0, 210.0]);
        assert_eq!(widths(&bars(&of(&[-1.0, 3.0]))), [105.0, 315.0]);
        assert_eq!(bars(&of(&[1.0])), bars(&of(&[1.0])));
    }

    #[test]
    fn no_bars_no_span_and_no_numbers_are_pictures_too() {
        assert!(bars(&of(&[])).contains("nothing was measured") && widths(&bars(&of(&[]))).is_empty());
        assert_eq!(widths(&bars(&of(&[0.0, 0.0]))), [0.0, 0.0]);
        assert_eq!(widths(&bars(&of(&[f64::NAN, 2.0, f64::INFINITY]))), [0.0, 420.0, 0.0]);
        assert_eq!(widths(&bars(&of(&[f64::MAX, -f64::MAX]))), [210.0, 210.0]);
    }
}
