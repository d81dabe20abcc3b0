//! Models: forms, predictions, measures.

use farrow::{
    data::{Block, BlockSpan, Shape, Source},
    error::Error,
    loss::Loss,
    model::{
        Model, Unsaid,
        judge::{Classes, Real, Verdict, auc, judge},
    },
    os::memory::Pages,
};
use proptest::prelude::*;
use std::{fs, path::PathBuf, sync::Mutex};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for this test")
}

fn logistic(weights: Vec<f64>) -> Model {
    Model {
        loss: Loss::Logistic,
        labels: Some([0.0, 1.0]),
        normalize_rows: false,
        intercept: 0.0,
        factors: None,
        weights,
    }
}

fn bits(model: &Model) -> Vec<u64> {
    model.weights.iter().chain([&model.intercept]).map(|value| value.to_bits()).collect()
}

proptest! {
    #[test]
    fn a_model_in_the_text_form_reads_back_to_the_same_bits(
        weights in prop::collection::vec(prop_oneof![Just(0.0), Just(-0.0), prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL], 0..40),
        intercept in prop::num::f64::NORMAL,
        delta in 1e-300..1e300f64,
        regression: bool,
        normalize_rows: bool,
    ) {
        let folder = folder();
        let path = folder.path().join("m.txt");
        let (loss, labels) = if regression { (Loss::Huber { delta }, None) } else { (Loss::Hinge, Some([-1.5, 1e10])) };
        let model = Model { loss, labels, normalize_rows, intercept, factors: None, weights };
        model.save(&path, false).unwrap();
        let back = Model::load(&path, None).unwrap();
        prop_assert_eq!(bits(&back), bits(&model));
        prop_assert_eq!(back, model);
    }
}

#[test]
fn a_model_as_npy_reads_back_to_the_same_bits_with_the_intercept_last() {
    let folder = folder();
    let path = folder.path().join("m.npy");
    let model = Model { intercept: -0.3, ..logistic(vec![0.1, -0.0, 1e-310]) };
    model.save(&path, true).unwrap();
    let unsaid = Unsaid {
        loss: Loss::Logistic,
        labels: Some([0.0, 1.0]),
        normalize_rows: false,
        intercept: true,
        rows: None,
    };
    assert_eq!(bits(&Model::load(&path, Some(&unsaid)).unwrap()), bits(&model));
    let bytes = fs::read(&path).unwrap();
    // numpy.save of the same four values writes a header of 128 bytes.
    assert_eq!(bytes.len(), 128 + 4 * 8);
    assert!(
        bytes.starts_with(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }")
    );
    let silent = Model::load(&path, None).unwrap_err().to_string();
    assert!(silent.contains("--loss"), "{silent}");
}

#[test]
fn saving_over_a_link_keeps_the_link_and_a_failed_save_keeps_the_old_model() {
    let folder = folder();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    logistic(vec![1.0]).save(&real, false).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    logistic(vec![2.0]).save(&link, false).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Model::load(&real, None).unwrap().weights, [2.0]);
    let error = logistic(vec![f64::NAN]).save(&real, false).unwrap_err().to_string();
    assert!(error.contains("not finite"), "{error}");
    assert_eq!(Model::load(&real, None).unwrap().weights, [2.0]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no unfinished file is left");
}

#[test]
fn a_damaged_model_is_an_error_that_names_the_line_and_what_is_accepted() {
    let good = "farrow model 1\nloss hinge\nlabels 0 1\nnormalize none\nintercept 0.5\ncolumns 3\nnonzeros 2\n# c w\n0 1.5\n2 -1e-3\n";
    let folder = folder();
    let path = folder.path().join("m");
    fs::write(&path, good).unwrap();
    assert_eq!(Model::load(&path, None).unwrap().weights, [1.5, 0.0, -1e-3]);
    for (from, to, line, says) in [
        ("farrow model 1", "1 3:4", 1, "not a model"),
        ("farrow model 1", "farrow model 3", 1, "farrow model 3"),
        ("farrow model 1", "farrow model 2", 7, "`factors`"),
        ("loss hinge", "loss huge", 2, "squared-hinge"),
        ("loss hinge", "loss huber", 2, "delta > 0"),
        ("loss hinge", "loss huber -1", 2, "delta > 0"),
        ("loss hinge", "loss squared", 7, "squared with labels"),
        ("labels 0 1\n", "", 6, "without labels"),
        ("labels 0 1", "labels 0", 3, "two numbers"),
        ("labels 0 1", "labels 0 1\nlabels 0 1", 4, "twice"),
        ("normalize none", "normalize all", 4, "none or rows"),
        ("intercept 0.5", "intercept", 5, "one finite"),
        ("intercept 0.5", "intercept inf", 5, "finite"),
        ("intercept 0.5\n", "", 6, "`intercept`"),
        ("columns 3", "columns three", 6, "\"three\""),
        ("columns 3", "columns 99999999999", 6, "at most"),
        ("columns 3", "weight 3", 6, "known: loss"),
        ("nonzeros 2", "nonzeros 3", 10, "cut short"),
        ("nonzeros 2", "nonzeros 4", 7, "at most"),
        ("nonzeros 2", "nonzeros 1", 10, "follows"),
        ("2 -1e-3", "2 -1e", 10, "\"-1e\""),
        ("2 -1e-3", "2 NaN", 10, "NaN"),
        ("2 -1e-3", "3 1", 10, "columns are 0 to 2"),
        ("2 -1e-3", "0 1", 10, "ascending"),
        ("2 -1e-3", "2 1 1", 10, "a column (from 0)"),
        ("2 -1e-3", "", 10, "cut short"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&path, good.replace(from, to)).unwrap();
        let error = Model::load(&path, None).unwrap_err();
        assert!(matches!(error, Error::Data { line: Some(l), .. } if l == line), "{to}: {error}");
        assert!(error.to_string().contains(says), "{to}: {error}");
        assert_eq!(error.exit_code(), 1);
    }
    fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    assert!(Model::load(&path, None).unwrap_err().to_string().contains("not a model"));
    assert!(Model::load(&folder.path().join("none"), None).unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn a_bilinear_model_reads_back_and_a_damaged_one_names_the_line() {
    let good = "farrow model 2\nloss squared\nnormalize none\nintercept 0.0\nfactors 2 1\ncolumns 2\nnonzeros 2\n0 1.5\n5 -1e-3\n";
    let folder = folder();
    let path = folder.path().join("m");
    fs::write(&path, good).unwrap();
    let model = Model::load(&path, None).unwrap();
    assert_eq!(model.weights, [1.5, 0.0, 0.0, 0.0, 0.0, -1e-3]);
    assert_eq!((model.entry(0, 0), model.entry(0, 2), model.entry(1, 0)), (Some(0.0), None, None));
    model.save(&path, false).unwrap();
    assert_eq!(Model::load(&path, None).unwrap(), model);
    for (from, to, line, says) in [
        ("factors 2 1", "factors 0 1", 5, "rank from 1 on"),
        ("factors 2 1", "factors 2", 5, "two whole numbers"),
        ("factors 2 1", "factors 99999 99999999", 6, "at most"),
        ("columns 2", "columns 99999999999", 6, "at most"),
        ("5 -1e-3", "6 -1e-3", 9, "0 to 5"),
        ("model 2", "model 1", 7, "factors"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&path, good.replace(from, to)).unwrap();
        let error = Model::load(&path, None).unwrap_err();
        assert!(matches!(error, Error::Data { line: Some(l), .. } if l == line), "{to}: {error}");
        assert!(error.to_string().contains(says), "{to}: {error}");
    }
    let npy = folder.path().join("m.npy");
    model.save(&npy, false).unwrap();
    let mut unsaid =
        Unsaid { loss: Loss::Squared, labels: None, normalize_rows: false, intercept: false, rows: Some(1) };
    assert_eq!(Model::load(&npy, Some(&unsaid)).unwrap(), model);
    unsaid.rows = Some(4);
    assert!(Model::load(&npy, Some(&unsaid)).is_err());
}

#[test]
fn a_damaged_npy_model_is_an_error() {
    let folder = folder();
    let path = folder.path().join("m.npy");
    logistic(vec![1.0, 2.0]).save(&path, false).unwrap();
    let good = fs::read(&path).unwrap();
    let unsaid = Unsaid { loss: Loss::Squared, labels: None, normalize_rows: false, intercept: false, rows: None };
    let header = |from: &str, to: &str| {
        let text = good.iter().map(|byte| char::from(*byte)).collect::<String>();
        assert!(text.contains(from) && from.len() == to.len());
        text.replace(from, to).chars().map(|c| c as u8).collect::<Vec<u8>>()
    };
    for (bytes, says) in [
        (good[..9].to_vec(), "cut short"),
        (good[..64].to_vec(), "cut short"),
        (good[..good.len() - 1].to_vec(), "15 bytes of values"),
        (header("<f8", ">f8"), ">f8"),
        (header("(2,), ", "(2,2),"), "a matrix"),
        (header("(2,), ", "(x,), "), "shape"),
        (header("(2,), }             ", "(99999999999999999),"), "bytes of values"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = Model::load(&path, Some(&unsaid)).unwrap_err().to_string();
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[test]
fn margins_scale_rows_only_if_the_model_was_fitted_so() {
    let plain = Model { intercept: 0.5, ..logistic(vec![1.0, 2.0, -1.0]) };
    let scaled = Model { normalize_rows: true, ..plain.clone() };
    assert_eq!(plain.margin(&[0, 1], &[3.0, 4.0]), 11.5);
    assert_eq!(scaled.margin(&[0, 1], &[3.0, 4.0]), 11.0 / 5.0 + 0.5);
    assert_eq!(scaled.margin_dense(&[3.0, 4.0, 0.0]), 11.0 / 5.0 + 0.5);
    assert_eq!(scaled.margin(&[], &[]), 0.5);
    // Column 7 is unseen: it adds nothing, and counts in the norm as it would have in training.
    assert_eq!(plain.margin(&[0, 7], &[3.0, 4.0]), 3.5);
    assert_eq!(scaled.margin(&[0, 7], &[3.0, 4.0]), 3.0 / 5.0 + 0.5);
}

#[test]
fn labels_and_probabilities_follow_the_loss() {
    let model = logistic(vec![1.0]);
    assert_eq!((model.label(0.1), model.label(0.0), model.label(-0.1)), (1.0, 0.0, 0.0));
    // 1/(1 + 1/3) at z = log 3.
    assert!((model.probability(3f64.ln()).unwrap() - 0.75).abs() < 1e-15);
    assert_eq!(model.probability(-800.0), Some(0.0));
    assert_eq!(model.probability(800.0), Some(1.0));
    assert_eq!((model.target(0.0), model.target(1.0), model.target(2.0)), (Some(-1.0), Some(1.0), None));
    let hinge = Model { loss: Loss::Hinge, ..model.clone() };
    assert_eq!(hinge.probability(1.0), None);
    let squared = Model { loss: Loss::Squared, labels: None, ..model };
    assert_eq!((squared.label(0.7), squared.target(0.7)), (0.7, Some(0.7)));
}

/// Blocks given away once, as a parsed source does.
struct Blocks {
    shape: Shape,
    spans: Vec<BlockSpan>,
    blocks: Mutex<Vec<Option<Block>>>,
}

impl Source for Blocks {
    fn shape(&self) -> Shape {
        self.shape
    }
    fn spans(&self) -> &[BlockSpan] {
        &self.spans
    }
    fn take(&self, index: usize) -> farrow::error::Result<Block> {
        self.blocks.lock().unwrap()[index]
            .take()
            .ok_or_else(|| Error::data(&PathBuf::from("blocks"), None, "taken twice", "take it once"))
    }
    fn labels(&self) -> farrow::error::Result<Vec<f64>> {
        Ok(vec![0.0; self.shape.rows])
    }
}

fn sparse(starts: &[u64], columns: &[u32], values: &[f32]) -> Block {
    Block::Sparse { starts: starts.to_vec(), columns: Pages::copied(columns), values: Pages::copied(values) }
}

#[test]
fn columns_unseen_in_training_count_as_zero_and_are_reported() {
    let shape = Shape { rows: 3, columns: 6, nonzeros: 5, dense: false };
    let spans =
        vec![BlockSpan { first_row: 0, rows: 2, nonzeros: 4 }, BlockSpan { first_row: 2, rows: 1, nonzeros: 1 }];
    let blocks =
        vec![Some(sparse(&[0, 3, 4], &[0, 2, 5, 1], &[1.0, 2.0, 3.0, 4.0])), Some(sparse(&[0, 1], &[4], &[9.0]))];
    let margins =
        logistic(vec![10.0, 20.0, 30.0]).margins(&Blocks { shape, spans, blocks: Mutex::new(blocks) }).unwrap();
    assert_eq!(margins.values, [70.0, 80.0, 0.0]);
    let strangers = margins.strangers;
    assert_eq!((strangers.columns_unseen, strangers.entries_unseen, strangers.rows_unseen), (3, 2, 2));
    assert!(strangers.warning().unwrap().contains("2 entries in 2 rows lie in 3 columns"));
}

#[test]
fn dense_data_with_fewer_columns_than_the_model_count_as_zero_and_are_reported() {
    let shape = Shape { rows: 2, columns: 2, nonzeros: 4, dense: true };
    let spans = vec![BlockSpan { first_row: 0, rows: 2, nonzeros: 4 }];
    let blocks = vec![Some(Block::Dense { columns: 2, values: Pages::copied(&[1.0, 2.0, 3.0, 4.0]) })];
    let margins =
        logistic(vec![1.0, 10.0, 100.0]).margins(&Blocks { shape, spans, blocks: Mutex::new(blocks) }).unwrap();
    assert_eq!(margins.values, [21.0, 43.0]);
    assert_eq!(margins.strangers.columns_missing, 1);
    assert!(margins.strangers.warning().unwrap().contains("last 1 columns"));
}

const Z: [f64; 10] = [-2.5, -1.0, -1.0, -0.25, 0.0, 0.5, 0.5, 0.5, 1.5, 3.0];
const W: [f64; 10] = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.25, 2.0, 1.0];

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
}

/// Constants: sklearn.metrics of scikit-learn 1.x on the same ten rows, without and with sample_weight.
#[test]
fn measures_of_two_classes_agree_with_scikit_learn() {
    let b = [-1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0];
    for (w, [accuracy, precision, recall, auc, log_loss]) in [
        (None, [0.6, 0.6, 0.6, 0.66, 0.6646731291864599]),
        (
            Some(&W[..]),
            [0.49019607843137253, 0.42857142857142855, 0.391304347826087, 0.6366459627329193, 0.708667610713041],
        ),
    ] {
        let Verdict::Classes(Classes { loss, .. }) = judge(&Loss::Hinge, &Z, &b, w) else { panic!("two classes") };
        assert!(loss > 0.0);
        let Verdict::Classes(found) = judge(&Loss::Logistic, &Z, &b, w) else { panic!("two classes") };
        close(found.accuracy, accuracy);
        close(found.precision.unwrap(), precision);
        close(found.recall.unwrap(), recall);
        close(found.auc.unwrap(), auc);
        close(found.log_loss.unwrap(), log_loss);
        close(found.loss, log_loss);
    }
}

/// Constants: as above, of mean_squared_error (its root), mean_absolute_error and r2_score.
#[test]
fn measures_of_real_labels_agree_with_scikit_learn() {
    let b = [-2.0, -1.5, 0.0, 0.5, 0.0, 1.0, 0.25, 0.75, 1.25, 2.5];
    for (w, [rmse, mae, r2]) in [
        (None, [0.5244044240850758, 0.45, 0.8188554960889255]),
        (Some(&W[..]), [0.4441890606134143, 0.35784313725490197, 0.8678331133502881]),
    ] {
        let Verdict::Real(Real { loss, rmse: found, mae: found_mae, r2: found_r2 }) =
            judge(&Loss::Squared, &Z, &b, w)
        else {
            panic!("real labels")
        };
        close(found, rmse);
        close(found_mae, mae);
        close(found_r2.unwrap(), r2);
        close(loss, rmse * rmse / 2.0);
    }
}

#[test]
fn measures_that_one_class_or_equal_labels_leave_undefined_are_none() {
    assert_eq!(auc(&[1.0, 2.0], &[1.0, 1.0], None), None);
    assert_eq!(auc(&[1.0, 1.0], &[1.0, -1.0], None), Some(0.5), "a tie is half a win");
    assert_eq!(auc(&[-0.0, 0.0], &[1.0, -1.0], None), Some(0.5), "−0 and 0 are one margin");
    let Verdict::Classes(none) = judge(&Loss::Hinge, &[-1.0], &[-1.0], None) else { panic!("two classes") };
    assert_eq!((none.precision, none.recall, none.auc, none.log_loss), (None, None, None, None));
    let Verdict::Real(flat) = judge(&Loss::Squared, &[1.0, 2.0], &[3.0, 3.0], None) else { panic!("real labels") };
    assert_eq!(flat.r2, None);
}
