//! Binding of threads to cpus: asked of the kernel, read back, and reported as requested against actual.

// Masks of more than 1024 cpus, and the thread's own cpu, are system calls without a safe wrapper.
#![allow(unsafe_code)]

use crate::cpulist;
use serde::Serialize;
use std::{io, sync::OnceLock};

/// `core_affinity` keeps a mask of this many bits and aborts the process for a cpu beyond it.
const CORE_AFFINITY_CPUS: u32 = 1024;

/// The largest mask tried: the most cpus a list may name.
const MASK_BITS_MAX: usize = cpulist::LARGEST as usize + 1;

/// What became of a request to bind the current thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The cpus asked for, ascending; empty if no binding was asked for.
    pub requested: Vec<u32>,
    /// The cpus that the kernel says the thread may run on, ascending.
    pub actual: Vec<u32>,
    /// The cpu it ran on when this was written.
    pub running_on: Option<u32>,
    /// Why `actual` is not `requested`.
    pub reason: Option<String>,
}

impl Binding {
    /// True if the kernel granted what was asked for.
    pub fn met(&self) -> bool {
        self.reason.is_none()
    }
}

/// Binds the current thread to `cpus` and reads back what the kernel granted. One cpu below 1024 goes through
/// `core_affinity`; larger numbers, which abort that crate, and sets go to `sched_setaffinity`.
pub fn bind(cpus: &[u32]) -> Binding {
    let mut requested = cpus.to_vec();
    requested.sort_unstable();
    requested.dedup();
    let refused = match requested[..] {
        [] => Some("no cpu was named".to_string()),
        [cpu] if cpu < CORE_AFFINITY_CPUS => set_one(cpu),
        _ => set_mask(&requested).err().map(|error| refusal(&requested, &error)),
    };
    granted(requested, refused)
}

/// Where the current thread stands without binding it.
pub fn unbound() -> Binding {
    granted(Vec::new(), None)
}

/// The cpus that this process was allowed when it was first asked for: later bindings of threads do not change the
/// answer, and worker threads may ask.
///
/// # Errors
/// The kernel's, if it does not say.
pub fn at_start() -> io::Result<Vec<u32>> {
    static START: OnceLock<Vec<u32>> = OnceLock::new();
    if let Some(cpus) = START.get() {
        return Ok(cpus.clone());
    }
    // The main thread has the process's number; its mask is not narrowed by workers that bind themselves.
    let cpus = mask_of(std::process::id() as libc::pid_t)?;
    Ok(START.get_or_init(|| cpus).clone())
}

/// The cpus that the current thread may run on, ascending.
///
/// # Errors
/// The kernel's, if it does not say.
pub fn current() -> io::Result<Vec<u32>> {
    mask_of(0)
}

/// The cpu that the current thread runs on at this moment.
pub fn running_on() -> Option<u32> {
    // SAFETY: takes nothing and returns a number or -1.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

fn set_one(cpu: u32) -> Option<String> {
    if core_affinity::set_for_current(core_affinity::CoreId { id: cpu as usize }) {
        return None;
    }
    // The crate answers only false; asking once more tells why.
    set_mask(&[cpu]).err().map(|error| refusal(&[cpu], &error))
}

fn refusal(cpus: &[u32], error: &io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::EINVAL) => "none of them exists, is online and is in the cpuset",
        Some(libc::EPERM) => "not permitted, as in some containers",
        _ => "the kernel refused",
    };
    format!("cpus {}: {why} ({error})", cpulist::format(cpus))
}

fn granted(requested: Vec<u32>, refused: Option<String>) -> Binding {
    let (actual, unread) = match current() {
        Ok(actual) => (actual, None),
        Err(error) => (Vec::new(), Some(format!("the kernel does not say what it granted ({error})"))),
    };
    let narrowed = || {
        (!requested.is_empty() && actual != requested).then(|| {
            format!("the kernel granted cpus {} of {}", cpulist::format(&actual), cpulist::format(&requested))
        })
    };
    let reason = refused.or(unread).or_else(narrowed);
    Binding { requested, actual, running_on: running_on(), reason }
}

/// `sched_setaffinity` with a mask as long as the largest number needs.
fn set_mask(cpus: &[u32]) -> io::Result<()> {
    let bits = cpus.iter().max().map_or(0, |&cpu| cpu as usize + 1);
    let mut mask = vec![0u64; bits.div_ceil(64)];
    for &cpu in cpus {
        mask[cpu as usize / 64] |= 1 << (cpu % 64);
    }
    // SAFETY: the kernel reads as many bytes as the mask has, from memory that is ours; 0 is the current thread.
    let status = unsafe { libc::sched_setaffinity(0, size_of_val(&mask[..]), mask.as_ptr().cast()) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `sched_getaffinity` with a mask that grows until the kernel's fits: it answers EINVAL to one that is too short.
fn mask_of(thread: libc::pid_t) -> io::Result<Vec<u32>> {
    let mut bits = 1024;
    loop {
        let mut mask = vec![0u64; bits / 64];
        // SAFETY: the kernel writes at most as many bytes as the mask has, to memory that is ours.
        let status = unsafe { libc::sched_getaffinity(thread, size_of_val(&mask[..]), mask.as_mut_ptr().cast()) };
        if status == 0 {
            let set = |&cpu: &u32| mask[cpu as usize / 64] >> (cpu % 64) & 1 == 1;
            return Ok((0..bits as u32).filter(set).collect());
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINVAL) || bits >= MASK_BITS_MAX {
            return Err(error);
        }
        bits *= 2;
    }
}
