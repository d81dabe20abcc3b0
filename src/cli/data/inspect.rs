//! `farrow data inspect`.

use crate::cli::reading::ReadingArgs;
use farrow::{
    data::{
        self,
        statistics::{self, Curvature, Distribution, Estimate, Labels, Questions, Statistics},
    },
    error::{Error, Result},
    loss::Loss,
};
use std::{fmt::Write, path::PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Example: sizes and conflicts of a set, and L and μ of a logistic regression with λ₂ = 1/n on it
  farrow data inspect a9a.xz --loss logistic --l2 1/n")]
pub(super) struct Args {
    /// Data file, `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Find L and μ of this loss
    #[arg(long, value_parser = Loss::NAMES)]
    loss: Option<String>,
    /// δ of the Huber loss
    #[arg(long, default_value_t = 1.0, requires = "loss")]
    huber_delta: f64,
    /// λ₂, a number or `1/n`
    #[arg(long, value_name = "L2", default_value = "0", requires = "loss")]
    l2: String,
    /// Relative residual at which the power iteration for L stops
    #[arg(long, default_value_t = 1e-3, requires = "loss")]
    tolerance: f64,
    /// How many of the hottest columns to list
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    hottest: usize,
    /// Work the conflict degrees may take; beyond, rows are sampled
    #[arg(long, value_name = "STEPS", default_value_t = 1_000_000_000)]
    conflict_steps: u64,
    /// Seed of samples
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    reading: ReadingArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let loss = args.loss.as_deref().and_then(|name| Loss::named(name, args.huber_delta));
    for (flag, value) in [("--huber-delta", args.huber_delta), ("--tolerance", args.tolerance)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(setting(flag, format!("{value} is not above 0"), "give a number above 0"));
        }
    }
    let data = data::read(&args.file, &args.reading.options(), super::threads())?;
    let questions = Questions {
        conflict_steps: args.conflict_steps,
        hottest: args.hottest,
        loss,
        l2: l2(&args.l2, data.source.shape().rows)?,
        tolerance: args.tolerance,
        seed: args.seed,
    };
    let found = statistics::inspect(&data, &questions)?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&found).map_err(|e| Error::io("write", &args.file, e.into()))? + "\n",
        false => table(&found),
    };
    super::print(&text)
}

fn setting(flag: &str, what: String, remedy: &str) -> Error {
    Error::Setting { origin: flag.into(), what, remedy: remedy.into() }
}

fn l2(text: &str, rows: usize) -> Result<f64> {
    if text == "1/n" {
        return Ok(1.0 / rows.max(1) as f64);
    }
    let number = text.parse().ok().filter(|l2: &f64| l2.is_finite() && *l2 >= 0.0);
    number.ok_or_else(|| {
        setting("--l2", format!("`{text}` is no number from 0 on"), "give a number from 0 on, or 1/n")
    })
}

/// The statistics as lines for people.
fn table(found: &Statistics) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<18}{value}");
    };
    let form = if found.dense { "dense" } else { "sparse" };
    line("rows n", found.n.to_string());
    line("columns d", found.d.to_string());
    line("entries", format!("{} ({form}, density {})", found.nnz, short(found.density)));
    let degrees = &found.degrees;
    line("entries a row", format!("{}; {} rows empty", spread(&degrees.row_degrees), degrees.empty_rows));
    line(
        "rows a column",
        format!("{}; {} columns unused", spread(&degrees.column_degrees), degrees.unused_columns),
    );
    line("row norms", spread(&found.row_norms));
    line("Ω", format!("{} (largest number of entries of a row)", degrees.omega));
    line("Δ", format!("{} (largest fraction of the rows in a column)", short(degrees.delta)));
    line("ρ", format!("{} (largest fraction of the rows that meet one row)", estimate(found.conflict.rho)));
    let degree = estimate(found.conflict.conflict_degree);
    line("conflict degree", format!("{degree} (mean number of other rows that meet a row)"));
    let hot = degrees.hottest.iter().map(|hot| format!("{} ({:.1} %)", hot.column, 100.0 * hot.share));
    line("hottest columns", format!("{} (from 0, share of the rows)", hot.collect::<Vec<_>>().join(", ")));
    line("labels", labels(&found.labels));
    if let Some(weights) = &found.weights {
        line("weights", spread(weights));
    }
    if let Some(curvature) = &found.curvature {
        curvature_lines(curvature, &mut line);
    }
    out
}

fn curvature_lines(found: &Curvature, line: &mut dyn FnMut(&str, String)) {
    let or = |value: Option<f64>, none: &str| value.map_or_else(|| none.to_string(), short);
    let largest = &found.largest;
    let state = if largest.converged { "" } else { ", not converged" };
    line("loss", format!("{}, λ₂ = {}", found.loss, short(found.l2)));
    line("L of a term", format!("{} (max ‖a‖² · sup φ″ + λ₂)", or(found.l_max, "none: the loss is not smooth")));
    line("L", format!("{} (λmax · sup φ″ + λ₂)", or(found.l, "none: the loss is not smooth")));
    let how =
        format!("power iteration, {} products, residual {}{state}", largest.iterations, short(largest.residual));
    line("λmax", format!("{} ({how})", short(largest.value)));
    line("λmin", format!("{} ({})", or(found.smallest.value, "unknown"), found.smallest.how));
    let parts = if found.loss == "squared" { "λ₂ + λmin" } else { "λ₂: φ″ comes down to 0" };
    line("μ", format!("{} ({parts})", short(found.mu)));
    line("L/μ", or(found.condition, "none"));
}

/// About six digits.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let digits = (5 - value.abs().max(1e-3).log10().floor() as i32).clamp(0, 9) as usize;
        let text = format!("{value:.digits$}");
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text,
        };
    }
    let text = format!("{value:.5e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn spread(d: &Distribution) -> String {
    let [min, median, mean, p99, max] = [d.min, d.median, d.mean, d.p99, d.max].map(short);
    format!("min {min}, median {median}, mean {mean}, p99 {p99}, max {max}")
}

fn estimate(found: Estimate) -> String {
    match found {
        Estimate::Exact { value } => short(value),
        Estimate::Sampled { value, standard_error, rows } => {
            format!("{} ± {}, sampled from {rows} rows", short(value), short(standard_error))
        }
        Estimate::Between { value, at_most } => format!("between {} and {}", short(value), short(at_most)),
    }
}

fn labels(found: &Labels) -> String {
    if found.classes.is_empty() {
        let deviation = short(found.standard_deviation);
        return format!("{} values, {}, deviation {deviation}", found.distinct, spread(&found.distribution));
    }
    let class =
        |class: &statistics::Class| format!("{}: {} ({:.1} %)", class.value, class.rows, 100.0 * class.share);
    found.classes.iter().map(class).collect::<Vec<_>>().join(", ")
}
