//! `workers.order` where it names nodes, in `numactl`'s words: `node:0,node:1`, `node:0-3`, `node:all`, `node:!0`.

use super::WorkerOrder;
use crate::cpulist;

/// Reads the part that begins with `node:`.
///
/// # Errors
/// Why it is no list of nodes.
pub(super) fn parse(text: &str) -> Result<WorkerOrder, String> {
    let parts: Vec<&str> =
        text.split(',').map(|part| part.trim().strip_prefix("node:").unwrap_or(part.trim())).collect();
    let list = parts.join(",");
    if list == "all" {
        return Ok(WorkerOrder::NodesExcept(Vec::new()));
    }
    let (except, list) = list.strip_prefix('!').map_or((false, list.as_str()), |rest| (true, rest));
    let nodes = cpulist::parse(list).map_err(|error| error.to_string())?;
    Ok(if except { WorkerOrder::NodesExcept(nodes) } else { WorkerOrder::Nodes(nodes) })
}

/// The text that [`parse`] reads as this.
pub(super) fn format(order: &WorkerOrder) -> String {
    let list = |nodes: &[u32]| nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match order {
        WorkerOrder::Compact => "compact".into(),
        WorkerOrder::Scatter => "scatter".into(),
        WorkerOrder::Nodes(nodes) => format!("node:{}", list(nodes)),
        WorkerOrder::NodesExcept(nodes) if nodes.is_empty() => "node:all".into(),
        WorkerOrder::NodesExcept(nodes) => format!("node:!{}", list(nodes)),
    }
}
