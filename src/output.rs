//! Files that a run leaves behind: each appears whole or not at all, and one that cannot be written is found before
//! the work that it is to hold.

use crate::error::{Error, Result};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Ending of the file that a write goes to before it takes its name.
const UNFINISHED: &str = "farrow-tmp";

/// Writes `path` by way of a temporary file beside it, synced and then renamed: a reader sees the old contents or the
/// new, never a part. What is not a regular file (a pipe, `/dev/stdout`) is written straight; a link is followed.
///
/// # Errors
/// [`Error::Io`] that names `path`; the old contents are then still there.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    if is_special(path) {
        let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        return filled(file, fill).map(drop).map_err(failed);
    }
    replace(path, |file| filled(file, fill).map_err(failed))
}

/// As [`write_whole`], for a writer that goes to and fro in the file; a failure of its own is returned as it is.
///
/// # Errors
/// [`Error::Io`] that names `path`, or what `fill` returns; the old contents are then still there. A path that is not
/// a regular file is an error.
pub fn write_whole_file(path: &Path, fill: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    if is_special(path) {
        let remedy = "this form is not written in order: name a file on disk";
        return Err(Error::data(path, None, "this is not a regular file", remedy));
    }
    replace(path, |file| fill(&file).map(|()| file))
}

fn replace(path: &Path, fill: impl FnOnce(File) -> Result<File>) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let temporary = beside(&path);
    let place =
        |file: File| file.sync_all().and_then(|()| fs::rename(&temporary, &path)).and_then(|()| sync_folder(&path));
    let written =
        File::create(&temporary).map_err(failed).and_then(fill).and_then(|file| place(file).map_err(failed));
    if written.is_err() {
        // The write's own error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Checks that [`write_whole`] can be expected to work: makes the temporary file, writes to it and removes it. What
/// stood at `path` is not touched.
///
/// # Errors
/// [`Error::Io`] that names `path`.
pub fn check_writable(path: &Path) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    if path.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    if is_special(path) {
        let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        // A device that is always full says so to an empty line and to nothing less; any other special file is not
        // to be written to before its time.
        return if path == Path::new("/dev/full") { file.write_all(b"\n").map_err(failed) } else { Ok(()) };
    }
    let temporary = beside(&fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()));
    let tried = File::create(&temporary).and_then(|mut file| file.write_all(b"\n").and_then(|()| file.sync_all()));
    let _ = fs::remove_file(&temporary);
    tried.map_err(failed)
}

fn filled(file: File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    fill(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// True for what exists and is neither a regular file nor a folder: a pipe, a terminal, a device.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.{UNFINISHED}", std::process::id()));
    path.with_file_name(name)
}

/// A rename is on disk once its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// True for two names of one regular file, also of one that is not there yet.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => one == other || place(one).is_some_and(|one| Some(one) == place(other)),
        _ => false,
    }
}

/// Where a file that is not there yet would stand; `None` where its folder is not there either.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}
