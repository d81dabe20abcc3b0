//! The end of a run: everything is saved and told before the exit code says how it went.

use super::{Args, watch::Watch};
use crate::cli::console;
use farrow::{
    error::Result,
    os::host::Usage,
    report::{Report, json, table},
    trace::{Footer, StopReason},
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
            && watch.noted(outcome.model.save(path, report.setup.problem.intercept))
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
        plan_actual: &outcome.placed,
        warnings: &outcome.warnings,
        usage: Usage::now(),
    }
}

fn exit_code(strict: bool, stop: StopReason, watch: &Watch) -> u8 {
    match stop {
        StopReason::Diverged => 1,
        // The signal's number says more than a failed output, which was said in words.
        StopReason::Interrupted => watch.interrupt.exit_code().unwrap_or(130),
        _ if watch.failure.is_some() => 1,
        StopReason::MaxEpochs | StopReason::MaxSeconds => u8::from(strict),
        StopReason::Target | StopReason::Objective => 0,
    }
}

fn diverged(report: Report<'_>) -> String {
    let step = report.outcome.checkpoint.step_initial;
    let shorter = step.map_or_else(String::new, |step| format!(" (it was {step:.3e})"));
    format!(
        "the run diverged at epoch {:.2}; no model and no checkpoint was written\n  \
         shorten the step with --set step.initial=NUMBER{shorter}, keep every write with --set parameters.merge=lossless, \
         or scale the data with --normalize rows",
        report.outcome.epochs
    )
}
