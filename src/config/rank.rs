//! What does not go with a rank: whatever takes the model to be linear.

use super::{Layout, Normalize, Setup};

/// A setting that does not go with a rank.
pub(crate) struct Misfit {
    /// Its section and key.
    pub(crate) at: (&'static str, &'static str),
    /// It and the reason.
    pub(crate) what: String,
    pub(crate) remedy: &'static str,
}

/// The first setting of `setup` that does not go with its rank; `None` where all do, or there is no rank.
pub(crate) fn misfit(setup: &Setup) -> Option<Misfit> {
    let problem = &setup.problem;
    problem.rank?;
    if problem.loss.is_classification() {
        let what = format!(
            "loss {} is of two classes, and with a rank the labels are the stored values",
            problem.loss.name()
        );
        return Some(Misfit { at: ("problem", "loss"), what, remedy: "take loss = \"squared\" or \"huber\"" });
    }
    if let Some(why) = setup.method.facts().and_then(|facts| facts.fixed) {
        let what = format!("method {} {why}", setup.method.name());
        return Some(Misfit { at: ("method", "kind"), what, remedy: "take method.kind = \"hogwild\" or \"auto\"" });
    }
    let others = [
        (
            setup.step.is_some_and(|step| step.is_by_smoothness() && step.initial().is_none()),
            ("step", "kind"),
            "a length that follows from the smoothness of F needs one, and with a rank F is smooth only where x is bounded",
            "give step.initial",
        ),
        (
            problem.intercept,
            ("problem", "intercept"),
            "an intercept is of a linear model",
            "take intercept out, and the mean of the stored values out of the data",
        ),
        (
            problem.normalize != Normalize::None,
            ("problem", "normalize"),
            "normalize scales rows or columns that a model multiplies, and with a rank stored values are what it shall give",
            "take normalize out",
        ),
        (
            setup.parameters.layout != Layout::Plain,
            ("parameters", "layout"),
            "a layout sets single coordinates apart, and with a rank those of a row or a column lie together",
            "take layout out",
        ),
    ];
    let (_, at, what, remedy) = others.into_iter().find(|(set, ..)| *set)?;
    Some(Misfit { at, what: what.into(), remedy })
}
