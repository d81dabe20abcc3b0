//! `[problem]`.

use crate::{
    config::{ClassWeight, Constraint, L2, Normalize, Problem, Settings, entry::Bound, settings::Entry},
    error::Result,
    loss::Loss,
};

pub(super) fn problem(settings: &Settings, default: Problem) -> Result<Problem> {
    let get = |key| settings.get("problem", key);
    let rank = match get("rank") {
        Some(entry) => entry.unless("none", |entry| entry.whole(1, Problem::RANK_MAX as u64, "\"none\""))?,
        None => None,
    };
    // Entries are numbers, and no loss of two classes takes them.
    let usual = if rank.is_some() { Loss::Squared } else { default.loss };
    let name = get("loss").map_or(Ok(usual.name()), |entry| entry.one_of(&Loss::NAMES))?;
    let has: &[&str] = if name == "huber" { &["huber_delta"] } else { &[] };
    settings.belongs(get("huber_delta"), get("loss"), &format!("problem.loss = \"{name}\""), has)?;
    let delta = settings.number_or("problem", "huber_delta", Bound::Positive, 1.0)?;
    Ok(Problem {
        loss: Loss::named(name, delta).expect("one_of returns one of Loss::NAMES"),
        l1: settings.number_or("problem", "l1", Bound::NotNegative, default.l1)?,
        l2: match get("l2") {
            Some(entry) if entry.value.as_str() == Some("1/n") => L2::OneOverN,
            Some(entry) => L2::Value(entry.number_or(Bound::NotNegative, "\"1/n\"")?),
            None => default.l2,
        },
        constraint: get("prox").map_or(Ok(default.constraint), constraint)?,
        intercept: get("intercept").map_or(Ok(default.intercept), Entry::flag)?,
        class_weight: settings.choice_or::<ClassWeight>("problem", "class_weight", default.class_weight)?,
        normalize: settings.choice_or::<Normalize>("problem", "normalize", default.normalize)?,
        rank: rank.map(|rank| rank as usize),
    })
}

/// `none`, `non-negative`, `box:LO:HI`.
fn constraint(entry: &Entry) -> Result<Constraint> {
    let refusal = || {
        entry.refuse(
            "none, non-negative, box:LO:HI with LO ≤ 0 ≤ HI, LO < HI (-inf or inf for one open side); \
             L1 and L2 are problem.l1 and problem.l2",
        )
    };
    let text = entry.value.as_str().ok_or_else(refusal)?;
    match text {
        "none" => return Ok(Constraint::None),
        "non-negative" => return Ok(Constraint::NonNegative),
        _ => {}
    }
    let bounds = text.strip_prefix("box:").and_then(|bounds| bounds.split_once(':')).ok_or_else(refusal)?;
    let (Ok(lo), Ok(hi)) = (bounds.0.trim().parse::<f64>(), bounds.1.trim().parse::<f64>()) else {
        return Err(refusal());
    };
    let fits = lo <= 0.0 && hi >= 0.0 && lo < hi && (lo.is_finite() || hi.is_finite());
    if fits { Ok(Constraint::Box { lo, hi }) } else { Err(refusal()) }
}
