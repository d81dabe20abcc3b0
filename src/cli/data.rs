//! To be written.

use farrow::error::Result;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_args: Args) -> Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
