//! Arguments → library → exit code. One file a subcommand; no arithmetic here.

use clap::{Parser, Subcommand};
use farrow::error::Error;
use std::process::ExitCode;

mod console;
mod contention;
mod data;
mod evaluate;
mod gpu;
mod plan;
mod predict;
mod reading;
mod settings;
mod solve;
mod topology;
mod unsaid;

/// Fit large models on one machine with many sockets, without locks, and see what the memory system made it pay.
#[derive(Parser)]
#[command(name = "farrow", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fit a model to a data file, certified by a duality gap or a gradient norm
    Solve(Box<solve::Args>),
    /// Predict labels, margins or probabilities with a saved model
    Predict(predict::Args),
    /// Judge a saved model on labelled data
    Evaluate(evaluate::Args),
    /// Inspect, convert and generate data
    Data(data::Args),
    /// Show this machine, or a saved one
    Topology(topology::Args),
    /// Resolve a pinning config against a machine: who runs where, what lives where
    Plan(plan::Args),
    /// Profile contention: what sharing costs, and what it cost a run
    Contention(contention::Args),
    /// Devices that can supply gradients
    Gpu(gpu::Args),
}

/// Runs the command line and says how it ended: 0 done, 1 bad data or failed output, 2 bad flags or config.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Solve(args) => solve::run(*args),
        Command::Predict(args) => predict::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Data(args) => data::run(args),
        Command::Topology(args) => topology::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Contention(args) => contention::run(args),
        Command::Gpu(args) => gpu::run(args),
    };
    result.unwrap_or_else(|error: Error| {
        console::remark(&error);
        ExitCode::from(error.exit_code())
    })
}
