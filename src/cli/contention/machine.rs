//! `farrow contention machine`: the price list of this host.

use super::super::console;
use farrow::{
    contention::machine::{Only, Probes, Survey, measure, survey},
    error::{Error, Result},
    machine::PriceList,
    os::{
        clock::unix_seconds,
        host::{self, Host},
        signals::Interrupt,
    },
    report::{charts, curve_csv, heat_maps, prices_table, table_csv},
    topology::Topology,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    fmt::Write,
    fs,
    io::{IsTerminal, stderr},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `farrow contention machine`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  farrow contention machine
  farrow contention machine --seconds 60 --out prices
  farrow contention machine --only transfer,false-sharing --save prices.json
  farrow contention machine --plan --topology \"pack:8 [numa] l3:1 core:28 pu:2\" --seconds 600")]
pub(super) struct Args {
    /// How long all of it may take; on a large machine pairs of cpus are left out where that is too short
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0, value_parser = seconds)]
    seconds: f64,
    #[arg(long, value_name = "SECTIONS", value_parser = Only::parse, help = sections())]
    only: Option<Only>,
    /// Keep the price list in FILE
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write prices.json, topology.json, page.txt, and each table and curve as CSV and SVG into this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print the price list as JSON
    #[arg(long)]
    json: bool,
    /// Say what would be measured and how long it would take, and measure nothing
    #[arg(long)]
    plan: bool,
    /// With --plan, another machine: an hwloc XML file, one written by `farrow topology --save`, or a synthetic description
    #[arg(long, value_name = "FILE|TEXT", requires = "plan")]
    topology: Option<String>,
}

fn sections() -> String {
    format!("Only these sections, separated by commas: {}", Only::NAMES.join(", "))
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (1.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("a price list takes from 1 to 86400 seconds".into()),
    }
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let topology = args.topology.as_deref().map_or_else(Topology::of_host, Topology::named)?;
    let survey = survey(&topology, args.seconds, &args.only.clone().unwrap_or_default());
    if args.plan {
        console::print(&planned(&survey, args.json))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
    }
    let interrupt =
        Interrupt::install().map_err(|source| Error::io("catch", Path::new("SIGINT and SIGTERM"), source))?;
    let list = measured(&survey, &interrupt);
    let page = prices_table(&list, &topology);
    if let Some(path) = &args.save {
        list.save(path)?;
    }
    if let Some(folder) = &args.out {
        keep(folder, &list, &topology, &page)?;
    }
    console::print(if args.json { list.to_json() } else { page }.as_str())?;
    Ok(interrupt.exit_code().map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn planned(survey: &Survey, json: bool) -> String {
    if json {
        return format!("{:#}\n", serde_json::to_value(survey).expect("a survey is made of strings and numbers"));
    }
    let mut text = format!(
        "{} questions, {} passes, about {:.0} s\n\n{:<14} {:>9} {:>9}\n",
        survey.items.len(),
        survey.passes,
        survey.seconds,
        "section",
        "questions",
        "seconds"
    );
    for (section, (questions, seconds)) in survey.sections() {
        let _ = writeln!(text, "{section:<14} {questions:>9} {seconds:>9.1}");
    }
    survey.left_out.iter().for_each(|left_out| {
        let _ = writeln!(text, "left out: {left_out}");
    });
    text
}

fn measured(survey: &Survey, interrupt: &Interrupt) -> PriceList {
    let bar = stderr().is_terminal().then(|| {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}  {eta} left") {
            bar.set_style(style);
        }
        bar
    });
    let (host, steal) = (Host::now(), host::steal_s());
    let unix_s = unix_seconds();
    let mut list = measure(survey, &mut Probes::default(), |question, done, all| {
        if let Some(bar) = &bar {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            bar.set_message(question.section());
        }
        !interrupt.received()
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    list.quiet.steal_s = steal.zip(host::steal_s()).map_or(0.0, |(before, after)| after - before);
    (list.host, list.processor, list.unix_s) = (host.hostname, host.processor, unix_s);
    list
}

fn keep(folder: &Path, list: &PriceList, topology: &Topology, page: &str) -> Result<()> {
    let mut files = vec![("page.txt".to_string(), page.to_string()), ("prices.json".into(), list.to_json())];
    files.push(("topology.json".into(), topology.to_json()));
    files.extend(list.tables.iter().map(|table| (format!("{}.csv", table.key), table_csv(table))));
    files.extend(list.curves.iter().map(|curve| (format!("{}.csv", curve.key), curve_csv(curve))));
    let pictures = heat_maps(list, topology).into_iter().chain(charts(list));
    files.extend(pictures.map(|(key, svg)| (format!("{key}.svg"), svg)));
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| Error::io("write", &path, source))?;
    }
    Ok(())
}
