//! A model judged on a data set.

use super::{
    Margins, Model, Strangers,
    factors::Completed,
    judge::{Verdict, judge},
};
use crate::{
    data::Data,
    error::{Error, Result},
    prox::Prox,
};

/// What judging found.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The measures.
    pub verdict: Verdict,
    /// The mean loss and the regulariser: F(x) of these data.
    pub objective: f64,
    /// Rows judged; with [`Model::factors`], stored entries.
    pub rows: usize,
    /// Rows left out, since the model was not fitted on their label.
    pub rows_left_out: usize,
    /// The label of the first of them.
    pub label_left_out: Option<f64>,
    /// Where data and model have different columns.
    pub strangers: Strangers,
}

impl Model {
    /// Margins, labels and weights to judge by: of rows, or with [`Model::factors`] of stored entries, whose labels are their
    /// values and whose weights are their rows'.
    fn judged(&self, data: &Data) -> Result<(Margins, Vec<f64>, Option<Vec<f64>>)> {
        let Some(factors) = self.factors else {
            return Ok((self.margins(&*data.source)?, data.source.labels()?, data.weights.clone()));
        };
        let Completed { margins, values, lengths } = self.completed(factors, &*data.source)?;
        let spread = |weights: &Vec<f64>| {
            let each = weights.iter().zip(&lengths);
            each.flat_map(|(weight, &length)| std::iter::repeat_n(*weight, length)).collect()
        };
        Ok((margins, values, data.weights.as_ref().map(spread)))
    }

    /// Judges the model on `data`, with their weights; `prox` is the regulariser of the objective.
    ///
    /// # Errors
    /// As [`Source::take`](crate::data::Source::take) and [`Source::labels`](crate::data::Source::labels);
    /// [`Error::Data`] if there is no row with a label that the model was fitted on, or no entry for one of factors.
    pub fn evaluate(&self, data: &Data, prox: &Prox) -> Result<Evaluation> {
        let (margins, labels, weights) = self.judged(data)?;
        let known = |row: &usize| self.target(labels[*row]).is_some();
        let rows: Vec<usize> = (0..labels.len()).filter(known).collect();
        if rows.is_empty() {
            let (what, remedy) = match self.labels {
                Some([negative, positive]) => (
                    "no row has a label that the model was fitted on",
                    format!("it was fitted on {negative} and {positive}"),
                ),
                None if self.factors.is_some() => (
                    "no entry is stored",
                    "a model of factors is judged on stored entries: give at least one".into(),
                ),
                None => ("there is no row", "give at least one".into()),
            };
            return Err(Error::data(&data.path, None, what, remedy));
        }
        let z: Vec<f64> = rows.iter().map(|row| margins.values[*row]).collect();
        let b: Vec<f64> = rows.iter().filter_map(|row| self.target(labels[*row])).collect();
        let w: Option<Vec<f64>> = weights.as_ref().map(|w| rows.iter().map(|row| w[*row]).collect());
        let verdict = judge(&self.loss, &z, &b, w.as_deref());
        let penalty: f64 = self.weights.iter().map(|weight| prox.value(*weight)).sum();
        Ok(Evaluation {
            verdict,
            objective: verdict.loss() + penalty,
            rows: rows.len(),
            rows_left_out: labels.len() - rows.len(),
            label_left_out: (0..labels.len()).find(|row| !known(row)).map(|row| labels[row]),
            strangers: margins.strangers,
        })
    }
}

impl Evaluation {
    /// What a person should know before the measures.
    pub fn warnings(&self) -> Vec<String> {
        let left_out = self.label_left_out.map(|label| {
            format!(
                "{} rows have a label that the model was not fitted on ({label} is one); they are left out",
                self.rows_left_out
            )
        });
        self.strangers.warning().into_iter().chain(left_out).collect()
    }
}
