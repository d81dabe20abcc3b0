//! `farrow predict`: what a model says of rows.

use super::{console, reading::ReadingArgs, unsaid::UnsaidArgs};
use clap::ValueEnum;
use farrow::{
    data,
    error::{Error, Result},
    model::{Margins, Model},
    os::affinity,
    output,
    trace::DataFacts,
};
use serde_json::json;
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(clap::Args)]
#[command(after_help = "Example:
  farrow predict test.svm --model m.txt --output probability --out p.txt")]
pub(super) struct Args {
    /// LIBSVM/SVMlight, CSV, Matrix Market, .npy or farrow's mapped form; `-` is standard input
    data: PathBuf,
    /// The model, as `farrow solve --model` or LIBLINEAR's `train` wrote it
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// What to say of each row
    #[arg(long, value_enum, default_value = "label")]
    output: Output,
    /// Write to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// One JSON object instead of one line a row
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    unsaid: UnsaidArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Output {
    /// The label; for regression, the value
    Label,
    /// z = aᵀx + c
    Margin,
    /// P(label of +1), for logistic models
    Probability,
}

impl Output {
    /// What the model says at margin z; `None` for a probability that it does not have.
    fn of(self, model: &Model, z: f64) -> Option<f64> {
        match self {
            Output::Label => Some(model.label(z)),
            Output::Margin => Some(z),
            Output::Probability => model.probability(z),
        }
    }
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let model = args.unsaid.load(&args.model)?;
    if args.output.of(&model, 0.0).is_none() {
        return Err(Error::Setting {
            origin: "--output probability".into(),
            what: format!("the model was fitted with {} loss, whose margins are no log-odds", model.loss.name()),
            remedy: "use --output margin, or fit with --loss logistic".into(),
        });
    }
    if let Some(path) = &args.out {
        refuse_inputs(&args, path)?;
        output::check_writable(path)?;
    }
    let data = data::read(&args.data, &args.reading.options(), threads())?;
    let margins = model.margins(&*data.source)?;
    if let Some(warning) = margins.strangers.warning() {
        console::remark(format!("warning: {warning}"));
    }
    let facts = DataFacts::new(&args.data, data.source.shape());
    let write = |out: &mut dyn Write| {
        if args.json {
            write_json(out, &args, facts, &model, &margins)
        } else {
            write_lines(out, &args, &model, &margins)
        }
    };
    match &args.out {
        Some(path) => output::write_whole(path, write)?,
        None => console::stream_while_read(write)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn said<'a>(args: &'a Args, model: &'a Model, margins: &'a Margins) -> impl Iterator<Item = f64> + 'a {
    margins.values.iter().filter_map(|z| args.output.of(model, *z))
}

/// # Errors
/// [`Error::Setting`] where `out` is a file that this command reads.
fn refuse_inputs(args: &Args, out: &Path) -> Result<()> {
    let reading = args.reading.options();
    let inputs = [
        ("DATA", Some(&args.data)),
        ("--model", Some(&args.model)),
        ("--labels", reading.labels.as_ref()),
        ("--weights", reading.weights.as_ref()),
    ];
    match inputs.into_iter().find(|(_, path)| path.is_some_and(|path| output::is_same_file(path, out))) {
        Some((input, _)) => Err(Error::Setting {
            origin: "--out".into(),
            what: format!("{} is {input}: predictions would overwrite it", out.display()),
            remedy: "give another name".into(),
        }),
        None => Ok(()),
    }
}

fn write_lines(out: &mut dyn Write, args: &Args, model: &Model, margins: &Margins) -> io::Result<()> {
    said(args, model, margins).try_for_each(|value| writeln!(out, "{value}"))
}

fn write_json(
    out: &mut dyn Write,
    args: &Args,
    data: DataFacts,
    model: &Model,
    margins: &Margins,
) -> io::Result<()> {
    let strangers = margins.strangers;
    let object = json!({
        "data": data,
        "model": args.model.display().to_string(),
        "output": format!("{:?}", args.output).to_lowercase(),
        "unseen": {
            "columns": strangers.columns_unseen,
            "entries": strangers.entries_unseen,
            "rows": strangers.rows_unseen,
        },
        "values": said(args, model, margins).collect::<Vec<f64>>(),
    });
    writeln!(out, "{object}")
}

/// Threads to parse with: the cpus that this process may run on.
pub(super) fn threads() -> usize {
    affinity::at_start().map_or(1, |cpus| cpus.len().max(1))
}
