//! Writing a file so that its name never stands for half of it.

use crate::error::{Error, Result};
use std::{
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
};

/// A file being written under a temporary name beside its target, which it replaces when it is complete. Dropped
/// before that, it is removed; killed before that, `.NAME.PID.partial` stays and the target is as it was.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    target: PathBuf,
    partial: Option<PathBuf>,
}

impl Replacement {
    /// Begins to replace `target`. A link is followed. Where the target exists and is no regular file (`/dev/stdout`,
    /// a pipe), nothing can be replaced: it is written in place.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create(target: &Path) -> Result<Self> {
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
        let special = fs::metadata(&target).is_ok_and(|m| !m.is_file());
        if special {
            let file = OpenOptions::new().write(true).open(&target).map_err(|e| Error::io("write", &target, e))?;
            return Ok(Replacement { file, target, partial: None });
        }
        let Some(name) = target.file_name() else {
            let e = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it does not name a file");
            return Err(Error::io("write", &target, e));
        };
        let partial = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
        let partial = target.with_file_name(partial);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&partial);
        let file = file.map_err(|e| Error::io("create", &target, e))?;
        Ok(Replacement { file, target, partial: Some(partial) })
    }

    /// Where to write.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// True if this can be written at any offset: a new file, no device or pipe.
    pub fn is_seekable(&self) -> bool {
        self.partial.is_some()
    }

    /// Puts what was written on disk and under the target's name.
    ///
    /// # Errors
    /// If the disk is full or the name cannot be taken.
    pub fn commit(mut self) -> Result<()> {
        let Some(partial) = &self.partial else { return Ok(()) };
        self.file.sync_all().map_err(|e| Error::io("write", &self.target, e))?;
        fs::rename(partial, &self.target).map_err(|e| Error::io("replace", &self.target, e))?;
        self.partial = None;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let _ = fs::remove_file(partial);
        }
    }
}
