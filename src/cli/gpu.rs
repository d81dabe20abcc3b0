//! `farrow gpu`: the devices that can supply gradients.

use clap::Subcommand;
use comfy_table::{ContentArrangement, Table, presets};
use farrow::{
    error::{Error, Result},
    gpu::{self, Adapter},
};
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// Arguments of `farrow gpu`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the adapters: what each is, what it can take, and what it can do
    #[command(after_help = "Examples:
  farrow gpu list
  farrow gpu list --json

Ends with 1 where there is none, or where farrow was built without gpu kernels, and says what to install or how to build it.")]
    List(List),
}

#[derive(clap::Args)]
struct List {
    /// Print JSON, limits in bytes
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let Command::List(List { json }) = args.command;
    let adapters = gpu::list()?;
    let text = if json {
        serde_json::to_string_pretty(&adapters).expect("adapters are plain values") + "\n"
    } else {
        table(&adapters) + "\n"
    };
    io::stdout()
        .write_all(text.as_bytes())
        .and_then(|()| io::stdout().flush())
        .map_err(|source| Error::io("write", Path::new("standard output"), source))?;
    Ok(ExitCode::SUCCESS)
}

/// A column an adapter: their lines are long, and they are few.
fn table(adapters: &[Adapter]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    let mut line = |name: &str, of: &dyn Fn(&Adapter) -> String| {
        table.add_row(std::iter::once(name.to_string()).chain(adapters.iter().map(of)));
    };
    line("adapter", &|adapter| adapter.name.clone());
    line("kind", &|adapter| match adapter.software {
        true => "software: cpus compute, right and slow".into(),
        false => format!("{} gpu", adapter.kind),
    });
    line("interface", &|adapter| adapter.backend.clone());
    line("driver", &|adapter| adapter.driver.clone());
    line("PCI address", &|adapter| adapter.pci.clone().unwrap_or_else(|| "not told".into()));
    line("largest array", &|adapter| mebibytes(adapter.limits.binding_bytes));
    line("largest buffer", &|adapter| mebibytes(adapter.limits.buffer_bytes));
    line("arrays a kernel", &|adapter| adapter.limits.bindings.to_string());
    line("workgroup", &|adapter| {
        format!("{} invocations, {} KiB", adapter.limits.invocations, adapter.limits.workgroup_bytes >> 10)
    });
    line("workgroups in a row", &|adapter| adapter.limits.workgroups.to_string());
    line("subgroups", &|adapter| match adapter.features.subgroup {
        Some([least, most]) if least == most => format!("of {most}"),
        Some([least, most]) => format!("of {least} to {most}"),
        None => "no".into(),
    });
    line("atomic float addition", &|adapter| yes(adapter.features.float_atomics));
    line("half floats", &|adapter| yes(adapter.features.f16));
    line("clocks of its own", &|adapter| yes(adapter.features.timestamps));
    table.lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>().join("\n")
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn yes(has: bool) -> String {
    if has { "yes" } else { "no" }.into()
}
