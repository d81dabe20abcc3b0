//! `farrow solve`: settings, plan, data, run, and what is left of it.

use super::{
    console,
    reading::ReadingArgs,
    settings::{Resolved, SettingsArgs},
};
use farrow::{
    checkpoint::Checkpoint,
    config::{Normalize, Setup},
    data,
    error::{Error, Result},
    model::{Model, Unsaid},
    os::{
        clock::{Stopwatch, unix_seconds},
        host::Host,
        signals::Interrupt,
    },
    placement::Plan,
    report::{Report, plan_table, waits_table},
    solve::{Start, check_device, solve},
    topology::Topology,
    trace::{DataFacts, Header},
};
use std::{path::PathBuf, process::ExitCode};

mod bar;
mod files;
mod finish;
pub(super) mod flags;
mod outputs;
mod watch;

use files::FileArgs;
use flags::{MethodFlags, ProblemFlags};
use outputs::Outputs;
use watch::{Keeper, Watch};

#[derive(clap::Args)]
#[command(after_help = "Example:
  farrow data generate --rows 100000 --out train.svm
  farrow solve train.svm --loss logistic --l2 1/n --target 1e-6 --model m.txt")]
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
    #[command(flatten)]
    files: FileArgs,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    /// Print nothing but errors (and the object of --json)
    #[arg(long, short, conflicts_with = "verbose")]
    quiet: bool,
    /// Say the plan, worker by worker, and a line a sample
    #[arg(long, short)]
    verbose: bool,
    /// Exit with 1 unless --target or --target-objective was met
    #[arg(long)]
    strict: bool,
}

impl Args {
    fn resolve(&self) -> Result<Resolved> {
        let flags: Vec<_> = self.problem.entries().into_iter().chain(self.method.entries()).collect();
        self.settings.resolve(&flags, None)
    }

    fn start(&self, setup: &Setup) -> Result<Start<'static>> {
        let unsaid = Unsaid {
            loss: setup.problem.loss,
            labels: setup.problem.loss.is_classification().then_some([-1.0, 1.0]),
            normalize_rows: setup.problem.normalize == Normalize::Rows,
            intercept: setup.problem.intercept,
            rows: None,
        };
        let warm = self.files.warm_start.as_deref().map(|path| Model::load(path, Some(&unsaid))).transpose()?;
        let resume = self.files.resume.as_deref().map(Checkpoint::load).transpose()?;
        Ok(Start { warm, resume, ..Start::default() })
    }
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let Resolved { settings, setup, topology, plan } = args.resolve()?;
    args.files.check_form(&setup, None)?;
    check_device(&setup)?;
    let mut outputs = Outputs::open(&args)?;
    let mut start = args.start(&setup)?;
    if !args.quiet {
        plan.warnings.iter().for_each(|warning| console::remark(format!("warning: {warning}")));
    }

    let clock = Stopwatch::start();
    let data = data::read(&args.data, &args.reading.options(), plan.workers.len())?;
    let load_s = clock.seconds();
    args.files.check_labels(&setup, &data)?;
    if let Some(trace) = &mut outputs.trace {
        let facts = DataFacts::new(&args.data, data.source.shape());
        trace.header(&header(&Host::now(), &topology, facts, &setup, &plan), args.files.resume.is_some())?;
    }

    // Until here a signal ends the process, and nothing is lost; from here on it asks the run to stop and save.
    let interrupt = Interrupt::install().map_err(signals)?;
    let asked = interrupt.clone();
    let interrupted = move || asked.received();
    start.interrupted = Some(&interrupted);
    let mut watch = Watch {
        trace: outputs.trace,
        steps: outputs.steps,
        checkpoint: args.files.checkpoint.clone().map(|path| Keeper::new(path, args.files.checkpoint_every)),
        bar: if args.quiet { None } else { bar::Bar::on_terminal(setup.stop) },
        quiet: args.quiet,
        verbose: args.verbose,
        interrupt,
        failure: None,
    };
    let mut outcome = solve(data, &setup, &plan, start, &mut watch).map_err(|error| settings.locate(error))?;
    outcome.seconds.load = load_s;

    watch.bar = None;
    if !args.quiet {
        // Those of the plan were said before the data were read.
        let new = outcome.warnings.iter().filter(|warning| !plan.warnings.contains(warning));
        new.for_each(|warning| console::remark(format!("warning: {warning}")));
    }
    if args.verbose {
        console::line(plan_table(&plan, &outcome.placed.workers).trim_end());
        console::line(waits_table(&outcome.waits).trim_end());
    }
    let report = Report { data: &args.data, setup: &setup, plan: &plan, outcome: &outcome, model: None };
    finish::finish(&args, report, watch)
}

fn header<'a>(
    host: &'a Host,
    topology: &Topology,
    data: DataFacts,
    setup: &'a Setup,
    plan: &'a Plan,
) -> Header<'a> {
    Header {
        farrow: env!("CARGO_PKG_VERSION"),
        started_unix_s: unix_seconds(),
        label: plan.label,
        host,
        topology: topology.into(),
        data,
        config: setup,
        seed: setup.seed,
        plan,
    }
}

fn signals(source: std::io::Error) -> Error {
    Error::io("catch", std::path::Path::new("SIGINT and SIGTERM"), source)
}
