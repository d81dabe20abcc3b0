//! One peer a round: (i + 2^(r mod ⌈log₂ n⌉)) mod n. For n a power of two a period gives the exact mean.

use super::Round;

pub(super) fn rounds(n: usize) -> Vec<Round> {
    let period = n.next_power_of_two().trailing_zeros();
    (0..period).map(|r| (0..n).map(|i| vec![(i + (1 << r)) % n]).collect()).collect()
}
