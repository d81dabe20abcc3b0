//! `[method]`, `[step]`, `[order]` and `[stop]`.

use super::{Section, contradiction, kind};
use crate::{
    config::{MethodKind, OrderKind, Settings, StepKind, Stop, entry::Bound, keys},
    error::Result,
};

pub(super) fn method(settings: &Settings) -> Result<MethodKind> {
    let name = kind(settings, "method", MethodKind::NAMES, "auto", keys::of("method"))?;
    MethodKind::read(name, &Section(settings, "method"))
}

pub(super) fn step(settings: &Settings) -> Result<Option<StepKind>> {
    let initial = match settings.get("step", "initial") {
        Some(entry) => {
            entry.unless("auto", |entry| entry.number_or(Bound::Positive, "\"auto\" (a short search, or h/L)"))?
        }
        None => None,
    };
    // A length alone asks for the rule that hogwild has by itself; "auto" alone asks for nothing.
    let (default, of_auto): (_, &[&str]) =
        if initial.is_some() { ("diminishing", &[]) } else { ("auto", &["initial"]) };
    let kinds: [(&str, &[&str]); 9] = [
        ("auto", of_auto),
        ("constant", &["initial"]),
        ("diminishing", &["initial", "half"]),
        ("decay", &["initial", "factor"]),
        ("backoff", &["initial", "factor", "epochs"]),
        ("fixed-delay", &["initial", "delay"]),
        ("adaptive1", &["initial", "alpha"]),
        ("adaptive2", &["initial"]),
        ("naive-delay", &["initial"]),
    ];
    let keys = ["initial", "half", "factor", "epochs", "delay", "alpha"];
    let kind = kind(settings, "step", &kinds, default, &keys)?;
    let number = |key, bound, default| settings.number_or("step", key, bound, default);
    Ok(Some(match kind {
        "constant" => StepKind::Constant { initial },
        "diminishing" => StepKind::Diminishing { initial, half: number("half", Bound::Positive, StepKind::HALF)? },
        "decay" => StepKind::Decay { initial, factor: number("factor", Bound::UpToOne, StepKind::DECAY_FACTOR)? },
        "backoff" => StepKind::Backoff {
            initial,
            factor: number("factor", Bound::BelowOne, StepKind::BACKOFF_FACTOR)?,
            epochs: number("epochs", Bound::Positive, StepKind::BACKOFF_EPOCHS)?,
        },
        "fixed-delay" => StepKind::FixedDelay { initial, delay: fixed_delay(settings)? },
        "adaptive1" => StepKind::Adaptive1 { initial, alpha: number("alpha", Bound::BelowOne, StepKind::ALPHA)? },
        "adaptive2" => StepKind::Adaptive2 { initial },
        "naive-delay" => StepKind::NaiveDelay { initial },
        _ => return Ok(None),
    }))
}

fn fixed_delay(settings: &Settings) -> Result<u64> {
    match settings.get("step", "delay") {
        Some(entry) => entry.whole(0, StepKind::DELAY_MAX, ""),
        None => Err(contradiction(
            settings,
            ("step", "kind"),
            "step.kind = \"fixed-delay\" needs to know the longest delay, and there is no step.delay".into(),
            "give step.delay, in updates of one replica, or take kind = \"adaptive1\" or \"adaptive2\", which measure it",
        )),
    }
}

pub(super) fn order(settings: &Settings) -> Result<OrderKind> {
    let kinds: [(&str, &[&str]); 4] = [("auto", &[]), ("buckets", &["rows"]), ("rows", &[]), ("file", &[])];
    // A number of rows alone asks for buckets.
    let default = if settings.get("order", "rows").is_some() { "buckets" } else { "auto" };
    Ok(match kind(settings, "order", &kinds, default, &["rows"])? {
        "auto" => OrderKind::Auto,
        "rows" => OrderKind::Rows,
        "file" => OrderKind::File,
        _ => OrderKind::Buckets {
            rows: match settings.get("order", "rows") {
                Some(entry) => entry.whole(1, u32::MAX.into(), "")? as usize,
                None => OrderKind::BUCKET_ROWS,
            },
        },
    })
}

pub(super) fn stop(settings: &Settings, default: Stop) -> Result<Stop> {
    let number = |key, bound, default| match settings.get("stop", key) {
        Some(entry) => entry.unless("none", |entry| entry.number_or(bound, "\"none\"")),
        None => Ok(default),
    };
    Ok(Stop {
        target: number("target", Bound::Positive, default.target)?,
        target_objective: number("target_objective", Bound::Finite, default.target_objective)?,
        max_epochs: match settings.get("stop", "max_epochs") {
            Some(entry) => entry.whole(1, 1 << 53, "")?,
            None => default.max_epochs,
        },
        max_seconds: number("max_seconds", Bound::Positive, default.max_seconds)?,
        evaluate_every: match settings.get("stop", "evaluate_every") {
            Some(entry) => entry.unless("auto", |entry| entry.whole(1, 1 << 53, "\"auto\""))?,
            None => default.evaluate_every,
        },
    })
}
