//! The flags that stand for a key of the config: each is written here once, and means that key.

use farrow::config::{ExchangeKind, MethodKind};

/// A flag's entry: section, key, value, the flag's name.
pub(in crate::cli) type Entry = (&'static str, &'static str, Option<String>, &'static str);

/// `[problem]`.
#[derive(clap::Args)]
#[command(next_help_heading = "Problem")]
pub(in crate::cli) struct ProblemFlags {
    /// logistic, squared, hinge, squared-hinge or huber
    #[arg(long, value_name = "LOSS")]
    loss: Option<String>,
    /// δ of the huber loss: squared up to δ, linear beyond
    #[arg(long, value_name = "DELTA", allow_negative_numbers = true)]
    huber_delta: Option<String>,
    /// λ₁ of the penalty λ₁‖x‖₁
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    l1: Option<String>,
    /// λ₂ of the penalty (λ₂/2)‖x‖²: a number, or 1/n
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    l2: Option<String>,
    /// Where coefficients may lie: none, box:LO:HI or non-negative
    #[arg(long, value_name = "SET")]
    prox: Option<String>,
    /// Fit an unpenalised constant
    #[arg(long)]
    intercept: bool,
    /// Let the method `dual` penalise the intercept as one more coefficient
    #[arg(long)]
    penalize_intercept: bool,
    /// none, or balanced: both classes weigh the same in sum
    #[arg(long, value_name = "WEIGHT")]
    class_weight: Option<String>,
    /// Scale rows to norm 1, columns to root mean square 1, or none
    #[arg(long, value_name = "rows|columns|none")]
    normalize: Option<String>,
    /// Complete the matrix of stored entries by one of rank K, with loss squared or huber; labels say nothing then
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    rank: Option<String>,
}

impl ProblemFlags {
    pub(in crate::cli) fn entries(&self) -> Vec<Entry> {
        vec![
            ("problem", "loss", self.loss.clone(), "--loss"),
            ("problem", "huber_delta", self.huber_delta.clone(), "--huber-delta"),
            ("problem", "l1", self.l1.clone(), "--l1"),
            ("problem", "l2", self.l2.clone(), "--l2"),
            ("problem", "prox", self.prox.clone(), "--prox"),
            ("problem", "intercept", said(self.intercept), "--intercept"),
            ("method", "penalize_intercept", said(self.penalize_intercept), "--penalize-intercept"),
            ("problem", "class_weight", self.class_weight.clone(), "--class-weight"),
            ("problem", "normalize", self.normalize.clone(), "--normalize"),
            ("problem", "rank", self.rank.clone(), "--rank"),
        ]
    }
}

fn names(kinds: &[(&'static str, &[&str])]) -> String {
    kinds.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// What `--method` takes.
fn methods() -> String {
    format!("One of {}; auto picks the fastest for the problem and says why", names(MethodKind::NAMES))
}

/// What `--exchange` takes.
fn exchanges() -> String {
    format!("How replicas are drawn together, one of {}; auto is the method's own", names(ExchangeKind::NAMES))
}

/// `[method]`, `[step]`, `[exchange]`, `[run]` and `[stop]`.
#[derive(clap::Args)]
#[command(next_help_heading = "Method")]
pub(in crate::cli) struct MethodFlags {
    #[arg(long, value_name = "METHOD", help = methods())]
    method: Option<String>,
    #[arg(long, value_name = "EXCHANGE", help = exchanges())]
    exchange: Option<String>,
    /// Step of a method that takes one: constant, diminishing, decay, backoff, fixed-delay, adaptive1, adaptive2, naive-delay
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// threads, or interleaved: one thread, an order drawn from the seed, the same bits every time
    #[arg(long, value_name = "RUNNER")]
    runner: Option<String>,
    /// Seed of all that is drawn at random
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    seed: Option<String>,
    /// Stop at this relative certificate: duality gap over objective, or prox-gradient step over its norm at 0
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    target: Option<String>,
    /// Stop at this objective
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    target_objective: Option<String>,
    /// Stop after so many epochs
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_epochs: Option<String>,
    /// Stop after so many seconds of solving and evaluating
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    max_seconds: Option<String>,
    /// Evaluate after every so many epochs, or as often as the target needs it: auto
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    evaluate_every: Option<String>,
}

impl MethodFlags {
    pub(in crate::cli) fn entries(&self) -> Vec<Entry> {
        vec![
            ("method", "kind", self.method.clone(), "--method"),
            ("exchange", "kind", self.exchange.clone(), "--exchange"),
            ("step", "kind", self.step.clone(), "--step"),
            ("run", "runner", self.runner.clone(), "--runner"),
            ("run", "seed", self.seed.clone(), "--seed"),
            ("stop", "target", self.target.clone(), "--target"),
            ("stop", "target_objective", self.target_objective.clone(), "--target-objective"),
            ("stop", "max_epochs", self.max_epochs.clone(), "--max-epochs"),
            ("stop", "max_seconds", self.max_seconds.clone(), "--max-seconds"),
            ("stop", "evaluate_every", self.evaluate_every.clone(), "--evaluate-every"),
        ]
    }
}

fn said(flag: bool) -> Option<String> {
    flag.then(|| "true".into())
}
