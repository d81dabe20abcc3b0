//! [`Setup`] → TOML, complete: what a run's header carries, and what [`Settings::file`](super::Settings::file) reads back.

use super::{
    Constraint, Count, Every, ExchangeKind, Gradients, GradientsOn, Injection, L2, OrderKind, Setup, StepKind,
    Straggler, Workers, keyed, keys::Named, nodes,
};
use crate::loss::Loss;
use toml::Value;

/// Lines `key = value`, one section after the other.
struct Text(String);

impl Text {
    fn section(&mut self, name: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        self.0.push_str(&format!("{gap}[{name}]\n"));
    }

    fn key(&mut self, key: &str, value: impl Into<Value>) {
        self.0.push_str(&format!("{key} = {}\n", value.into()));
    }

    /// `word` stands for `None`.
    fn optional(&mut self, key: &str, value: Option<impl Into<Value>>, word: &str) {
        self.key(key, value.map_or_else(|| word.into(), Into::into));
    }
}

/// A whole number; above TOML's 2^63 − 1 its digits as text.
fn whole(number: u64) -> Value {
    i64::try_from(number).map_or_else(|_| number.to_string().into(), Value::from)
}

impl Setup {
    /// Every setting as TOML. A config that holds this text gives this setup again.
    pub fn to_toml(&self) -> String {
        let mut text = Text(String::new());
        self.problem(&mut text);
        text.section("topology");
        text.key("virtual_nodes", whole(self.virtual_nodes as u64));
        text.section("workers");
        workers(&mut text, &self.workers);
        text.section("parameters");
        text.optional("replicas", self.parameters.replicas.map(Named::name), "auto");
        text.key("memory", memory(self.parameters.memory, self.parameters.memory.node()));
        text.key("merge", self.parameters.merge.name());
        text.key("cell", self.parameters.cell.name());
        text.key("layout", self.parameters.layout.name());
        text.section("data");
        text.key("memory", memory(self.data.memory, self.data.memory.node()));
        text.key("huge_pages", self.data.huge_pages.name());
        text.section("method");
        text.key("kind", self.method.name());
        self.method.keys().into_iter().for_each(|(key, value)| text.key(key, of_kind(value)));
        text.section("step");
        step(&mut text, self.step);
        text.section("order");
        order(&mut text, self.order);
        text.section("exchange");
        exchange(&mut text, self.exchange);
        text.key("moves", self.moves.name());
        text.section("gradients");
        gradients(&mut text, &self.gradients);
        text.section("injection");
        injection(&mut text, &self.injection);
        text.section("stop");
        text.optional("target", self.stop.target, "none");
        text.optional("target_objective", self.stop.target_objective, "none");
        text.key("max_epochs", whole(self.stop.max_epochs));
        text.optional("max_seconds", self.stop.max_seconds, "none");
        text.optional("evaluate_every", self.stop.evaluate_every.map(whole), "auto");
        text.section("run");
        text.key("runner", self.runner.name());
        text.key("seed", whole(self.seed));
        text.0
    }

    fn problem(&self, text: &mut Text) {
        let problem = &self.problem;
        text.section("problem");
        text.key("loss", problem.loss.name());
        if let Loss::Huber { delta } = problem.loss {
            text.key("huber_delta", delta);
        }
        text.key("l1", problem.l1);
        match problem.l2 {
            L2::Value(value) => text.key("l2", value),
            L2::OneOverN => text.key("l2", "1/n"),
        }
        match problem.constraint {
            Constraint::None => text.key("prox", "none"),
            Constraint::NonNegative => text.key("prox", "non-negative"),
            Constraint::Box { lo, hi } => text.key("prox", format!("box:{lo}:{hi}")),
        }
        text.key("intercept", problem.intercept);
        text.key("class_weight", problem.class_weight.name());
        text.key("normalize", problem.normalize.name());
        text.optional("rank", problem.rank.map(|rank| whole(rank as u64)), "none");
    }
}

/// A value with a name, or the node that it is.
fn memory(value: impl Named, node: Option<u32>) -> String {
    node.map_or_else(|| value.name().into(), |node| format!("node:{node}"))
}

/// `order` and `smt` only where they have a meaning: a list of cpus or locations is its own order.
fn workers(text: &mut Text, workers: &Workers) {
    let listed = match &workers.count {
        Count::Cores => ("count", Value::from("cores")),
        Count::Cpus => ("count", "cpus".into()),
        Count::Exactly(count) => ("count", whole(*count as u64)),
        Count::On(cpus) => ("cpus", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",").into()),
        Count::At(places) => {
            ("locations", Value::Array(places.iter().map(|place| place.to_string().into()).collect()))
        }
    };
    let counted = listed.0 == "count";
    text.key(listed.0, listed.1);
    if counted {
        text.key("order", nodes::format(&workers.order));
        text.key("smt", workers.smt.name());
    }
    text.key("pin", workers.pin.name());
}

fn step(text: &mut Text, step: Option<StepKind>) {
    let Some(step) = step else { return text.key("kind", "auto") };
    text.key("kind", step.name());
    text.optional("initial", step.initial(), "auto");
    match step {
        StepKind::Constant { .. } | StepKind::Adaptive2 { .. } | StepKind::NaiveDelay { .. } => {}
        StepKind::Diminishing { half, .. } => text.key("half", half),
        StepKind::Decay { factor, .. } => text.key("factor", factor),
        StepKind::Backoff { factor, epochs, .. } => {
            text.key("factor", factor);
            text.key("epochs", epochs);
        }
        StepKind::FixedDelay { delay, .. } => text.key("delay", whole(delay)),
        StepKind::Adaptive1 { alpha, .. } => text.key("alpha", alpha),
    }
}

fn gradients(text: &mut Text, gradients: &Gradients) {
    text.key("on", gradients.on.name());
    if gradients.on != GradientsOn::Cpu {
        text.optional("adapter", gradients.adapter.as_deref(), "auto");
        text.key("fallback", gradients.fallback);
        text.optional("rows", gradients.rows.map(|rows| whole(rows as u64)), "auto");
        text.key("values", gradients.values.name());
    }
    if gradients.on == GradientsOn::Both {
        text.optional("share", gradients.share, "auto");
    }
}

fn injection(text: &mut Text, injection: &Injection) {
    let Injection { delay, workers, blocks, straggler, messages } = injection;
    match delay.parts() {
        (name, 0) => text.key("delay", name),
        (name, updates) => {
            text.key("delay", format!("{name}:{updates}"));
            let list =
                workers.as_ref().map(|workers| workers.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
            text.optional("delay_workers", list, "all");
        }
    }
    if !blocks.is_empty() {
        text.key("delay_blocks", Value::Array(blocks.iter().map(|factor| Value::from(*factor)).collect()));
    }
    text.key(
        "straggler",
        match straggler {
            Straggler::None => "none".to_string(),
            Straggler::Slow { worker, factor } => format!("slow:{worker}:{factor}"),
            Straggler::Stall { worker, every, updates } => format!("stall:{worker}:{every}:{updates}"),
        },
    );
    text.key("message_loss", messages.message_loss);
    text.key("message_delay", whole(messages.message_delay));
}

fn order(text: &mut Text, order: OrderKind) {
    match order {
        OrderKind::Auto => text.key("kind", "auto"),
        OrderKind::Buckets { rows } => {
            text.key("kind", "buckets");
            text.key("rows", whole(rows as u64));
        }
        OrderKind::Rows => text.key("kind", "rows"),
        OrderKind::File => text.key("kind", "file"),
    }
}

fn of_kind(value: keyed::Value) -> Value {
    match value {
        keyed::Value::Flag(flag) => flag.into(),
        keyed::Value::Count(count) => whole(count),
        keyed::Value::Amount(amount) => amount.into(),
        keyed::Value::Graph(graph) => graph.name().into(),
    }
}

fn exchange(text: &mut Text, exchange: Option<ExchangeKind>) {
    let Some(exchange) = exchange else { return text.key("kind", "auto") };
    text.key("kind", exchange.name());
    match exchange.every() {
        Every::Auto => text.key("every", "auto"),
        Every::Epoch => text.key("every", "epoch"),
        Every::Updates(updates) => text.key("every", whole(updates as u64)),
    }
    exchange.keys().into_iter().for_each(|(key, value)| text.key(key, of_kind(value)));
}
