//! `farrow contention`: what sharing costs.

use farrow::error::Result;
use std::process::ExitCode;

mod machine;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Measure this machine's price list: latency, bandwidth, line transfer, contention
    Machine(machine::Args),
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    match args.command {
        Command::Machine(args) => machine::run(&args),
    }
}
