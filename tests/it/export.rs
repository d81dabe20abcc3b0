//! Data written as text and read again, and the commands that do so.

use farrow::{
    data::{
        self, Block, ReadOptions, Source,
        export::{self, Form},
        generate::{DenseSpec, SparseSpec},
    },
    error::Error,
};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Columns and value bits of all rows, and labels.
fn contents(path: &Path, options: &ReadOptions) -> (Vec<Vec<(u32, u32)>>, Vec<f64>) {
    let data = data::read(path, options, 2).unwrap();
    (rows(data.source.as_ref()), data.source.labels().unwrap())
}

fn rows(source: &dyn Source) -> Vec<Vec<(u32, u32)>> {
    let mut rows = Vec::new();
    for k in 0..source.spans().len() {
        match source.take(k).unwrap() {
            Block::Sparse { starts, columns, values } => rows.extend(starts.windows(2).map(|pair| {
                (pair[0] as usize..pair[1] as usize).map(|k| (columns[k], values[k].to_bits())).collect::<Vec<_>>()
            })),
            Block::Dense { columns, values } => {
                rows.extend(values.chunks(columns).map(|row| (0..).zip(row.iter().map(|v| v.to_bits())).collect()));
            }
        }
    }
    rows
}

fn farrow(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_farrow")).args(arguments).current_dir(folder).output().unwrap()
}

fn succeed(arguments: &[&str], folder: &Path) -> String {
    let output = farrow(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stderr, b"", "no progress where stderr is no terminal");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_form_reads_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let dense = DenseSpec { rows: 300, columns: 7, ..DenseSpec::default() };
    let sparse = SparseSpec { rows: 400, columns: 90, nonzeros_per_row: 6.0, ..SparseSpec::default() };
    let made =
        |dense_rows: bool| if dense_rows { dense.generate(1) } else { sparse.generate(1) }.unwrap().into_data();
    for (name, dense_rows) in
        [("a.svm", false), ("a.farrow", false), ("b.farrow", true), ("b.csv", true), ("b.npy", true)]
    {
        let path = folder.path().join(name);
        let data = made(dense_rows);
        let labels = data.source.labels().unwrap();
        let form = Form::of(&path).unwrap();
        let written = export::write(&path, form, data.source.as_ref(), &labels, None, &mut |_| {}).unwrap();
        let mut options = ReadOptions::default();
        if form == Form::Npy {
            assert_eq!(written, [path.clone(), folder.path().join("b.labels.txt")]);
            options.labels = Some(written[1].clone());
        }
        let (rows, read) = contents(&path, &options);
        assert_eq!(rows, self::rows(made(dense_rows).source.as_ref()), "{name}");
        assert_eq!(read, labels, "{name}");
    }
}

#[test]
fn what_a_form_cannot_hold_is_refused() {
    assert!(matches!(Form::of(Path::new("x.parquet")), Err(Error::Unmet { .. })));
    let folder = tempfile::tempdir().unwrap();
    let data = SparseSpec { rows: 5, ..SparseSpec::default() }.generate(1).unwrap().into_data();
    let labels = data.source.labels().unwrap();
    let path = folder.path().join("x.csv");
    let error = export::write(&path, Form::Csv, data.source.as_ref(), &labels, None, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("sparse rows") && !path.exists(), "{error}");
}

#[test]
fn a_set_goes_through_generate_convert_and_inspect() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let size = ["--rows", "500", "--columns", "60", "--nonzeros-per-row", "8", "--conflict", "0.9", "--seed", "5"];
    let out =
        succeed(&[&["data", "generate", "--out", "a.svm", "--truth", "x.txt"][..], &size].concat(), folder.path());
    assert!(out.contains("500 rows, 60 columns"), "{out}");
    assert_eq!(std::fs::read_to_string(at("x.txt")).unwrap().lines().count(), 62, "a comment, x*, the intercept");
    succeed(&["data", "convert", "a.svm", "a.farrow"], folder.path());
    succeed(&["data", "convert", "a.farrow", "b.svm"], folder.path());
    assert_eq!(std::fs::read(at("a.svm")).unwrap(), std::fs::read(at("b.svm")).unwrap());
    let out =
        succeed(&["data", "inspect", "a.farrow", "--json", "--loss", "squared", "--l2", "1/n"], folder.path());
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((found["n"].as_u64(), found["curvature"]["l2"].as_f64()), (Some(500), Some(1.0 / 500.0)));
    let degree = found["conflict_degree"]["value"].as_f64().unwrap() / 499.0;
    assert!(found["conflict_degree"]["how"] == "exact" && (degree - 0.9).abs() < 0.03, "{degree}");
    assert!(found["curvature"]["mu"].as_f64() > found["curvature"]["l2"].as_f64());
    let table = succeed(&["data", "inspect", "a.svm", "--loss", "hinge"], folder.path());
    for line in ["rows n", "Ω", "conflict degree", "hottest columns", "not smooth"] {
        assert!(table.contains(line), "{line}: {table}");
    }
}

#[test]
fn labels_weights_and_columns_are_added_to_a_mapped_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.svm"), "1 1:1\n-1 2:1\n").unwrap();
    std::fs::write(at("labels"), "7\n8\n").unwrap();
    std::fs::write(at("weights"), "0.5\n2\n").unwrap();
    succeed(&["data", "convert", "a.svm", "a.farrow", "--weights", "weights"], folder.path());
    let read = |options: &ReadOptions| data::read(&at("a.farrow"), options, 1);
    let plain = read(&ReadOptions::default()).unwrap();
    assert_eq!((plain.source.labels().unwrap(), plain.weights), (vec![1.0, -1.0], Some(vec![0.5, 2.0])));
    let revised = ReadOptions { columns: Some(9), labels: Some(at("labels")), ..ReadOptions::default() };
    let revised = read(&revised).unwrap();
    assert_eq!((revised.source.labels().unwrap(), revised.source.shape().columns), (vec![7.0, 8.0], 9));
    let out = succeed(&["data", "convert", "a.farrow", "b.svm"], folder.path());
    assert!(out.contains("b.weights.txt"), "{out}");
    assert_eq!(std::fs::read_to_string(at("b.weights.txt")).unwrap(), "0.5\n2\n");
}

#[test]
fn the_commands_say_what_is_wrong_and_exit_with_1_or_2() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.svm"), "1 1:1\n-1 2:1\n").unwrap();
    std::fs::write(folder.path().join("bad.svm"), "1 1:x\n").unwrap();
    let cases: [(&[&str], i32, &str); 12] = [
        (&["data", "generate", "--out", "a.xyz"], 2, ".farrow"),
        (&["data", "generate", "--out", "a.csv"], 2, "sparse rows"),
        (&["data", "generate", "--out", "no/a.svm"], 1, "no/a.svm"),
        (&["data", "generate", "--out", "a.svm", "--intercept", "much"], 2, "balance"),
        (&["data", "generate", "--out", "a.svm", "--conflict", "2"], 2, "below 1"),
        (&["data", "generate", "--out", "a.svm", "--dense", "--power", "1"], 2, "--power"),
        (&["data", "convert", "none.svm", "b.farrow"], 1, "none.svm"),
        (&["data", "convert", "bad.svm", "b.farrow"], 1, "bad.svm:1"),
        (&["data", "convert", "a.svm", "b.csv"], 2, "sparse rows"),
        (&["data", "inspect", "a.svm", "--loss", "cubic"], 2, "logistic"),
        (&["data", "inspect", "a.svm", "--loss", "huber", "--huber-delta", "0"], 2, "above 0"),
        (&["data", "inspect", "a.svm", "--loss", "squared", "--l2=-1"], 2, "--l2"),
    ];
    for (arguments, code, expected) in cases {
        let output = farrow(arguments, folder.path());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(expected) && !message.contains("panicked"), "{arguments:?}: {message}");
    }
    let left: Vec<PathBuf> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_farrow"))
        .args(["data", "inspect", "a.svm"])
        .current_dir(folder.path())
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status();
    assert_eq!(status.unwrap().code(), Some(1), "a full disk under stdout");
}
