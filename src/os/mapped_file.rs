//! A file seen as memory, read only: pages come in as they are read and can be let go of again.

// The system calls that map a file and drop its pages have no safe form.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use memmap2::{Mmap, UncheckedAdvice};
use std::{
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
};

/// A regular file, mapped whole.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    file: File,
    map: Option<Mmap>,
}

impl MappedFile {
    /// Maps the file at `path`; reads nothing.
    ///
    /// # Errors
    /// If it cannot be opened or mapped, or is no regular file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        let metadata = file.metadata().map_err(|e| Error::io("examine", path, e))?;
        if !metadata.is_file() {
            let remedy = "only a file on disk can be mapped: copy it to one first";
            return Err(Error::data(path, None, "this is not a regular file", remedy));
        }
        // SAFETY: the bytes must not change and the file must not shrink while they are borrowed. No program can
        // hold others to that. `still_whole` is asked before each block is read, so that a shrunk file is an error
        // and no fault, save for a race of microseconds. What is read is copied out first and its bounds are checked
        // on the copy (`data/mapped/block.rs`), so that bytes changed under us can never become an index out of range.
        let map = (metadata.len() > 0).then(|| unsafe { Mmap::map(&file) }).transpose();
        let map = map.map_err(|e| Error::io("map", path, e))?;
        Ok(MappedFile { path: path.to_path_buf(), file, map })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }

    /// Checks that the file is still as long as it was when it was mapped.
    ///
    /// # Errors
    /// If it is shorter: reading the lost part would kill the process.
    pub fn still_whole(&self) -> Result<()> {
        let length = self.file.metadata().map_err(|e| Error::io("examine", &self.path, e))?.len();
        if length >= self.bytes().len() as u64 {
            return Ok(());
        }
        let what = format!("the file shrank from {} to {length} bytes while it was in use", self.bytes().len());
        Err(Error::data(&self.path, None, what, "leave the file alone while it is read; convert to a new file"))
    }

    /// Lets the whole pages within `range` go: they leave this process's resident memory, and come back from the file
    /// when they are read again. Advice only: a kernel that declines changes nothing but the memory in use.
    pub fn release(&self, range: Range<usize>) {
        let page = 4096;
        let (start, end) = (range.start.next_multiple_of(page), range.end / page * page);
        if let Some(map) = self.map.as_ref().filter(|map| start < end && end <= map.len()) {
            // SAFETY: MADV_DONTNEED must not lose data that is only in memory. This map is of a file and read only, so
            // its pages hold nothing that the file does not. The range lies in the map (checked above).
            let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start) };
        }
    }
}
