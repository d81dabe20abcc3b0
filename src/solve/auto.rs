//! Which method, and why; and the pairs of settings that make no sense together.

use super::Form;
use crate::{
    config::{CellKind, DataMemory, L2, Layout, MergeKind, MethodKind, OrderKind, Setup, gradients, rank},
    data::Shape,
    error::{Error, Result},
    loss::Loss,
    method::newton,
};

/// A method and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) method: MethodKind,
    pub(super) why: String,
}

/// The method to use for `setup` on data of `shape`.
///
/// # Errors
/// [`Error::Unmet`] where the method that was asked for cannot solve the problem.
pub(super) fn choose(setup: &Setup, shape: &Shape) -> Result<Choice> {
    let choice = match setup.method {
        MethodKind::Auto => automatic(setup, shape),
        ref method => Choice { method: method.clone(), why: "it was asked for".into() },
    };
    check(setup, &choice.method, shape)?;
    check_memory(setup, &choice.method, shape)?;
    Ok(choice)
}

fn automatic(setup: &Setup, shape: &Shape) -> Choice {
    if setup.problem.rank.is_some() {
        let why = "with a rank a term's gradient moves with the parameters, and of the methods only hogwild keeps nothing of it";
        return Choice { method: MethodKind::Hogwild, why: why.into() };
    }
    if setup.gradients.feeds() {
        // How many rows they have is known with the batches: see where this is chosen.
        let why =
            "a GPU's updates are mini-batches, and those of cpus beside it are as large, so that all rows count alike"
                .into();
        return Choice { method: MethodKind::named("minibatch"), why };
    }
    if setup.data.memory == DataMemory::Replicate {
        let why =
            "every node is to have all rows, and of the methods only hogwild keeps nothing for each row".into();
        return Choice { method: MethodKind::Hogwild, why };
    }
    if setup.exchange.is_some_and(|exchange| exchange.gossips()) {
        let why = "replicas that gossip each have a point of their own, and of the methods only hogwild keeps nothing else".into();
        return Choice { method: MethodKind::Hogwild, why };
    }
    let problem = &setup.problem;
    let smooth = problem.loss.curvature().is_finite();
    let strongly_convex = !matches!(problem.l2, L2::Value(value) if value == 0.0);
    if setup.step.is_some() {
        let why = "a step was set, and of the methods with one hogwild takes any loss".into();
        return Choice { method: MethodKind::Hogwild, why };
    }
    if (smooth || newton::takes_hinge(problem)) && by_passes(setup, shape) {
        let model = if smooth {
            "a model of F with the curvature of some rows costs less than another pass over all"
        } else {
            "a model of the smoothed hinge loss, with the curvature of the rows near its kink, costs little beside a pass"
        };
        let why = format!("n = {} and d = {}: {model}", shape.rows, shape.columns);
        return Choice { method: MethodKind::Newton, why };
    }
    let (method, why) = match (strongly_convex, problem.intercept, smooth) {
        (true, false, _) => (
            MethodKind::Dual { penalize_intercept: false },
            format!(
                "λ₂ > 0 and no free intercept: dual coordinate ascent needs no step and certifies itself \
                 (n = {}, d = {})",
                shape.rows, shape.columns
            ),
        ),
        (_, _, true) => (
            MethodKind::Bcd,
            format!(
                "{}, and the {} loss is smooth: coordinate descent by columns needs no step",
                if strongly_convex {
                    "a free intercept rules out the dual"
                } else {
                    "λ₂ = 0 rules out the dual"
                },
                problem.loss.name()
            ),
        ),
        (_, _, false) => (
            MethodKind::Hogwild,
            format!(
                "{} rules out the dual, and the {} loss is not smooth, which rules out coordinate descent",
                if strongly_convex { "a free intercept" } else { "λ₂ = 0" },
                problem.loss.name()
            ),
        ),
    };
    Choice { method, why }
}

/// Whether there are few enough columns for a model of F in all of them, many enough rows for it to pay, and nothing is set
/// that is only of updates by lines.
fn by_passes(setup: &Setup, shape: &Shape) -> bool {
    const ROWS_A_COLUMN: usize = 20;
    const COLUMNS_MAX: usize = 512;
    let parameters = &setup.parameters;
    let of_lines = setup.exchange.is_some()
        || setup.order != OrderKind::Auto
        || !setup.injection.is_none()
        || parameters.merge != MergeKind::Lossy
        || parameters.cell != CellKind::F64
        || parameters.layout != Layout::Plain;
    !of_lines && shape.columns <= COLUMNS_MAX && shape.rows >= ROWS_A_COLUMN * shape.columns
}

fn check(setup: &Setup, method: &MethodKind, shape: &Shape) -> Result<()> {
    let problem = &setup.problem;
    if let Some(misfit) = gradients::misfit(setup) {
        return Err(Error::unmet(
            format!("{}.{}: gradients.on: {}", misfit.at.0, misfit.at.1, misfit.what),
            misfit.remedy,
        ));
    }
    if let Some(misfit) = rank::misfit(setup) {
        return Err(Error::unmet(
            format!("{}.{}: with a rank: {}", misfit.at.0, misfit.at.1, misfit.what),
            misfit.remedy,
        ));
    }
    match method {
        MethodKind::Dual { penalize_intercept } => {
            if matches!(problem.l2, L2::Value(value) if value == 0.0) {
                return Err(Error::unmet(
                    "method dual needs λ₂ > 0, and --l2 is 0: the dual of an unregularised problem is not smooth",
                    "Give --l2 (a number, or 1/n), or use --method bcd or hogwild.",
                ));
            }
            if problem.intercept && !penalize_intercept {
                return Err(Error::unmet(
                    "method dual cannot fit an unpenalised intercept: it would tie all dual variables together",
                    "Add --penalize-intercept to treat it as one more column, or use --method bcd or hogwild.",
                ));
            }
        }
        MethodKind::Newton if shape.columns > newton::COLUMNS_MAX => {
            return Err(Error::unmet(
                format!(
                    "method newton keeps a square of d columns for each worker, and d = {}; it takes up to {}",
                    shape.columns,
                    newton::COLUMNS_MAX
                ),
                "Use --method auto, dual, bcd or hogwild.",
            ));
        }
        MethodKind::Newton if problem.loss == Loss::Hinge && !newton::takes_hinge(problem) => {
            return Err(Error::unmet(
                "method newton minimises the hinge loss under λ₂ > 0 alone: without λ₁, bounds or an intercept",
                "Use --loss squared-hinge, --method hogwild, or --method dual where λ₂ > 0 and no intercept is free.",
            ));
        }
        _ if method.facts().is_some_and(|facts| facts.kink.is_some()) && !problem.loss.curvature().is_finite() => {
            return Err(Error::unmet(
                format!("method {} needs a smooth loss, and {} is not", method.name(), problem.loss.name()),
                "Use --loss squared-hinge, --method hogwild, or --method dual where λ₂ > 0 and no intercept is free.",
            ));
        }
        _ => (),
    }
    match (method.form(), setup.exchange) {
        (Form::Primal, Some(exchange)) if exchange.sums() => Err(Error::unmet(
            format!(
                "exchange.kind {} does not go with method {}: K replicas that each move all the way would move K times",
                exchange.name(),
                method.name()
            ),
            "Use exchange average.",
        )),
        (Form::Dual | Form::Columns, Some(exchange)) if exchange.gossips() => Err(Error::unmet(
            format!(
                "exchange.kind {} does not go with methods dual and bcd: each replica would have a store of its own, and of the \
                 dual variables (or coefficients) there is one copy",
                exchange.name()
            ),
            "Use exchange sum, average or allreduce, or --method hogwild.",
        )),
        _ => Ok(()),
    }
}

/// What a layout and a copy a node ask of the method and of the data.
fn check_memory(setup: &Setup, method: &MethodKind, shape: &Shape) -> Result<()> {
    let layout = setup.parameters.layout != Layout::Plain;
    if setup.data.memory == DataMemory::Replicate && method.facts().is_some_and(|facts| facts.keeps.is_some()) {
        let what = format!("data.memory is replicate, and method {} keeps a value for each line", method.name());
        return Err(Error::unmet(what, "Use data.memory shard, or --method hogwild."));
    }
    if layout && method.form() == Form::Columns {
        return Err(Error::unmet(
            "parameters.layout is of coefficients, and method bcd shares margins, one a row",
            "Use parameters.layout plain, or --method dual or hogwild.",
        ));
    }
    if layout && shape.dense {
        return Err(Error::unmet(
            "parameters.layout is not plain: it sets hot coordinates apart, and in dense data every row touches every one",
            "Use parameters.layout plain.",
        ));
    }
    Ok(())
}
