//! Lines of a config that would change a cause, each with a reason behind `#`: only such as the config may have beside what it
//! has, and such as change it. Where none is left there is nothing to advise, which does not make the cause any less.

use super::form;
use crate::{
    config::{CellKind, Every, ExchangeKind, Granularity, Layout, MergeKind, Setup, Smt},
    cpulist,
    method::Form,
    placement::Plan,
    solve::Outcome,
};

/// Epochs from one evaluation to the next that make evaluations rare.
const RARE: u64 = 10;

/// What is advised to whom. The lines of one answer fit the config together, in place of those of the same keys.
#[derive(Clone, Copy)]
pub(super) struct Advice<'a> {
    pub(super) setup: &'a Setup,
    pub(super) plan: &'a Plan,
    pub(super) outcome: &'a Outcome,
}

impl Advice<'_> {
    /// Fewer workers that write the same lines, or their columns set apart by the layout of this name.
    pub(super) fn share_less(&self, layout: Option<&str>) -> Vec<String> {
        let mut lines = Vec::new();
        match self.plan.granularity {
            Granularity::Core => {}
            Granularity::Machine if self.plan.shards.len() > 1 => {
                lines.push("parameters.replicas = \"node\"   # a replica a node, or \"core\"".into());
            }
            _ => {
                lines.push("parameters.replicas = \"core\"   # a replica a worker: no line is shared".into());
                if self.setup.parameters.merge != MergeKind::Lossy {
                    lines.push("parameters.merge = \"lossy\"   # of one writer nothing is lost".into());
                }
            }
        }
        // Dense rows touch every column, and a store of margins has no columns.
        let apart = !self.outcome.shape.dense && form(self.outcome) != Form::Columns;
        let layout = layout.filter(|_| apart && self.setup.parameters.layout == Layout::Plain);
        lines.extend(
            layout.map(|layout| format!("parameters.layout = \"{layout}\"   # hot columns on lines apart")),
        );
        lines
    }

    /// Cheaper writes, where so many of a hundred updates met another's; nothing is cheaper than lossy ones.
    pub(super) fn write_cheaper(&self, conflicts: Option<f64>) -> Vec<String> {
        let met = conflicts.map_or(String::new(), |conflicts| {
            format!("   # {:.2} % of the updates met another's write", 100.0 * conflicts)
        });
        let dearer = self.setup.parameters.merge != MergeKind::Lossy;
        dearer.then(|| format!("parameters.merge = \"lossy\"{met}")).into_iter().collect()
    }

    /// Fewer exchanges.
    pub(super) fn exchange_rarely(&self) -> Vec<String> {
        let named = self.setup.exchange;
        if self.plan.replicas.len() < 2 || named.is_some_and(|kind| kind.every() == Every::Epoch) {
            return Vec::new();
        }
        let usual = ExchangeKind::usual(form(self.outcome), Every::Epoch);
        let kind = named.is_none().then(|| format!("exchange.kind = \"{}\"   # the one it has", usual.name()));
        kind.into_iter().chain(["exchange.every = \"epoch\"   # once an epoch".into()]).collect()
    }

    /// Fewer meetings of all workers.
    pub(super) fn meet_rarely(&self) -> Vec<String> {
        let mut lines = self.exchange_rarely();
        let every = self.setup.stop.evaluate_every;
        if self.outcome.samples.len() > 1 && every.is_none_or(|every| every < RARE) {
            lines.push(format!("stop.evaluate_every = {RARE}   # fewer evaluations, which all wait for"));
        }
        lines
    }

    /// Without `worker`, for which the others wait during the part `waits` of their time, if they would be done sooner: each
    /// then has W/(W − 1) of what it now does in 1 − `waits`.
    pub(super) fn without(&self, worker: usize, waits: f64) -> Option<String> {
        let workers = self.plan.workers.len() as f64;
        if (1.0 - waits) * workers / (workers - 1.0) >= 1.0 {
            return None;
        }
        let its = &self.plan.workers[worker].cpus;
        let others = self.plan.workers.iter().enumerate().filter(|(other, _)| *other != worker);
        let mut others: Vec<u32> = others.flat_map(|(_, other)| other.cpus.iter().copied()).collect();
        others.sort_unstable();
        others.dedup();
        // Threads that are not bound to a cpu have no cpu to leave out.
        let apart = !its.iter().any(|cpu| others.contains(cpu));
        apart.then(|| {
            format!(
                "workers.cpus = \"{}\"   # in place of count, order and smt: cpu {} is slower, or others use it",
                cpulist::format(&others),
                cpulist::format(its)
            )
        })
    }

    /// Less traffic of each worker's own memory, the more so where it is `slow`.
    pub(super) fn burden_memory_less(&self, slow: bool) -> Vec<String> {
        let workers = &self.plan.workers;
        let mut cores: Vec<usize> = workers.iter().map(|worker| worker.core).collect();
        cores.sort_unstable();
        let siblings = cores.windows(2).any(|pair| pair[0] == pair[1]);
        let mut lines = Vec::new();
        if slow {
            lines.push(format!(
                "workers.count = {}   # half as many: an update takes more than twice as long beside the others",
                (workers.len() / 2).max(1)
            ));
        } else if siblings && self.setup.workers.smt != Smt::Never {
            lines.push("workers.smt = \"never\"   # siblings share a core's caches".into());
            lines.push("workers.count = \"cores\"".into());
        }
        if self.setup.parameters.cell == CellKind::F64 {
            lines.push("parameters.cell = \"f32\"   # half the bytes of the model".into());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{MethodKind, Runner, Settings, StepKind},
        data::{Data, from_dense, from_rows},
        placement::plan,
        solve::{Start, solve},
        topology::Topology,
        trace::Silent,
    };
    use ndarray::Array2;

    fn data(dense: bool) -> Data {
        let labels: Vec<f64> = (0..40).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let row = |i: u32| vec![(i % 5, 1.0), (5 + i % 7, -0.5)];
        if dense {
            let full = Array2::from_shape_fn((40, 12), |(i, j)| ((i * 7 + j * 5) % 11) as f32 / 11.0 - 0.4);
            return from_dense(full.view(), &labels).expect("rows");
        }
        from_rows(&(0..40).map(row).collect::<Vec<_>>(), &labels, 12).expect("rows")
    }

    /// A run of it, in turns on one thread.
    fn run(setup: &Setup, topology: &Topology, dense: bool) -> crate::error::Result<(Plan, Outcome)> {
        let plan = plan(topology, setup)?;
        let outcome = solve(data(dense), setup, &plan, Start::default(), &mut Silent)?;
        Ok((plan, outcome))
    }

    /// The config with `lines` in place of those of the same keys, as a person would put them.
    fn with(setup: &Setup, lines: &[String]) -> crate::error::Result<Setup> {
        let mut config: toml::Table = setup.to_toml().parse().expect("what a setup writes is TOML");
        for line in lines {
            let line: toml::Table = line.parse().expect("a line is TOML");
            for (section, keys) in line {
                let section = config.entry(section).or_insert_with(|| toml::Table::new().into());
                let section = section.as_table_mut().expect("a section");
                if keys.get("cpus").is_some() {
                    ["count", "order", "smt"].iter().for_each(|key| drop(section.remove(*key)));
                }
                section.extend(keys.as_table().expect("a key").clone());
            }
        }
        let mut settings = Settings::new();
        settings.text("run.toml", &config.to_string())?;
        settings.check()
    }

    /// All that can be advised of a run.
    fn all(advice: Advice<'_>) -> Vec<Vec<String>> {
        let mut all: Vec<Vec<String>> =
            [None, Some("padded"), Some("scatter")].map(|it| advice.share_less(it)).into();
        all.extend([advice.write_cheaper(Some(0.25)), advice.exchange_rarely(), advice.meet_rarely()]);
        all.extend([false, true].map(|slow| advice.burden_memory_less(slow)));
        all.push(advice.without(0, 0.99).into_iter().collect());
        all.retain(|lines| !lines.is_empty());
        all
    }

    #[test]
    fn whatever_is_advised_of_any_run_fits_its_config_and_its_data_and_is_not_there_yet() {
        let topology = Topology::from_synthetic("pack:2 [numa] core:2 pu:2").expect("a topology");
        let merges = [MergeKind::Lossy, MergeKind::Lossless, MergeKind::Locked, MergeKind::Consistent];
        let granularities = [Granularity::Machine, Granularity::Node, Granularity::Core];
        let mut followed = 0;
        for method in ["hogwild", "minibatch", "dual", "bcd", "proxasaga", "svrg", "dense-svrg", "piag"] {
            for (merge, granularity) in merges.into_iter().flat_map(|merge| granularities.map(|of| (merge, of))) {
                for dense in [false, true] {
                    let mut setup = Setup { runner: Runner::Interleaved, ..Setup::default() };
                    setup.method = MethodKind::named(method);
                    if setup.method.takes_step() {
                        setup.step = Some(StepKind::Constant { initial: Some(0.01) });
                    }
                    setup.workers.count = crate::config::Count::Exactly(8);
                    (setup.parameters.merge, setup.parameters.replicas) = (merge, Some(granularity));
                    (setup.stop.target, setup.stop.max_epochs, setup.stop.evaluate_every) = (None, 2, Some(1));
                    // What is not allowed to begin with has nobody to advise.
                    let Ok(setup) = with(&setup, &[]) else { continue };
                    let Ok((plan, outcome)) = run(&setup, &topology, dense) else { continue };
                    for lines in all(Advice { setup: &setup, plan: &plan, outcome: &outcome }) {
                        let changed = with(&setup, &lines).and_then(|changed| {
                            run(&changed, &topology, dense)?;
                            Ok(changed)
                        });
                        let of = format!("{method} {merge:?} {granularity:?} dense {dense}: {lines:?}");
                        let changed = changed.unwrap_or_else(|error| panic!("{of}: {error}"));
                        assert_ne!(changed.to_toml(), setup.to_toml(), "{of}");
                        followed += 1;
                    }
                }
            }
        }
        assert!(followed > 300, "{followed}");
    }
}
