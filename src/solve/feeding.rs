//! The GPU worker of a run: how large its batches are, how far they may go, and what works them out. The only place where
//! `[gradients]` becomes a device.

use super::{Fit, Opener, Placed};
use crate::{
    config::{Gradients as Settings, GradientsOn, GradientsValues, Runner, Setup},
    data::matrix::Matrix,
    error::{Error, Result},
    gpu::{self, Gradients, Opened, Options, Terms, Twin},
    placement::team,
    run::{Fed, Feeding},
};
use serde::Serialize;
use std::sync::Mutex;

/// Entries of a batch, where its rows are not set: 16 MiB of values, for which a card's memory should take some 10 µs, beside perhaps
/// 50 of starting it and of sending x and g. Both are guesses: no card was at hand.
const ENTRIES: usize = 1 << 22;
/// Batches of an epoch at least, or there would be few steps in it: a9a at λ₂ = 10⁻³ takes 120 epochs to a gap of 10⁻⁴ in batches of
/// 256 rows, and is at 2.5·10⁻⁴ after 300 in batches of 1017.
const BATCHES: usize = 128;

/// How many times as far as one of the GPU's a row of a cpu may move x before that is told of.
const UNEVEN: f64 = 2.0;

/// What works the gradients of a GPU worker out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// The adapter's name, or `cpu`.
    pub name: String,
    /// Whether it is software: the cpu under another name.
    pub software: bool,
    /// Its address on the PCI bus, where its driver tells it.
    pub pci: Option<String>,
    /// Why the cpu stands in for a GPU, where it does.
    pub stands_in: Option<String>,
}

impl Device {
    /// What a person should know before waiting for it. `beside` is the address of the card that it is fed beside.
    pub(super) fn warning(&self, beside: Option<&str>) -> Option<String> {
        let slow = "it is right, and slower than cpu workers";
        match (&self.stands_in, &self.pci, beside) {
            (Some(why), ..) if why == REPEATS => None,
            (Some(why), ..) => {
                Some(format!("a GPU was asked for, and the cpu works its gradients out; {slow}: {why}"))
            }
            (None, ..) if self.software => Some(format!(
                "adapter {} is software, and the cpu works the GPU's gradients out; {slow}",
                self.name
            )),
            (None, Some(pci), Some(beside)) if !pci.eq_ignore_ascii_case(beside) => Some(format!(
                "adapter {} is at {pci}, and the worker that feeds it is where {beside} hangs: take --adapter {pci} \
                 (gradients.adapter)",
                self.name
            )),
            _ => None,
        }
    }
}

/// Why there is no device under the interleaved runner.
const REPEATS: &str = "the interleaved runner repeats to the bit";

/// A GPU worker and what it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// What worked its gradients out when the run began.
    pub device: Device,
    /// What it did.
    pub fed: Fed,
}

/// A device with the rows of the feeder's shard, before the run.
pub(super) struct Ready {
    gradients: Box<dyn Gradients>,
    pub(super) device: Device,
    firsts: Vec<Option<usize>>,
}

impl Fit<'_> {
    /// Rows of a GPU's batch.
    pub(super) fn batch_rows(&self) -> usize {
        let Some(feeder) = &self.plan.feeder else { return 1 };
        let shard = &self.plan.shards[self.plan.workers[feeder.worker].shard].workers;
        let (copies, workers) = (self.plan.copies(), self.plan.workers.len());
        let lines = if copies > 1 { self.shape.rows } else { self.shape.rows * shard.len() / workers };
        let entries = (self.shape.nonzeros as usize / self.shape.rows.max(1)).max(1);
        let usual = (ENTRIES / entries).min(lines / BATCHES);
        self.setup.gradients.rows.unwrap_or(usual).clamp(1, lines.max(1))
    }

    /// The device, with a copy of the rows of the feeder's shard, made on the feeder's cpu; `None` without a feeder.
    ///
    /// # Errors
    /// No such device and no fallback; rows that it cannot take.
    pub(super) fn ready<D: Matrix>(&self, placed: &Placed<'_, D>) -> Result<Option<Ready>> {
        let Some(feeder) = &self.plan.feeder else { return Ok(None) };
        let settings = &self.setup.gradients;
        let interleaved = self.setup.runner == Runner::Interleaved;
        let opener = placed.start.device.unwrap_or(&gpu::open);
        let made = team::each(self.plan, |worker| {
            (worker == feeder.worker).then(|| {
                let terms = self.rows_of(placed, worker)?;
                if interleaved {
                    return stand_in(terms, REPEATS.into());
                }
                match open(opener, settings, terms, self.batch_rows()) {
                    Ok(opened) => Ok(opened),
                    Err(error) if settings.fallback => stand_in(self.rows_of(placed, worker)?, error.to_string()),
                    Err(error) => Err(allowed(error)),
                }
            })
        });
        let (gradients, device) = made.into_iter().flatten().next().expect("the feeder is a worker")?;
        Ok(Some(Ready { gradients, device, firsts: self.firsts(placed, feeder.worker) }))
    }

    /// What the run is given of it.
    pub(super) fn feeding<'a, D: Matrix>(
        &self,
        placed: &Placed<'_, D>,
        ready: Ready,
        stand_in: &'a (dyn Fn() -> Result<Box<dyn Gradients>> + Sync),
    ) -> Feeding<'a> {
        let Settings { on, fallback, share, .. } = self.setup.gradients;
        Feeding {
            worker: self.plan.feeder.as_ref().map_or(0, |feeder| feeder.worker),
            rows: self.batch_rows(),
            weight: if on == GradientsOn::Both { self.weight(placed) } else { 1.0 },
            share,
            firsts: ready.firsts,
            device: Mutex::new(Some(ready.gradients)),
            stand_in: fallback.then_some(stand_in),
        }
    }

    /// That rows count for much more where a cpu visits them than where the GPU does. An epoch then minimises a part of F more than
    /// the rest, another part each time, and x wanders as the optima of parts differ: on a9a at λ₂ = 10⁻³, with a row of a cpu
    /// counting for 16, the gap is 4·10⁻³ after 300 epochs.
    pub(super) fn uneven(&self, feeding: &Feeding<'_>) -> Option<String> {
        let (own, batch) = (self.rows_per_update(), feeding.rows);
        let times = batch as f64 / own as f64 / feeding.weight;
        (times > UNEVEN).then(|| {
            format!(
                "a row of a cpu's update of {own} moves x {times:.0} times as far as one of the GPU's {batch}, and x wanders with the \
                 rows that fall to each; take method.kind = \"minibatch\" and method.rows = {batch}, or a smaller gradients.rows"
            )
        })
    }

    /// The cpu's stand-in, made anew.
    pub(super) fn twin<D: Matrix>(&self, placed: &Placed<'_, D>, worker: usize) -> Result<Box<dyn Gradients>> {
        Ok(stand_in(self.rows_of(placed, worker)?, String::new())?.0)
    }

    /// min(B/b, L_b/L_B) of batches of B rows beside updates of b, whose L is taken to be the same where the loss has a kink.
    fn weight<D: Matrix>(&self, placed: &Placed<'_, D>) -> f64 {
        let (own, batch) = (self.rows_per_update(), self.batch_rows());
        if own == batch {
            return 1.0;
        }
        let ratio = placed.smoothness(own) / placed.smoothness(batch);
        (batch as f64 / own as f64).min(if ratio.is_finite() { ratio } else { 1.0 })
    }

    fn rows_of<D: Matrix>(&self, placed: &Placed<'_, D>, worker: usize) -> Result<Terms> {
        let shard = &self.plan.shards[self.plan.workers[worker].shard];
        let parts: Vec<_> = shard.workers.iter().map(|&part| placed.shards.glm(part, &placed.frame)).collect();
        let terms = Terms::of(&parts)?;
        match self.setup.gradients.values {
            GradientsValues::F32 => Ok(terms),
            GradientsValues::F16 => terms.halved(),
        }
    }

    /// Where the rows of each part of the feeder's shard begin in the device's.
    fn firsts<D: Matrix>(&self, placed: &Placed<'_, D>, worker: usize) -> Vec<Option<usize>> {
        let mut firsts = vec![None; self.plan.workers.len()];
        let mut next = 0;
        for &part in &self.plan.shards[self.plan.workers[worker].shard].workers {
            firsts[part] = Some(next);
            next += placed.shards.parts[part].matrix.rows();
        }
        firsts
    }
}

fn stand_in(terms: Terms, why: String) -> Result<(Box<dyn Gradients>, Device)> {
    let device = Device { name: "cpu".into(), software: true, pci: None, stands_in: Some(why) };
    Ok((Box::new(Twin::new(terms)), device))
}

/// That the GPU that a run by `setup` is to have is there, before data are read for it. A run that needs none, or may do without,
/// is not asked.
///
/// # Errors
/// No such adapter; a program built without devices.
pub fn check_device(setup: &Setup) -> Result<()> {
    let Settings { adapter, fallback, .. } = &setup.gradients;
    if !setup.gradients.feeds() || *fallback || setup.runner == Runner::Interleaved {
        return Ok(());
    }
    gpu::list().and_then(|all| gpu::choose(&all, adapter.as_deref())).map(|_| ()).map_err(allowed)
}

/// A device that has `terms`.
fn open(
    opener: Opener<'_>,
    settings: &Settings,
    terms: Terms,
    rows: usize,
) -> Result<(Box<dyn Gradients>, Device)> {
    let options = Options { adapter: settings.adapter.clone(), ..Options::new(rows) };
    let Opened { gradients, adapter } = opener(terms, &options)?;
    Ok((gradients, Device { name: adapter.name, software: adapter.software, pci: adapter.pci, stands_in: None }))
}

/// The same, and that the cpu may go on instead.
fn allowed(error: Error) -> Error {
    match error {
        Error::Device { trouble, what, remedy } => {
            let remedy =
                format!("{remedy}; or let the cpu stand in with --gpu-fallback (gradients.fallback = true)");
            Error::Device { trouble, what, remedy }
        }
        other => other,
    }
}
