//! Whether rows fit the memory that this process may take: asked before, where their size is known, and while they are
//! read, where it is not. Running out of memory ends a process; a refusal can be read.

use crate::{
    error::{Error, Result},
    os::capacity::{Capacity, memory_allowed},
};
use std::path::Path;

const REMEDY: &str = "take fewer rows or columns, raise the limit, or read it on a machine with more memory; \
                      `farrow data convert` there makes a file that is read block by block";

/// Of what was there to begin with, this share is kept for all but the rows; and so much at least.
const KEPT_SHARE: u64 = 64;
const KEPT_BYTES_MIN: u64 = 16 << 20;

/// Refuses `bytes` for `what` if they are more than is allowed.
///
/// # Errors
/// In words.
pub(super) fn fits(bytes: f64, what: &str) -> std::result::Result<(), String> {
    match memory_allowed() {
        Some(allowed) => compare(bytes, what, &allowed),
        None => Ok(()),
    }
}

/// [`fits`], for the file at `path`.
pub(super) fn check(path: &Path, bytes: f64, what: &str) -> Result<()> {
    fits(bytes, what).map_err(|refusal| Error::data(path, None, refusal, REMEDY))
}

fn compare(bytes: f64, what: &str, allowed: &Capacity) -> std::result::Result<(), String> {
    if bytes <= allowed.bytes as f64 {
        return Ok(());
    }
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    Err(format!(
        "{what} would take {:.0} MiB, and {:.0} MiB may be taken (limited by {})",
        mib(bytes),
        mib(allowed.bytes as f64),
        allowed.limited_by
    ))
}

/// Watches the memory that is left while rows of unknown number are read.
pub(super) struct Watch {
    start: Option<Capacity>,
}

impl Watch {
    pub(super) fn begin() -> Self {
        Watch { start: memory_allowed() }
    }

    /// Refuses to go on where next to nothing is left, after `read_bytes` of the file.
    ///
    /// # Errors
    /// [`Error::Data`], with the arithmetic.
    pub(super) fn look(&self, path: &Path, read_bytes: u64) -> Result<()> {
        let (Some(start), Some(now)) = (&self.start, memory_allowed()) else { return Ok(()) };
        judge(start, &now, read_bytes).map_err(|refusal| Error::data(path, None, refusal, REMEDY))
    }
}

fn judge(start: &Capacity, now: &Capacity, read_bytes: u64) -> std::result::Result<(), String> {
    let kept = (start.bytes / KEPT_SHARE).max(KEPT_BYTES_MIN);
    if now.bytes > kept || now.bytes >= start.bytes {
        return Ok(());
    }
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    Err(format!(
        "the rows do not fit the memory: after {:.0} MiB of the file {:.0} of {:.0} MiB are left (limited by {})",
        mib(read_bytes),
        mib(now.bytes),
        mib(start.bytes),
        now.limited_by
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(mib: u64) -> Capacity {
        Capacity { bytes: mib << 20, limited_by: "the control group's limit".into() }
    }

    #[test]
    fn rows_are_refused_before_the_memory_is_gone_and_not_earlier() {
        judge(&left(8192), &left(129), 1 << 30).expect("more than a 64th is left");
        let refusal = judge(&left(8192), &left(128), 3 << 30).expect_err("a 64th is left");
        assert!(refusal.contains("after 3072 MiB of the file 128 of 8192 MiB are left"), "{refusal}");
        assert!(refusal.contains("control group"), "{refusal}");
        judge(&left(20), &left(20), 0).expect("reading took nothing: a small file may still fit");
        judge(&left(20), &left(15), 1 << 20).expect_err("and now it takes of the little there was");
    }

    #[test]
    fn what_is_known_beforehand_is_refused_with_the_arithmetic() {
        compare(1e9, "10 rows", &left(1000)).expect("1000 MiB are more than 10⁹ bytes");
        let refusal = compare(2.0 * f64::from(1 << 30), "10 rows", &left(1000)).expect_err("2048 of 1000 MiB");
        assert!(refusal.starts_with("10 rows would take 2048 MiB, and 1000 MiB may be taken"), "{refusal}");
    }
}
