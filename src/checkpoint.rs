//! All that a run needs to go on where it was.

use crate::{
    error::{Error, Result},
    output,
    trace::Sample,
};
use std::path::Path;

mod form;

/// A run's state at a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What must be the same for it to be taken up: a digest of data shape, problem and method (see `solve`).
    pub identity: String,
    /// The store (x for `hogwild` and u for `dual`, by column whatever the layout, the margins for `bcd`), in the scale it is
    /// solved in, then the constant that `hogwild` keeps outside it, and last the average of the memos by column, for the methods that have
    /// one.
    pub parameters: Vec<f64>,
    /// The method's own state: dual variables for `dual`, coefficients for `bcd`, memos for `proxasaga` and `svrg`, empty for
    /// `hogwild`.
    pub state: Vec<f64>,
    /// Epochs done.
    pub epoch: u64,
    /// The step's first length, where a search found it.
    pub step_initial: Option<f64>,
    /// σ′.
    pub damping: f64,
    /// What σ′ is at least, as far as the run had to raise it.
    pub damping_least: f64,
    /// The objective that must ascend (D for `dual`, −P for `bcd`) at the last sample.
    pub ascent: f64,
    /// The last sample.
    pub last: Option<Sample>,
}

impl Checkpoint {
    /// Writes it to `path`, whole or not at all: a kill at any moment leaves the one before. Every number keeps its
    /// bits.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<()> {
        output::write_whole(path, |out| form::write(out, self))
    }

    /// Reads what [`Checkpoint::save`] wrote, checked against its checksum.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Data`] for a file that is no checkpoint, is of another version, was cut short or has a
    /// changed byte.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::io("read", path, source))?;
        form::read(&bytes).map_err(|fault| Error::data(path, None, fault.what, fault.remedy))
    }

    /// Checks that this checkpoint belongs to the run called `identity`.
    ///
    /// # Errors
    /// [`Error::Unmet`] with both identities.
    pub fn check(&self, identity: &str) -> Result<()> {
        if self.identity == identity {
            return Ok(());
        }
        Err(Error::unmet(
            format!(
                "the checkpoint belongs to another run\n  checkpoint: {}\n  this run:   {identity}",
                self.identity
            ),
            "resume with the same data, problem and method, or start afresh without --resume; \
             --warm-start MODEL takes coefficients from a run that differs",
        ))
    }
}
