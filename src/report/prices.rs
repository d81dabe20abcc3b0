//! A price list told to a person: a page of text, a table of everything, and pictures.

mod csv;
mod page;
mod pictures;
mod plan;
mod relations;
mod tables;

pub use csv::csv;
pub use page::page;
pub use pictures::{charts, grids};
pub use plan::survey_page;

use crate::machine::Figure;

/// Three digits, without an exponent: `0.85`, `12.3`, `1234`.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.0005 || size == 0.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

/// Stands behind a figure whose passes do not agree.
const UNSTEADY: &str = "~";

/// The figure's median, with a mark if its passes do not agree, or a dash: the reason stands below the table.
fn figure(figure: Option<&Figure>) -> String {
    let mark = |figure: &Figure| if figure.steady() { "" } else { UNSTEADY };
    figure.map_or_else(|| "-".into(), |figure| short(figure.median) + mark(figure))
}

/// The same without the mark.
fn or_dash(median: Option<f64>) -> String {
    median.map_or_else(|| "-".into(), short)
}

/// Bytes in the largest unit that they are a whole or a large number of.
fn bytes(bytes: f64) -> String {
    match bytes {
        large if large >= 1024.0 * 1024.0 => format!("{} MiB", digits(large / 1024.0 / 1024.0)),
        middle if middle >= 1024.0 => format!("{} KiB", digits(middle / 1024.0)),
        few => format!("{few:.0} B"),
    }
}

fn digits(value: f64) -> String {
    if value == value.round() { format!("{value:.0}") } else { format!("{value:.1}") }
}
