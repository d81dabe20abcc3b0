//! A fitted model: coefficients in the scale of the input and what is needed to predict with them.

use crate::loss::Loss;

/// z = aᵀx + c for a row a; the label is by loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The loss it was fitted with.
    pub loss: Loss,
    /// For classification, the input's labels that became −1 and +1.
    pub labels: Option<[f64; 2]>,
    /// Whether a row is scaled to norm 1 before it is multiplied.
    pub normalize_rows: bool,
    /// c.
    pub intercept: f64,
    /// x, one a column.
    pub weights: Vec<f64>,
}
