//! What tells curves apart: colour, marker and dash.

use super::super::colour::CURVES;

/// The colour of curve `i`.
pub(super) fn colour(i: usize) -> [u8; 3] {
    CURVES[i % CURVES.len()]
}

/// Lengths in px of dash and gap of curve `i`; `None` is solid. With six markers and three dashes eighteen curves
/// differ without their colours.
pub(super) fn dash(i: usize) -> Option<(u32, u32)> {
    [None, Some((9, 4)), Some((3, 3))][(i + i / 6) % 3]
}

/// The outline of the marker of curve `i` around its point, in px.
pub(super) fn outline(i: usize) -> Vec<(i32, i32)> {
    let outline: &[(i32, i32)] = match i % 6 {
        // A disc, a square, a triangle, a diamond, a triangle upside down, a cross.
        0 => &[(-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2), (-4, -2)],
        1 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        2 => &[(0, -5), (5, 4), (-5, 4)],
        3 => &[(0, -6), (5, 0), (0, 6), (-5, 0)],
        4 => &[(0, 5), (5, -4), (-5, -4)],
        _ => &[
            (-1, -5),
            (1, -5),
            (1, -1),
            (5, -1),
            (5, 1),
            (1, 1),
            (1, 5),
            (-1, 5),
            (-1, 1),
            (-5, 1),
            (-5, -1),
            (-1, -1),
        ],
    };
    outline.to_vec()
}
