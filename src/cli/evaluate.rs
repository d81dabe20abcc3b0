//! `farrow evaluate`: a model judged on labelled data.

use super::{console, predict::threads, reading::ReadingArgs, unsaid::UnsaidArgs};
use farrow::{
    config::Settings,
    data,
    error::Result,
    report::{verdict_json, verdict_table},
    trace::DataFacts,
};
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
#[command(after_help = "Example:
  farrow evaluate test.svm --model m.txt")]
pub(super) struct Args {
    /// LIBSVM/SVMlight, CSV, Matrix Market, .npy or farrow's mapped form; `-` is standard input
    data: PathBuf,
    /// The model, as `farrow solve --model` or LIBLINEAR's `train` wrote it
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// λ₁ of the objective; without --l1 and --l2 it is the mean loss
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    l1: Option<String>,
    /// λ₂ of the objective: a number, or 1/n
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    l2: Option<String>,
    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    unsaid: UnsaidArgs,
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let mut settings = Settings::new();
    settings.put("problem", "l1", args.l1.as_deref().unwrap_or("0"), "--l1");
    settings.put("problem", "l2", args.l2.as_deref().unwrap_or("0"), "--l2");
    let mut problem = settings.check()?.problem;
    let model = args.unsaid.load(&args.model)?;
    let data = data::read(&args.data, &args.reading.options(), threads())?;
    let shape = data.source.shape();
    problem.rank = model.factors.map(|factors| factors.rank);
    let prox = problem.prox(problem.terms(&shape));
    let evaluation = model.evaluate(&data, &prox)?;
    evaluation.warnings().iter().for_each(|warning| console::remark(format!("warning: {warning}")));
    let facts = DataFacts::new(&args.data, shape);
    if args.json {
        console::print(&format!("{:#}\n", verdict_json(&facts, &args.model, &model, &evaluation)))?;
    } else {
        console::print(&verdict_table(&facts, &args.model, &model, &evaluation))?;
    }
    Ok(ExitCode::SUCCESS)
}
