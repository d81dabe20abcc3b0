//! The one error type of the library. Every variant carries what a person needs to mend the matter: where it
//! happened, the value seen, and what is accepted or what to do.

use std::path::{Path, PathBuf};

/// What every fallible function of the crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong. The binary's exit code is [`Error::exit_code`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting that cannot be used: in a pinning config, in `--set`, or in a flag.
    #[error("{origin}: {what}\n  {remedy}")]
    Setting {
        /// Where it was written: `file.toml:7`, `--set workers.count=x`, `--workers`.
        origin: String,
        /// The value seen and why it does not do.
        what: String,
        /// What is accepted instead.
        remedy: String,
    },
    /// A topology that cannot be had.
    #[error("{origin}: {what}\n  {remedy}")]
    Topology {
        /// The file, the synthetic string, or `this host`.
        origin: String,
        /// What is wrong with it.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Settings that are each well formed and that no plan on this topology can meet, or that do not fit together.
    #[error("{what}\n  {remedy}")]
    Unmet {
        /// What was asked and what there is.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A file whose contents cannot be used.
    #[error("{}{}: {what}\n  {remedy}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Data {
        /// The file (`-` is standard input).
        path: PathBuf,
        /// The line, where lines have a meaning; from 1.
        line: Option<u64>,
        /// The value seen and why it does not do.
        what: String,
        /// What is accepted, or the flag that mends it.
        remedy: String,
    },
    /// A device that computes gradients cannot be had, or gave up.
    #[error("{what}\n  {remedy}")]
    Device {
        /// What kind of trouble, for whoever can go on without it.
        trouble: Trouble,
        /// Which device, and what it or its driver said.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// A verb: `read`, `write`, `create`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Why there are no gradients from a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is none, or none of that name, or the program was built without.
    Absent,
    /// It was there and stopped: reset, unplugged, or its driver gave up.
    Lost,
    /// It has not enough memory.
    Memory,
    /// It cannot do what is asked, or its driver refused a kernel.
    Refused,
}

impl Error {
    /// 2 for flags, configs, topologies and plans; 1 for data, files and devices.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Setting { .. } | Error::Topology { .. } | Error::Unmet { .. } => 2,
            Error::Data { .. } | Error::Io { .. } | Error::Device { .. } => 1,
        }
    }

    /// An [`Error::Data`] about `path`, at `line` if lines have a meaning there.
    pub fn data(path: &Path, line: Option<u64>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Data { path: path.to_path_buf(), line, what: what.into(), remedy: remedy.into() }
    }

    /// An [`Error::Io`] about `path`.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Error::Io { action, path: path.to_path_buf(), source }
    }

    /// An [`Error::Unmet`].
    pub fn unmet(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Unmet { what: what.into(), remedy: remedy.into() }
    }

    /// An [`Error::Device`].
    pub fn device(trouble: Trouble, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Device { trouble, what: what.into(), remedy: remedy.into() }
    }
}
