//! The trace as JSON lines. Each line is an object whose `record` says what it is: `header` first, `placed` when the
//! workers stand, one `sample` after the other, and `footer` when the run has stopped. A line goes to the file as it
//! happens, so that a killed run keeps all but the line it was writing.

use super::{Begun, Footer, Header, Sample};
use crate::error::{Error, Result};
use serde::Serialize;
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

/// A trace being written.
#[derive(Debug)]
pub struct TraceWriter {
    path: PathBuf,
    file: File,
}

#[derive(Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Line<'a> {
    Header(&'a Header<'a>),
    Placed(&'a Begun<'a>),
    Sample(&'a Sample),
    Footer(&'a Footer<'a>),
}

impl TraceWriter {
    /// Opens `path`, emptied: what cannot be written is found before there is anything to write.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|source| Error::io("create", path, source))?;
        Ok(TraceWriter { path: path.to_path_buf(), file })
    }

    /// The first line.
    ///
    /// # Errors
    /// [`Error::Io`], as for the others.
    pub fn header(&mut self, header: &Header<'_>) -> Result<()> {
        self.line(&Line::Header(header))
    }

    /// The line about where the workers stand.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn placed(&mut self, begun: &Begun<'_>) -> Result<()> {
        self.line(&Line::Placed(begun))
    }

    /// One sample.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sample(&mut self, sample: &Sample) -> Result<()> {
        self.line(&Line::Sample(sample))
    }

    /// The last line.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn footer(&mut self, footer: &Footer<'_>) -> Result<()> {
        self.line(&Line::Footer(footer))
    }

    /// One write a line, without a buffer that a kill would lose.
    fn line(&mut self, line: &Line<'_>) -> Result<()> {
        serde_json::to_vec(line)
            .map_err(std::io::Error::from)
            .and_then(|mut text| {
                text.push(b'\n');
                self.file.write_all(&text)
            })
            .map_err(|source| Error::io("write", &self.path, source))
    }
}
