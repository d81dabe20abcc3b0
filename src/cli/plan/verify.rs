//! `farrow plan --verify`: everything placed, and the kernel asked where it is.

use super::super::{console, settings::Resolved};
use farrow::{
    data::{self, Data, ReadOptions, generate::SparseSpec},
    error::Result,
    report::placement_table,
    solve::{Verified, verify},
};
use serde_json::{Value, json};
use std::{path::Path, process::ExitCode};

/// Rows a worker where no data are named: 75 entries each, as in RCV1, are 2.4 MiB.
const ROWS_A_WORKER: usize = 4000;

/// Prints requested beside actual; exit code 1 where they differ.
pub(super) fn run(
    resolved: &Resolved,
    path: Option<&Path>,
    options: &ReadOptions,
    as_json: bool,
) -> Result<ExitCode> {
    let Resolved { setup, plan, .. } = resolved;
    let workers = plan.workers.len();
    let data = match path {
        Some(path) => data::read(path, options, workers)?,
        None => generated(workers)?,
    };
    let verified = verify(data, setup, plan)?;
    let Verified { costs, room, actual, device } = &verified;
    if as_json {
        let mut object = super::as_json(resolved);
        object["costs"] = json!(costs);
        object["actual"] = json!(actual.workers);
        object["memory"] = json!(actual.arrays);
        object["notes"] = json!(actual.notes());
        object["device"] = json!(device);
        object["met"] = Value::Bool(actual.met());
        console::print(&format!("{object:#}\n"))?;
    } else {
        console::print(&format!("\n{}\n{}\n", costs.describe(room), placement_table(plan, actual)))?;
    }
    actual.notes().iter().for_each(|note| console::remark(format!("warning: {note}")));
    if let Some(why) = device.as_ref().and_then(|device| device.stands_in.as_ref()) {
        console::remark(format!("warning: workers and memory were tried without the GPU: {why}"));
    }
    Ok(if actual.met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn generated(workers: usize) -> Result<Data> {
    let spec = SparseSpec { rows: ROWS_A_WORKER * workers, ..SparseSpec::rcv1_like(1) };
    Ok(spec.generate(workers)?.into_data())
}
