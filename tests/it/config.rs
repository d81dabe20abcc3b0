//! Settings: what is refused and how, what overrides what, and that nothing is lost on the way to text and back.

use farrow::config::{
    Constraint, Count, ExchangeKind, Granularity, L2, MethodKind, OrderKind, Settings, Setup, StepKind, WorkerOrder,
};
use farrow::{error::Error, placement::plan, topology::Topology};

fn read(text: &str) -> Result<Setup, Error> {
    let mut settings = Settings::new();
    settings.text("c.toml", text)?;
    settings.check()
}

/// Every mistake, where it is, and what the message must hold besides.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    // Not TOML, or not sections.
    ("[workers]\ncount = \n", "c.toml:2", &["[section]"]),
    ("[workers\ncount = 1\n", "c.toml:1", &["[section]"]),
    ("[workers]\ncount = 1\ncount = 2\n", "c.toml:3", &["duplicate"]),
    ("[workers]\ncount = 1\n[workers]\npin = \"cpu\"\n", "c.toml:3", &["duplicate"]),
    ("[run]\nseed = 99999999999999999999\n", "c.toml:2", &["section"]),
    ("loss = \"hinge\"\n", "c.toml:1", &["outside every section", "[problem] has one"]),
    ("\n[[workers]]\ncount = 1\n", "c.toml:2", &["[[workers]]", "write [workers]"]),
    ("workers = 8\n", "c.toml:1", &["outside every section"]),
    // Unknown sections and keys, and parts that are not built.
    ("\n\n[worker]\ncount = 1\n", "c.toml:4", &["no section [worker]", "did you mean `workers`?", "exchange"]),
    ("[data]\nhuge_pages = \"never\"\n", "c.toml:2", &["no section [data]", "problem, topology, workers"]),
    ("[parameters]\nmemory = \"local\"\n", "c.toml:2", &["no key `memory`", "replicas, merge, cell"]),
    ("[parameters]\nlayout = \"plain\"\n", "c.toml:2", &["no key `layout`"]),
    ("[workers]\ncont = 8\n", "c.toml:2", &["did you mean `count`?", "count, cpus, locations"]),
    ("[problem]\nhuber-delta = 2\n", "c.toml:2", &["did you mean `huber_delta`?"]),
    ("[stop]\nseed = 1\n", "c.toml:2", &["[stop] has no key `seed`; [run] has one"]),
    ("[exchange]\ngraph = \"ring\"\n", "c.toml:2", &["no key `graph`"]),
    // Unknown values, and values that are not built.
    ("[problem]\nloss = \"logistc\"\n", "c.toml:2", &["did you mean `logistic`?", "squared-hinge"]),
    ("[parameters]\ncell = \"i8\"\n", "c.toml:2", &["\"i8\"", "f64, f32"]),
    ("[parameters]\nmerge = \"owned\"\n", "c.toml:2", &["\"owned\"", "lossy, lossless, locked"]),
    ("[parameters]\nreplicas = \"socket\"\n", "c.toml:2", &["machine, node, l3, core"]),
    ("[exchange]\nkind = \"osgp\"\n", "c.toml:2", &["\"osgp\"", "average, sum"]),
    ("[method]\nkind = \"saga\"\n", "c.toml:2", &["\"saga\"", "hogwild, dual, bcd"]),
    ("[step]\nkind = \"adaptive1\"\n", "c.toml:2", &["constant, diminishing, decay, backoff"]),
    ("[order]\nkind = \"bucket\"\n", "c.toml:2", &["did you mean `buckets`?"]),
    ("[workers]\nsmt = \"lst\"\n", "c.toml:2", &["did you mean `last`?", "never, last, first"]),
    ("[workers]\npin = 1\n", "c.toml:2", &["workers.pin = 1", "cpu, node, none"]),
    ("[workers]\norder = \"scater\"\n", "c.toml:2", &["did you mean `scatter`?"]),
    ("[workers]\norder = \"node:a\"\n", "c.toml:2", &["`a` is neither a number nor a range", "node:0,node:1"]),
    ("[run]\nrunner = \"simulated\"\n", "c.toml:2", &["threads, interleaved"]),
    // Types and ranges.
    ("[problem]\nintercept = \"yes\"\n", "c.toml:2", &["problem.intercept = \"yes\"", "true, false"]),
    ("[problem]\nl1 = -0.5\n", "c.toml:2", &["problem.l1 = -0.5", "0 or more"]),
    ("[problem]\nl1 = nan\n", "c.toml:2", &["problem.l1 = nan", "0 or more"]),
    ("[problem]\nl2 = inf\n", "c.toml:2", &["problem.l2 = inf", "\"1/n\""]),
    ("[problem]\nl2 = \"2/n\"\n", "c.toml:2", &["\"2/n\"", "\"1/n\""]),
    ("[problem]\nloss = \"huber\"\nhuber_delta = 0\n", "c.toml:3", &["huber_delta = 0", "above 0"]),
    ("[problem]\nprox = \"box:1:2\"\n", "c.toml:2", &["\"box:1:2\"", "LO ≤ 0 ≤ HI"]),
    ("[problem]\nprox = \"box:-1\"\n", "c.toml:2", &["box:LO:HI"]),
    ("[problem]\nprox = \"box:nan:1\"\n", "c.toml:2", &["box:LO:HI"]),
    ("[problem]\nprox = \"box:-inf:inf\"\n", "c.toml:2", &["box:LO:HI"]),
    ("[problem]\nprox = \"l1\"\n", "c.toml:2", &["problem.l1"]),
    ("[topology]\nvirtual_nodes = -1\n", "c.toml:2", &["virtual_nodes = -1", "0 to 1024"]),
    ("[topology]\nvirtual_nodes = 1.5\n", "c.toml:2", &["whole number"]),
    ("[workers]\ncount = 0\n", "c.toml:2", &["count = 0", "1 to 8192", "\"cores\""]),
    ("[workers]\ncount = 1000000000000\n", "c.toml:2", &["1 to 8192"]),
    ("[workers]\ncount = \"threads\"\n", "c.toml:2", &["\"threads\"", "\"cpus\""]),
    ("[workers]\ncpus = \"0-\"\n", "c.toml:2", &["\"0-\"", "0-10:2"]),
    ("[workers]\ncpus = \"3-1\"\n", "c.toml:2", &["from 3 down to 1"]),
    ("[workers]\ncpus = \"0-3,2\"\n", "c.toml:2", &["twice"]),
    ("[workers]\ncpus = true\n", "c.toml:2", &["cpus = true", "0-15,32-47"]),
    ("[workers]\nlocations = [\"core\"]\n", "c.toml:2", &["colon", "TYPE:INDEX"]),
    ("[workers]\nlocations = \"die:0\"\n", "c.toml:2", &["`die` is no type", "package, numa"]),
    ("[workers]\nlocations = \"core:x\"\n", "c.toml:2", &["`x` is no index"]),
    ("[workers]\nlocations = []\n", "c.toml:2", &["names no location"]),
    ("[workers]\nlocations = \"~core:0\"\n", "c.toml:2", &["takes away from nothing"]),
    ("[step]\nkind = \"decay\"\nfactor = 1.5\n", "c.toml:3", &["factor = 1.5", "up to 1"]),
    ("[step]\nkind = \"backoff\"\nfactor = 1\n", "c.toml:3", &["factor = 1 ", "below 1"]),
    ("[step]\nkind = \"constant\"\ninitial = 0\n", "c.toml:3", &["initial = 0", "above 0", "auto"]),
    ("[step]\nkind = \"diminishing\"\nhalf = 0.0\n", "c.toml:3", &["half = 0.0"]),
    ("[step]\nkind = \"backoff\"\nepochs = -2\n", "c.toml:3", &["epochs = -2"]),
    ("[order]\nrows = 0\n", "c.toml:2", &["rows = 0"]),
    ("[exchange]\nkind = \"sum\"\nevery = 0\n", "c.toml:3", &["every = 0", "epoch"]),
    ("[stop]\ntarget = 0\n", "c.toml:2", &["target = 0", "\"none\""]),
    ("[stop]\ntarget_objective = nan\n", "c.toml:2", &["nan", "finite"]),
    ("[stop]\nmax_epochs = 0\n", "c.toml:2", &["max_epochs = 0"]),
    ("[stop]\nmax_seconds = -1.0\n", "c.toml:2", &["max_seconds = -1.0"]),
    ("[run]\nseed = -1\n", "c.toml:2", &["seed = -1", "0 or more"]),
    ("[run]\nseed = 2024-01-01\n", "c.toml:2", &["2024-01-01", "whole number"]),
    // Two settings that contradict each other, or one without effect.
    ("[workers]\ncount = 4\ncpus = \"0-3\"\n", "c.toml:3", &["workers.count (c.toml:2)", "keep one of"]),
    ("[workers]\ncpus = \"0\"\nlocations = \"core:0\"\n", "c.toml:3", &["workers.cpus (c.toml:2)"]),
    ("[workers]\ncpus = \"0-3\"\norder = \"scatter\"\n", "c.toml:3", &["workers.cpus", "names the cpus itself"]),
    ("[workers]\nsmt = \"never\"\nlocations = \"core:0\"\n", "c.toml:2", &["workers.locations"]),
    ("[workers]\ncpus = \"0-3\"\npin = \"none\"\n", "c.toml:3", &["binds no thread", "(c.toml:2)"]),
    ("[problem]\nhuber_delta = 2\n", "c.toml:2", &["does not belong to problem.loss = \"logistic\""]),
    ("[order]\nkind = \"file\"\nrows = 8\n", "c.toml:3", &["order.kind = \"file\"", "takes nothing more"]),
    ("[step]\nkind = \"constant\"\nfactor = 0.5\n", "c.toml:3", &["takes initial"]),
    ("[step]\ninitial = 0.5\n", "c.toml:2", &["step.kind = \"auto\" (the default)"]),
    ("[exchange]\nevery = 64\n", "c.toml:2", &["exchange.kind = \"auto\""]),
    ("[method]\nkind = \"hogwild\"\npenalize_intercept = true\n", "c.toml:3", &["method.kind = \"hogwild\""]),
    (
        "[method]\nkind = \"dual\"\n[step]\nkind = \"decay\"\n",
        "c.toml:4",
        &["\"dual\" (c.toml:2)", "auto", "hogwild"],
    ),
    ("[step]\nkind = \"constant\"\n[method]\nkind = \"bcd\"\n", "c.toml:2", &["\"bcd\" (c.toml:4)"]),
    (
        "[parameters]\nreplicas = \"machine\"\n[exchange]\nkind = \"average\"\n",
        "c.toml:4",
        &["is one replica", "(c.toml:2)"],
    ),
    ("[parameters]\nreplicas = \"core\"\nmerge = \"lossless\"\n", "c.toml:3", &["plain memory of its one worker"]),
    ("[method]\nkind = \"dual\"\n[problem]\nl2 = 0\n", "c.toml:4", &["strongly convex", "1/n", "bcd"]),
    (
        "[method]\nkind = \"dual\"\n[problem]\nintercept = true\n",
        "c.toml:4",
        &["penalize_intercept = true", "hogwild", "Σ"],
    ),
    ("[method]\nkind = \"dual\"\npenalize_intercept = true\n", "c.toml:3", &["no effect"]),
    ("[method]\nkind = \"bcd\"\n[problem]\nloss = \"hinge\"\n", "c.toml:2", &["kink", "(c.toml:4)"]),
];

#[test]
fn every_mistake_is_named_with_its_line_and_what_is_accepted() {
    for (text, place, fragments) in MISTAKES {
        let error = read(text).expect_err(text);
        assert_eq!(error.exit_code(), 2);
        let message = error.to_string();
        assert!(message.starts_with(&format!("{place}: ")), "{text}\ngave: {message}");
        for fragment in *fragments {
            assert!(message.contains(fragment), "{text}\nlacks `{fragment}`: {message}");
        }
    }
}

#[test]
fn no_settings_give_the_default_setup() {
    assert_eq!(Settings::new().check().unwrap(), Setup::default());
    assert_eq!(read("").unwrap(), Setup::default());
    assert_eq!(read("[workers]\n[stop]\n").unwrap(), Setup::default());
}

#[test]
fn the_config_of_the_design_is_read_as_meant() {
    let setup = read(
        "[topology]\nvirtual_nodes = 2\n[method]\nkind = \"hogwild\"\n[step]\nkind = \"decay\"\n[order]\nkind = \"buckets\"\n\
         rows = 16\n[workers]\ncount = 8\norder = \"node:1,node:0\"\nsmt = \"never\"\npin = \"node\"\n[parameters]\n\
         replicas = \"node\"\nmerge = \"lossless\"\ncell = \"f32\"\n[exchange]\nkind = \"average\"\nevery = 64\n\
         [problem]\nprox = \"box:-1:2.5\"\nl2 = 0.25\n",
    )
    .unwrap();
    assert_eq!(setup.virtual_nodes, 2);
    assert_eq!(setup.method, MethodKind::Hogwild);
    assert_eq!(setup.step, Some(StepKind::Decay { initial: None, factor: 0.9 }));
    assert_eq!(setup.order, OrderKind::Buckets { rows: 16 });
    assert_eq!(setup.workers.count, Count::Exactly(8));
    assert_eq!(setup.workers.order, WorkerOrder::Nodes(vec![1, 0]));
    assert_eq!(setup.parameters.replicas, Some(Granularity::Node));
    assert_eq!(setup.exchange, Some(ExchangeKind::Average { every: Some(64) }));
    assert_eq!(setup.problem.constraint, Constraint::Box { lo: -1.0, hi: 2.5 });
    assert_eq!(setup.problem.l2, L2::Value(0.25));
}

#[test]
fn an_unmet_plan_names_the_line_that_asked_for_it() {
    let mut settings = Settings::new();
    settings.text("epyc.toml", "\n[workers]\ncpus = \"0-3,96\"\n").unwrap();
    let topology = Topology::from_synthetic("pack:2 [numa] core:4 pu:1").unwrap();
    let error = plan(&topology, &settings.check().unwrap()).unwrap_err();
    let message = settings.locate(error).to_string();
    assert!(message.starts_with("epyc.toml:3: workers.cpus lists cpu 96"), "{message}");
    assert!(message.contains("0-7"), "{message}");
}
