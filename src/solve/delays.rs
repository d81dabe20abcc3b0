//! What delays ask of a plan and a method, and what a person should know of settings that are not safe.

use super::Fit;
use crate::{
    config::StepKind,
    error::{Error, Result},
    run::Form,
};

impl Fit<'_> {
    /// # Errors
    /// [`Error::Unmet`] where a worker is named that the plan does not have, or steps are asked for that nobody takes.
    pub(super) fn check_delays(&self) -> Result<()> {
        let workers = self.plan.workers.len();
        let injection = &self.setup.injection;
        let named = [
            ("injection.delay_workers", injection.workers.iter().flatten().map(|&worker| worker as usize).max()),
            ("injection.straggler", injection.straggler.worker()),
        ];
        for (key, worker) in named {
            if let Some(worker) = worker.filter(|&worker| worker >= workers) {
                let most = workers - 1;
                return Err(Error::unmet(
                    format!("{key} names worker {worker}, and the plan has {workers}, numbered from 0 to {most}"),
                    "Name a worker of the plan, or take more workers.",
                ));
            }
        }
        if let Some(feeder) = &self.plan.feeder {
            let delayed = injection.workers.iter().flatten().any(|&worker| worker as usize == feeder.worker);
            let stalled = injection.straggler.worker() == Some(feeder.worker);
            let delayed = delayed.then_some("injection.delay_workers");
            if let Some(key) = delayed.or(stalled.then_some("injection.straggler")) {
                return Err(Error::unmet(
                    format!(
                        "{key} names worker {}, which feeds the GPU and makes no updates of its own",
                        feeder.worker
                    ),
                    "Name another worker.",
                ));
            }
        }
        if self.logs && self.choice.method.facts().is_some_and(|facts| facts.passes) {
            return Err(Error::unmet(
                format!(
                    "--log-steps lists updates, and method {} has none: it goes by whole passes",
                    self.choice.method.name()
                ),
                "Leave --log-steps out, or take --method hogwild, minibatch, dual or bcd.",
            ));
        }
        Ok(())
    }

    /// The warning about replicas that have nothing to do. Of a method whose step follows from its terms the steps are too
    /// long then, where replicas go at their own pace: what one of them knows of all terms comes round too slowly.
    pub(super) fn idle_replicas(&self) -> Option<String> {
        let (lines, replicas) = (self.lines(self.form()), self.plan.replicas.len());
        (lines < replicas).then(|| {
            format!(
                "{replicas} replicas share {lines} {}, so that some have none and only pass on what others send, which can diverge: \
                 take fewer workers, or parameters.replicas = \"machine\"",
                match (self.form(), self.setup.problem.rank) {
                    (Form::Columns, _) => "columns",
                    (_, Some(_)) => "entries",
                    _ => "rows",
                }
            )
        })
    }

    /// The warning about a step rule that can diverge.
    pub(super) fn unsafe_step(&self) -> Option<String> {
        matches!(self.setup.step, Some(StepKind::NaiveDelay { .. })).then(|| {
            "step.kind = \"naive-delay\" is unsafe: it can diverge where delays vary, and is here to be compared with; \
             adaptive1 and adaptive2 are safe"
                .to_string()
        })
    }
}
