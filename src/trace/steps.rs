//! Every step of a run, as CSV: `k,gamma_k,tau_k,worker,replica,epoch`, a line an update.

use crate::{
    error::{Error, Result},
    output::is_special,
};
use std::{
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

/// One update's step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTaken {
    /// Number of the update among those of its replica, from 0, in the order in which they came to their writes.
    pub k: u64,
    /// γₖ; NaN for a method without a step.
    pub step: f64,
    /// τₖ, in updates of the replica.
    pub delay: u64,
    /// Whose.
    pub worker: u32,
    /// Of which replica.
    pub replica: u32,
    /// Epochs done before the one it belongs to.
    pub epoch: u64,
}

/// A log of steps being written.
#[derive(Debug)]
pub struct StepLog {
    path: PathBuf,
    file: BufWriter<File>,
    begun: bool,
}

impl StepLog {
    /// Opens `path`: what cannot be written is found before there is anything to write. What it holds is kept until the
    /// first steps.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|source| Error::io("create", path, source))?;
        Ok(StepLog { path: path.to_path_buf(), file: BufWriter::new(file), begun: false })
    }

    /// Writes the head before the first steps, then `steps`; a method without a step leaves γₖ empty.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&mut self, steps: &[StepTaken]) -> Result<()> {
        self.lines(steps).map_err(|source| Error::io("write", &self.path, source))
    }

    fn lines(&mut self, steps: &[StepTaken]) -> std::io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            if !is_special(&self.path) {
                self.file.get_ref().set_len(0)?;
            }
            writeln!(self.file, "k,gamma_k,tau_k,worker,replica,epoch")?;
        }
        for StepTaken { k, step, delay, worker, replica, epoch } in steps {
            let step = if step.is_nan() { String::new() } else { format!("{step:e}") };
            writeln!(self.file, "{k},{step},{delay},{worker},{replica},{epoch}")?;
        }
        self.file.flush()
    }
}
