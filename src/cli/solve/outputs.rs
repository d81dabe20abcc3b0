//! The files that a run will write, each found to be writable before the data are read.

use super::FileArgs;
use farrow::{
    error::{Error, Result},
    output,
    trace::TraceWriter,
};
use std::{fs, os::unix::fs::MetadataExt, path::Path};

pub(super) struct Outputs {
    pub(super) trace: Option<TraceWriter>,
}

impl Outputs {
    /// # Errors
    /// A file that cannot be written; two names of one file, of which one would overwrite the other.
    pub(super) fn open(data: &Path, files: &FileArgs) -> Result<Self> {
        let outputs = [
            ("--trace", files.trace.as_deref()),
            ("--model", files.model.as_deref()),
            ("--checkpoint", files.checkpoint.as_deref()),
        ];
        let outputs: Vec<_> = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path?))).collect();
        for (number, (flag, path)) in outputs.iter().enumerate() {
            let earlier = outputs[..number].iter().copied().chain([("DATA", data)]);
            for (other_flag, other) in earlier {
                if is_same(path, other) {
                    return Err(Error::Setting {
                        origin: flag.to_string(),
                        what: format!("{} is the file of {other_flag}", path.display()),
                        remedy: "one would overwrite the other; name another file".into(),
                    });
                }
            }
        }
        let trace = files.trace.as_deref().map(TraceWriter::open).transpose()?;
        for path in [&files.model, &files.checkpoint].into_iter().flatten() {
            output::check_writable(path)?;
        }
        Ok(Outputs { trace })
    }
}

/// True for two names of one regular file, also of one that is not there yet.
fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => one == other && one != Path::new("-"),
        _ => false,
    }
}
