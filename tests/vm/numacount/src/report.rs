//! A report as text, each line beginning with `numacount N:`, N the number of the run since the guest started:
//!
//! ```text
//! numacount 0: cpus of node 0: 700/100 300/200     loads/stores to the memory of node 0, 1 …
//! numacount 0: total 1300 remote 500 unknown 0     the sums; unknown: QEMU gave no address in any node
//! ```
//!
//! and, if asked for, the pages with the most remote accesses, each with the instructions that made most of those, and the
//! instructions with the most remote accesses:
//!
//! ```text
//! numacount 0: page 0x7f0000001000 node 1: 300/200 by 0x555555601234 0x555555601238
//! numacount 0: instruction 0x555555601234: 500/0
//! ```
//!
//! With address randomisation off (`setarch --addr-no-randomize`) the latter are those of the executable plus
//! 0x555555554000, for `addr2line`.

use crate::count::{Accesses, Counted};
use std::{collections::HashMap, fmt::Write, hash::Hash};

/// How many instructions to name with a page.
const INSTRUCTIONS_OF_PAGE: usize = 4;

/// The report.
pub(crate) fn text(counted: &Counted) -> String {
    let head = format!("numacount {}:", counted.run);
    let mut text = String::new();
    let mut line = |rest: String| writeln!(text, "{head} {rest}").expect("a string takes all");
    let pair = |of: Accesses| format!("{}/{}", of.loads, of.stores);
    let (mut total, mut remote) = (0, 0);
    for (cpu_node, row) in counted.matrix.iter().enumerate() {
        for (memory_node, of) in row.iter().enumerate() {
            total += of.sum();
            remote += if memory_node == cpu_node { 0 } else { of.sum() };
        }
        let columns: Vec<String> = row.iter().map(|&of| pair(of)).collect();
        line(format!("cpus of node {cpu_node}: {}", columns.join(" ")));
    }
    line(format!("total {total} remote {remote} unknown {}", counted.unknown));
    let sites = || counted.remote.iter();
    for ((page, node), of) in largest(sites().map(|(site, &of)| ((site.page, site.node), of)), counted.top) {
        let here = sites().filter(|(site, _)| (site.page, site.node) == (page, node));
        let by = largest(here.map(|(site, &of)| (site.instruction, of)), INSTRUCTIONS_OF_PAGE);
        let by: Vec<String> = by.iter().map(|(address, _)| format!("{address:#x}")).collect();
        line(format!("page {page:#x} node {node}: {} by {}", pair(of), by.join(" ")));
    }
    for (address, of) in largest(sites().map(|(site, &of)| (site.instruction, of)), counted.top) {
        line(format!("instruction {address:#x}: {}", pair(of)));
    }
    text
}

/// The `top` keys with the most accesses, the most first; equal ones by key.
fn largest<K: Copy + Eq + Hash + Ord>(of: impl Iterator<Item = (K, Accesses)>, top: usize) -> Vec<(K, Accesses)> {
    let mut sums: HashMap<K, Accesses> = HashMap::new();
    for (key, accesses) in of {
        let sum = sums.entry(key).or_default();
        sum.loads += accesses.loads;
        sum.stores += accesses.stores;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|&(key, of)| (std::cmp::Reverse(of.sum()), key));
    sums.truncate(top);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Site;

    #[test]
    fn a_report_states_the_matrix_the_sums_and_the_worst_pages_and_instructions() {
        let one = |loads, stores| Accesses { loads, stores };
        let site = |instruction, page| Site { instruction, page, node: 1 };
        let counted = Counted {
            run: 3,
            matrix: vec![vec![one(700, 100), one(300, 200)], vec![one(0, 0), one(5, 5)]],
            unknown: 2,
            remote: HashMap::from([
                (site(0x10, 0x1000), one(100, 0)),
                (site(0x10, 0x2000), one(200, 0)),
                (site(0x20, 0x2000), one(0, 200)),
            ]),
            top: 1,
        };
        let expected = "numacount 3: cpus of node 0: 700/100 300/200\n\
                        numacount 3: cpus of node 1: 0/0 5/5\n\
                        numacount 3: total 1310 remote 500 unknown 2\n\
                        numacount 3: page 0x2000 node 1: 200/200 by 0x10 0x20\n\
                        numacount 3: instruction 0x10: 300/0\n";
        assert_eq!(text(&counted), expected);
    }
}
