//! `farrow topology`: a machine as text or JSON, and kept in a file.

use farrow::{
    error::{Error, Result},
    topology::Topology,
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `farrow topology`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  farrow topology --save this.json
  farrow topology --topology this.json --virtual-nodes 2
  farrow topology --topology \"pack:2 [numa] l3:2 core:4 pu:2\" --json
  lstopo --of xml epyc.xml; farrow topology --topology epyc.xml")]
pub(super) struct Args {
    /// An hwloc XML file, a file written by --save, or an hwloc synthetic description [default: this host]
    #[arg(long, value_name = "FILE|TEXT")]
    topology: Option<String>,
    /// Cut the one node of the machine into K, labelled virtual
    #[arg(long, value_name = "K", default_value_t = 0, hide_default_value = true)]
    virtual_nodes: usize,
    /// Print JSON: every cpu by itself
    #[arg(long)]
    json: bool,
    /// Write the machine to FILE, to be read again by --topology
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let topology = args.topology.as_deref().map_or_else(Topology::of_host, Topology::named)?;
    let topology = topology.with_virtual_nodes(args.virtual_nodes)?;
    if let Some(path) = &args.save {
        topology.save(path)?;
    }
    let text = if args.json { topology.to_json() } else { format!("{topology}\n") };
    io::stdout()
        .write_all(text.as_bytes())
        .and_then(|()| io::stdout().flush())
        .map_err(|source| Error::io("write", Path::new("standard output"), source))?;
    Ok(ExitCode::SUCCESS)
}
