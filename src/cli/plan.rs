//! `farrow plan`: a pinning config resolved on a machine, dry, or tried on this one.

mod verify;

use super::{
    console,
    reading::ReadingArgs,
    settings::{Resolved, SettingsArgs},
};
use farrow::{error::Result, exchange::Graph, placement::Plan};
use serde_json::{Value, json};
use std::{path::PathBuf, process::ExitCode};

/// Arguments of `farrow plan`.
// How data are read is of no use without data.
#[derive(clap::Args)]
#[command(mut_group("ReadingArgs", |group| group.requires("data")))]
#[command(after_help = "Examples:
  farrow plan
  farrow plan --config numa-configs/hogwild-node-replicas.toml --workers 8
  farrow plan --set workers.order=scatter --topology \"pack:2 [numa] l3:2 core:4 pu:2\"
  farrow plan --set workers.cpus=0-6:2 --json
  farrow plan --config numa-configs/hogwild-node-replicas.toml --verify
  farrow plan --verify train.svm")]
pub(super) struct Args {
    #[command(flatten)]
    settings: SettingsArgs,
    /// With --verify, data to place; rows are generated if none are named, 2.4 MiB a worker
    #[arg(requires = "verify", value_name = "DATA")]
    data: Option<PathBuf>,
    /// Place everything on this host, start the workers, and print requested beside actual, a line a worker and a line an
    /// array; exit with 1 where they differ
    #[arg(long, conflicts_with = "topology")]
    verify: bool,
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
    #[command(flatten)]
    reading: ReadingArgs,
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let replicas = ("parameters", "replicas", args.replicas, "--replicas");
    let resolved = args.settings.resolve(&[replicas], args.topology.as_deref())?;
    resolved.plan.warnings.iter().for_each(|warning| console::remark(format!("warning: {warning}")));
    if !args.json {
        console::print(&as_text(&resolved))?;
    }
    if args.verify {
        return verify::run(&resolved, args.data.as_deref(), &args.reading.options(), args.json);
    }
    if args.json {
        console::print(&format!("{:#}\n", as_json(&resolved)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tables alone: the warnings stand on stderr.
fn as_text(resolved: &Resolved) -> String {
    let plan = Plan { warnings: Vec::new(), ..resolved.plan.clone() };
    let graph = graph(resolved).map_or(String::new(), |graph| format!("\n{}\n", in_words(resolved, &graph)));
    format!("{}\n{graph}", plan.describe(&resolved.topology))
}

/// Who sends to whom, where the exchange has a graph and there is somebody to send to.
fn graph(resolved: &Resolved) -> Option<Graph> {
    let kind = resolved.setup.exchange?.graph()?;
    let replicas = resolved.plan.replicas.len();
    (replicas > 1).then(|| Graph::new(kind, replicas, &resolved.plan.distance))
}

fn in_words(resolved: &Resolved, graph: &Graph) -> String {
    let exchange = resolved.setup.exchange.map_or("", |exchange| exchange.name());
    let rounds = if graph.period() == 1 { "1 round".into() } else { format!("{} rounds", graph.period()) };
    let gap = graph.gap().map_or("not worked out for so many".into(), |gap| format!("{gap:.4}"));
    format!(
        "exchange {exchange} on the {} graph of {} replicas: period {rounds}, spectral gap of a period {gap}",
        graph.name(),
        graph.replicas()
    )
}

/// Workers, replicas and shards name nodes by their place in `nodes`, which holds the system's numbers. `graph` has the
/// spectral gap of the product of a period's mixing matrices, or null where there are too many replicas for it.
fn as_json(resolved: &Resolved) -> Value {
    let nodes: Vec<u32> = resolved.topology.nodes.iter().map(|node| node.os).collect();
    let graph = graph(resolved).map(|graph| {
        json!({
            "kind": graph.kind,
            "replicas": graph.replicas(),
            "period": graph.period(),
            "gap": graph.gap(),
        })
    });
    json!({
        "graph": graph,
        "machine": resolved.topology.name(),
        "nodes": nodes,
        "setup": resolved.setup,
        "plan": resolved.plan,
    })
}
