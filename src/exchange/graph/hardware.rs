//! Near replicas meet more often than far ones, by the machine's own distances between their nodes.
//!
//! The pairs of replicas fall into levels, one for each distance that occurs, nearest first. Each level's pairs are cut
//! into matchings: sets in which no replica occurs twice. A round is one matching, whose pairs exchange halves, so all
//! weights stay 1. Every second round is of the first level, every fourth of the second, and so on, the last level
//! taking what is left; a level goes through its matchings in turn. So all pairs meet, and where there are several
//! distances far pairs do so half as often, or less, as nearer ones. With one distance, or none stated, it is a
//! tournament of all.

use super::Round;
use std::collections::BTreeMap;

pub(super) fn rounds(n: usize, distance: &[Vec<u64>]) -> Vec<Round> {
    let far = |i: usize, j: usize| distance.get(i).map_or(0, |row| row[j].max(distance[j][i]));
    let mut levels: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
    // Steps along the circle before chords: neighbours then fill few matchings.
    for step in 1..=n / 2 {
        for i in 0..n {
            let j = (i + step) % n;
            if 2 * step < n || i < j {
                levels.entry(far(i, j)).or_default().push((i, j));
            }
        }
    }
    let levels: Vec<Vec<Round>> = levels.into_values().map(|pairs| matchings(n, &pairs)).collect();
    let most = levels.iter().map(Vec::len).max().unwrap_or(1);
    let last = levels.len() - 1;
    let period = most << last;
    (1..=period)
        .map(|round: usize| {
            let level = (round.trailing_zeros() as usize).min(last);
            let turn = if level < last { round >> (level + 1) } else { (round >> last) - 1 };
            levels[level][turn % levels[level].len()].clone()
        })
        .collect()
}

/// Puts each pair into the first matching in which neither occurs.
fn matchings(n: usize, pairs: &[(usize, usize)]) -> Vec<Round> {
    let mut matchings: Vec<Round> = Vec::new();
    for &(i, j) in pairs {
        let free = matchings.iter().position(|round| round[i].is_empty() && round[j].is_empty());
        let at = free.unwrap_or_else(|| {
            matchings.push(vec![Vec::new(); n]);
            matchings.len() - 1
        });
        matchings[at][i].push(j);
        matchings[at][j].push(i);
    }
    matchings
}
