//! `farrow contention`: what sharing memory costs.

mod machine;
mod run;

use farrow::error::Result;
use std::process::ExitCode;

/// Arguments of `farrow contention`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(clap::Subcommand)]
enum Question {
    /// The price list of this machine: what lines, memory, updates and waiting cost, by place and by size
    Machine(machine::Args),
    /// The bill of a run: what part of its time sharing took, which coordinates cause it, and what to change
    Run(Box<run::Args>),
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    match args.question {
        Question::Machine(args) => machine::run(&args),
        Question::Run(args) => run::run(*args),
    }
}
