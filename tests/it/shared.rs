//! Files that lie beside the checkout on some machines and not on others: a test that wants one asks here, and skips
//! with a line that says so where it is missing.

use std::path::{Path, PathBuf};

/// `../shared/NAME` if it is there; else says that `test` skips and why.
#[allow(dead_code)]
pub fn file(test: &str, name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: {test}: ../shared/{name} is not on this machine");
        None
    }
}
