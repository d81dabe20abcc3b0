//! Settings: what is refused and how, what overrides what, and that nothing is lost on the way to text and back.

mod locations;
mod mistakes;
mod round_trip;
mod shipped;

use farrow::config::{
    Constraint, Count, Every, ExchangeKind, Granularity, L2, MethodKind, OrderKind, Runner, Settings, Setup,
    StepKind, WorkerOrder,
};
use farrow::{error::Error, placement::plan, topology::Topology};

fn read(text: &str) -> Result<Setup, Error> {
    let mut settings = Settings::new();
    settings.text("c.toml", text)?;
    settings.check()
}

#[test]
fn every_mistake_is_named_with_its_line_and_what_is_accepted() {
    for (text, place, fragments) in mistakes::MISTAKES {
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
    assert_eq!(setup.exchange, Some(ExchangeKind::Average { every: Every::Updates(64) }));
    assert_eq!(setup.problem.constraint, Constraint::Box { lo: -1.0, hi: 2.5 });
    assert_eq!(setup.problem.l2, L2::Value(0.25));
}

#[test]
fn the_length_of_a_step_alone_asks_for_a_diminishing_step() {
    let diminishing = |initial| Some(StepKind::Diminishing { initial, half: StepKind::HALF });
    assert_eq!(read("[step]\ninitial = 0.1\n").unwrap().step, diminishing(Some(0.1)));
    assert_eq!(read("[step]\ninitial = 0.1\nhalf = 1.0\n").unwrap().step, diminishing(Some(0.1)));
    assert_eq!(over("", &["step.initial=0.1"]).unwrap().step, diminishing(Some(0.1)));
    let hogwild = over("[method]\nkind = \"hogwild\"\n", &["step.initial=0.1"]).unwrap();
    assert_eq!((hogwild.method, hogwild.step), (MethodKind::Hogwild, diminishing(Some(0.1))));
    let constant = over("[step]\nkind = \"constant\"\n", &["step.initial=0.1"]).unwrap();
    assert_eq!(constant.step, Some(StepKind::Constant { initial: Some(0.1) }), "a kind that is written stays");
    // What takes it back.
    let length = "[step]\ninitial = 0.1\n";
    for set in ["step.kind=auto", "step.initial=auto"] {
        assert_eq!(over(length, &[set]).unwrap().step, None, "{set}");
    }
    assert_eq!(read("[step]\ninitial = \"auto\"\n").unwrap().step, None);
}

#[test]
fn bounds_that_no_scale_changes_go_with_scaled_columns() {
    for prox in ["box:0:inf", "box:-inf:0", "non-negative", "none"] {
        let text = format!("[problem]\nprox = \"{prox}\"\nnormalize = \"columns\"\n");
        assert!(read(&text).is_ok(), "{prox}: {:?}", read(&text));
    }
    assert!(read("[problem]\nprox = \"box:-1:1\"\nnormalize = \"rows\"\n").is_ok());
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

/// A file, then `sets` on the command line.
fn over(text: &str, sets: &[&str]) -> Result<Setup, Error> {
    let mut settings = Settings::new();
    settings.text("c.toml", text)?;
    for set in sets {
        settings.set(set)?;
    }
    settings.check()
}

#[test]
fn flags_override_the_file_and_later_flags_earlier_ones() {
    let file = "[workers]\ncount = 4\n[stop]\ntarget = 1e-3\n";
    let setup = over(file, &["workers.count=8", "workers.count=cores", "stop.target=none"]).unwrap();
    assert_eq!(setup.workers.count, Count::Cores);
    assert_eq!(setup.stop.target, None);
    let mut settings = Settings::new();
    settings.text("c.toml", file).unwrap();
    settings.put("workers", "count", 2, "--workers");
    assert_eq!(settings.check().unwrap().workers.count, Count::Exactly(2));
    settings.put("workers", "count", -2, "--workers");
    assert!(settings.check().unwrap_err().to_string().starts_with("--workers: workers.count = -2 is not accepted"));
}

#[test]
fn a_later_choice_overrides_the_keys_that_belonged_to_the_earlier_one() {
    let setup =
        over("[workers]\ncount = 8\norder = \"scatter\"\nsmt = \"never\"\n", &["workers.cpus=4,2"]).unwrap();
    assert_eq!(setup.workers.count, Count::On(vec![4, 2]));
    assert_eq!(setup.workers.order, WorkerOrder::Compact);
    let setup = over("[workers]\ncpus = \"0-3\"\n", &["workers.count=2"]).unwrap();
    assert_eq!(setup.workers.count, Count::Exactly(2));
    let file = "[step]\nkind = \"decay\"\ninitial = 0.5\nfactor = 0.8\n";
    assert_eq!(
        over(file, &["step.kind=constant"]).unwrap().step,
        Some(StepKind::Constant { initial: Some(0.5) }),
        "a key that both kinds have stays"
    );
    assert_eq!(over(file, &["step.kind=auto"]).unwrap().step, None);
    assert_eq!(over("[order]\nrows = 8\n", &["order.kind=file"]).unwrap().order, OrderKind::File);
    // Within one layer it is a contradiction.
    let error = over("", &["workers.count=2", "workers.cpus=0-3"]).unwrap_err().to_string();
    assert!(error.starts_with("--set workers.cpus=0-3: ") && error.contains("--set workers.count=2"), "{error}");
    let error = over(file, &["step.kind=constant", "step.factor=0.5"]).unwrap_err().to_string();
    assert!(error.starts_with("--set step.factor=0.5: "), "{error}");
    // A later key for what the file did not choose is one too: it would have no effect.
    let error = over("[workers]\ncpus = \"0-3\"\n", &["workers.smt=never"]).unwrap_err().to_string();
    assert!(error.starts_with("--set workers.smt=never: "), "{error}");
}

#[test]
fn values_on_the_command_line_need_no_quotes() {
    let setup = over(
        "",
        &[
            "problem.loss=huber",
            "problem.huber_delta=.5",
            "problem.l2=1/n",
            "problem.prox=box:-1:inf",
            "workers.cpus=0-3,8",
            "stop.max_epochs=1e3",
            "method.kind=\"hogwild\"",
            "run.runner=interleaved",
            "run.seed=18446744073709551615",
            " step.kind =backoff",
            "step.initial=1e-30",
        ],
    )
    .unwrap();
    assert_eq!(setup.problem.loss, farrow::loss::Loss::Huber { delta: 0.5 });
    assert_eq!(setup.problem.constraint, Constraint::Box { lo: -1.0, hi: f64::INFINITY });
    assert_eq!(setup.workers.count, Count::On(vec![0, 1, 2, 3, 8]));
    assert_eq!(setup.stop.max_epochs, 1000);
    assert_eq!((setup.method, setup.runner, setup.seed), (MethodKind::Hogwild, Runner::Interleaved, u64::MAX));
    assert_eq!(setup.step, Some(StepKind::Backoff { initial: Some(1e-30), factor: 0.37, epochs: 1.0 }));
    let order = |text| over("", &[text]).unwrap().workers.order;
    assert_eq!(order("workers.order=node:2,node:0"), WorkerOrder::Nodes(vec![2, 0]));
    assert_eq!(order("workers.order=node:0-2,5"), WorkerOrder::Nodes(vec![0, 1, 2, 5]));
    assert_eq!(order("workers.order=node:!1"), WorkerOrder::NodesExcept(vec![1]));
    assert_eq!(order("workers.order=node:all"), WorkerOrder::NodesExcept(vec![]));
}

#[test]
fn a_set_that_names_no_setting_is_refused() {
    for text in ["", "=", "workers", "workers=8", "count=8", ".count=8", "workers.=8", "a.b.c=1", "workers.count"] {
        let error = over("", &[text]).expect_err(text);
        assert!(error.to_string().contains("SECTION.KEY=VALUE"), "{text}: {error}");
        assert_eq!(error.exit_code(), 2);
    }
    let error = over("", &["worker.count=8"]).unwrap_err().to_string();
    assert!(error.starts_with("--set worker.count=8: there is no section [worker]"), "{error}");
    let error = over("", &["run.seed={a=1}"]).unwrap_err().to_string();
    assert!(error.starts_with("--set run.seed={a=1}: "), "{error}");
}

#[test]
fn a_file_that_is_no_config_is_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, contents: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, contents).unwrap();
        let error = Settings::new().file(&path).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let message = error.to_string();
        message.strip_prefix(&path.display().to_string()).map(str::to_string).ok_or(message).unwrap()
    };
    assert!(refused("binary", b"[run]\nseed = 1\n\xff\xfe\0").starts_with(":3: it is not UTF-8"));
    assert!(refused("long", &vec![b'#'; (1 << 20) + 1]).starts_with(": it is longer than 1 MiB"));
    assert!(refused("data", b"+1 1:0.5 3:1\n-1 2:1\n").starts_with(":1: "));
    let missing = folder.path().join("missing.toml");
    let error = Settings::new().file(&missing).unwrap_err();
    assert!(error.to_string().contains("missing.toml: cannot read it: No such file"), "{error}");
    assert_eq!(error.exit_code(), 2);
    assert!(Settings::new().file(folder.path()).is_err(), "a folder");
}
