//! `[gradients]`: who works gradients out, cpus, a GPU or both, and what of the settings a GPU worker does not go with.
//!
//! The GPU's update is a mini-batch, x ← x − γ (n/W)(1/B) Σ wᵢ φ′(aᵢᵀx̂ + c) aᵢ over B rows, all at one snapshot x̂. So it goes with
//! the methods whose update is a stochastic gradient of the primal, and no other.

use super::{Count, DelayKind, MergeKind, MethodKind, Setup, Straggler, keys::Named, rank::Misfit};
use serde::Serialize;

/// Who works gradients out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    /// Every worker by itself.
    Cpu,
    /// A GPU, fed by the only worker.
    Gpu,
    /// The last worker on the GPU's node feeds it, the others work by themselves.
    Both,
}

/// How a GPU keeps the values of its rows. Sums are in f32 either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// As they are, in 4 bytes.
    F32,
    /// Rounded to half floats, 2 bytes: half of what a dense batch reads. Its gradients are then those of the rounded rows, off by
    /// up to 2⁻¹¹ of each value (below 6.1e-5 they are 0), and what is certified is still the problem as it was given.
    F16,
}

/// `[gradients]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gradients {
    /// Who.
    pub on: On,
    /// A part of the adapter's name or of its PCI address, of whatever case; `None` for the first that is no software.
    pub adapter: Option<String>,
    /// Whether the cpu goes on where there is no device, or where it fails.
    pub fallback: bool,
    /// Rows of a GPU batch; `None` for as many as keep a device busy.
    pub rows: Option<usize>,
    /// How the GPU keeps values.
    pub values: Values,
    /// With [`On::Both`], the part of the lines of its shard that the GPU takes, between 0 and 1; `None` for what the speeds of the
    /// last epoch ask for.
    pub share: Option<f64>,
}

impl Gradients {
    /// On the cpu.
    pub const fn cpu() -> Self {
        Gradients { on: On::Cpu, adapter: None, fallback: false, rows: None, values: Values::F32, share: None }
    }

    /// Whether there is a worker that feeds a GPU.
    pub fn feeds(&self) -> bool {
        self.on != On::Cpu
    }
}

/// The first setting that a GPU worker does not go with.
pub(crate) fn misfit(setup: &Setup) -> Option<Misfit> {
    if !setup.gradients.feeds() {
        return None;
    }
    let named = setup.gradients.on.name();
    let misfit = |at, what: String, remedy| Some(Misfit { at, what, remedy });
    if !matches!(setup.method, MethodKind::Auto | MethodKind::Hogwild | MethodKind::Minibatch { .. }) {
        let what = format!(
            "with \"{named}\" updates are stochastic gradients of the primal in batches, and those of method \"{}\" are not",
            setup.method.name()
        );
        return misfit(("method", "kind"), what, "take method.kind = \"minibatch\", \"hogwild\" or \"auto\"");
    }
    if setup.problem.rank.is_some() {
        let what = format!(
            "with \"{named}\" a batch has a copy of its rows, and with a rank the rows are parameters, which move"
        );
        return misfit(("problem", "rank"), what, "take problem.rank out");
    }
    if setup.parameters.merge == MergeKind::Locked {
        let what = format!(
            "with \"{named}\" an update reads all of x before it writes, and would hold the stripes of all coordinates for as long \
             as the device takes"
        );
        return misfit(("parameters", "merge"), what, "take merge = \"consistent\", \"lossless\" or \"lossy\"");
    }
    if setup.gradients.on == On::Gpu {
        return alone(setup);
    }
    if setup.workers.count == Count::Exactly(1)
        || matches!(&setup.workers.count, Count::On(cpus) if cpus.len() == 1)
    {
        let what = "with \"both\" one worker feeds the GPU and the others work by themselves, and there is one"
            .to_string();
        return misfit(count(setup), what, "take two workers or more, or gradients.on = \"gpu\"");
    }
    None
}

/// What there must not be where the feeder is the only worker.
fn alone(setup: &Setup) -> Option<Misfit> {
    let misfit = |at, what: &str, remedy| Some(Misfit { at, what: what.into(), remedy });
    let many = match &setup.workers.count {
        Count::Exactly(count) => *count != 1,
        Count::On(cpus) => cpus.len() > 1,
        Count::Cpus => true,
        Count::Cores | Count::At(_) => false,
    };
    if many {
        let what = "with \"gpu\" the worker that feeds the GPU is the only one, and more are asked for";
        return misfit(count(setup), what, "take gradients.on = \"both\", or one worker");
    }
    let delays = (setup.injection.delay != DelayKind::None).then_some("delay");
    let stalls = (setup.injection.straggler != Straggler::None).then_some("straggler");
    if let Some(key) = delays.or(stalls) {
        let what = "with \"gpu\" no worker makes updates of its own, and delays and stragglers are put into those";
        return misfit(("injection", key), what, "take it out, or take gradients.on = \"both\"");
    }
    None
}

fn count(setup: &Setup) -> (&'static str, &'static str) {
    ("workers", if matches!(setup.workers.count, Count::On(_)) { "cpus" } else { "count" })
}
