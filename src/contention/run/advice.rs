//! Lines of a config that would change a cause, each with a reason behind `#`: only such as the config may have beside what it
//! has, and such as change it. Where none is left there is nothing to advise, which does not make the cause any less.

use crate::{
    config::{CellKind, Every, ExchangeKind, Setup, Smt},
    method::{Form, Kind},
    placement::Plan,
    solve::Outcome,
};

/// Epochs from one evaluation to the next that make evaluations rare.
const RARE: u64 = 10;

/// The exchange of replicas that its method `method` takes where no other is named, so often.
pub(super) fn usual_exchange(method: &str, every: Every) -> ExchangeKind {
    match Kind::named(method).form() {
        Form::Primal => ExchangeKind::Average { every },
        Form::Dual | Form::Columns => ExchangeKind::Sum { every },
    }
}

/// Fewer exchanges.
pub(super) fn exchange_rarely(setup: &Setup, plan: &Plan, outcome: &Outcome) -> Vec<String> {
    if plan.replicas.len() < 2 || setup.exchange.is_some_and(|kind| kind.every() == Every::Epoch) {
        return Vec::new();
    }
    let usual = usual_exchange(outcome.method, Every::Epoch);
    let kind = setup.exchange.is_none().then(|| format!("exchange.kind = \"{}\"   # the one it has", usual.name()));
    kind.into_iter().chain(["exchange.every = \"epoch\"   # once an epoch".into()]).collect()
}

/// Fewer evaluations, which all wait for.
pub(super) fn evaluate_rarely(setup: &Setup, outcome: &Outcome) -> Option<String> {
    let often = outcome.samples.len() > 1 && setup.stop.evaluate_every.is_none_or(|every| every < RARE);
    often.then(|| format!("stop.evaluate_every = {RARE}   # fewer evaluations, which all wait for"))
}

/// Without `worker`, which the others wait for during so much of their time (`waits`, 0 … 1), if they would be done sooner with
/// its part than it is: their own (1 − waits) and as much again for each W − 1 of it.
pub(super) fn without(worker: usize, waits: f64, plan: &Plan) -> Option<String> {
    let workers = plan.workers.len() as f64;
    if workers < 2.0 || (1.0 - waits) * workers / (workers - 1.0) >= 1.0 {
        return None;
    }
    let its = &plan.workers[worker].cpus;
    let others = plan.workers.iter().enumerate().filter(|(other, _)| *other != worker);
    let mut others: Vec<u32> = others.flat_map(|(_, other)| other.cpus.iter().copied()).collect();
    others.sort_unstable();
    others.dedup();
    // Threads that are not bound to a cpu have no cpu to leave out.
    (!its.iter().any(|cpu| others.contains(cpu))).then(|| {
        format!(
            "workers.cpus = \"{}\"   # without cpu {}, which others use or which is slower",
            crate::cpulist::format(&others),
            crate::cpulist::format(its)
        )
    })
}

/// Less traffic of each worker's own memory.
pub(super) fn memory(setup: &Setup, plan: &Plan, slow: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let core = |worker: usize| plan.workers[worker].core;
    let siblings = (0..plan.workers.len()).any(|one| (0..one).any(|other| core(one) == core(other)));
    if slow {
        let half = (plan.workers.len() / 2).max(1);
        lines.push(format!(
            "workers.count = {half}   # half as many: an update takes more than twice as long beside the others"
        ));
    } else if siblings && setup.workers.smt != Smt::Never {
        lines.push("workers.smt = \"never\"   # siblings share a core's caches".into());
        lines.push("workers.count = \"cores\"".into());
    }
    if setup.parameters.cell == CellKind::F64 {
        lines.push("parameters.cell = \"f32\"   # half the bytes of the model".into());
    }
    lines
}
