//! Settings that are each well formed and contradict each other, or of which one would have no effect. Only what needs
//! neither data nor a topology is judged here.

use super::{
    CellKind, ClassWeight, Constraint, Count, DataMemory, DelayKind, ExchangeKind, Granularity, L2, Layout,
    MergeKind, MethodKind, Moves, Normalize, OrderKind, Pin, Settings, Setup, Straggler,
};
use super::{
    check::{contradiction, origin},
    gradients,
    keys::Named,
    rank::{self, Misfit},
};
use crate::{
    error::Result,
    method::{Facts, Form, newton},
};

/// Refuses the first contradiction.
pub(super) fn check(settings: &Settings, setup: &Setup) -> Result<()> {
    steps_are_of_methods_that_take_one(settings, setup)?;
    lengths_by_smoothness_need_it(settings, setup)?;
    held_updates_are_not_put_off(settings, setup)?;
    one_replica_has_no_exchange(settings, setup)?;
    a_core_replica_has_one_writer(settings, setup)?;
    dual_needs_l2(settings, setup)?;
    dual_has_no_free_intercept(settings, setup)?;
    curvature_needs_a_smooth_loss(settings, setup)?;
    passes_have_no_updates(settings, setup)?;
    gradients_average_and_changes_sum(settings, setup)?;
    a_state_has_one_copy(settings, setup)?;
    messages_are_of_exchanges_that_send_them(settings, setup)?;
    what_is_touched_moves_where_replicas_meet(settings, setup)?;
    balance_needs_classes(settings, setup)?;
    bounds_are_of_unscaled_columns(settings, setup)?;
    unbound_threads_have_no_cpus(settings, setup)?;
    a_copy_of_the_data_has_no_state(settings, setup)?;
    a_rank_is_of_a_bilinear_model(settings, setup)?;
    batches_are_of_stochastic_gradients(settings, setup)?;
    margins_have_no_layout(settings, setup)
}

fn steps_are_of_methods_that_take_one(settings: &Settings, setup: &Setup) -> Result<()> {
    let Some(Facts { step: Err(why), .. }) = setup.method.facts() else { return Ok(()) };
    // A step comes of its kind, or of its length alone.
    let written = ["kind", "initial"].into_iter().find_map(|key| Some((key, settings.get("step", key)?)));
    let Some((key, step)) = written.filter(|_| setup.step.is_some()) else { return Ok(()) };
    let what = format!(
        "{}: method \"{}\" ({}) {why} and has no step length to choose",
        step.written(),
        setup.method.name(),
        origin(settings, "method", "kind")
    );
    let with_one = MethodKind::NAMES.iter().filter(|(name, _)| MethodKind::named(name).takes_step());
    let with_one: Vec<String> = with_one.map(|(name, _)| format!("\"{name}\"")).collect();
    let remedy =
        format!("take [step] out, or say step.kind = \"auto\", or take method.kind = {}", with_one.join(" or "));
    Err(contradiction(settings, ("step", key), what, &remedy))
}

fn lengths_by_smoothness_need_it(settings: &Settings, setup: &Setup) -> Result<()> {
    let Some(step) = setup.step.filter(|step| step.is_by_smoothness() && step.initial().is_none()) else {
        return Ok(());
    };
    if setup.problem.loss.curvature().is_finite() {
        return Ok(());
    }
    let what = format!(
        "step.kind = \"{}\" takes its length h/L from the smoothness L of the terms, and problem.loss = \"{}\" ({}) has a \
         kink",
        step.name(),
        setup.problem.loss.name(),
        origin(settings, "problem", "loss")
    );
    Err(contradiction(
        settings,
        ("step", "kind"),
        what,
        "give step.initial, or take a smooth loss (logistic, squared, squared-hinge, huber)",
    ))
}

/// An update under a locked merge holds its row's stripes from read to write: nothing can come between the two.
fn held_updates_are_not_put_off(settings: &Settings, setup: &Setup) -> Result<()> {
    if setup.parameters.merge != MergeKind::Locked {
        return Ok(());
    }
    let (at, what) = if setup.injection.delay != DelayKind::None {
        let what = "injection.delay puts writes off, and other updates would wait for its stripes all the while";
        (("injection", "delay"), what)
    } else if matches!(setup.method, MethodKind::Minibatch { .. }) {
        let what = "an update of method \"minibatch\" reads many rows, whose stripes, taken row by row, two workers could \
                    take from each other for ever";
        (("method", "kind"), what)
    } else {
        return Ok(());
    };
    let what = format!(
        "{what}: parameters.merge = \"locked\" ({}) holds an update's stripes from its read to its write",
        origin(settings, "parameters", "merge")
    );
    Err(contradiction(settings, at, what, "take merge = \"consistent\", \"lossless\" or \"lossy\""))
}

fn one_replica_has_no_exchange(settings: &Settings, setup: &Setup) -> Result<()> {
    let (Some(Granularity::Machine), Some(exchange)) = (setup.parameters.replicas, setup.exchange) else {
        return Ok(());
    };
    let kind = exchange.name();
    let what = format!(
        "exchange.kind = \"{kind}\" draws replicas together, and parameters.replicas = \"machine\" ({}) is one replica",
        origin(settings, "parameters", "replicas")
    );
    let remedy =
        "take [exchange] out (or say exchange.kind = \"auto\"), or take replicas = \"node\", \"l3\" or \"core\"";
    Err(contradiction(settings, ("exchange", "kind"), what, remedy))
}

fn a_core_replica_has_one_writer(settings: &Settings, setup: &Setup) -> Result<()> {
    if setup.parameters.replicas != Some(Granularity::Core) || setup.parameters.merge == MergeKind::Lossy {
        return Ok(());
    }
    let what = format!(
        "parameters.merge = \"{}\" settles how two workers' writes meet, and with parameters.replicas = \"core\" ({}) \
         each replica is plain memory of its one worker",
        setup.parameters.merge.name(),
        origin(settings, "parameters", "replicas")
    );
    Err(contradiction(
        settings,
        ("parameters", "merge"),
        what,
        "take merge out, or take replicas = \"machine\", \"node\" or \"l3\"",
    ))
}

fn dual_needs_l2(settings: &Settings, setup: &Setup) -> Result<()> {
    if !matches!(setup.method, MethodKind::Dual { .. }) || setup.problem.l2 != L2::Value(0.0) {
        return Ok(());
    }
    let what = format!(
        "problem.l2 = 0 with method \"dual\" ({}): without λ₂ > 0 the primal is not strongly convex and a dual point \
         determines no x",
        origin(settings, "method", "kind")
    );
    let remedy = "take problem.l2 = \"1/n\" or a number above 0, or method.kind = \"bcd\", \"hogwild\" or \"auto\"";
    Err(contradiction(settings, ("problem", "l2"), what, remedy))
}

fn dual_has_no_free_intercept(settings: &Settings, setup: &Setup) -> Result<()> {
    let MethodKind::Dual { penalize_intercept } = setup.method else { return Ok(()) };
    match (setup.problem.intercept, penalize_intercept) {
        (true, false) => {
            let what = format!(
                "problem.intercept = true with method \"dual\" ({}): an unpenalised intercept ties all dual variables \
                 by one equation, Σ wᵢ αᵢ = 0, which single dual steps cannot keep",
                origin(settings, "method", "kind")
            );
            let remedy = "take method.penalize_intercept = true (a column of ones, penalised like the others), \
                          or method.kind = \"bcd\" or \"hogwild\", which fit it unpenalised";
            Err(contradiction(settings, ("problem", "intercept"), what, remedy))
        }
        (false, true) => {
            let what =
                "method.penalize_intercept = true without problem.intercept = true has no effect".to_string();
            let remedy = "take penalize_intercept out, or say problem.intercept = true";
            Err(contradiction(settings, ("method", "penalize_intercept"), what, remedy))
        }
        _ => Ok(()),
    }
}

fn curvature_needs_a_smooth_loss(settings: &Settings, setup: &Setup) -> Result<()> {
    let of_newton = "the kink is smoothed by dual variables, and these give x only under l2 > 0 alone: no l1, prox or intercept";
    let takes_hinge = setup.method != MethodKind::Newton || newton::takes_hinge(&setup.problem);
    let facts = setup.method.facts();
    let Some(why) = facts.and_then(|facts| facts.kink).or((!takes_hinge).then_some(of_newton)) else {
        return Ok(());
    };
    if setup.problem.loss.curvature().is_finite() {
        return Ok(());
    }
    let what = format!(
        "method.kind = \"{}\" with problem.loss = \"{}\" ({}): {why}",
        setup.method.name(),
        setup.problem.loss.name(),
        origin(settings, "problem", "loss")
    );
    let remedy = "take a smooth loss (logistic, squared, squared-hinge, huber), or method.kind = \"hogwild\", or \"dual\" \
                  where l2 > 0 and no intercept is free";
    Err(contradiction(settings, ("method", "kind"), what, remedy))
}

/// Workers that go by whole passes only read x while they work; what says how updates are ordered, meet and are drawn together says
/// nothing then.
fn passes_have_no_updates(settings: &Settings, setup: &Setup) -> Result<()> {
    if setup.method.facts().is_none_or(|facts| !facts.passes) {
        return Ok(());
    }
    let said = [
        ("exchange", "kind", setup.exchange.is_some(), "draws replicas together that moved apart"),
        ("injection", "delay", setup.injection.delay != DelayKind::None, "puts updates off"),
        ("injection", "straggler", setup.injection.straggler != Straggler::None, "slows updates down"),
        ("order", "kind", setup.order != OrderKind::Auto, "orders the updates"),
        ("order", "rows", setup.order != OrderKind::Auto, "orders the updates"),
        ("parameters", "merge", setup.parameters.merge != MergeKind::Lossy, "settles how two updates meet"),
        (
            "parameters",
            "cell",
            setup.parameters.cell != CellKind::F64,
            "rounds the point that the model starts from",
        ),
        ("parameters", "layout", setup.parameters.layout != Layout::Plain, "sets apart what updates write"),
    ];
    let found = said.into_iter().find_map(|(section, key, set, why)| {
        Some((section, key, settings.get(section, key).filter(|_| set)?.written(), why))
    });
    let Some((section, key, written, why)) = found else { return Ok(()) };
    let what = format!(
        "{written} {why}, and method \"{}\" ({}) has no updates: it goes by whole passes",
        setup.method.name(),
        origin(settings, "method", "kind")
    );
    let remedy = format!("take {section}.{key} out, or take method.kind = \"dual\", \"bcd\" or \"hogwild\"");
    Err(contradiction(settings, (section, key), what, &remedy))
}

fn unbound_threads_have_no_cpus(settings: &Settings, setup: &Setup) -> Result<()> {
    let key = match setup.workers.count {
        Count::On(_) => "cpus",
        Count::At(_) => "locations",
        _ => return Ok(()),
    };
    if setup.workers.pin != Pin::None {
        return Ok(());
    }
    let what = format!(
        "workers.pin = \"none\" binds no thread, and workers.{key} ({}) names the cpus to run on",
        origin(settings, "workers", key)
    );
    let remedy = format!("take pin = \"cpu\" or \"node\", or workers.count instead of workers.{key}");
    Err(contradiction(settings, ("workers", "pin"), what, &remedy))
}

fn a_rank_is_of_a_bilinear_model(settings: &Settings, setup: &Setup) -> Result<()> {
    let Some(Misfit { at, what, remedy }) = rank::misfit(setup) else { return Ok(()) };
    let what = format!("problem.rank ({}): {what}", origin(settings, "problem", "rank"));
    Err(contradiction(settings, at, what, &format!("{remedy}, or take problem.rank out")))
}

fn batches_are_of_stochastic_gradients(settings: &Settings, setup: &Setup) -> Result<()> {
    let Some(Misfit { at, what, remedy }) = gradients::misfit(setup) else { return Ok(()) };
    let what = format!("gradients.on ({}): {what}", origin(settings, "gradients", "on"));
    Err(contradiction(settings, at, what, remedy))
}

/// A dual variable or a coefficient belongs to one line of the data.
fn a_copy_of_the_data_has_no_state(settings: &Settings, setup: &Setup) -> Result<()> {
    let Some(Facts { keeps: Some(what), .. }) = setup.method.facts() else { return Ok(()) };
    if setup.data.memory != DataMemory::Replicate {
        return Ok(());
    }
    let method = setup.method.name();
    let what = format!(
        "data.memory = \"replicate\" gives every node all the data, and with method \"{method}\" ({}) {what} belongs to \
         each line: two nodes would each change their own",
        origin(settings, "method", "kind")
    );
    Err(contradiction(settings, ("data", "memory"), what, "take memory = \"shard\", or method.kind = \"hogwild\""))
}

fn margins_have_no_layout(settings: &Settings, setup: &Setup) -> Result<()> {
    if setup.method.form() != Form::Columns || setup.parameters.layout == Layout::Plain {
        return Ok(());
    }
    let what = format!(
        "parameters.layout = \"{}\" orders coordinates by how many rows touch them, and with method \"{}\" ({}) the \
         shared vector is the margins, one a row",
        setup.parameters.layout.name(),
        setup.method.name(),
        origin(settings, "method", "kind")
    );
    Err(contradiction(
        settings,
        ("parameters", "layout"),
        what,
        "take layout out, or method.kind = \"dual\" or \"hogwild\"",
    ))
}

fn gradients_average_and_changes_sum(settings: &Settings, setup: &Setup) -> Result<()> {
    let Some(exchange) = setup.exchange.filter(|exchange| exchange.sums() && setup.method.takes_step()) else {
        return Ok(());
    };
    let what = format!(
        "exchange.kind = \"{}\" does not go with method.kind = \"{}\" ({}): K replicas that each move all the way \
         would together move K times",
        exchange.name(),
        setup.method.name(),
        origin(settings, "method", "kind")
    );
    Err(contradiction(settings, ("exchange", "kind"), what, "take exchange.kind = \"average\""))
}

/// Replicas that gossip never agree, and of what a method keeps for a line there is one copy, which would say what none of
/// them holds.
fn a_state_has_one_copy(settings: &Settings, setup: &Setup) -> Result<()> {
    let Some(exchange) = setup.exchange.filter(ExchangeKind::gossips) else { return Ok(()) };
    let (store, state) = match setup.method.form() {
        Form::Dual => ("u", "the dual variables α, of which u is the sum, have"),
        Form::Columns => ("the margins Ax", "the coefficients x have"),
        Form::Primal => return Ok(()),
    };
    let what = format!(
        "exchange.kind = \"{}\" leaves each replica with {store} of its own, and with method.kind = \"{}\" ({}) {state} \
         one copy: what each replica holds would follow from none",
        exchange.name(),
        setup.method.name(),
        origin(settings, "method", "kind")
    );
    let remedy = "take exchange.kind = \"sum\", \"average\" or \"allreduce\", or method.kind = \"hogwild\"";
    Err(contradiction(settings, ("exchange", "kind"), what, remedy))
}

fn messages_are_of_exchanges_that_send_them(settings: &Settings, setup: &Setup) -> Result<()> {
    let own = ("auto", Err("takes the method's own, at which all workers meet"));
    let (kind, sends) = setup.exchange.as_ref().map_or(own, |exchange| (exchange.name(), exchange.sends()));
    let (faults, Err(why)) = (setup.injection.messages, sends) else { return Ok(()) };
    if faults.is_none() {
        return Ok(());
    }
    let key = if faults.message_loss > 0.0 { "message_loss" } else { "message_delay" };
    let what = format!(
        "injection.{key} is about messages, and exchange.kind = \"{kind}\" ({}) sends none: it {why}",
        origin(settings, "exchange", "kind")
    );
    let remedy = format!("take {key} out, or take exchange.kind = \"sgp\", \"osgp\" or \"adpsgd\"");
    Err(contradiction(settings, ("injection", key), what, &remedy))
}

/// What one replica touched says nothing of where it differs from another, unless both were alike before.
fn what_is_touched_moves_where_replicas_meet(settings: &Settings, setup: &Setup) -> Result<()> {
    if setup.moves != Moves::Touched {
        return Ok(());
    }
    let (what, remedy) = if let Some(exchange) = setup.exchange.filter(ExchangeKind::gossips) {
        let what = format!(
            "exchange.kind = \"{}\" ({}) leaves replicas that differ everywhere: a message must carry all of a replica, \
             touched or not",
            exchange.name(),
            origin(settings, "exchange", "kind")
        );
        (what, "take moves out, or take exchange.kind = \"average\", \"sum\" or \"allreduce\"")
    } else if setup.parameters.replicas == Some(Granularity::Machine) {
        let what = format!(
            "parameters.replicas = \"machine\" ({}) is one replica, and nothing is exchanged",
            origin(settings, "parameters", "replicas")
        );
        (what, "take moves out, or take replicas = \"node\", \"l3\" or \"core\"")
    } else if setup.method.facts().is_some_and(|facts| facts.passes) {
        let what = format!(
            "method \"{}\" ({}) goes by whole passes, and nothing is exchanged",
            setup.method.name(),
            origin(settings, "method", "kind")
        );
        (what, "take moves out, or take method.kind = \"dual\", \"bcd\" or \"hogwild\"")
    } else {
        return Ok(());
    };
    let what = format!("exchange.moves = \"touched\" passes over what no replica touched, and {what}");
    Err(contradiction(settings, ("exchange", "moves"), what, remedy))
}

/// A bound on x_j is another one on the coefficient of the scaled column j; 0 and the infinities stay what they are.
fn bounds_are_of_unscaled_columns(settings: &Settings, setup: &Setup) -> Result<()> {
    let Constraint::Box { lo, hi } = setup.problem.constraint else { return Ok(()) };
    let scales = |bound: f64| bound.is_finite() && bound != 0.0;
    if setup.problem.normalize != Normalize::Columns || !(scales(lo) || scales(hi)) {
        return Ok(());
    }
    let what = format!(
        "problem.prox = \"box:{lo}:{hi}\" with problem.normalize = \"columns\" ({}): the bounds would hold for the \
         coefficients of the scaled columns, not for those that are reported",
        origin(settings, "problem", "normalize")
    );
    let remedy = "take bounds that no scale changes (0, inf, -inf), or normalize = \"none\" or \"rows\"";
    Err(contradiction(settings, ("problem", "prox"), what, remedy))
}

fn balance_needs_classes(settings: &Settings, setup: &Setup) -> Result<()> {
    if setup.problem.class_weight == ClassWeight::None || setup.problem.loss.is_classification() {
        return Ok(());
    }
    let what = format!(
        "problem.class_weight = \"balanced\" weighs two classes, and labels of problem.loss = \"{}\" ({}) are numbers",
        setup.problem.loss.name(),
        origin(settings, "problem", "loss")
    );
    let remedy = "take class_weight out, or take loss = \"logistic\", \"hinge\" or \"squared-hinge\"";
    Err(contradiction(settings, ("problem", "class_weight"), what, remedy))
}
