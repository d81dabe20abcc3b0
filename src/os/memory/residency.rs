//! Where pages are, as the kernel reports them, against where they were to be.

use super::{Home, nodes, policy};
use crate::os::host;
use serde::Serialize;
use std::{collections::BTreeMap, io};

/// Pages asked for in one system call.
const BATCH: usize = 16384;

/// Where the pages of one array, or of several of one owner, lie. All sizes are those of whole pages, in bytes, and those
/// of the pages asked for: all of them, or where there are more than the caller's limit, as many, spaced evenly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Residency {
    /// Pages of the arrays.
    pub pages: u64,
    /// Pages of them that the kernel was asked for.
    pub pages_asked: u64,
    /// On each node that has any, by the system's number.
    pub bytes_by_node: BTreeMap<u32, u64>,
    /// Not in memory: never written, or swapped out.
    pub bytes_untouched: u64,
    /// Of which the kernel does not say where they are.
    pub bytes_unknown: u64,
    /// On a node that is not their home.
    pub bytes_misplaced: u64,
    /// What the kernel refused, or silently left out, when the arrays were placed or moved; each reason once.
    pub refused: Vec<String>,
    /// Why the kernel does not say where pages are, if it does not.
    pub not_told: Option<String>,
}

impl Residency {
    /// True if nothing was refused and no page was found away from its home, nor one of which nothing is known. Untouched
    /// pages are not held against anyone.
    pub fn met(&self) -> bool {
        self.refused.is_empty() && self.not_told.is_none() && self.bytes_misplaced == 0 && self.bytes_unknown == 0
    }

    /// Bytes of the pages asked for that are in memory on a known node.
    pub fn bytes_placed(&self) -> u64 {
        self.bytes_by_node.values().sum()
    }

    /// Adds another array of the same owner.
    pub fn add(&mut self, other: &Residency) {
        self.pages += other.pages;
        self.pages_asked += other.pages_asked;
        for (&node, &bytes) in &other.bytes_by_node {
            *self.bytes_by_node.entry(node).or_default() += bytes;
        }
        self.bytes_untouched += other.bytes_untouched;
        self.bytes_unknown += other.bytes_unknown;
        self.bytes_misplaced += other.bytes_misplaced;
        for reason in &other.refused {
            if !self.refused.contains(reason) {
                self.refused.push(reason.clone());
            }
        }
        if self.not_told.is_none() {
            self.not_told.clone_from(&other.not_told);
        }
    }
}

/// How to ask where pages are.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// Of each array, at most so many, spaced evenly.
    pub pages_max: usize,
    /// Whether those that are away from home are moved there first.
    pub moves: bool,
}

/// A question about one array.
pub(super) struct Query<'a> {
    pub(super) start: usize,
    /// Whole pages.
    pub(super) bytes: usize,
    pub(super) bounds: &'a [usize],
    pub(super) home: &'a Home,
    pub(super) pages_max: usize,
}

impl Query<'_> {
    /// Asks in batches.
    pub(super) fn ask(&self, refused: Option<&str>) -> Residency {
        let page_bytes = policy::page_bytes();
        let pages = self.bytes / page_bytes;
        let mut residency = Residency {
            pages: pages as u64,
            refused: refused.map(String::from).into_iter().collect(),
            ..Residency::default()
        };
        for places in self.batches() {
            match told(&places, page_bytes) {
                Ok(answers) => self.count(&mut residency, &places, &answers, page_bytes as u64),
                Err(error) => {
                    residency.not_told = Some(format!("move_pages is refused ({error})"));
                    break;
                }
            }
        }
        residency
    }

    /// The pages to ask for, spaced evenly, batch by batch.
    fn batches(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let page_bytes = policy::page_bytes();
        let pages = self.bytes / page_bytes;
        let asked = pages.min(self.pages_max);
        let place = move |i| self.start + (i as u128 * pages as u128 / asked as u128) as usize * page_bytes;
        (0..asked).step_by(BATCH).map(move |first| (first..asked.min(first + BATCH)).map(place).collect())
    }

    /// Moves the pages among them that are away from home, one by one.
    pub(super) fn send_home(&self) {
        let page_bytes = policy::page_bytes();
        for places in self.batches() {
            let Ok(answers) = told(&places, page_bytes) else { return };
            let strays = places.iter().zip(answers).filter_map(|(&place, answer)| {
                let (at, node) = (place - self.start, u32::try_from(answer).ok()?);
                let away = !self.home.holds(at, self.bounds, node);
                let home = self.home.node_for(at, self.bounds, at / page_bytes).filter(|_| away)?;
                Some((place, libc::c_int::try_from(home).ok()?))
            });
            let (strays, homes): (Vec<_>, Vec<_>) = strays.unzip();
            if !strays.is_empty() {
                policy::send(&strays, &homes);
            }
        }
    }

    fn count(&self, residency: &mut Residency, places: &[usize], answers: &[i32], page_bytes: u64) {
        residency.pages_asked += places.len() as u64;
        for (&place, &answer) in places.iter().zip(answers) {
            match u32::try_from(answer) {
                Ok(node) => {
                    *residency.bytes_by_node.entry(node).or_default() += page_bytes;
                    if !self.home.holds(place - self.start, self.bounds, node) {
                        residency.bytes_misplaced += page_bytes;
                    }
                }
                // The second answer is that for a page only read so far, which is the kernel's one page of zeros, and on
                // some kernels that for a page with none near it.
                Err(_) if answer == -libc::ENOENT || answer == -libc::EFAULT => {
                    residency.bytes_untouched += page_bytes;
                }
                Err(_) => residency.bytes_unknown += page_bytes,
            }
        }
    }
}

/// The node of each page or a negated error number.
fn told(places: &[usize], page_bytes: usize) -> io::Result<Vec<i32>> {
    match (policy::nodes_of(places), nodes::only()) {
        (Ok(mut answers), _) => {
            if answers.contains(&-libc::ENOENT) && host::balancing() {
                ask_again(places, &mut answers, page_bytes)?;
            }
            Ok(answers)
        }
        // Containers often refuse the call. With one node, what is in memory is there.
        (Err(_), Some(only)) => {
            let there = |&place: &usize| policy::is_resident(place, page_bytes);
            Ok(places.iter().map(|place| if there(place) { only as i32 } else { -libc::ENOENT }).collect())
        }
        (Err(error), None) => Err(error),
    }
}

/// Automatic balancing hides pages from their owner for a while, to see who uses them, and Linux 6.1 then answers that
/// they are not there. Asking for such a page to be readable ends that; pages that are truly untouched stay so.
fn ask_again(places: &[usize], answers: &mut [i32], page_bytes: usize) -> io::Result<()> {
    let hidden = |&i: &usize| answers[i] == -libc::ENOENT && policy::is_resident(places[i], page_bytes);
    let hidden: Vec<usize> = (0..places.len()).filter(hidden).collect();
    for &i in &hidden {
        policy::make_readable(places[i], page_bytes);
    }
    let again: Vec<usize> = hidden.iter().map(|&i| places[i]).collect();
    for (&i, answer) in hidden.iter().zip(policy::nodes_of(&again)?) {
        // What is in memory and still not found is not untouched.
        answers[i] = if answer == -libc::ENOENT { -libc::EAGAIN } else { answer };
    }
    Ok(())
}
