//! Which worker feeds the GPU: the last on the node that the card hangs on, so that what is sent crosses no socket.

use super::order::handed_out;
use crate::{
    config::{Count, Gradients, GradientsOn, MethodKind, Setup},
    error::{Error, Result},
    topology::{Gpu, Topology},
};
use serde::Serialize;

/// The worker that feeds a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Feeder {
    /// Which worker.
    pub worker: usize,
    /// The PCI address of the card, where the topology shows one.
    pub gpu: Option<String>,
    /// The part of an adapter's name or address that is asked for; `None` for the first that is no software.
    pub adapter: Option<String>,
    /// Rows of a batch, where they are set; the data say it otherwise.
    pub rows: Option<usize>,
    /// Why there.
    pub why: String,
}

impl Feeder {
    /// Which worker, with what, and where.
    pub(super) fn describe(&self) -> String {
        let adapter = self.adapter.as_ref().map_or("the first that is no software".into(), |adapter| {
            format!("the one with `{adapter}` in its name or address")
        });
        let rows = self.rows.map_or("as many rows as the data ask for".into(), |rows| format!("{rows} rows"));
        format!(
            "worker {} feeds the GPU, {}\nits adapter is {adapter}, its batches have {rows}",
            self.worker, self.why
        )
    }
}

/// The place (an index into `Topology::cpus`) of the cpu that feeds, beside [`Feeder`] without its worker. Changes `chosen` to
/// the workers there are to be: one, or those that were asked for, of which the last is moved to the GPU's node where it may be.
///
/// # Errors
/// [`Error::Unmet`] if there are not as many workers as `gradients.on` takes.
pub(super) fn choose(
    topology: &Topology,
    setup: &Setup,
    chosen: &mut Vec<usize>,
) -> Result<Option<(usize, Feeder)>> {
    let listed = matches!(setup.workers.count, Count::On(_) | Count::At(_));
    match setup.gradients.on {
        GradientsOn::Cpu => return Ok(None),
        GradientsOn::Gpu if listed && chosen.len() > 1 => {
            let what = format!(
                "gradients.on is \"gpu\", whose feeder is the only worker, and the plan would have {}",
                chosen.len()
            );
            return Err(Error::unmet(what, "take gradients.on = \"both\", or name one cpu"));
        }
        GradientsOn::Gpu => chosen.truncate(1),
        GradientsOn::Both if chosen.len() < 2 => {
            let what = format!(
                "gradients.on is \"both\": one worker feeds the GPU and the others work by themselves, and the plan has {}",
                chosen.len()
            );
            return Err(Error::unmet(what, "take --workers 2 or more, or gradients.on = \"gpu\""));
        }
        GradientsOn::Both => {}
    }
    let gpu = card(topology, setup.gradients.adapter.as_deref());
    let node = gpu.and_then(|gpu| gpu.node).or((!topology.nodes.is_empty()).then_some(0));
    let near = |&place: &usize| topology.cpus[place].node == node;
    let found = chosen.iter().rposition(near);
    let place = match found {
        Some(at) => chosen[at],
        None => {
            let last = chosen.len() - 1;
            let free = |place: &usize| near(place) && !chosen.contains(place);
            let moved = if listed { None } else { handed_out(topology, &setup.workers)?.into_iter().find(free) };
            moved.inspect(|&place| chosen[last] = place).unwrap_or(chosen[last])
        }
    };
    let Gradients { adapter, rows, .. } = setup.gradients.clone();
    let gpu_address = gpu.map(|gpu| gpu.pci.clone());
    let feeder = Feeder { worker: 0, gpu: gpu_address, adapter, rows, why: why(topology, gpu, place) };
    Ok(Some((place, feeder)))
}

/// The card whose name or address has `adapter` in it, else the first.
fn card<'t>(topology: &'t Topology, adapter: Option<&str>) -> Option<&'t Gpu> {
    adapter.and_then(|adapter| named(topology, adapter)).or(topology.gpus.first())
}

fn named<'t>(topology: &'t Topology, adapter: &str) -> Option<&'t Gpu> {
    let adapter = adapter.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&adapter);
    topology.gpus.iter().find(|gpu| has(&gpu.pci) || gpu.name.as_deref().is_some_and(has))
}

fn why(topology: &Topology, gpu: Option<&Gpu>, place: usize) -> String {
    let os = |node: usize| topology.nodes[node].os;
    let on = topology.cpus[place].node.map_or("on no node".into(), |node| format!("on node {}", os(node)));
    match gpu {
        None => format!("{on}: {} shows no GPU, and the first node is taken", topology.name()),
        Some(Gpu { pci, node: None, .. }) => {
            format!("{on}: {} does not say which node GPU {pci} hangs on, and the first is taken", topology.name())
        }
        Some(Gpu { pci, node: Some(node), .. }) if is_far(topology, gpu, place) => {
            format!("{on}, and GPU {pci} hangs on node {}, whose cpus are not to be used", os(*node))
        }
        Some(Gpu { pci, .. }) => format!("{on}, where GPU {pci} hangs"),
    }
}

/// Whether the card hangs on another node than the cpu at `place`.
fn is_far(topology: &Topology, gpu: Option<&Gpu>, place: usize) -> bool {
    gpu.and_then(|gpu| gpu.node).is_some_and(|node| topology.cpus[place].node != Some(node))
}

/// What a person should know of `feeder`, whose cpu is at `place`: where several cards hang on several nodes and none of them is
/// named, it may be far from its own.
pub(super) fn warnings(topology: &Topology, setup: &Setup, feeder: &Feeder, place: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut nodes: Vec<_> = topology.gpus.iter().map(|gpu| gpu.node).collect();
    nodes.dedup();
    let is_named = |adapter: &String| named(topology, adapter).is_some();
    if nodes.len() > 1 && !setup.gradients.adapter.as_ref().is_some_and(is_named) {
        warnings.push(format!(
            "{} GPUs hang on different nodes, and the feeder is beside {}: name one by its address with gradients.adapter (--adapter)",
            topology.gpus.len(),
            feeder.gpu.as_deref().unwrap_or("the first")
        ));
    }
    let usual = MethodKind::named(setup.method.name()).rows();
    if setup.gradients.on == GradientsOn::Gpu && setup.method.rows() != usual {
        warnings.push(format!(
            "method.rows = {} is of workers that work by themselves, and there is none: gradients.rows is of the GPU's batches",
            setup.method.rows()
        ));
    }
    if is_far(topology, card(topology, setup.gradients.adapter.as_deref()), place) {
        warnings.push(format!("the worker that feeds the GPU is {}", feeder.why));
    }
    warnings
}
