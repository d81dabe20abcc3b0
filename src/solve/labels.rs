//! Labels as the loss wants them, and weights by class.

use crate::{
    config::{ClassWeight, Problem},
    error::{Error, Result},
};
use std::path::Path;

/// Labels, weights, and what the two classes were called.
pub(super) struct Labelled {
    pub(super) labels: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) classes: Option<[f64; 2]>,
}

/// Maps two label values to ±1 for a classification loss (the smaller to −1), and multiplies weights by class weights.
///
/// # Errors
/// One class only, or more than two.
pub(super) fn prepare(
    path: &Path,
    problem: &Problem,
    mut labels: Vec<f64>,
    mut weights: Option<Vec<f64>>,
) -> Result<Labelled> {
    if !problem.loss.is_classification() {
        return match problem.class_weight {
            ClassWeight::None => Ok(Labelled { labels, weights, classes: None }),
            ClassWeight::Balanced => Err(Error::unmet(
                format!("class weights need classes, and the {} loss is for regression", problem.loss.name()),
                "Leave --class-weight out, or use a classification loss.",
            )),
        };
    }
    let classes = two_classes(path, problem, &labels)?;
    labels.iter_mut().for_each(|label| *label = if *label == classes[1] { 1.0 } else { -1.0 });
    if problem.class_weight == ClassWeight::Balanced {
        let weights = weights.get_or_insert_with(|| vec![1.0; labels.len()]);
        let total: f64 = weights.iter().sum();
        let positive: f64 = weights.iter().zip(&labels).filter(|&(_, &b)| b > 0.0).map(|(w, _)| w).sum();
        let by_class = [total / (2.0 * (total - positive)), total / (2.0 * positive)];
        for (weight, &label) in weights.iter_mut().zip(&labels) {
            *weight *= by_class[usize::from(label > 0.0)];
        }
    }
    Ok(Labelled { labels, weights, classes: Some(classes) })
}

fn two_classes(path: &Path, problem: &Problem, labels: &[f64]) -> Result<[f64; 2]> {
    let mut seen: Vec<f64> = Vec::new();
    for (row, &label) in labels.iter().enumerate() {
        if seen.contains(&label) {
            continue;
        }
        seen.push(label);
        if seen.len() > 2 {
            let what = format!(
                "row {} has label {label}, a third value besides {} and {}; the {} loss takes two classes",
                row + 1,
                seen[0],
                seen[1],
                problem.loss.name()
            );
            let remedy = "Keep two classes, or use --loss squared or huber for real labels.";
            return Err(Error::data(path, None, what, remedy));
        }
    }
    match seen[..] {
        [a, b] => Ok([a.min(b), a.max(b)]),
        _ => Err(Error::data(
            path,
            None,
            format!(
                "all {} labels are {}; the {} loss needs two classes",
                labels.len(),
                seen[0],
                problem.loss.name()
            ),
            "Give data with both classes, or use --loss squared or huber.",
        )),
    }
}
