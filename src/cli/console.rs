//! The two streams: results on standard output, where a failure is an error, and remarks on standard error, where
//! nothing is left to be done about one.

use farrow::error::{Error, Result};
use std::{
    fmt::Display,
    io::{self, Write},
    path::Path,
};

/// Writes `text` to standard output.
///
/// # Errors
/// If it is closed or full: whoever asked did not get the result.
pub(super) fn print(text: &str) -> Result<()> {
    stream(|out| out.write_all(text.as_bytes()))
}

/// Writes to standard output what `fill` writes.
///
/// # Errors
/// As [`print`].
pub(super) fn stream(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    fill(&mut out).and_then(|()| out.flush()).map_err(|source| {
        // What could not be written is not to be tried again when the buffer is dropped.
        let _ = out.into_parts();
        Error::io("write", Path::new("standard output"), source)
    })
}

/// As [`stream`], for a long list that a reader may have enough of (`| head`): what nobody reads any more is no error.
///
/// # Errors
/// As [`print`], of anything but a reader who went away.
pub(super) fn stream_while_read(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    match stream(fill) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// A remark on standard error.
pub(super) fn remark(text: impl Display) {
    let _ = writeln!(io::stderr(), "farrow: {text}");
}

/// A line on standard error as it is.
pub(super) fn line(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
