//! The end of a run: everything is saved and told before the exit code says how it went.

use super::{Args, watch::Watch};
use crate::cli::console;
use farrow::{
    error::Result,
    os::host::Usage,
    report::{Report, json, table},
    run::Waits,
    trace::{Footer, StopReason, WorkerWaits},
};
use std::process::ExitCode;

pub(super) fn finish<'a>(args: &'a Args, mut report: Report<'a>, mut watch: Watch) -> Result<ExitCode> {
    let outcome = report.outcome;
    // A diverged run's coefficients are worth nothing; what stood in the files may be worth something.
    if outcome.stop != StopReason::Diverged {
        if let Some(path) = &args.files.checkpoint {
            watch.noted(outcome.checkpoint.save(path));
        }
        if let Some(path) = &args.files.model
            && watch.noted(outcome.model.save_as(path, args.files.form(path), report.setup.problem.intercept))
        {
            report.model = Some(path);
        }
    }
    if let Some(mut trace) = watch.trace.take() {
        watch.noted(trace.footer(&footer(report)));
    }
    if args.json {
        console::print(&format!("{:#}\n", json(&report)))?;
    } else if !args.quiet {
        console::print(&table(&report))?;
    }
    if outcome.stop == StopReason::Diverged {
        console::remark(diverged(report));
    }
    Ok(ExitCode::from(exit_code(args.strict, outcome.stop, &watch)))
}

fn footer<'a>(report: Report<'a>) -> Footer<'a> {
    let outcome = report.outcome;
    Footer {
        stop: outcome.stop,
        method: outcome.method,
        why: &outcome.why,
        certificate: outcome.certificate,
        nonzeros_per_s: outcome.nonzeros_per_s,
        plan_actual: &outcome.placed.workers,
        plan_memory: outcome.placed.kinds(),
        waits: outcome.waits.iter().map(waits).collect(),
        delays: outcome.delays.as_ref(),
        warnings: &outcome.warnings,
        usage: Usage::now(),
    }
}

fn waits(of: &Waits) -> WorkerWaits {
    WorkerWaits {
        gate_seconds: of.gate_seconds,
        exchange_seconds: of.exchange_seconds,
        stripes: of.stripes,
        locks: of.locks,
    }
}

fn exit_code(strict: bool, stop: StopReason, watch: &Watch) -> u8 {
    match stop {
        StopReason::Diverged | StopReason::DeviceFailed => 1,
        // The signal's number says more than a failed output, which was said in words.
        StopReason::Interrupted => watch.interrupt.exit_code().unwrap_or(130),
        _ if watch.failure.is_some() => 1,
        StopReason::MaxEpochs | StopReason::MaxSeconds => u8::from(strict),
        StopReason::Target | StopReason::Objective => 0,
    }
}

fn diverged(report: Report<'_>) -> String {
    let outcome = report.outcome;
    let remedy = match outcome.checkpoint.step_initial {
        Some(step) => format!(
            "shorten the step with a smaller --set step.initial=NUMBER (it was {step:.3e}), or scale the data with \
             --normalize rows"
        ),
        None => format!(
            "{} has no step to shorten: take fewer --workers, give each its own replica with \
             --set parameters.replicas=core, or scale the data",
            outcome.method
        ),
    };
    format!("the run diverged at epoch {:.2}; no model and no checkpoint was written\n  {remedy}", outcome.epochs)
}
