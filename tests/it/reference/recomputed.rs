//! F recomputed from the data file and the model that was returned, by the formula of the contract and with no line of
//! the library.

use super::{Optimum, file, optima, solve};
use farrow::model::Model;
use std::path::Path;

/// φ as the contract writes it, with no line of the library.
fn phi(loss: &str, z: f64, b: f64) -> f64 {
    match loss {
        "logistic" => (1.0 + (-b * z).exp()).ln(),
        "squared" => 0.5 * (z - b).powi(2),
        "hinge" => (1.0 - b * z).max(0.0),
        "squared-hinge" => (1.0 - b * z).max(0.0).powi(2),
        "huber" if (z - b).abs() <= 1.0 => 0.5 * (z - b).powi(2),
        "huber" => (z - b).abs() - 0.5,
        other => panic!("{other}"),
    }
}

/// F of a model on a small LIBSVM file, by the contract's formula.
fn recomputed(optimum: &Optimum, data: &Path, model: &Model) -> f64 {
    let x = &model.weights;
    let text = std::fs::read_to_string(data).expect("the committed data");
    let rows = text.lines().map(|line| {
        let mut items = line.split(' ');
        let b: f64 = items.next().expect("a label").parse().expect("a label");
        let entries = items.map(|item| item.split_once(':').expect("column:value"));
        let z: f64 = entries
            .map(|(j, v)| x[j.parse::<usize>().expect("a column") - 1] * v.parse::<f64>().expect("a value"))
            .sum();
        (z + model.intercept, b)
    });
    let rows = rows.collect::<Vec<_>>();
    let n = rows.len();
    let positive = rows.iter().filter(|(_, b)| *b > 0.0).count();
    let weight = |b: f64| match optimum.balanced {
        true if b > 0.0 => n as f64 / (2.0 * positive as f64),
        true => n as f64 / (2.0 * (n - positive) as f64),
        false => 1.0,
    };
    let total: f64 = rows.iter().map(|(_, b)| weight(*b)).sum();
    let loss: f64 = rows.iter().map(|(z, b)| weight(*b) * phi(&optimum.loss, *z, *b)).sum();
    let (l1, l2) = (x.iter().map(|v| v.abs()).sum::<f64>(), x.iter().map(|v| v * v).sum::<f64>());
    loss / total + optimum.l1 * l1 + 0.5 * optimum.l2(n) * l2
}

#[test]
fn the_objective_reported_is_that_of_the_model_returned() {
    for set in ["sparse", "dense"] {
        let data = file("recomputed", set).expect("committed");
        for optimum in optima(set) {
            let mut settings = optimum.settings();
            // Far from the optimum, where F depends on x to first order.
            settings.extend(["stop.max_epochs=3".into(), "workers.count=2".into()]);
            let outcome = solve(&data, &settings).unwrap_or_else(|said| panic!("{said}"));
            let right = recomputed(&optimum, &data, &outcome.model);
            let reported = outcome.objective;
            assert!((reported - right).abs() <= 1e-9 * right, "{}: {reported} for {right}", settings.join(" "));
        }
    }
}
