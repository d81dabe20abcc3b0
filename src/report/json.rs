//! The JSON object of a run. Its keys are a contract that programs rely on: none is added, left out or renamed without
//! a new version. Numbers that are not finite are null, since JSON has no others.

use super::{Report, describe, gpu};
use crate::trace::DataFacts;
use serde_json::{Value, json};

/// The object. Seconds are seconds, `nonzeros_per_s` counts all workers; `plan.requested` and `plan.actual` have one
/// entry a worker, `plan.memory` one a kind of array and home. `delays` is null where they were not measured. `gpu` is
/// there where `gradients.on` is not `cpu`.
pub fn json(report: &Report<'_>) -> Value {
    let outcome = report.outcome;
    let seconds = outcome.seconds;
    let mut object = json!({
        "data": DataFacts::new(report.data, outcome.shape),
        "problem": describe(&report.setup.problem, &outcome.shape),
        "method": outcome.method,
        "why": outcome.why,
        "workers": report.plan.workers.len(),
        "replicas": report.plan.replicas.len(),
        "plan": {
            "requested": report.plan.workers,
            "actual": outcome.placed.workers,
            "memory": outcome.placed.kinds(),
        },
        "seconds": {
            "load": seconds.load,
            "place": seconds.place,
            "solve": seconds.solve,
            "evaluate": seconds.evaluate,
        },
        "epochs": outcome.epochs,
        "updates": outcome.updates,
        "nonzeros_per_s": outcome.nonzeros_per_s,
        "objective": outcome.objective,
        "gap": outcome.gap,
        "gap_relative": outcome.gap_relative,
        "certificate": outcome.certificate,
        "stop": outcome.stop,
        "delays": outcome.delays,
        "model": report.model.map(|path| path.display().to_string()),
        "label": outcome.label,
        "warnings": outcome.warnings,
    });
    if let Some(gpu) = &outcome.gpu {
        object["gpu"] = gpu::as_json(report.plan, gpu);
    }
    object
}
