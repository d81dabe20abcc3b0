//! `farrow plan`: the settings resolved.

use super::settings::SettingsArgs;
use farrow::error::Result;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let setup = args.settings.settings(&[])?.check()?;
    print!("{}", setup.to_toml());
    Ok(ExitCode::SUCCESS)
}
