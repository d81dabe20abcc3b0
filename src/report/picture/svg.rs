//! SVG as text, element by element.

use std::fmt::Write;

/// Height of small text, in px: nothing is smaller.
pub(super) const SMALL_PX: f64 = 11.0;
/// Height of titles, in px.
pub(super) const TITLE_PX: f64 = 15.0;
/// The fonts that a browser is asked for.
pub(super) const FONTS: &str = "system-ui, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif";

/// An SVG picture in the making.
pub(super) struct Svg(String);

/// Which point of a text stands at its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// A white picture of this size in px, with its title for screen readers.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut svg = Svg(String::new());
        svg.push(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             role=\"img\" font-family=\"{FONTS}\" font-size=\"{SMALL_PX}\" fill=\"#222\">\n<title>{}</title>\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>\n",
            escape(title),
            w = px(width),
            h = px(height)
        ));
        svg
    }

    /// Anything.
    pub(super) fn push(&mut self, text: std::fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("written to memory");
    }

    /// A text whose base line is at `y`; `more` are further attributes.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, more: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (px(x), px(y));
        self.push(format_args!("<text x=\"{x}\" y=\"{y}\"{anchor}{more}>{}</text>\n", escape(text)));
    }

    /// A text that is read upwards, centred at `x` and `y`, or begun there.
    pub(super) fn upward(&mut self, x: f64, y: f64, anchor: Anchor, more: &str, text: &str) {
        let more = format!(" transform=\"rotate(-90 {} {})\"{more}", px(x), px(y));
        self.text(x, y, anchor, &more, text);
    }

    /// The title, at the top left.
    pub(super) fn title(&mut self, x: f64, text: &str) {
        self.text(x, 22.0, Anchor::Start, &format!(" font-size=\"{TITLE_PX}\" font-weight=\"600\""), text);
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        self.push(format_args!(
            "<path d=\"M{x1} {y1}L{x2} {y2}\" stroke=\"{stroke}\" stroke-width=\"{width}\" fill=\"none\"/>\n"
        ));
    }

    /// The whole picture.
    pub(super) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// A coordinate with a tenth of a pixel, as short as it goes.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// `text` as the text of an element or the value of an attribute; what XML has no place for becomes �.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// About how wide a text is in px, at a height of `size_px`: no font is at hand, so rather too wide, as in DejaVu
/// Sans.
pub(super) fn width_px(text: &str, size_px: f64) -> f64 {
    let ems = text.chars().map(|character| match character {
        ' ' | ',' | '.' | ':' | 'i' | 'j' | 'l' | '(' | ')' => 0.4,
        'm' | 'w' | 'M' | 'W' | '…' | '×' | '%' => 1.0,
        'A'..='Z' => 0.75,
        _ => 0.65,
    });
    ems.sum::<f64>() * size_px
}

/// `text` with its end cut off so that it is at most about `room_px` wide in small letters; empty where not even a
/// letter and the dots fit.
pub(super) fn fitted(text: &str, room_px: f64) -> String {
    if width_px(text, SMALL_PX) <= room_px {
        return text.to_string();
    }
    let fits = |count: &usize| {
        let cut: String = text.chars().take(*count).chain(['…']).collect();
        width_px(&cut, SMALL_PX) <= room_px
    };
    let count = (1..text.chars().count()).take_while(fits).last();
    count.map_or(String::new(), |count| text.chars().take(count).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_cut_to_their_room() {
        assert_eq!(escape("a<b & \"c\">\u{1}\n"), "a&lt;b &amp; &quot;c&quot;&gt;\u{fffd} ");
        assert_eq!(fitted("package 0", 1000.0), "package 0");
        assert_eq!(fitted("package 0", 40.0), "pack…");
        assert_eq!(fitted("package 0", 10.0), "");
        assert_eq!((px(3.0), px(3.25), px(-0.5)), ("3".into(), "3.2".into(), "-0.5".into()));
    }
}
