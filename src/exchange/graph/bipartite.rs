//! Odd replicas, which begin, with even ones, which answer: in round r the odd i with (i + o) mod n, o = 1, then 1 +
//! 2^r for r = 1 … while that is below n, then −1, without which 0 would have no peer where n is odd. For odd n a step
//! over the end leads from an odd replica to an odd one; the next one is taken instead, so an even replica may have two
//! peers in a round, or none.

use super::Round;

pub(super) fn rounds(n: usize) -> Vec<Round> {
    let powers = (1..).map(|r| 1 + (1 << r)).take_while(|&offset| offset < n);
    let mut offsets: Vec<usize> = std::iter::once(1).chain(powers).collect();
    if offsets.last() != Some(&(n - 1)) {
        offsets.push(n - 1);
    }
    offsets.into_iter().map(|offset| round(n, offset)).collect()
}

fn round(n: usize, offset: usize) -> Round {
    let mut round = vec![Vec::new(); n];
    for active in (1..n).step_by(2) {
        let peer = (active + offset) % n;
        let passive = if peer.is_multiple_of(2) { peer } else { peer + 1 };
        round[active].push(passive);
        round[passive].push(active);
    }
    round
}
