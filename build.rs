//! Looks for libhwloc, so that its absence is named here with its remedy and not by the linker; and notes the commit.

use std::{path::Path, process::Command};

/// The oldest libhwloc whose structures and calls `src/os/hwloc.rs` declares.
const HWLOC_OLDEST: &str = "2.1";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // `hwloc2` asks for the library to be linked too, but only if it found it when it was built: cargo does not ask it
    // again after the library was installed.
    let probe = pkg_config::Config::new().atleast_version(HWLOC_OLDEST).probe("hwloc");
    if let Err(error) = probe {
        println!("cargo::error={}", remedy(&error));
    }
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=FARROW_COMMIT={commit}");
    }
}

fn remedy(error: &pkg_config::Error) -> String {
    let install = "apt-get install libhwloc-dev pkg-config (Fedora: dnf install hwloc-devel pkgconf-pkg-config)";
    let what = match error {
        pkg_config::Error::Command { .. } => "farrow needs the program pkg-config to find libhwloc".into(),
        pkg_config::Error::ProbeFailure { .. } | pkg_config::Error::Failure { .. } => {
            format!("farrow needs libhwloc {HWLOC_OLDEST} or newer of the 2.x series and its header files")
        }
        other => format!("pkg-config does not answer for libhwloc: {}", other.to_string().replace('\n', " ")),
    };
    format!("{what}. Install it with: {install}")
}

/// The commit checked out here; `None` outside a checkout of our own, as in an unpacked package.
fn commit() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let here = std::env::var("CARGO_MANIFEST_DIR").ok()?;
    if Path::new(&top).canonicalize().ok()? != Path::new(&here).canonicalize().ok()? {
        return None;
    }
    // The log of HEAD grows with every commit and checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().into())
}
