//! Both neighbours on a circle, in every round.

use super::Round;

pub(super) fn rounds(n: usize) -> Vec<Round> {
    let neighbours = |i: usize| {
        let (next, before) = ((i + 1) % n, (i + n - 1) % n);
        if next == before { vec![next] } else { vec![next, before] }
    };
    vec![(0..n).map(neighbours).collect()]
}
