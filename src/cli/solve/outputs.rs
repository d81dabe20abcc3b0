//! The files that a run will write, each found to be writable, and none of them one that it reads, before the data are
//! read.

use super::{Args, files::FileArgs};
use farrow::{
    error::{Error, Result},
    output,
    trace::{StepLog, TraceWriter},
};
use std::path::{Path, PathBuf};

pub(super) struct Outputs {
    pub(super) trace: Option<TraceWriter>,
    pub(super) steps: Option<StepLog>,
}

impl Outputs {
    /// # Errors
    /// A file that cannot be written; two names of one file, of which one would overwrite the other.
    pub(super) fn open(args: &Args) -> Result<Self> {
        let files = &args.files;
        let outputs = outputs(files);
        let inputs = inputs(args);
        for (number, (flag, path)) in outputs.iter().enumerate() {
            let mut others = outputs[..number].iter().chain(&inputs);
            // A run that is taken up keeps its checkpoint where it was.
            let goes_with = |other: &str| (*flag, other) == ("--checkpoint", "--resume");
            if let Some((other, _)) =
                others.find(|(other, file)| !goes_with(other) && output::is_same_file(path, file))
            {
                return Err(Error::Setting {
                    origin: flag.to_string(),
                    what: format!("{} is the file of {other}", path.display()),
                    remedy: "one would overwrite the other; name another file".into(),
                });
            }
        }
        let trace = files.trace.as_deref().map(TraceWriter::open).transpose()?;
        for path in [&files.model, &files.checkpoint].into_iter().flatten() {
            output::check_writable(path)?;
        }
        let steps = files.log_steps.as_deref().map(StepLog::open).transpose()?;
        Ok(Outputs { trace, steps })
    }
}

fn outputs(files: &FileArgs) -> Vec<(&'static str, PathBuf)> {
    named([
        ("--trace", &files.trace),
        ("--log-steps", &files.log_steps),
        ("--model", &files.model),
        ("--checkpoint", &files.checkpoint),
    ])
    .collect()
}

fn inputs(args: &Args) -> Vec<(&'static str, PathBuf)> {
    let reading = args.reading.options();
    let data = Some(args.data.clone());
    // Of these `-` is standard input.
    let streams = named([("DATA", &data), ("--labels", &reading.labels), ("--weights", &reading.weights)])
        .filter(|(_, path)| path != Path::new("-"));
    let (config, files) = (args.settings.config(), &args.files);
    let others = named([("--config", config), ("--resume", &files.resume), ("--warm-start", &files.warm_start)]);
    streams.chain(others).collect()
}

fn named<const N: usize>(
    files: [(&'static str, &Option<PathBuf>); N],
) -> impl Iterator<Item = (&'static str, PathBuf)> {
    files.map(|(flag, path)| Some((flag, path.clone()?))).into_iter().flatten()
}
