//! The GPU worker of a run, in words and as JSON.

use super::short;
use crate::{
    placement::Plan,
    run::Fed,
    solve::{Device, Gpu},
    topology::cpulist,
};
use serde_json::{Value, json};

/// What worked its gradients out, where it was fed, and what came of it.
pub(super) fn in_words(plan: &Plan, gpu: &Gpu) -> String {
    let Gpu { device, fed } = gpu;
    let Fed { worker, rows, share_of_lines, share_of_way, .. } = fed;
    let cpus = cpulist::format(&plan.workers[*worker].cpus);
    let mut text = format!(
        "{}, fed by worker {worker} on cpu {cpus}: batches of {rows} rows, {} % of the lines and {} % of the way",
        name(device),
        short(100.0 * share_of_lines),
        short(100.0 * share_of_way)
    );
    if let Some(delays) = &fed.delays {
        text +=
            &format!("; its updates came {} updates late on average, {} at most", short(delays.mean), delays.max);
    }
    if fed.replaced {
        text += "; it failed, and the cpu went on in its place";
    }
    text
}

fn name(device: &Device) -> String {
    match &device.stands_in {
        Some(why) => format!("the cpu stands in ({})", why.lines().next().unwrap_or_default()),
        None if device.software => format!("{} (software)", device.name),
        None => device.name.clone(),
    }
}

/// The same as an object; `feeder` says where it is fed, as the plan has it.
pub(super) fn as_json(plan: &Plan, gpu: &Gpu) -> Value {
    let Gpu { device, fed } = gpu;
    let worker = &plan.workers[fed.worker];
    json!({
        "adapter": device.name,
        "software": device.software,
        "pci": device.pci,
        "stands_in": device.stands_in,
        "replaced": fed.replaced,
        "feeder": plan.feeder,
        "cpus": worker.cpus,
        "node": worker.node,
        "rows": fed.rows,
        "weight": fed.weight,
        "lines": fed.lines,
        "share_of_lines": fed.share_of_lines,
        "share_of_way": fed.share_of_way,
        "delays": fed.delays,
    })
}
