//! Where the pages of an array are to lie, as an inert value.

use super::{
    nodes,
    policy::{self, Mode, Present},
};
use crate::cpulist;
use serde::Serialize;
use std::{fmt, ops::Range};

/// Where the pages of an array are to lie. Nodes have the system's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// Each page where the thread runs that writes it first.
    #[default]
    FirstTouch,
    /// All pages on one node.
    Node(u32),
    /// Pages dealt to the nodes in turn.
    Interleave(Vec<u32>),
    /// As many equal runs as there are nodes named, in order, each on its node; bounds are rounded down to pages.
    Runs(Vec<u32>),
}

impl Home {
    /// The nodes named, in the order named.
    pub fn nodes(&self) -> &[u32] {
        match self {
            Home::FirstTouch => &[],
            Home::Node(node) => std::slice::from_ref(node),
            Home::Interleave(nodes) | Home::Runs(nodes) => nodes,
        }
    }

    /// Tells the kernel, for an array at `start` whose runs begin and end at the bytes `bounds` (first 0, last the whole
    /// array). On a kernel with one node there is nothing to tell.
    ///
    /// # Errors
    /// What was refused or left out, and why.
    pub(super) fn apply(&self, start: usize, bounds: &[usize], present: Present) -> Result<(), String> {
        if *self == Home::FirstTouch {
            return Ok(());
        }
        if let Some(only) = nodes::only() {
            return on_only(only, self.nodes());
        }
        let whole = start + bounds[0]..start + bounds[bounds.len() - 1];
        match self {
            Home::FirstTouch => Ok(()),
            Home::Node(node) => policy::apply(whole, Mode::Bind, &[*node], present),
            Home::Interleave(nodes) => policy::apply(whole, Mode::Interleave, nodes, present),
            Home::Runs(nodes) if nodes.is_empty() => policy::apply(whole, Mode::Bind, nodes, present),
            Home::Runs(nodes) => {
                let spans = bounds.windows(2).map(|span| start + span[0]..start + span[1]);
                every_run(nodes.iter().zip(spans), present)
            }
        }
    }

    /// Whether a page at byte `at` of the array may lie on `node`.
    pub(super) fn holds(&self, at: usize, bounds: &[usize], node: u32) -> bool {
        match self {
            Home::FirstTouch => true,
            Home::Node(home) => *home == node,
            Home::Interleave(nodes) => nodes.contains(&node),
            Home::Runs(nodes) => nodes.get(run(at, bounds)) == Some(&node),
        }
    }

    /// A node that a page at byte `at`, the array's `page`-th, may lie on; none if any will do.
    pub(super) fn node_for(&self, at: usize, bounds: &[usize], page: usize) -> Option<u32> {
        match self {
            Home::FirstTouch => None,
            Home::Node(home) => Some(*home),
            Home::Interleave(nodes) => nodes.get(page % nodes.len().max(1)).copied(),
            Home::Runs(nodes) => nodes.get(run(at, bounds)).copied(),
        }
    }
}

/// The run of byte `at`: the last that begins at or before it, as empty runs begin where the next one does.
fn run(at: usize, bounds: &[usize]) -> usize {
    bounds.partition_point(|&bound| bound <= at).saturating_sub(1)
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |nodes: &[u32]| {
            let mut nodes = nodes.to_vec();
            nodes.sort_unstable();
            nodes.dedup();
            cpulist::format(&nodes)
        };
        match self {
            Home::FirstTouch => f.write_str("first touch"),
            Home::Node(node) => write!(f, "node {node}"),
            Home::Interleave(nodes) => write!(f, "in turn on nodes {}", list(nodes)),
            Home::Runs(nodes) => write!(f, "in {} runs on nodes {}", nodes.len(), list(nodes)),
        }
    }
}

/// Each run to its node; the distinct refusals in one sentence.
fn every_run<'a>(runs: impl Iterator<Item = (&'a u32, Range<usize>)>, present: Present) -> Result<(), String> {
    let mut refusals: Vec<String> = Vec::new();
    for (&node, span) in runs {
        if let Err(refusal) = policy::apply(span, Mode::Bind, &[node], present)
            && !refusals.contains(&refusal)
        {
            refusals.push(refusal);
        }
    }
    if refusals.is_empty() { Ok(()) } else { Err(refusals.join("; ")) }
}

/// What `nodes` are to a kernel that has memory on `only` one.
pub(super) fn on_only(only: u32, nodes: &[u32]) -> Result<(), String> {
    let absent: Vec<u32> = nodes.iter().copied().filter(|&node| node != only).collect();
    match nodes {
        [] => Err("no node was named for the array".to_string()),
        _ if absent.is_empty() => Ok(()),
        _ => Err(format!("node {}: this kernel has memory on node {only} alone", cpulist::format(&absent))),
    }
}

/// How an array asks for its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where.
    pub home: Home,
    /// Whether to ask for transparent huge pages where the array is large enough to have any; if not, the kernel is told
    /// to use none.
    pub huge_pages: bool,
}

impl Site {
    /// At `home`, with huge pages.
    pub fn at(home: Home) -> Self {
        Site { home, huge_pages: true }
    }
}

impl Default for Site {
    fn default() -> Self {
        Site::at(Home::FirstTouch)
    }
}
