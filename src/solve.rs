//! From values to a fitted model: the only place where settings become types. Above it nothing is generic over an axis;
//! below it nothing matches on settings.

use crate::{
    config::{
        CellKind, Every, ExchangeKind, GradientsOn, Granularity, MergeKind, MethodKind, OrderKind, Runner, Setup,
    },
    data::{
        Data, Shape,
        matrix::{Dense, Matrix, Sparse},
    },
    error::{Error, Result},
    exchange::Exchange,
    method::{About, First, Method, facts::Visitor},
    model::Model,
    objective::{Frame, certificate},
    os::clock::Stopwatch,
    placement::{Plan, team::Standing},
    run::{
        Delaying, Ended, Facts, Form, Ledgers, Limits, Task,
        engine::{Engine, Team},
        interleaved, threads,
    },
    store::{Plain, Replica, Shared},
    sync::{Lossless, Lossy, SharedF32, SharedF64},
    trace::{CertificateKind, Observer},
};
use std::sync::OnceLock;

mod auto;
mod begin;
mod delays;
mod factor;
mod feeding;
mod labels;
mod memory;
mod outcome;
mod place;
mod search;
mod smoothness;
mod verify;

pub use feeding::{Device, Gpu, check_device};
pub use outcome::{Opener, Outcome, Seconds, Start, Watching};
pub use verify::{Verified, verify};

/// Fits a model.
///
/// # Errors
/// Settings that do not fit the data or each other ([`Error::Unmet`]); labels that are not two classes, damaged blocks
/// ([`Error::Data`]); a checkpoint of another run; whatever the observer reports.
pub fn solve(
    data: Data,
    setup: &Setup,
    plan: &Plan,
    start: Start<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let shape = data.source.shape();
    if shape.rows == 0 {
        return Err(Error::data(&data.path, None, "the file has no rows", "Give at least one row."));
    }
    let choice = auto::choose(setup, &shape)?;
    let mut fit = Fit { setup, plan, shape, choice, logs: observer.wants_steps() };
    if setup.method == MethodKind::Auto && setup.gradients.on == GradientsOn::Both {
        fit.choice.method = MethodKind::Minibatch { rows: fit.batch_rows() };
    }
    fit.check_delays()?;
    let held = data.source.held_bytes();
    let costs = fit.costs(&*data.source, data.weights.is_some(), &held);
    let room = fit.room(&costs, held);
    observer.costs(&costs, &room)?;
    fit.check_memory(&costs, &room)?;
    match (setup.problem.rank, shape.dense) {
        (Some(rank), _) => fit.with_pairs(rank, data, start, observer),
        (None, true) => fit.with_data::<Dense>(data, start, observer),
        (None, false) => fit.with_data::<Sparse>(data, start, observer),
    }
}

/// What is known before the data are placed.
struct Fit<'a> {
    setup: &'a Setup,
    plan: &'a Plan,
    shape: Shape,
    choice: auto::Choice,
    /// Whether every step is told of.
    logs: bool,
}

/// What is known once they are.
struct Placed<'a, D> {
    shards: crate::shard::Shards<D>,
    frame: Frame,
    column_scale: Vec<f64>,
    template: Model,
    identity: String,
    standings: Vec<Standing>,
    seconds: f64,
    start: Start<'a>,
    /// L_F, once somebody asked.
    smoothness: OnceLock<f64>,
}

/// A run of a method, whatever it is.
struct Made<'f, 'p, 'o, D> {
    fit: &'f Fit<'f>,
    placed: Placed<'p, D>,
    observer: &'o mut dyn Observer,
}

impl<D: Matrix> Visitor for Made<'_, '_, '_, D> {
    type Output = Result<Outcome>;

    fn visit<M: Method>(self, method: M) -> Result<Outcome> {
        self.fit.with_method(&method, self.placed, self.observer)
    }
}

impl Fit<'_> {
    fn with_data<D: place::Columns>(
        self,
        data: Data,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let clock = Stopwatch::start();
        let mut placed = self.place::<D>(&data, start)?;
        placed.seconds = clock.seconds();
        let frame = placed.frame.clone();
        let about = About { frame: &frame, nonzeros: placed.shards.nonzeros() };
        self.choice.method.make(&about, Made { fit: &self, placed, observer })
    }

    fn with_method<D: Matrix, M: Method>(
        &self,
        method: &M,
        placed: Placed<'_, D>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let parameters = &self.setup.parameters;
        use {CellKind::*, MergeKind as Merge};
        match (self.plan.granularity, parameters.cell, parameters.merge) {
            (Granularity::Core, F64, _) => self.with_store::<D, M, Plain<f64>>(method, placed, observer),
            (Granularity::Core, F32, _) => self.with_store::<D, M, Plain<f32>>(method, placed, observer),
            (_, F64, Merge::Lossy | Merge::Locked | Merge::Consistent) => {
                self.with_store::<D, M, Shared<SharedF64, Lossy>>(method, placed, observer)
            }
            (_, F64, Merge::Lossless) => {
                self.with_store::<D, M, Shared<SharedF64, Lossless>>(method, placed, observer)
            }
            (_, F32, Merge::Lossy | Merge::Locked | Merge::Consistent) => {
                self.with_store::<D, M, Shared<SharedF32, Lossy>>(method, placed, observer)
            }
            (_, F32, Merge::Lossless) => {
                self.with_store::<D, M, Shared<SharedF32, Lossless>>(method, placed, observer)
            }
        }
    }

    fn with_store<D: Matrix, M: Method, R: Replica>(
        &self,
        method: &M,
        placed: Placed<'_, D>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let width = match self.form() {
            Form::Columns => placed.frame.rows,
            Form::Primal | Form::Dual => placed.frame.slots.width(),
        };
        let clock = Stopwatch::start();
        let replicas = self.replicas::<R>(width);
        let team = Team::new(self.plan, &placed.shards, method, replicas);
        let ledgers = self.ledgers(&placed.start, (width, R::SLOT_BYTES));
        let seconds = placed.seconds + clock.seconds();
        let mut outcome = self.go(&team, &placed, (seconds, ledgers.as_ref().ok()), observer)?;
        outcome.seen.unaudited = ledgers.err();
        Ok(outcome)
    }

    fn go<D: Matrix>(
        &self,
        engine: &dyn Engine<D>,
        placed: &Placed<'_, D>,
        (seconds_place, ledgers): (f64, Option<&Ledgers>),
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let form = self.form();
        let mut clock = Stopwatch::start();
        let step = self.step(placed);
        let seconds_search = clock.lap();
        let (from, constant) = self.begin(placed, engine, form)?;
        let ready = self.ready(placed)?;
        let device = ready.as_ref().map(|ready| ready.device.clone());
        let feeder = self.plan.feeder.as_ref().map_or(0, |feeder| feeder.worker);
        let stand_in = || self.twin(placed, feeder);
        let feeding = ready.map(|ready| self.feeding(placed, ready, &stand_in));
        let interrupted = placed.start.interrupted.unwrap_or(&|| false);
        let consistent = self.setup.parameters.merge == MergeKind::Consistent
            || engine.finishes()
            || (self.holds() && engine.dense());
        let by_turns = self.setup.runner == Runner::Interleaved;
        let mut facts = self.facts(placed);
        let beside = self.plan.feeder.as_ref().and_then(|feeder| feeder.gpu.as_deref());
        facts.warnings.extend(device.as_ref().and_then(|device| device.warning(beside)));
        facts.warnings.extend(feeding.as_ref().and_then(|feeding| self.uneven(feeding)));
        let task = Task {
            shards: &placed.shards,
            frame: &placed.frame,
            form,
            plan: self.plan,
            standings: &placed.standings,
            facts,
            order: self.order(),
            exchange: self.exchange(),
            step,
            feeding: feeding.as_ref(),
            injection: &self.setup.injection,
            holds: self.holds() && !engine.dense(),
            consistent,
            watches: match placed.start.watching.delays {
                true if by_turns || consistent || engine.lines_per_update() > 1 || ledgers.is_some() => {
                    Delaying::Numbered
                }
                true => Delaying::Sampled,
                false => Delaying::Unwatched,
            },
            ledgers,
            seed: self.setup.seed,
            limits: self.limits(),
            certificate: certificate::kind(&placed.frame.prox, D::FIXED),
            drifts: self.drifts(),
            column_scale: &placed.column_scale,
            template: &placed.template,
            constant,
            identity: &placed.identity,
            interrupted,
        };
        let certificate = task.certificate;
        let ended = match self.setup.runner {
            Runner::Threads => threads::run(task, engine, from, observer)?,
            Runner::Interleaved => interleaved::run(task, engine, from, observer)?,
        };
        let seconds = Seconds {
            load: 0.0,
            place: seconds_place,
            solve: ended.seconds.0 + seconds_search,
            evaluate: ended.seconds.1,
        };
        // Of a pair one entry of the data is read, and 2k parameters.
        let nonzeros = if D::FIXED { placed.shards.nonzeros() } else { self.shape.nonzeros };
        let nonzeros = nonzeros as f64 * ended.updates as f64 / self.lines(form) as f64;
        let gpu = device.zip(ended.fed.clone()).map(|(device, fed)| Gpu { device, fed });
        Ok(Outcome { gpu, ..self.outcome(ended, seconds, certificate, nonzeros, step.map(|step| step.initial)) })
    }

    fn outcome(
        &self,
        ended: Ended,
        seconds: Seconds,
        certificate: CertificateKind,
        nonzeros: f64,
        step_initial: Option<f64>,
    ) -> Outcome {
        let last = ended.samples.last().or(ended.checkpoint.last.as_ref());
        let gap = last.and_then(|last| last.gap);
        let certificate_value = last.map_or(f64::NAN, |last| last.certificate);
        Outcome {
            stop: ended.stop,
            certificate,
            objective: last.map_or(f64::NAN, |last| last.objective),
            gap,
            gap_relative: gap.map(|_| certificate_value),
            certificate_value,
            epochs: last.map_or(0.0, |last| last.epoch),
            updates: last.map_or(0, |last| last.updates),
            seconds,
            nonzeros_per_s: if seconds.solve > 0.0 { nonzeros / seconds.solve } else { 0.0 },
            method: self.choice.method.name(),
            passes: self.choice.method.facts().is_some_and(|facts| facts.passes),
            why: self.choice.why.clone(),
            shape: self.shape,
            label: self.plan.label,
            warnings: ended.warnings,
            placed: ended.actual,
            samples: ended.samples,
            model: ended.model,
            checkpoint: ended.checkpoint,
            waits: ended.waits,
            exchanged: ended.exchanged,
            delays: ended.delays,
            seen: ended.seen,
            gpu: None,
            step_initial,
        }
    }

    /// What is known of the run before it begins. Of each array a share of the pages is looked up, so that all of them
    /// together take some ten milliseconds.
    fn facts<D>(&self, placed: &Placed<'_, D>) -> Facts<'_> {
        const PAGES: usize = 1 << 16;
        let arrays = 12 * self.plan.workers.len() + self.plan.replicas.len();
        let dropped =
            placed.start.warm.iter().filter(|warm| warm.intercept != 0.0 && !self.setup.problem.intercept);
        let dropped = dropped.map(|warm| {
            format!("the model to start from has an intercept, {}, and this problem has none", warm.intercept)
        });
        Facts {
            method: self.choice.method.name(),
            why: &self.choice.why,
            shape: self.shape,
            warnings: self
                .plan
                .warnings
                .iter()
                .cloned()
                .chain(dropped)
                .chain(self.unsafe_step())
                .chain(self.idle_replicas())
                .collect(),
            pages_max: placed.start.pages_max.unwrap_or((PAGES / arrays).max(16)),
        }
    }

    /// Rows of an update, for the methods that take a step.
    fn rows_per_update(&self) -> usize {
        let facts = self.choice.method.facts();
        if facts.is_some_and(|facts| facts.step == Ok(First::OfAll)) {
            return self.shape.rows.div_ceil(self.plan.workers.len()).max(1);
        }
        if self.setup.gradients.on == GradientsOn::Gpu { self.batch_rows() } else { self.choice.method.rows() }
    }

    fn form(&self) -> Form {
        self.choice.method.form()
    }

    fn lines(&self, form: Form) -> usize {
        if form == Form::Columns { self.shape.columns.max(1) } else { self.terms().max(1) }
    }

    /// Number of terms of F.
    fn terms(&self) -> usize {
        self.setup.problem.terms(&self.shape)
    }

    fn exchange(&self) -> Exchange {
        let kind = self.setup.exchange.unwrap_or_else(|| ExchangeKind::usual(self.form(), Every::Auto));
        let messages = self.setup.injection.messages;
        Exchange::new(kind, self.plan.replicas.len(), &self.plan.distance, messages, self.setup.moves)
    }

    /// Single rows where the entries fit a cache: shuffled buckets cost dual ascent three times the epochs on a9a (95
    /// against 28 to a gap of 1e-6), and save time only where rows come from memory. The lines of a pair are 8 bytes, and those
    /// of a bucket share a row's block: on 2·10⁶ entries an epoch of them takes a sixth of the time, and leaves less of F.
    fn order(&self) -> OrderKind {
        const CACHED_BYTES: u64 = 16 << 20;
        let linear = self.setup.problem.rank.is_none();
        match self.setup.order {
            OrderKind::Auto if linear && 8 * self.shape.nonzeros <= CACHED_BYTES => OrderKind::Rows,
            OrderKind::Auto => OrderKind::Buckets { rows: OrderKind::BUCKET_ROWS },
            chosen => chosen,
        }
    }

    /// Whether an update holds stripes from its read to its write.
    fn holds(&self) -> bool {
        self.plan.granularity != Granularity::Core && self.setup.parameters.merge == MergeKind::Locked
    }

    /// Whether the store may come to differ from the state.
    fn drifts(&self) -> bool {
        if self.form() == Form::Primal {
            // No addition to a companion is lost, but it is rounded.
            return self.choice.method.has_companion() && self.setup.parameters.cell == CellKind::F32;
        }
        let shared = self.plan.granularity != Granularity::Core
            && self.plan.replicas.iter().any(|replica| replica.workers.len() > 1);
        (shared && self.setup.parameters.merge == MergeKind::Lossy) || self.setup.parameters.cell == CellKind::F32
    }

    fn limits(&self) -> Limits {
        let stop = &self.setup.stop;
        Limits {
            target: stop.target,
            objective: stop.target_objective,
            epochs: stop.max_epochs,
            seconds: stop.max_seconds,
            evaluate_every: stop.evaluate_every,
        }
    }
}
