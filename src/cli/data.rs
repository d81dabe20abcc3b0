//! `farrow data`: convert, generate, inspect.

use farrow::error::Result;
use std::process::ExitCode;

mod convert;
mod generate;
mod inspect;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a data file as the mapped binary form, which opens at once, or as text
    Convert(convert::Args),
    /// Make a synthetic problem with a known answer
    Generate(generate::Args),
    /// Describe a data file: sizes, degrees, conflicts, labels, norms, L and μ
    Inspect(inspect::Args),
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Convert(args) => convert::run(&args)?,
        Command::Generate(args) => generate::run(&args)?,
        Command::Inspect(args) => inspect::run(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A bar on stderr, where that is a terminal.
fn bar(what: &'static str, rows: usize) -> indicatif::ProgressBar {
    let bar = indicatif::ProgressBar::new(rows as u64);
    let style = indicatif::ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} rows {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.with_message(what)
}

/// Threads that read and make data.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Where a result goes: text to stdout, a failure to write it (a full disk, not a closed pipe) as an error.
fn print(text: &str) -> Result<()> {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(farrow::error::Error::io("write", std::path::Path::new("standard output"), e))
        }
        _ => Ok(()),
    }
}
