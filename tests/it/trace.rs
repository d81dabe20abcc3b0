//! The trace on disk: a line as it happens, readable whatever happened to the run.

use farrow::{
    config::Setup,
    data::Shape,
    error::Error,
    os::{
        affinity::unbound,
        host::{Host, Usage},
        memory::{Home, Residency},
    },
    placement::{
        actual::{Actual, Array, Owner},
        plan,
        team::Standing,
    },
    topology::Topology,
    trace::{
        Begun, CertificateKind, DataFacts, Footer, Header, Sample, StopReason, TraceWriter, WorkerWaits, read,
    },
};
use serde_json::json;
use std::{fs, io::Write, path::Path};

const SHAPE: Shape = Shape { rows: 10, columns: 3, nonzeros: 20, dense: false };

fn sample(epoch: f64) -> Sample {
    Sample {
        epoch,
        updates: epoch as u64 * 10,
        seconds_solve: 0.5,
        seconds_evaluate: 0.25,
        objective: 0.125,
        gap: Some(0.5),
        certificate: 0.0625,
        support: 3,
        step: None,
        consensus: None,
        drift: None,
    }
}

/// Writes a header, where the workers stand, and two samples.
fn begin(path: &Path, resumed: bool) -> TraceWriter {
    let topology = Topology::from_synthetic("pack:1 [numa] core:2 pu:1").unwrap();
    let setup = Setup::default();
    let plan = plan(&topology, &setup).unwrap();
    let header = Header {
        farrow: "0",
        started_unix_s: 1.0,
        label: plan.label,
        host: &Host::now(),
        topology: (&topology).into(),
        data: DataFacts::new(Path::new("a9a"), SHAPE),
        config: &setup,
        seed: setup.seed,
        plan: &plan,
    };
    let mut trace = TraceWriter::open(path).unwrap();
    trace.header(&header, resumed).unwrap();
    let standing = Standing { binding: unbound(), stack: None };
    let rows = |worker, bytes| Array {
        what: "rows",
        of: Owner::Worker(worker),
        home: Home::Node(0),
        residency: Residency { bytes_by_node: [(0, bytes)].into(), ..Residency::default() },
    };
    let actual = Actual { workers: vec![standing.clone(), standing], arrays: vec![rows(0, 4096), rows(1, 8192)] };
    let begun = Begun { method: "dual", why: "λ₂ > 0", shape: SHAPE, actual: &actual, warnings: &[] };
    trace.placed(&begun).unwrap();
    trace.sample(&sample(1.0)).unwrap();
    trace.sample(&sample(2.0)).unwrap();
    trace
}

#[test]
fn a_trace_reads_back_with_header_samples_and_footer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    fs::write(&path, "an older trace\n").unwrap();
    let mut trace = begin(&path, false);
    let unfinished = read(&path).unwrap();
    assert_eq!(unfinished.samples, [sample(1.0), sample(2.0)], "a line is in the file once it is written");
    assert_eq!((unfinished.footer, unfinished.cut), (None, false));
    let footer = Footer {
        stop: StopReason::Target,
        method: "dual",
        why: "λ₂ > 0",
        certificate: CertificateKind::Gap,
        nonzeros_per_s: f64::INFINITY,
        plan_actual: &[],
        plan_memory: Vec::new(),
        waits: vec![WorkerWaits { gate_seconds: 0.5, exchange_seconds: 0.25, stripes: 7, locks: 2 }],
        delays: None,
        warnings: &["w".into()],
        usage: Usage::now(),
    };
    trace.footer(&footer).unwrap();
    let whole = read(&path).unwrap();
    assert_eq!(whole.header["data"]["nnz"], 20);
    assert_eq!(whole.header["plan"]["workers"].as_array().unwrap().len(), 2);
    assert_eq!(whole.header["topology"]["cores"], 2);
    assert_eq!(whole.header["config"]["stop"]["max_epochs"], Setup::default().stop.max_epochs);
    assert!(whole.header["host"]["kernel"].as_str().unwrap().contains("Linux"));
    let placed = whole.placed.unwrap();
    assert_eq!(placed["actual"].as_array().unwrap().len(), 2);
    assert_eq!(placed["memory"][0]["bytes_by_node"], json!({"0": 12288}), "arrays of one kind and home are one");
    let footer = whole.footer.unwrap();
    assert_eq!((footer["stop"].as_str(), footer["certificate"].as_str()), (Some("target"), Some("gap")));
    let waits = json!([{"gate_seconds": 0.5, "exchange_seconds": 0.25, "stripes": 7, "locks": 2}]);
    assert_eq!(footer["waits"], waits);
    assert!(footer["nonzeros_per_s"].is_null(), "JSON has no infinity");
}

#[test]
fn a_trace_of_before_waits_were_recorded_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    begin(&path, false);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"record\":\"footer\",\"stop\":\"target\",\"warnings\":[]}\n").unwrap();
    let footer = read(&path).unwrap().footer.unwrap();
    assert_eq!((footer["stop"].as_str(), footer.get("waits")), (Some("target"), None));
}

#[test]
fn a_trace_cut_at_any_byte_keeps_every_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    begin(&path, false);
    let whole = fs::read(&path).unwrap();
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for end in [first_line + 1, whole.len() - 1, whole.len() - 40, whole.len()] {
        fs::write(&path, &whole[..end]).unwrap();
        let recorded = read(&path).unwrap();
        let lines = whole[..end].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(recorded.samples.len(), lines.saturating_sub(2));
        assert_eq!(recorded.cut, whole[end - 1] != b'\n');
    }
    fs::write(&path, &whole[..first_line]).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("no header"));
}

#[test]
fn a_resumed_run_writes_after_what_the_killed_one_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    begin(&path, false);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"record\":\"sample\",\"epo").unwrap();
    begin(&path, true);
    let recorded = read(&path).unwrap();
    assert_eq!((recorded.resumed.len(), recorded.samples.len(), recorded.cut), (1, 4, false));
}

#[test]
fn numbers_that_json_does_not_have_are_null_and_read_back_as_nan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let mut trace = begin(&path, false);
    trace.sample(&Sample { objective: f64::NAN, certificate: f64::INFINITY, gap: None, ..sample(3.0) }).unwrap();
    assert!(!fs::read_to_string(&path).unwrap().to_lowercase().contains("nan"));
    let last = read(&path).unwrap().samples.pop().unwrap();
    assert!(last.objective.is_nan() && last.certificate.is_nan() && last.gap.is_none());
}

#[test]
fn a_file_that_is_no_trace_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    begin(&path, false);
    let good = fs::read_to_string(&path).unwrap();
    for (text, line) in [
        (String::new(), 1),
        ("1 3:0.5\n".into(), 1),
        ("{\"record\":\"sample\"}\n".into(), 1),
        (good.clone() + "{\"record\":\"sample\"}\n", 5),
        (good.clone() + "{\"record\":\"what\"}\n", 5),
        (good + "[]\n", 5),
    ] {
        fs::write(&path, &text).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Data { line: Some(l), .. } if l == line), "{text}: {error}");
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_found_when_it_is_opened_or_begun() {
    let missing = TraceWriter::open(Path::new("/nonexistent/t.jsonl")).unwrap_err().to_string();
    assert!(missing.contains("cannot create /nonexistent/t.jsonl"), "{missing}");
    let mut full = TraceWriter::open(Path::new("/dev/full")).unwrap();
    let error = full.sample(&sample(1.0)).unwrap_err().to_string();
    assert!(error.contains("cannot write /dev/full"), "{error}");
}
