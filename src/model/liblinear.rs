//! LIBLINEAR's form of a model, as its `train` writes and its `predict` reads it:
//!
//! ```text
//! solver_type L2R_LR
//! nr_class 2
//! label 1 -1
//! nr_feature 3
//! bias -1
//! w
//! 0.5
//! 0
//! -1.25
//! ```
//!
//! One weight a line, of the margin that is positive for the *first* label; there is no `label` for regression. With
//! `bias` B ≥ 0 there is one more weight, of a column that is B in every row: the intercept is B times it. A solver's name
//! stands for its loss; that of ε-insensitive squared loss, for regression, is read as squared loss, since ε is not in
//! the file. Numbers are written with as many digits as they need to read back to the same bits. (Fan, Chang, Hsieh, Wang
//! and Lin 2008, and the `README` of LIBLINEAR 2.)

use super::Model;
use crate::{error::Result, loss::Loss};
use std::{
    io::{self, Write},
    path::Path,
};

mod words;

use words::Words;

/// What a file begins with.
const FIRST_WORD: &str = "solver_type";
/// The solvers of each loss, as the file names them; the first of a loss is written.
const SOLVERS: [(&str, Loss); 9] = [
    ("L2R_LR", Loss::Logistic),
    ("L2R_LR_DUAL", Loss::Logistic),
    ("L1R_LR", Loss::Logistic),
    ("L2R_L1LOSS_SVC_DUAL", Loss::Hinge),
    ("L2R_L2LOSS_SVC", Loss::SquaredHinge),
    ("L2R_L2LOSS_SVC_DUAL", Loss::SquaredHinge),
    ("L1R_L2LOSS_SVC", Loss::SquaredHinge),
    ("L2R_L2LOSS_SVR", Loss::Squared),
    ("L2R_L2LOSS_SVR_DUAL", Loss::Squared),
];
const MULTI_CLASS: &str =
    "farrow reads models of two classes and of regression; train one model a class against the rest";

pub(super) fn is_liblinear(bytes: &[u8]) -> bool {
    bytes.strip_prefix(FIRST_WORD.as_bytes()).is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
}

/// Why the form cannot hold a model of this loss, these labels and rows of norm 1 or not; `None` if it can.
pub(super) fn misfit(loss: Loss, labels: Option<[f64; 2]>, normalize_rows: bool) -> Option<String> {
    let whole = |label: &f64| label.fract() == 0.0 && label.abs() <= f64::from(i32::MAX);
    if normalize_rows {
        return Some("it does not say that rows are scaled to norm 1".into());
    }
    if !SOLVERS.iter().any(|(_, known)| *known == loss) {
        return Some(format!("it has no solver of {} loss", loss.name()));
    }
    let label = labels?.into_iter().find(|label| !whole(label))?;
    Some(format!("its labels are whole numbers, and one of the data's is {label}"))
}

/// Writes `model`, which [`misfit`] has passed.
pub(super) fn write(out: &mut dyn Write, model: &Model, intercept: bool) -> io::Result<()> {
    let solver = SOLVERS.iter().find(|(_, loss)| *loss == model.loss).map_or("", |(name, _)| name);
    writeln!(out, "{FIRST_WORD} {solver}\nnr_class 2")?;
    if let Some([negative, positive]) = model.labels {
        writeln!(out, "label {} {}", positive as i32, negative as i32)?;
    }
    writeln!(out, "nr_feature {}\nbias {}\nw", model.weights.len(), if intercept { 1 } else { -1 })?;
    for weight in model.weights.iter().chain(intercept.then_some(&model.intercept)) {
        writeln!(out, "{weight:?} ")?;
    }
    Ok(())
}

/// The lines before the weights.
#[derive(Default)]
struct Header {
    loss: Option<Loss>,
    classes: Option<u64>,
    /// First and second, as written.
    labels: Option<[f64; 2]>,
    features: Option<u64>,
    bias: Option<f64>,
}

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Model> {
    let mut words = Words::new(path, bytes)?;
    let header = Header::read(&mut words)?;
    let Header { loss: Some(loss), classes: Some(_), features: Some(features), bias: Some(bias), labels } = header
    else {
        let remedy = "solver_type, nr_class, nr_feature and bias come before `w`";
        return Err(words.error("the header lacks a line".into(), remedy));
    };
    if labels.is_some() != loss.is_classification() {
        let what = format!("{} label for {} loss", if labels.is_some() { "a" } else { "no" }, loss.name());
        return Err(words.error(what, "a model of two classes has two labels, one of regression has none"));
    }
    let mut weights = Vec::new();
    let count = features + u64::from(bias >= 0.0);
    while (weights.len() as u64) < count {
        let Some(word) = words.next() else {
            let what = format!("the model is cut short: {} of {count} weights", weights.len());
            return Err(words.error(what, "train it again, or copy the file again"));
        };
        weights.push(words.finite(word, "a weight")?);
    }
    if let Some(word) = words.next() {
        return Err(
            words.error(format!("{word:?} follows the {count} weights that the header announces"), MULTI_CLASS)
        );
    }
    let intercept = if bias >= 0.0 { bias * weights.pop().unwrap_or(0.0) } else { 0.0 };
    // The margin is positive for the first label.
    let labels = labels.map(|[first, second]| [second, first]);
    Ok(Model { loss, labels, normalize_rows: false, intercept, factors: None, weights })
}

impl Header {
    /// Up to and with the word `w`.
    fn read(words: &mut Words<'_>) -> Result<Header> {
        let mut header = Header::default();
        loop {
            let Some(name) = words.next() else {
                return Err(words.error("the model has no `w`".into(), "the weights come after a line `w`"));
            };
            let said_twice = match name {
                "w" => return Ok(header),
                "solver_type" => header.loss.replace(solver(words)?).is_some(),
                "nr_class" => header.classes.replace(classes(words)?).is_some(),
                "label" => header.labels.replace(labels(words)?).is_some(),
                "nr_feature" => {
                    let features = words.whole("nr_feature", 0..=u64::from(u32::MAX) + 1)?;
                    header.features.replace(features).is_some()
                }
                "bias" => {
                    let word = words.next().unwrap_or_default();
                    header.bias.replace(words.finite(word, "bias")?).is_some()
                }
                _ => {
                    let remedy = "known: solver_type, nr_class, label, nr_feature, bias, w";
                    return Err(words.error(format!("{name:?} is not a line of a model's header"), remedy));
                }
            };
            if said_twice {
                return Err(words.error(format!("`{name}` is said twice"), "say it once"));
            }
        }
    }
}

fn solver(words: &mut Words<'_>) -> Result<Loss> {
    let name = words.next().unwrap_or_default();
    if name == "MCSVM_CS" {
        return Err(words.error("solver_type MCSVM_CS, a model of many classes".into(), MULTI_CLASS));
    }
    let found = SOLVERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, loss)| *loss).ok_or_else(|| {
        let known: Vec<_> = SOLVERS.iter().map(|(name, _)| *name).collect();
        words.error(format!("solver_type {name:?}"), format!("farrow has the losses of {}", known.join(", ")))
    })
}

fn classes(words: &mut Words<'_>) -> Result<u64> {
    let classes = words.whole("nr_class", 0..=u64::from(u32::MAX))?;
    match classes {
        2 => Ok(classes),
        _ => Err(words.error(format!("a model of {classes} classes"), MULTI_CLASS)),
    }
}

fn labels(words: &mut Words<'_>) -> Result<[f64; 2]> {
    let mut label = || {
        let word = words.next().unwrap_or_default();
        words.finite(word, "a label")
    };
    let labels = [label()?, label()?];
    if labels[0] == labels[1] {
        return Err(words.error(format!("both labels are {}", labels[0]), "the labels of two classes differ"));
    }
    Ok(labels)
}
