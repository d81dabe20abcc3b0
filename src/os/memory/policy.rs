//! Memory policies and the places of pages, asked of the kernel directly: no crate wraps these system calls.

use super::nodes;
use crate::cpulist;
use std::{io, ops::Range, time::Duration};

/// Numbers of nodes that a mask holds: the most that Linux is built for.
const NODES: usize = 1024;

/// The kernel takes one off the length of a mask before it reads it.
const MASK_BITS: usize = NODES + 1;

const MPOL_F_ADDR: libc::c_long = 2;

/// How often a move is tried while pages stay behind, and the time between. The kernel passes over a page that something
/// else in it holds at that moment, and one shared with a child process that has forked and not yet called exec. Under Linux
/// 6.1, with other threads moving pages at the same time, `mbind` was also seen to leave pages behind again and again that
/// `move_pages` took at once, so that what is left is asked for page by page.
pub(super) const MOVES_MAX: usize = 10;
pub(super) const MOVES_APART: Duration = Duration::from_millis(2);

/// What becomes of pages that are there already.
#[derive(Clone, Copy)]
pub(super) enum Present {
    /// They stay; the policy is for pages to come.
    Stay = 0,
    /// Those that are not where the policy wants them are moved (`MPOL_MF_MOVE`).
    Move = 2,
}

/// The policies used here, by the kernel's numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// This node, and any other once it is full.
    Preferred = 1,
    /// This node only.
    Bind = 2,
    /// The nodes in turn.
    Interleave = 3,
}

/// A set of nodes as the kernel takes it.
struct Mask([u64; NODES / 64]);

impl Mask {
    fn of(nodes: &[u32]) -> Result<Self, String> {
        let mut mask = Mask([0; NODES / 64]);
        for &node in nodes {
            let word = mask.0.get_mut(node as usize / 64);
            *word.ok_or_else(|| format!("node {node}: Linux numbers nodes from 0 to {}", NODES - 1))? |=
                1 << (node % 64);
        }
        Ok(mask)
    }

    fn nodes(&self) -> Vec<u32> {
        (0..NODES as u32).filter(|&node| self.0[node as usize / 64] >> (node % 64) & 1 == 1).collect()
    }
}

/// Gives the pages at `addresses` (whole pages) the policy `mode` over `nodes`, and reads back what the kernel made of
/// it.
///
/// # Errors
/// A sentence: what was refused, or silently left out, and why.
pub(super) fn apply(addresses: Range<usize>, mode: Mode, nodes: &[u32], present: Present) -> Result<(), String> {
    if addresses.is_empty() {
        return Ok(());
    }
    if nodes.is_empty() {
        return Err("no node was named for the array".to_string());
    }
    let mask = Mask::of(nodes)?;
    mbind(&addresses, mode, &mask, present).map_err(|error| refusal("mbind", nodes, &error))?;
    let (granted, granted_nodes) =
        policy_of(addresses.start).map_err(|error| refusal("get_mempolicy", nodes, &error))?;
    if granted != mode as i32 {
        return Err(format!(
            "nodes {}: the kernel took policy {} and reports policy {granted}",
            cpulist::format(nodes),
            mode as i32
        ));
    }
    let asked = mask.nodes();
    if granted_nodes != asked {
        return Err(format!(
            "nodes {}: the kernel left out all but nodes {} ({})",
            cpulist::format(&asked),
            cpulist::format(&granted_nodes),
            nodes::usable()
        ));
    }
    Ok(())
}

/// Why `call` failed for `nodes`, in a sentence that is the same for every array that met the same refusal.
pub(super) fn refusal(call: &str, nodes: &[u32], error: &io::Error) -> String {
    let named = cpulist::format(nodes);
    match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOSYS) => {
            format!("placement unavailable: {call} is refused, as in many containers ({error}), continuing")
        }
        Some(libc::EINVAL | libc::ENODEV | libc::EACCES) => {
            format!("node {named}: no memory there that this process may use ({}; {error})", nodes::usable())
        }
        _ => format!("node {named}: the kernel refused {call} ({error})"),
    }
}

fn mbind(addresses: &Range<usize>, mode: Mode, mask: &Mask, present: Present) -> io::Result<()> {
    // SAFETY: the kernel reads `MASK_BITS - 1` bits from a mask that has them. The addresses are only looked up; policy
    // and moves change where bytes lie and never what they are, whoever owns them.
    let status = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            addresses.start,
            addresses.len(),
            mode as libc::c_long,
            mask.0.as_ptr(),
            MASK_BITS,
            present as libc::c_long,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Mode and nodes of the policy of the page at `address`.
fn policy_of(address: usize) -> io::Result<(i32, Vec<u32>)> {
    let mut mode: libc::c_int = 0;
    let mut mask = Mask([0; NODES / 64]);
    // SAFETY: the kernel writes one int and `MASK_BITS - 1` bits to places of ours that have that size; the address is
    // only looked up.
    let status = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut mode, mask.0.as_mut_ptr(), MASK_BITS, address, MPOL_F_ADDR)
    };
    if status == 0 { Ok((mode, mask.nodes())) } else { Err(io::Error::last_os_error()) }
}

/// The node of each of these pages, or the negated error number: `-ENOENT` where the kernel has no page.
///
/// # Errors
/// The kernel's, where it does not tell of any.
pub(super) fn nodes_of(pages: &[usize]) -> io::Result<Vec<i32>> {
    let mut status = vec![-libc::ENOENT; pages.len()];
    // SAFETY: the kernel reads `pages.len()` addresses and writes as many ints, both ours; without a list of nodes it
    // moves nothing, and the addresses are only looked up. 0 is this process.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            pages.len(),
            pages.as_ptr(),
            std::ptr::null::<libc::c_int>(),
            status.as_mut_ptr(),
            0,
        )
    };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(status) }
}

/// Moves each of these pages to the node beside it. What cannot be moved stays; asking again tells.
pub(super) fn send(pages: &[usize], nodes: &[libc::c_int]) {
    assert_eq!(pages.len(), nodes.len());
    let mut status = vec![0; pages.len()];
    // SAFETY: the kernel reads `pages.len()` addresses and as many nodes, and writes as many ints, all ours; a move changes
    // no byte of a page. 0 is this process.
    unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            pages.len(),
            pages.as_ptr(),
            nodes.as_ptr(),
            status.as_mut_ptr(),
            Present::Move as libc::c_int,
        )
    };
}

/// Whether the page at `address` is in memory, asked of a call that containers allow.
pub(super) fn is_resident(address: usize, page_bytes: usize) -> bool {
    let mut seen = 0u8;
    // SAFETY: the kernel writes one byte for one page; the address is only looked up.
    let status = unsafe { libc::mincore(address as *mut libc::c_void, page_bytes, &raw mut seen) };
    status == 0 && seen & 1 == 1
}

/// The size of a page.
pub(super) fn page_bytes() -> usize {
    // SAFETY: takes a number and returns one.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("every system has pages")
}

/// Makes the page at `address`, which is in memory, readable without a fault, as reading it would. Kernels before 5.14
/// cannot; they leave it as it is.
pub(super) fn make_readable(address: usize, page_bytes: usize) {
    // SAFETY: populating for reading changes no byte and takes no page away.
    unsafe { libc::madvise(address as *mut libc::c_void, page_bytes, libc::MADV_POPULATE_READ) };
}
