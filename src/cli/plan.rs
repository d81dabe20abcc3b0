//! `farrow plan`: a pinning config resolved on a machine, dry.

use super::{
    console,
    settings::{Resolved, SettingsArgs},
};
use farrow::{error::Result, placement::Plan};
use serde_json::json;
use std::process::ExitCode;

/// Arguments of `farrow plan`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  farrow plan
  farrow plan --config numa-configs/node-replicas.toml --workers 8
  farrow plan --set workers.order=scatter --topology \"pack:2 [numa] l3:2 core:4 pu:2\"
  farrow plan --set workers.cpus=0-6:2 --json")]
pub(super) struct Args {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Replicas of the parameters: one for the machine, or one a node, L3 group or core (worker)
    #[arg(long, value_name = "machine|node|l3|core")]
    replicas: Option<String>,
    /// Plan for another machine: an hwloc XML file, one written by `farrow topology --save`, or an hwloc synthetic
    /// description [default: this host]
    #[arg(long, value_name = "FILE|TEXT")]
    topology: Option<String>,
    /// Print JSON: the settings and the plan, with the numbers that the system gives cpus and nodes
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let replicas = ("parameters", "replicas", args.replicas, "--replicas");
    let resolved = args.settings.resolve(&[replicas], args.topology.as_deref())?;
    resolved.plan.warnings.iter().for_each(|warning| console::remark(format!("warning: {warning}")));
    console::print(&if args.json { as_json(&resolved) } else { as_text(resolved) })?;
    Ok(ExitCode::SUCCESS)
}

/// The tables alone: the warnings stand on stderr.
fn as_text(resolved: Resolved) -> String {
    let plan = Plan { warnings: Vec::new(), ..resolved.plan };
    format!("{}\n", plan.describe(&resolved.topology))
}

/// Workers, replicas and shards name nodes by their place in `nodes`, which holds the system's numbers.
fn as_json(resolved: &Resolved) -> String {
    let nodes: Vec<u32> = resolved.topology.nodes.iter().map(|node| node.os).collect();
    let object = json!({
        "machine": resolved.topology.name(),
        "nodes": nodes,
        "setup": resolved.setup,
        "plan": resolved.plan,
    });
    format!("{object:#}\n")
}
