//! `farrow contention run`: a solve, and its bill.

use super::super::{
    console,
    reading::ReadingArgs,
    settings::{Resolved, SettingsArgs},
    solve::flags::{MethodFlags, ProblemFlags},
};
use farrow::{
    contention::run::{Bill, Look, Told, bill},
    data::{self, Repeated},
    error::{Error, Result},
    os::signals::Interrupt,
    report::{bill_bars, bill_table, delays_csv, lines_csv},
    trace::{Continue, Observer, Sample, Snapshot},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `farrow contention run`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  farrow contention run train.svm
  farrow contention run train.svm --method hogwild --max-epochs 5 --set parameters.replicas=machine
  farrow contention run train.svm --set parameters.merge=lossless --set parameters.replicas=machine --out bill

The data are read once and kept. The run itself is made as `solve` makes it; then an audited run of two epochs counts every
read and write, and trials of a fifth of a second each time what sharing costs.")]
pub(super) struct Args {
    /// LIBSVM/SVMlight, CSV, Matrix Market, .npy or farrow's mapped form; `-` is standard input
    data: PathBuf,
    #[command(flatten)]
    problem: ProblemFlags,
    #[command(flatten)]
    method: MethodFlags,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Rounds of trials, each with a short run of every kind; of fewer than 7 none can tell a cause from chance
    #[arg(long, value_name = "N", default_value_t = Look::default().rounds, value_parser = rounds)]
    rounds: usize,
    /// Seconds of one trial
    #[arg(long, value_name = "SECONDS", default_value_t = Look::default().trial_seconds, value_parser = seconds)]
    trial_seconds: f64,
    /// Write bill.json, page.txt, delays and hot lines as CSV, and pictures into this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print the bill as one JSON object
    #[arg(long)]
    json: bool,
    /// Print nothing on standard error but errors
    #[arg(long, short)]
    quiet: bool,
}

fn rounds(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(rounds @ 1..=1000) => Ok(rounds),
        _ => Err("a number of rounds is from 1 to 1000".into()),
    }
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a trial takes from 0.01 to 3600 seconds".into()),
    }
}

/// Passes Ctrl-C on to the run itself.
struct Watch(Interrupt);

impl Observer for Watch {
    fn sample(&mut self, _: &Sample, _: &dyn Snapshot) -> Result<Continue> {
        Ok(if self.0.received() { Continue::Stop } else { Continue::Yes })
    }
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let flags: Vec<_> = args.problem.entries().into_iter().chain(args.method.entries()).collect();
    let Resolved { settings, setup, topology, plan } = args.settings.resolve(&flags, None)?;
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
    }
    let say = |text: &str| {
        if !args.quiet {
            console::remark(text);
        }
    };
    plan.warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    let data = Repeated::new(data::read(&args.data, &args.reading.options(), plan.workers.len())?)?;
    let look = Look { rounds: args.rounds, trial_seconds: args.trial_seconds, ..Look::default() };
    let interrupt =
        Interrupt::install().map_err(|source| Error::io("catch", Path::new("SIGINT and SIGTERM"), source))?;
    let mut watch = Watch(interrupt.clone());
    let asked = interrupt.clone();
    let interrupted = move || asked.received();
    let drawn = bill(&data, &setup, &topology, look, (&mut watch, &interrupted), say);
    let (bill, outcome) = drawn.map_err(|error| settings.locate(error))?;
    let new = outcome.warnings.iter().filter(|warning| !plan.warnings.contains(warning));
    new.for_each(|warning| say(&format!("warning: {warning}")));
    let page = bill_table(&bill);
    let json = format!("{:#}\n", serde_json::to_value(&bill).expect("a bill is made of strings and numbers"));
    if let Some(folder) = &args.out {
        keep(folder, &bill, &page, &json)?;
    }
    console::print(if args.json { &json } else { &page })?;
    Ok(interrupt.exit_code().map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn keep(folder: &Path, bill: &Bill, page: &str, json: &str) -> Result<()> {
    let mut files = vec![("page.txt", page.to_string()), ("bill.json", json.to_string())];
    if let Told::Figure(delays) = &bill.delays {
        files.push(("delays.csv", delays_csv(delays)));
    }
    if let Told::Figure(audited) = &bill.audited {
        files.push(("lines.csv", lines_csv(audited)));
    }
    files.extend(bill_bars(bill));
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| Error::io("write", &path, source))?;
    }
    Ok(())
}
