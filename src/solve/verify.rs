//! A plan tried: everything placed, the workers started, and not one update made.

use super::{Device, Start, solve};
use crate::{
    config::{Gradients, Setup},
    data::Data,
    error::Result,
    placement::{
        Plan,
        actual::Actual,
        costs::{Costs, Room},
    },
    trace::{Begun, Continue, Observer, Sample, Snapshot},
};

/// What a plan takes, and what became of it.
#[derive(Clone, Debug)]
pub struct Verified {
    /// What it takes of each node.
    pub costs: Costs,
    /// What there was.
    pub room: Room,
    /// Where the kernel says that threads and pages are; every page was asked for.
    pub actual: Actual,
    /// What would work a GPU's gradients out, where the plan feeds one.
    pub device: Option<Device>,
}

/// Places `data`, parameters and workers as [`solve`] does, starts the workers, asks the kernel where each of them and
/// every page is, and ends. Where no GPU is to be had the cpu stands in, whether it may in a run or not: where threads and pages
/// are does not depend on it.
///
/// # Errors
/// As [`solve`], up to the first update.
pub fn verify(data: Data, setup: &Setup, plan: &Plan) -> Result<Verified> {
    let mut look = Look::default();
    let start = Start { pages_max: Some(usize::MAX), ..Start::default() };
    let gradients = Gradients { fallback: setup.gradients.feeds(), ..setup.gradients.clone() };
    let setup = Setup { gradients, ..setup.clone() };
    let outcome = solve(data, &setup, plan, start, &mut look)?;
    let device = outcome.gpu.map(|gpu| gpu.device);
    Ok(Verified { costs: look.costs, room: look.room, actual: outcome.placed, device })
}

/// Lets a run come to its first update and no further.
#[derive(Default)]
struct Look {
    costs: Costs,
    room: Room,
}

impl Observer for Look {
    fn costs(&mut self, costs: &Costs, room: &Room) -> Result<()> {
        (self.costs, self.room) = (costs.clone(), room.clone());
        Ok(())
    }

    fn begun(&mut self, _: &Begun<'_>) -> Result<Continue> {
        Ok(Continue::Stop)
    }

    fn sample(&mut self, _: &Sample, _: &dyn Snapshot) -> Result<Continue> {
        Ok(Continue::Stop)
    }
}
