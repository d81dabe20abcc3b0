//! The trace as JSON lines. Each line is an object whose `record` says what it is: `header` first, `placed` when the
//! workers stand, one `sample` after the other, and `footer` when the run has stopped. A line goes to the file as it
//! happens, so that a killed run keeps all but the line it was writing.

use super::{Begun, Footer, Header, Sample};
use crate::{
    error::{Error, Result},
    output::is_special,
};
use serde::Serialize;
use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
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
    /// Opens `path`: what cannot be written is found before there is anything to write. What it holds is kept until
    /// [`TraceWriter::header`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(!is_special(path)).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(|source| Error::io("create", path, source))?;
        Ok(TraceWriter { path: path.to_path_buf(), file })
    }

    /// The first line. What the file held is removed; with `resumed` it is kept and the header follows it, in place of
    /// a last line that a kill cut short.
    ///
    /// # Errors
    /// [`Error::Io`], as for the others.
    pub fn header(&mut self, header: &Header<'_>, resumed: bool) -> Result<()> {
        if !is_special(&self.path) {
            self.begin(resumed).map_err(|source| Error::io("write", &self.path, source))?;
        }
        self.line(&Line::Header(header))
    }

    fn begin(&mut self, resumed: bool) -> std::io::Result<()> {
        let mut held = Vec::new();
        if resumed {
            self.file.read_to_end(&mut held)?;
        }
        let kept = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last as u64 + 1);
        self.file.set_len(kept)?;
        self.file.seek(SeekFrom::Start(kept)).map(drop)
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
