//! `farrow contention machine`: the price list of this host.

use crate::cli::console;
use farrow::{
    contention::machine::{HostInstrument, Item, Only, Progress, Survey, measure, survey},
    error::{Error, Result},
    machine::PriceList,
    os::signals::Interrupt,
    output,
    report::{
        picture::{heat_map, line_chart},
        prices::{charts, csv, grids, page, survey_page},
    },
    topology::Topology,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    fs,
    io::{IsTerminal, stderr},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `farrow contention machine`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  farrow contention machine
  farrow contention machine --save prices.json && farrow topology --save machine.json
  farrow contention machine --seconds 20 --only transfer,latency --json
  farrow contention machine --out prices/
  farrow contention machine --plan --topology \"pack:8 [numa] l3:1 core:28 pu:2\"

Run it on a machine that does nothing else: it says how noisy it found it. Ctrl-C stops at the next question and keeps what was
measured.")]
pub(super) struct Args {
    /// Seconds that it may take; with fewer, less is asked, and the page says what is left out
    #[arg(long, value_name = "S", default_value_t = 120.0, value_parser = seconds)]
    seconds: f64,
    /// Sections to measure: timer, transfer, latency, bandwidth, loaded, line, sharing, update, handover, alpha [default: all]
    #[arg(long, value_name = "SECTION,…")]
    only: Option<Only>,
    /// Write the price list to FILE, as JSON; with `farrow topology --save` it is the machine file of a simulator
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write prices.json, topology.json, page.txt, and a CSV and a picture of every table into FOLDER
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print the price list as JSON in place of the page
    #[arg(long)]
    json: bool,
    /// Say what would be asked, and measure nothing
    #[arg(long, conflicts_with_all = ["save", "out"])]
    plan: bool,
    /// With --plan, another machine: an hwloc XML file, one written by `farrow topology --save`, or an hwloc synthetic
    /// description [default: this host]
    #[arg(long, value_name = "FILE|TEXT", requires = "plan")]
    topology: Option<String>,
}

/// Longer than anybody waits.
const SECONDS_MAX: f64 = 86_400.0;

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= SECONDS_MAX => Ok(seconds),
        _ => Err(format!("it is a number above 0 and at most {SECONDS_MAX}")),
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let topology = args.topology.as_deref().map_or_else(Topology::of_host, Topology::named)?;
    let survey = survey(&topology, args.seconds, &args.only.clone().unwrap_or_default());
    if args.plan {
        return plan(args, &survey, &topology);
    }
    if let Some(path) = &args.save {
        output::check_writable(path)?;
    }
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
        output::check_writable(&folder.join("prices.json"))?;
    }
    let interrupt =
        Interrupt::install().map_err(|source| Error::io("catch", Path::new("SIGINT and SIGTERM"), source))?;
    let mut watch = Watch { bar: bar(), interrupt };
    let prices = measure(&survey, &mut HostInstrument::new(&topology), &mut watch);
    watch.bar.finish_and_clear();
    let text = page(&prices, &topology);
    // Files first: a reader of standard output who went away must not cost them.
    if let Some(path) = &args.save {
        prices.save(path)?;
    }
    if let Some(folder) = &args.out {
        write(folder, &prices, &topology, &text)?;
    }
    console::print(&if args.json { prices.to_json() } else { text })?;
    Ok(watch.interrupt.exit_code().map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn plan(args: &Args, survey: &Survey, topology: &Topology) -> Result<ExitCode> {
    let text = if args.json {
        let json = serde_json::to_string_pretty(survey).expect("a survey is made of names and finite numbers");
        format!("{json}\n")
    } else {
        survey_page(survey, topology)
    };
    console::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Everything, in a folder.
fn write(folder: &Path, prices: &PriceList, topology: &Topology, text: &str) -> Result<()> {
    let put =
        |name: String, text: &str| output::write_whole(&folder.join(name), |out| out.write_all(text.as_bytes()));
    put("prices.json".into(), &prices.to_json())?;
    put("topology.json".into(), &topology.to_json())?;
    put("page.txt".into(), text)?;
    for (stem, text) in csv(prices) {
        put(format!("{stem}.csv"), &text)?;
    }
    for (stem, grid) in grids(prices) {
        put(format!("{stem}.svg"), &heat_map(&grid))?;
    }
    for (stem, chart) in charts(prices) {
        put(format!("{stem}.svg"), &line_chart(&chart))?;
    }
    Ok(())
}

/// Length of the bar's scale.
const FULL: u64 = 1000;

/// Hidden where standard error is no terminal.
fn bar() -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(FULL), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent} % {msg}") {
        bar.set_style(style);
    }
    bar
}

struct Watch {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl Progress for Watch {
    fn at(&mut self, share: f64, item: &Item) -> bool {
        self.bar.set_position((share * FULL as f64) as u64);
        if !self.bar.is_hidden() {
            self.bar.set_message(item.question.to_string());
        }
        !self.interrupt.received()
    }
}
