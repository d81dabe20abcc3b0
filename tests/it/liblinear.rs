//! LIBLINEAR's form of a model. Files are written by hand after its README; the margins are sums on paper.

use farrow::{
    loss::Loss,
    model::{Form, Model},
};
use proptest::prelude::*;
use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Output},
};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for this test")
}

fn load(text: &str) -> Result<Model, String> {
    let folder = folder();
    let path = folder.path().join("m");
    fs::write(&path, text).unwrap();
    Model::load(&path, None)
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

/// As `train` writes it of data whose first row has label −1, with `-B 2`.
const MINUS_FIRST: &str =
    "solver_type L2R_LR\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias 2\nw\n0.5 \n0 \n-1.25 \n0.125 \n";

#[test]
fn the_weights_are_those_of_the_first_label_and_the_bias_is_one_more_column() {
    let model = load(MINUS_FIRST).unwrap();
    assert_eq!(model.loss, Loss::Logistic);
    assert_eq!(model.weights, [0.5, 0.0, -1.25]);
    assert_eq!(model.intercept, 0.25);
    // Column 1 is worth 0.5 + 0.25 > 0: the first label. LIBLINEAR's decision value of 0 gives the second.
    assert_eq!(model.label(model.margin(&[0], &[1.0])), -1.0);
    assert_eq!(model.label(model.margin(&[2], &[1.0])), 1.0);
    assert_eq!(model.label(0.0), 1.0);
    let plain = load(&MINUS_FIRST.replace("bias 2", "bias -1").replace("0.125 \n", "")).unwrap();
    assert_eq!((plain.intercept, plain.weights.len()), (0.0, 3));
}

#[test]
fn a_model_of_regression_has_no_labels() {
    let model = load("solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 2\nbias -1\nw\n2 \n-3 \n").unwrap();
    assert_eq!((model.loss, model.labels), (Loss::Squared, None));
    assert_eq!(model.label(model.margin(&[0, 1], &[1.0, 0.5])), 0.5);
}

#[test]
fn every_solver_stands_for_its_loss() {
    for (loss, solvers) in [
        (Loss::Logistic, &["L2R_LR", "L2R_LR_DUAL", "L1R_LR"][..]),
        (Loss::Hinge, &["L2R_L1LOSS_SVC_DUAL"]),
        (Loss::SquaredHinge, &["L2R_L2LOSS_SVC", "L2R_L2LOSS_SVC_DUAL", "L1R_L2LOSS_SVC"]),
    ] {
        for solver in solvers {
            assert_eq!(load(&MINUS_FIRST.replace("L2R_LR", solver)).unwrap().loss, loss, "{solver}");
        }
    }
}

#[test]
fn what_is_written_is_what_liblinear_writes() {
    let folder = folder();
    let path = folder.path().join("m");
    let model = Model {
        loss: Loss::SquaredHinge,
        labels: Some([0.0, 7.0]),
        normalize_rows: false,
        intercept: -0.25,
        factors: None,
        weights: vec![0.1, 0.0, 1e-7],
    };
    model.save_as(&path, Form::Liblinear, false).unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let head = "solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 7 0\nnr_feature 3\nbias 1\nw\n";
    assert_eq!(written, format!("{head}0.1 \n0.0 \n1e-7 \n-0.25 \n"));
    let scaled = Model { normalize_rows: true, ..model.clone() };
    let halves = Model { labels: Some([0.5, 1.0]), ..model.clone() };
    let huber = Model { loss: Loss::Huber { delta: 1.0 }, labels: None, ..model };
    for (model, says) in [(scaled, "norm 1"), (halves, "one of the data's is 0.5"), (huber, "huber")] {
        let error = model.save_as(&path, Form::Liblinear, false).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), written, "a refused model leaves the old one");
}

proptest! {
    #[test]
    fn a_model_in_liblinear_s_form_reads_back_to_the_same_bits(
        weights in prop::collection::vec(prop_oneof![Just(0.0), prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL], 0..40),
        intercept in prop_oneof![Just(0.0), prop::num::f64::NORMAL],
        kind in 0usize..4,
        classes in (-9i32..9, 10i32..i32::MAX),
    ) {
        let folder = folder();
        let path = folder.path().join("m");
        let loss = [Loss::Logistic, Loss::Hinge, Loss::SquaredHinge, Loss::Squared][kind];
        let labels = loss.is_classification().then_some([f64::from(classes.0), f64::from(classes.1)]);
        let model = Model { loss, labels, normalize_rows: false, intercept, factors: None, weights };
        model.save_as(&path, Form::Liblinear, false).unwrap();
        let back = Model::load(&path, None).unwrap();
        let bits = |model: &Model| -> Vec<u64> { model.weights.iter().map(|weight| weight.to_bits()).collect() };
        prop_assert_eq!(bits(&back), bits(&model));
        prop_assert_eq!(back, model);
    }
}

#[test]
fn what_is_no_model_of_two_classes_is_refused_with_its_line() {
    for (from, to, says) in [
        ("nr_class 2\nlabel -1 1", "nr_class 3\nlabel 1 2 3", "m:2: a model of 3 classes"),
        ("L2R_LR", "MCSVM_CS", "m:1: solver_type MCSVM_CS, a model of many classes"),
        ("L2R_LR", "L2R_L1LOSS_SVR_DUAL", "m:1: solver_type \"L2R_L1LOSS_SVR_DUAL\""),
        ("0.125 \n", "", "m:9: the model is cut short: 3 of 4 weights"),
        ("0.125 ", "0.125 \n1", "m:11: \"1\" follows the 4 weights"),
        ("0.5 ", "0.5x ", "m:7: a weight is \"0.5x\""),
        ("0.5 ", "nan ", "m:7: a weight is \"nan\""),
        ("label -1 1", "label 1 1", "m:3: both labels are 1"),
        ("label -1 1\n", "", "m:5: no label for logistic loss"),
        ("L2R_LR", "L2R_L2LOSS_SVR", "m:6: a label for squared loss"),
        ("nr_feature 3", "nr_feature -3", "m:4: nr_feature is \"-3\""),
        ("nr_feature 3", "nr_feature 99999999999", "m:4: nr_feature is \"99999999999\""),
        ("nr_feature 3\n", "", "m:5: the header lacks a line"),
        ("bias 2", "rho 2", "m:5: \"rho\" is not a line"),
        ("bias 2", "bias 2\nbias 2", "m:6: `bias` is said twice"),
        ("bias 2\nw\n0.5 \n0 \n-1.25 \n0.125 \n", "bias", "m:5: bias is \"\""),
        ("w\n0.5 \n0 \n-1.25 \n0.125 \n", "", "m:5: the model has no `w`"),
    ] {
        let text = MINUS_FIRST.replace(from, to);
        assert_ne!(text, MINUS_FIRST, "{from}");
        let error = load(&text).unwrap_err();
        assert!(error.starts_with(says) && error.contains('\n'), "{says}: {error}");
    }
}

/// `farrow` in `folder`, with arguments separated by blanks.
fn farrow(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_farrow"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn done(folder: &Path, arguments: &str) -> String {
    let output = farrow(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Rows of four values in an arithmetic pattern, label 3 or 5 by the sign of a sum, one in seven turned round.
fn write_data(folder: &Path, labels: [&str; 2]) {
    let mut text = String::new();
    for i in 0..140_u32 {
        let value = |j: u32| f64::from((i * (7 + 5 * j) + 3 * j) % 23) / 11.0 - 1.0;
        let positive = (value(0) - value(1) + 0.5 * value(2) > 0.2) != (i % 7 == 0);
        let _ = write!(text, "{}", labels[usize::from(positive)]);
        (0..4).for_each(|j| write!(text, " {}:{:.4}", j + 1, value(j)).unwrap());
        text.push('\n');
    }
    fs::write(folder.join("data"), text).unwrap();
}

#[test]
fn a_model_in_either_form_says_the_same_of_every_row_and_has_the_same_merit() {
    let folder = folder();
    write_data(folder.path(), ["3", "5"]);
    let solve = "solve data --quiet --runner interleaved --workers 1 --max-epochs 20 --intercept --loss logistic";
    done(folder.path(), &format!("{solve} --model text"));
    done(folder.path(), &format!("{solve} --model theirs --model-format liblinear"));
    let theirs = fs::read_to_string(folder.path().join("theirs")).unwrap();
    assert!(theirs.starts_with("solver_type L2R_LR\nnr_class 2\nlabel 5 3\nnr_feature 4\nbias 1\nw\n"), "{theirs}");
    for output in ["label", "margin", "probability"] {
        let said = |model: &str| done(folder.path(), &format!("predict data --model {model} --output {output}"));
        assert_eq!(said("theirs"), said("text"));
        assert_eq!(said("theirs").lines().count(), 140);
    }
    let verdict = |model: &str| {
        let json: Value =
            serde_json::from_str(&done(folder.path(), &format!("evaluate data --model {model} --json"))).unwrap();
        json["objective"].as_f64().expect("an objective")
    };
    assert_eq!(verdict("theirs"), verdict("text"));
}

#[test]
fn a_run_started_from_a_model_of_turned_labels_goes_as_from_the_model_itself() {
    let folder = folder();
    write_data(folder.path(), ["-1", "1"]);
    for (method, intercept) in
        [("dual", ""), ("bcd", "--intercept"), ("hogwild", "--intercept --set step.initial=0.5")]
    {
        let solve = format!("solve data --runner interleaved --workers 1 --method {method} {intercept} --json");
        done(folder.path(), &format!("{solve} --max-epochs 3 --model ours"));
        let ours = Model::load(&folder.path().join("ours"), None).unwrap();
        assert_eq!(ours.labels, Some([-1.0, 1.0]));
        let weights = ours.weights.iter().map(|weight| -weight).collect();
        let turned = Model { labels: Some([1.0, -1.0]), intercept: -ours.intercept, weights, ..ours };
        turned.save_as(&folder.path().join("turned"), Form::Liblinear, false).unwrap();
        let objective = |start: &str| {
            let json: Value =
                serde_json::from_str(&done(folder.path(), &format!("{solve} --max-epochs 1 {start}"))).unwrap();
            json["objective"].as_f64().expect("an objective")
        };
        let [from_ours, from_turned, from_zero] = ["--warm-start ours", "--warm-start turned", ""].map(objective);
        assert_eq!(from_turned, from_ours, "{method}");
        assert!(from_ours < from_zero, "{method}: {from_ours} is no better than {from_zero} from zero");
    }
}

#[test]
fn what_liblinear_s_form_cannot_hold_is_refused_before_the_run() {
    let folder = folder();
    write_data(folder.path(), ["0.5", "1"]);
    let solve = "solve data --quiet --max-epochs 1 --model m --model-format liblinear";
    for (more, says) in [
        ("", "--model-format: its labels are whole numbers, and one of the data's is 0.5"),
        ("--normalize rows", "--model-format: it does not say that rows are scaled to norm 1"),
        ("--loss huber", "--model-format: it has no solver of huber loss"),
    ] {
        let output = farrow(folder.path(), &format!("{solve} {more}"));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says), "{error}");
        assert!(!folder.path().join("m").exists());
    }
    let without = farrow(folder.path(), "solve data --model-format text");
    assert_eq!(without.status.code(), Some(2), "a form of no file");
}
