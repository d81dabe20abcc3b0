//! The program where no device is to be had: built without them, or with the drivers hidden.

use super::super::solve::sparse;
use serde_json::Value;
use std::{fs, path::Path, process::Command};

/// Exit code, standard output, standard error.
fn farrow(folder: &Path, arguments: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_farrow"));
    // Names of drivers' files, old and new: with none there the loader finds no device.
    command.env("VK_ICD_FILENAMES", "/nonexistent").env("VK_DRIVER_FILES", "/nonexistent");
    command.env("XDG_RUNTIME_DIR", folder).current_dir(folder).args(arguments.split_whitespace());
    let output = command.output().expect("the program");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn written(folder: &Path) {
    let (rows, labels) = sparse(400, 20, true);
    let line = |(row, label): (&Vec<(u32, f32)>, &f64)| {
        let entries: Vec<String> = row.iter().map(|(column, value)| format!("{}:{value}", column + 1)).collect();
        format!("{label} {}\n", entries.join(" "))
    };
    fs::write(folder.join("data"), rows.iter().zip(&labels).map(line).collect::<String>()).expect("written");
}

#[test]
fn without_a_device_a_run_is_refused_and_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    written(folder.path());
    let (code, out, err) = farrow(folder.path(), "solve data --gradients gpu --model m");
    assert_eq!((code, &*out), (Some(1), ""), "{err}");
    assert!(err.contains("--gpu-fallback") && !err.contains("panicked"), "{err}");
    let why = if cfg!(feature = "gpu") { "no adapter was found" } else { "built without gpu kernels" };
    assert!(err.contains(why), "{err}");
    assert!(!folder.path().join("m").exists());
    // Before the data are read: a large file takes minutes.
    let (code, _, err) = farrow(folder.path(), "solve none --gradients both --workers 2");
    assert!(code == Some(1) && err.contains(why) && !err.contains("none:"), "{err}");
}

#[test]
fn with_the_fallback_it_goes_on_and_table_and_json_say_who_stands_in() {
    let folder = tempfile::tempdir().expect("a folder");
    written(folder.path());
    let run = "solve data --gradients both --workers 2 --gpu-fallback --l2 0.01 --max-epochs 6";
    let (code, table, err) = farrow(folder.path(), run);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("warning: a GPU was asked for, and the cpu works its gradients out"), "{err}");
    let row = table.lines().find(|line| line.starts_with("gpu ")).expect("a row of the GPU");
    assert!(row.contains("the cpu stands in ("), "{table}");
    let (code, json, err) = farrow(folder.path(), &format!("{run} --json"));
    assert_eq!(code, Some(0), "{err}");
    let run: Value = serde_json::from_str(&json).expect("JSON");
    let gpu = &run["gpu"];
    assert_eq!(
        (&run["method"], &gpu["adapter"], &gpu["software"]),
        (&"minibatch".into(), &"cpu".into(), &true.into())
    );
    assert!(gpu["stands_in"].is_string() && gpu["pci"].is_null(), "{gpu}");
    assert_eq!(gpu["feeder"]["worker"], 1, "{gpu}");
    assert!(gpu["rows"].as_u64() > Some(0) && gpu["lines"].as_u64() > Some(0), "{gpu}");
    assert_eq!(run["updates"], 2400);
    assert!(gpu["share_of_lines"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0), "{gpu}");
    assert!(gpu["delays"]["updates"].as_u64() > Some(0), "{gpu}");
    // A run of cpus alone has no such key.
    let (_, json, _) = farrow(folder.path(), "solve data --workers 2 --max-epochs 1 --json");
    assert!(serde_json::from_str::<Value>(&json).expect("JSON").get("gpu").is_none(), "{json}");
}

#[test]
fn workers_and_memory_can_be_verified_where_there_is_no_device() {
    let folder = tempfile::tempdir().expect("a folder");
    written(folder.path());
    let verify = "plan --verify data --gradients both --workers 2 --set workers.pin=none";
    let (_, text, err) = farrow(folder.path(), verify);
    assert!(text.contains("worker 1 feeds the GPU") && text.contains("actual"), "{text} {err}");
    assert!(err.contains("were tried without the GPU: "), "{err}");
    let (_, json, err) = farrow(folder.path(), &format!("{verify} --json"));
    let object: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json} {err}"));
    assert!(object["met"].is_boolean() && object["device"]["stands_in"].is_string(), "{json}");
}

#[test]
fn a_plan_names_the_worker_that_feeds_the_adapter_and_the_batch() {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines/gpu-far.xml");
    let asked =
        format!("plan --topology {} --gradients both --adapter 81:00 --set gradients.rows=512", machine.display());
    let (code, text, err) = farrow(folder.path(), &asked);
    assert_eq!(code, Some(0), "{err}");
    assert!(text.contains("worker 3 feeds the GPU, on node 1, where GPU 0000:81:00.0 hangs"), "{text}");
    assert!(text.contains("is the one with `81:00` in its name or address, its batches have 512 rows"), "{text}");
    let (code, json, err) = farrow(folder.path(), &format!("{asked} --json"));
    assert_eq!(code, Some(0), "{err}");
    let feeder = &serde_json::from_str::<Value>(&json).expect("JSON")["plan"]["feeder"];
    assert_eq!((&feeder["worker"], &feeder["gpu"]), (&3.into(), &"0000:81:00.0".into()), "{json}");
    assert_eq!((&feeder["adapter"], &feeder["rows"]), (&"81:00".into(), &512.into()), "{json}");
}
