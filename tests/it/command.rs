//! The program itself: exit codes, streams, files, signals.

use farrow::{
    checkpoint::Checkpoint,
    model::Model,
    trace::{self, Sample},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use std::{
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// A folder with a data file that no line separates perfectly.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(rows: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut text = String::new();
        for _ in 0..rows {
            let values: Vec<f64> = (0..10).map(|_| random.random_range(-1.0..1.0)).collect();
            let score: f64 = values.iter().enumerate().map(|(j, a)| a * (j as f64 - 4.5)).sum();
            let label = u8::from(score + random.random_range(-2.0..2.0) > 0.0);
            let _ = write!(text, "{label}");
            for (j, value) in values.iter().enumerate() {
                let _ = write!(text, " {}:{value:.3}", j + 1);
            }
            text.push('\n');
        }
        fs::write(folder.path().join("data"), text).unwrap();
        Bench { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `farrow` with arguments separated by blanks, in the folder.
    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_farrow"));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &str) -> Done {
        Done::from(self.command(arguments).output().unwrap())
    }

    /// A run that does not stop by itself for a minute, once its trace has `samples` samples.
    fn running(&self, more: &str, samples: usize) -> Child {
        let endless = "solve data --workers 1 --method hogwild --step constant --set step.initial=0.01 \
                       --target 1e-15 --max-epochs 100000000 --max-seconds 60 --trace t";
        let mut command = self.command(&format!("{endless} {more}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while trace::read(&self.path("t")).map_or(0, |trace| trace.samples.len()) < samples {
            assert!(start.elapsed() < Duration::from_secs(40), "no {samples} samples yet");
            sleep(Duration::from_millis(20));
        }
        child
    }
}

#[derive(Debug)]
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Done {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    #[track_caller]
    fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
        self
    }

    #[track_caller]
    fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "{text:?} is not in {self:?}");
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

const SOLVE: &str = "solve data --workers 1 --loss logistic --l2 1/n --target 1e-3";

#[test]
fn the_json_object_has_the_keys_of_the_contract_and_no_other() {
    let bench = Bench::new(500);
    let object =
        bench.run(&format!("{SOLVE} --json --model m").replace("--workers 1", "--workers 2")).code(0).json();
    let mut contract = [
        "data",
        "problem",
        "method",
        "why",
        "workers",
        "replicas",
        "plan",
        "seconds",
        "epochs",
        "updates",
        "nonzeros_per_s",
        "objective",
        "gap",
        "gap_relative",
        "certificate",
        "stop",
        "delays",
        "model",
        "label",
        "warnings",
    ];
    contract.sort_unstable();
    assert_eq!(keys(&object), contract);
    assert_eq!(keys(&object["data"]), ["d", "n", "nnz", "path"]);
    assert_eq!(keys(&object["plan"]), ["actual", "memory", "requested"]);
    assert_eq!(keys(&object["seconds"]), ["evaluate", "load", "place", "solve"]);
    let data = &object["data"];
    assert_eq!((&data["path"], &data["n"], &data["d"]), (&"data".into(), &500.into(), &10.into()));
    assert_eq!(object["workers"], 2);
    for name in ["replicas", "epochs", "updates", "nonzeros_per_s", "objective"] {
        assert!(object[name].as_f64().unwrap() > 0.0, "{name}: {object}");
    }
    assert_eq!(object["stop"], "target");
    assert!(object["certificate"] == "gap" && object["gap_relative"].as_f64().unwrap() <= 1e-3, "{object}");
    let relative = object["gap"].as_f64().unwrap() / object["objective"].as_f64().unwrap();
    assert!((relative / object["gap_relative"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{object}");
    assert_eq!((&object["model"], &object["label"]), (&"m".into(), &"measured".into()));
    assert_eq!(object["plan"]["requested"].as_array().unwrap().len(), 2);
    assert_eq!(object["plan"]["actual"].as_array().unwrap().len(), 2);
    let model = Model::load(&bench.path("m"), None).unwrap();
    assert_eq!((model.labels, model.weights.len()), (Some([0.0, 1.0]), 10));
    let warned = bench.run(&format!("{SOLVE} --json --set parameters.merge=lossless")).code(0).json();
    let warnings = warned["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning.as_str().unwrap().contains("parameters.merge has no effect")));
}

#[test]
fn exit_codes_are_those_of_the_contract() {
    let bench = Bench::new(300);
    fs::write(bench.path("bad"), "1 1:0.5\n0 1:zero\n").unwrap();
    fs::write(bench.path("c.toml"), "[workers]\ncount = 1\nspeed = 9\n").unwrap();
    bench.run(SOLVE).code(0);
    bench.run(&format!("{SOLVE} --strict")).code(0);
    bench.run("solve data --target 1e-14 --max-epochs 1").code(0);
    bench.run("solve data --target 1e-14 --max-epochs 1 --strict").code(1);
    bench.run("solve data --target-objective 1e9 --target 1e-14 --strict").code(0);
    bench.run("solve").code(2);
    bench.run("solve data data").code(2);
    bench.run("solve data --loss huge").code(2).says("--loss");
    bench.run("solve data --l2 -1").code(2).says("--l2");
    bench.run("solve data --workers 0").code(2).says("--workers");
    bench.run("solve data --checkpoint c --checkpoint-every -1").code(2);
    bench.run("solve data --checkpoint-every 5").code(2).says("--checkpoint");
    bench.run("solve data --set workers.speed=9").code(2).says("speed");
    bench.run("solve data --config c.toml").code(2).says("c.toml:3");
    bench.run("solve data --config none.toml").code(2).says("none.toml");
    bench.run("solve data --quiet --verbose").code(2);
    bench.run("solve none").code(1).says("none");
    bench.run("solve bad").code(1).says("bad:2");
    bench.run("solve data --warm-start none").code(1).says("cannot read none");
    bench.run("solve data --warm-start data").code(1).says("not a model");
    bench.run("solve data --resume data").code(1).says("not a checkpoint");
}

#[test]
fn what_only_the_data_show_to_be_wrong_is_told_with_the_place_where_it_was_written() {
    let bench = Bench::new(300);
    fs::write(bench.path("dense.csv"), "y,a,b\n1,2,3\n0,3,1\n1,2,2\n").unwrap();
    fs::write(bench.path("entries"), "1 1:0.5\n0 2:1\n").unwrap();
    let cases = [
        ("data --workers 1", "[injection]\nstraggler = \"slow:9:4\"\n", "c.toml:2", "worker 9"),
        ("data --workers 1", "[injection]\ndelay = \"fixed:2\"\ndelay_workers = \"7\"\n", "c.toml:3", "worker 7"),
        (
            "dense.csv",
            "[method]\nkind = \"hogwild\"\n[parameters]\nlayout = \"padded\"\n",
            "c.toml:4",
            "every row touches every one",
        ),
        (
            "entries --loss squared --rank 2 --workers 2 --set parameters.replicas=core",
            "[exchange]\nkind = \"sum\"\n",
            "c.toml:2",
            "exchange.kind sum",
        ),
    ];
    for (arguments, config, place, says) in cases {
        fs::write(bench.path("c.toml"), config).unwrap();
        bench.run(&format!("solve {arguments} --config c.toml")).code(2).says(place).says(says);
    }
    let flag = "solve entries --loss squared --rank 2 --workers 2 --set parameters.replicas=core --exchange sum";
    bench.run(flag).code(2).says("--exchange: exchange.kind sum");
}

#[test]
fn replicas_without_a_row_are_warned_of() {
    let bench = Bench::new(300);
    fs::write(bench.path("one"), "1 1:0.5 3:2\n").unwrap();
    let run =
        "solve one --loss squared --method proxasaga --exchange ring --set parameters.replicas=core --max-epochs 5";
    bench.run(&format!("{run} --workers 2")).says("2 replicas share 1 rows").says("fewer workers");
    let quiet = bench.run(&format!("{run} --workers 2 --json")).json();
    assert!(quiet["warnings"].to_string().contains("some have none"), "{quiet}");
    let alone = bench.run("solve one --loss squared --method proxasaga --workers 1 --max-epochs 5 --json").json();
    assert!(!alone["warnings"].to_string().contains("some have none"), "{alone}");
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_data_are_read() {
    let bench = Bench::new(300);
    for flag in ["--trace", "--model", "--checkpoint"] {
        bench.run(&format!("solve none {flag} no/folder/f")).code(1).says("no/folder/f");
        bench.run(&format!("solve none {flag} .")).code(1);
        bench.run(&format!("solve data {flag} data")).code(2).says("overwrite");
        bench.run(&format!("solve data {flag} /dev/full")).code(1).says("/dev/full");
    }
    bench.run("solve data --model x --trace x").code(2).says("overwrite");
    bench.run("solve - --trace - --model -").code(2).says("overwrite");
    assert!(!bench.path("x").exists());
    let left: Vec<_> = fs::read_dir(bench.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["data"], "nothing is left behind");
}

#[test]
fn predictions_never_overwrite_what_they_are_made_from() {
    let bench = Bench::new(20);
    bench.run("solve data --model m").code(0);
    for out in ["m", "data", "./m"] {
        bench.run(&format!("predict data --model m --out {out}")).code(2).says("overwrite");
    }
    bench.run("predict data --model m --out p").code(0);
}

#[test]
fn no_output_overwrites_an_input_or_another_output_under_any_name() {
    let bench = Bench::new(300);
    bench.run(&format!("{SOLVE} --model m --checkpoint c --quiet")).code(0);
    fs::create_dir(bench.path("sub")).unwrap();
    fs::hard_link(bench.path("m"), bench.path("m2")).unwrap();
    let ones = "1\n".repeat(300);
    for (name, text) in
        [("labels", ones.as_str()), ("weights", ones.as_str()), ("s.toml", "[workers]\ncount = 1\n")]
    {
        fs::write(bench.path(name), text).unwrap();
    }
    let inputs = [
        ("", "data"),
        ("--labels labels", "labels"),
        ("--weights weights", "weights"),
        ("--config s.toml", "s.toml"),
        ("--resume c", "c"),
        ("--warm-start m", "m"),
        ("--warm-start m", "m2"),
    ];
    for (input, file) in inputs {
        let before = fs::read(bench.path(file)).unwrap();
        for output in ["--trace", "--model", "--checkpoint"] {
            if (input, output) == ("--resume c", "--checkpoint") {
                continue;
            }
            for name in [file.to_string(), format!("./{file}"), format!("sub/../{file}")] {
                bench.run(&format!("solve data {input} {output} {name}")).code(2).says("overwrite").says(output);
            }
        }
        assert!(fs::read(bench.path(file)).unwrap() == before, "{file} is as it was");
    }
    for other in ["zz", "./zz", "sub/../zz"] {
        bench.run(&format!("solve data --trace zz --model {other}")).code(2).says("--model").says("overwrite");
        bench.run(&format!("solve data --model {other} --checkpoint zz")).code(2).says("overwrite");
        assert!(!bench.path("zz").exists());
    }
    bench.run(&format!("{SOLVE} --resume c --checkpoint ./c --trace sub/c --quiet")).code(0);
    Checkpoint::load(&bench.path("c")).unwrap();
}

#[test]
fn predictions_that_nobody_reads_any_more_are_no_error() {
    let bench = Bench::new(3000);
    bench.run(&format!("{SOLVE} --model m --quiet")).code(0);
    for more in ["", " --output margin", " --json"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = bench.command(&format!("predict data --model m{more}"));
        let done = Done::from(command.stdout(writer).output().unwrap()).code(0);
        assert_eq!(done.err, "", "{more}");
    }
}

#[test]
fn a_broken_standard_output_is_one_message_and_exit_code_1() {
    let bench = Bench::new(300);
    for more in ["", " --json"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = bench.command(&format!("{SOLVE} --model m{more}"));
        let done = Done::from(command.stdout(full).output().unwrap()).code(1).says("standard output");
        assert_eq!(done.err.lines().count(), 1, "{done:?}");
        Model::load(&bench.path("m"), None).expect("what was computed is saved");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = bench.command(&format!("{SOLVE}{more}"));
        Done::from(command.stdout(writer).output().unwrap()).code(1).says("standard output");
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let done = Done::from(bench.command(&format!("{SOLVE} -v")).stderr(full).output().unwrap()).code(0);
    assert!(done.out.contains("objective"), "{done:?}");
}

#[test]
fn quiet_says_nothing_but_errors_and_verbose_says_the_plan_and_every_sample() {
    let bench = Bench::new(300);
    // More workers than this machine has cpus are worth a warning, which is not said.
    let quiet = bench.run(&format!("{SOLVE} --quiet").replace("--workers 1", "--workers 400")).code(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
    bench.run("solve none --quiet").code(1).says("none");
    assert_eq!(bench.run(&format!("{SOLVE} --quiet --json")).code(0).json()["stop"], "target");
    let verbose =
        bench.run(&format!("{SOLVE} -v")).code(0).says("cpus requested").says("epoch ").says("certificate");
    assert!(verbose.out.lines().all(|line| line.chars().count() <= 80), "{}", verbose.out);
    for word in ["data", "problem", "method", "workers", "objective", "stopped", "target 0.001 reached"] {
        assert!(verbose.out.contains(word), "{word}: {}", verbose.out);
    }
}

#[test]
fn a_run_that_diverges_says_so_and_what_to_do_and_keeps_the_old_model() {
    let bench = Bench::new(300);
    fs::write(bench.path("m"), "old").unwrap();
    let arguments =
        "solve data --loss squared --method hogwild --step constant --set step.initial=1e6 --workers 1 --model m";
    let done = bench.run(&format!("{arguments} --json")).code(1).says("diverged").says("step.initial");
    assert_eq!((&done.json()["stop"], &done.json()["model"]), (&"diverged".into(), &Value::Null));
    assert_eq!(fs::read_to_string(bench.path("m")).unwrap(), "old");
    // What it says to do does it.
    let done = bench.run(&format!("{} --set step.initial=1e-2", arguments.replace(" --step constant", ""))).code(0);
    assert!(!done.err.contains("diverged"), "{done:?}");
}

#[test]
fn a_method_without_a_step_is_not_told_to_shorten_it() {
    let bench = Bench::new(1);
    // Labels whose squares are beyond every number.
    fs::write(bench.path("data"), "1e200 1:1\n-1e200 1:2\n").unwrap();
    for method in ["dual", "bcd"] {
        let arguments = format!("solve data --loss squared --workers 1 --method {method}");
        let done =
            bench.run(&arguments).code(1).says("diverged").says("--workers").says("parameters.replicas=core");
        assert!(!done.err.contains("step.initial"), "{done:?}");
        bench.run(&format!("{arguments} --set parameters.replicas=core")).code(1).says("diverged");
    }
}

#[test]
fn a_log_of_steps_has_a_line_an_update_and_delays_are_told_where_they_were_measured() {
    let bench = Bench::new(300);
    let solve =
        "solve data --workers 1 --method hogwild --max-epochs 3 --target 1e-15 --set injection.delay=fixed:4";
    let done = bench.run(&format!("{solve} --step adaptive2 --log-steps steps.csv --trace t --json")).code(0);
    let log = fs::read_to_string(bench.path("steps.csv")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!((lines.len(), lines[0]), (901, "k,gamma_k,tau_k,worker,replica,epoch"));
    assert!(lines[300].starts_with("299,") && lines[300].ends_with(",4,0,0,0"), "{}", lines[300]);
    let delays = &done.json()["delays"];
    assert_eq!((delays["max"].as_u64(), delays["updates"].as_u64()), (Some(4), Some(900)), "{delays}");
    assert_eq!(trace::read(&bench.path("t")).unwrap().footer.unwrap()["delays"], *delays);
    let told = bench.run(solve).code(0);
    assert!(told.out.contains("99 % up to 4, 4 at most"), "{told:?}");
    let untold = bench.run("solve data --workers 1 --method hogwild --max-epochs 3 --target 1e-15 --json").code(0);
    assert!(untold.json()["delays"].is_null());
    bench.run("solve data --log-steps data").code(2).says("--log-steps").says("is the file of DATA");
    bench.run("solve data --method newton --log-steps s").code(2).says("method newton has none");
}

#[test]
fn what_each_worker_waited_for_is_in_the_trace_and_said_with_v() {
    let bench = Bench::new(300);
    let solve = SOLVE.replace("--workers 1", "--workers 2");
    let done =
        bench.run(&format!("{solve} -v --trace t")).code(0).says("s at exchanges").says("stripes waited for");
    let footer = trace::read(&bench.path("t")).unwrap().footer.unwrap();
    let waits = footer["waits"].as_array().unwrap();
    assert_eq!(waits.len(), 2);
    for (number, worker) in waits.iter().enumerate() {
        let (gate, stripes) = (worker["gate_seconds"].as_f64().unwrap(), worker["stripes"].as_u64().unwrap());
        let (at_exchanges, locks) =
            (worker["exchange_seconds"].as_f64().unwrap(), worker["locks"].as_u64().unwrap());
        assert!(gate >= 0.0 && at_exchanges >= 0.0, "{footer}");
        let line = format!("{number:>6}  {gate:>17.6}  {at_exchanges:>15.6}  {stripes:<18}  {locks}");
        assert!(done.err.lines().any(|said| said == line), "{line:?} is not in {done:?}");
    }
    assert!(waits.iter().any(|worker| worker["gate_seconds"].as_f64().unwrap() > 0.0), "{footer}");
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn sigint_and_sigterm_stop_the_run_with_everything_saved() {
    let bench = Bench::new(3000);
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let mut child = bench.running("--model m --checkpoint c", 3);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code), "SIG{name}");
        let recorded = trace::read(&bench.path("t")).unwrap();
        assert_eq!(recorded.footer.unwrap()["stop"], "interrupted");
        assert!(recorded.placed.is_some());
        let model = Model::load(&bench.path("m"), None).unwrap();
        assert!(model.support() > 0);
        let checkpoint = Checkpoint::load(&bench.path("c")).unwrap();
        assert_eq!(checkpoint.last.unwrap().epoch, recorded.samples.last().unwrap().epoch);
        for file in ["t", "m", "c"] {
            fs::remove_file(bench.path(file)).unwrap();
        }
    }
}

/// A trace and a checkpoint of one run hold the same numbers only if a trace gives back the bits that it was given.
#[test]
fn numbers_come_back_from_json_to_the_bit() {
    let odd = (1..20_000u64).map(|k| f64::from_bits(0x3FF5_9A7B_0000_0000 + k * 0x1234_5678_9ABD));
    for number in odd.chain([21.589666666666666, 0.1 + 0.2, 5e-324, f64::MAX]).filter(|number| number.is_finite()) {
        let text = serde_json::json!({ "x": number }).to_string();
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["x"].as_f64().map(f64::to_bits), Some(number.to_bits()), "{text}");
    }
}

#[test]
fn kill_9_leaves_a_readable_trace_and_a_checkpoint_no_older_than_its_interval() {
    let bench = Bench::new(3000);
    let mut child = bench.running("--checkpoint c --checkpoint-every 0.5", 2);
    let start = Instant::now();
    while !bench.path("c").exists() {
        assert!(start.elapsed() < Duration::from_secs(40), "no checkpoint yet");
        sleep(Duration::from_millis(20));
    }
    // Past the next interval, so that a checkpoint kept only once would be found too old.
    sleep(Duration::from_millis(1200));
    signal(&child, "KILL");
    assert_eq!(child.wait().unwrap().code(), None);
    let recorded = trace::read(&bench.path("t")).unwrap();
    assert!(recorded.samples.len() >= 2 && recorded.footer.is_none());
    let checkpoint = Checkpoint::load(&bench.path("c")).unwrap();
    let last = checkpoint.last.unwrap();
    let at = last.epoch;
    // By the run's own clock, so that a machine busy with other tests does not matter: the interval, and the wait for
    // the next sample, twice at most.
    let spent = |sample: &Sample| sample.seconds_solve + sample.seconds_evaluate;
    let wait = recorded.samples.windows(2).map(|pair| spent(&pair[1]) - spent(&pair[0])).fold(0.0, f64::max);
    let age = spent(recorded.samples.last().unwrap()) - spent(&last);
    assert!(at > 0.0 && age < 0.5 + 2.0 * wait, "{age} s old; samples are {wait} s apart at most");
    // It can be taken up, and the trace goes on in the same file.
    let more = at as u64 + 2;
    let resume = format!(
        "solve data --workers 1 --method hogwild --step constant --set step.initial=0.01 --target 1e-15 \
         --max-epochs {more} --trace t --resume c --json"
    );
    let object = bench.run(&resume).code(0).json();
    assert_eq!(object["epochs"].as_f64().unwrap(), more as f64);
    let resumed = trace::read(&bench.path("t")).unwrap();
    assert_eq!((resumed.resumed.len(), resumed.footer.is_some()), (1, true));
    assert!(resumed.samples.len() > recorded.samples.len());
}

#[test]
fn a_checkpoint_of_another_run_is_refused_with_both_identities() {
    let bench = Bench::new(300);
    bench.run(&format!("{SOLVE} --method dual --checkpoint c")).code(0);
    bench.run(&format!("{SOLVE} --method dual --resume c")).code(0);
    bench
        .run("solve data --workers 1 --method dual --loss hinge --resume c")
        .code(2)
        .says("loss: Hinge")
        .says("loss: Logistic");
}

#[test]
fn a_run_from_a_fitted_model_starts_where_that_one_ended() {
    let bench = Bench::new(500);
    let solve = "solve data --workers 1 --method bcd --l2 1e-3 --target 1e-8 --json";
    let cold = bench.run(&format!("{solve} --model m --trace cold")).code(0).json();
    for model in ["m", "m.npy"] {
        if model == "m.npy" {
            Model::load(&bench.path("m"), None).unwrap().save(&bench.path("m.npy"), false).unwrap();
        }
        let warm = bench.run(&format!("{solve} --warm-start {model}")).code(0).json();
        let [cold, warm] = [&cold, &warm].map(|object| object["epochs"].as_f64().unwrap());
        assert!(warm <= 1.0 && warm < cold, "{model}: {warm} epochs after {cold}");
    }
}

#[test]
fn predictions_are_one_a_line_and_columns_unseen_in_training_are_reported() {
    let bench = Bench::new(500);
    bench.run(&format!("{SOLVE} --model m --quiet")).code(0);
    fs::write(bench.path("new"), "1 1:0.5 2:-1\n0\n0 3:1 99:2\n").unwrap();
    let model = Model::load(&bench.path("m"), None).unwrap();
    let z = [model.margin(&[0, 1], &[0.5, -1.0]), 0.0, model.margin(&[2], &[1.0])];
    let margins = bench.run("predict new --model m --output margin").code(0).says("not seen in training");
    assert_eq!(margins.out, z.map(|z| format!("{z}\n")).concat());
    let labels = bench.run("predict new --model m").code(0);
    assert_eq!(labels.out, z.map(|z| if z > 0.0 { "1\n" } else { "0\n" }).concat());
    bench.run("predict new --model m --output probability --out p --json").code(0);
    let object: Value = serde_json::from_str(&fs::read_to_string(bench.path("p")).unwrap()).unwrap();
    assert_eq!(object["values"][1], 0.5, "an empty row is even without an intercept");
    assert_eq!(object["unseen"]["entries"], 1);
    bench.run("predict new --model none").code(1).says("none");
    bench.run("predict new --model m --loss hinge").code(2).says("--loss");
    bench.run("predict new --model m --huber-delta 2").code(2).says("--loss");
    model.save(&bench.path("m.npy"), false).unwrap();
    let same =
        bench.run("predict new --model m.npy --loss logistic --classes 0 1").code(0).says("not seen in training");
    assert_eq!(same.out, bench.run("predict new --model m").code(0).out);
    bench.run("predict new --model m.npy").code(1).says("--loss");
    bench.run("predict new --model m.npy --loss huge").code(2).says("squared-hinge");
    bench.run("predict new --model m.npy --loss hinge --huber-delta 2").code(2).says("huber alone");
    bench.run("predict new --model m --out no/p").code(1).says("no/p");
    let full = File::options().write(true).open("/dev/full").unwrap();
    Done::from(bench.command("predict new --model m").stdout(full).output().unwrap())
        .code(1)
        .says("standard output");
    bench.run("solve data --loss squared-hinge --workers 1 --model h --quiet").code(0);
    bench.run("predict new --model h --output probability").code(2).says("log-odds");
}

#[test]
fn evaluate_agrees_with_counting_by_hand() {
    let bench = Bench::new(500);
    let solved = bench.run(&format!("{SOLVE} --model m --json")).code(0).json();
    let object = bench.run("evaluate data --model m --l2 1/n --json").code(0).json();
    let [ours, theirs] = [&object, &solved].map(|object| object["objective"].as_f64().unwrap());
    assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} and {theirs}");
    let text = fs::read_to_string(bench.path("data")).unwrap();
    let said = bench.run("predict data --model m").code(0).out;
    let right = text.lines().zip(said.lines()).filter(|(row, label)| row.starts_with(label)).count();
    assert_eq!(object["accuracy"].as_f64().unwrap(), right as f64 / 500.0);
    assert!(object["auc"].as_f64().unwrap() > 0.8 && object["log_loss"].as_f64().unwrap() < 0.6, "{object}");
    let table = bench.run("evaluate data --model m").code(0).out;
    assert!(table.contains("accuracy") && table.contains("auc"), "{table}");
    fs::write(bench.path("odd"), "1 1:0.5\n7 1:1\n").unwrap();
    let odd = bench.run("evaluate odd --model m --json").code(0).says("7 is one");
    assert_eq!((&odd.json()["rows"], &odd.json()["rows_left_out"]), (&1.into(), &1.into()));
    fs::write(bench.path("odd"), "7 1:1\n").unwrap();
    bench.run("evaluate odd --model m").code(1).says("no row has a label");
    // A model of factors is judged on entries, whatever the labels are.
    fs::write(bench.path("entries"), "1 1:0.5\n0 2:1\n").unwrap();
    fs::write(bench.path("empty"), "1\n0\n").unwrap();
    bench.run("solve entries --rank 2 --loss squared --max-epochs 2 --model m2 --quiet").code(0);
    bench.run("evaluate empty --model m2").code(1).says("no entry is stored");
}

#[test]
fn unfinished_files_never_stay_beside_the_finished_ones() {
    let bench = Bench::new(300);
    bench.run(&format!("{SOLVE} --model m --checkpoint c --checkpoint-every 0 --trace t")).code(0);
    let mut left: Vec<_> =
        fs::read_dir(bench.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["c", "data", "m", "t"]);
    assert!(Path::new(&bench.path("c")).metadata().unwrap().len() > 0);
}

#[test]
fn an_interleaved_run_that_is_resumed_ends_with_the_bits_of_one_that_never_stopped() {
    let bench = Bench::new(400);
    for method in ["dual", "hogwild", "bcd"] {
        let solve = format!("solve data --method {method} --workers 2 --runner interleaved --target 1e-15 --quiet");
        bench.run(&format!("{solve} --max-epochs 6 --model whole")).code(0);
        bench.run(&format!("{solve} --max-epochs 3 --checkpoint c --model half")).code(0);
        bench.run(&format!("{solve} --max-epochs 6 --resume c --model resumed")).code(0);
        let [whole, half, resumed] = ["whole", "half", "resumed"].map(|name| fs::read(bench.path(name)).unwrap());
        assert!(whole == resumed, "{method}");
        assert!(whole != half, "{method}: three epochs more change nothing");
    }
}
