//! An evaluation told to a person or a program.

use super::table::entry;
use crate::{
    model::{
        Evaluation, Model,
        judge::{Classes, Real, Verdict},
    },
    trace::DataFacts,
};
use serde_json::{Value, json};
use std::path::Path;

/// The object: `data{path,n,d,nnz}`, `model`, `problem` (the loss), `rows`, `rows_left_out`, `unseen{columns,entries,
/// rows}`, `objective`, and the measures by name; one that is not defined on these data is null.
pub fn verdict_json(data: &DataFacts, path: &Path, model: &Model, evaluation: &Evaluation) -> Value {
    let strangers = evaluation.strangers;
    let mut object = json!({
        "data": data,
        "model": path.display().to_string(),
        "problem": model.loss.name(),
        "rows": evaluation.rows,
        "rows_left_out": evaluation.rows_left_out,
        "unseen": {
            "columns": strangers.columns_unseen,
            "entries": strangers.entries_unseen,
            "rows": strangers.rows_unseen,
        },
        "objective": evaluation.objective,
    });
    for (name, value) in measures(&evaluation.verdict) {
        object[name] = json!(value);
    }
    object
}

/// The table, with a newline at its end.
pub fn verdict_table(data: &DataFacts, path: &Path, model: &Model, evaluation: &Evaluation) -> String {
    let mut text = entry("data", &format!("{}: {} rows × {} columns", data.path, data.n, data.d))
        + &entry("model", &format!("{}: {}, {} columns", path.display(), model.loss.name(), model.weights.len()))
        + &entry(
            if model.factors.is_some() { "entries" } else { "rows" },
            &format!("{} judged, {} left out", evaluation.rows, evaluation.rows_left_out),
        )
        + &entry("objective", &format!("{:.10}", evaluation.objective));
    for (name, value) in measures(&evaluation.verdict) {
        let value = value.map_or("not defined on these data".into(), |value| format!("{value:.6}"));
        text += &entry(name, &value);
    }
    text
}

fn measures(verdict: &Verdict) -> Vec<(&'static str, Option<f64>)> {
    match *verdict {
        Verdict::Classes(Classes { loss, accuracy, precision, recall, auc, log_loss }) => vec![
            ("loss", Some(loss)),
            ("accuracy", Some(accuracy)),
            ("precision", precision),
            ("recall", recall),
            ("auc", auc),
            ("log_loss", log_loss),
        ],
        Verdict::Real(Real { loss, rmse, mae, r2 }) => {
            vec![("loss", Some(loss)), ("rmse", Some(rmse)), ("mae", Some(mae)), ("r2", r2)]
        }
    }
}
