//! How well margins agree with labels. Every measure takes weights w > 0, one a row; without weights they are 1.
//! Definitions are those of scikit-learn's `metrics`, which the tests compare with.

use crate::loss::Loss;
use serde::Serialize;

/// The verdict on a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Verdict {
    /// On two classes.
    Classes(Classes),
    /// On real labels.
    Real(Real),
}

impl Verdict {
    /// (1/Σw) Σ wᵢ φ(zᵢ, bᵢ).
    pub fn loss(&self) -> f64 {
        match self {
            Verdict::Classes(classes) => classes.loss,
            Verdict::Real(real) => real.loss,
        }
    }
}

/// Measures for two classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Classes {
    /// (1/Σw) Σ wᵢ φ(zᵢ, bᵢ), the loss that the model was fitted with.
    pub loss: f64,
    /// Share of the rows whose label is right.
    pub accuracy: f64,
    /// Right among those called +1; `None` if none is.
    pub precision: Option<f64>,
    /// Found among those that are +1; `None` if none is.
    pub recall: Option<f64>,
    /// Area under the ROC curve; `None` with one class only.
    pub auc: Option<f64>,
    /// −(1/Σw) Σ wᵢ log P(bᵢ), for logistic models.
    pub log_loss: Option<f64>,
}

/// Measures for real labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Real {
    /// (1/Σw) Σ wᵢ φ(zᵢ, bᵢ), the loss that the model was fitted with.
    pub loss: f64,
    /// √((1/Σw) Σ wᵢ (zᵢ − bᵢ)²).
    pub rmse: f64,
    /// (1/Σw) Σ wᵢ |zᵢ − bᵢ|.
    pub mae: f64,
    /// 1 − Σ w (z − b)² / Σ w (b − b̄)²; `None` if all labels are equal.
    pub r2: Option<f64>,
}

/// Judges margins z against b (±1 for classification).
///
/// # Panics
/// If the slices differ in length.
pub fn judge(loss: &Loss, z: &[f64], b: &[f64], w: Option<&[f64]>) -> Verdict {
    assert_eq!(z.len(), b.len(), "one margin a label");
    let mean_loss = mean(z, b, w, |z, b| loss.value(z, b));
    if !loss.is_classification() {
        return Verdict::Real(Real {
            loss: mean_loss,
            rmse: mean(z, b, w, |z, b| (z - b).powi(2)).sqrt(),
            mae: mean(z, b, w, |z, b| (z - b).abs()),
            r2: r2(z, b, w),
        });
    }
    let said_yes = mean(z, b, w, |z, _| f64::from(z > 0.0));
    let is_yes = mean(z, b, w, |_, b| f64::from(b > 0.0));
    let both = mean(z, b, w, |z, b| f64::from(z > 0.0 && b > 0.0));
    Verdict::Classes(Classes {
        loss: mean_loss,
        accuracy: mean(z, b, w, |z, b| f64::from((z > 0.0) == (b > 0.0))),
        precision: (said_yes > 0.0).then(|| both / said_yes),
        recall: (is_yes > 0.0).then(|| both / is_yes),
        auc: auc(z, b, w),
        // log(1 + e^(−bz)) is −log P(b) without forming P.
        log_loss: (*loss == Loss::Logistic).then_some(mean_loss),
    })
}

fn weight(w: Option<&[f64]>, i: usize) -> f64 {
    w.map_or(1.0, |w| w[i])
}

/// (1/Σw) Σ wᵢ f(zᵢ, bᵢ); NaN without rows.
fn mean(z: &[f64], b: &[f64], w: Option<&[f64]>, f: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, (z, b)) in z.iter().zip(b).enumerate() {
        sum += weight(w, i) * f(*z, *b);
        total += weight(w, i);
    }
    sum / total
}

/// P(z₊ > z₋) + ½ P(z₊ = z₋) for a random pair of rows of either class: rows of one margin are taken together, each
/// +1 among them beats the −1 below and half of the −1 beside it. O(n log n).
pub fn auc(z: &[f64], b: &[f64], w: Option<&[f64]>) -> Option<f64> {
    let mut order: Vec<usize> = (0..z.len()).collect();
    order.sort_unstable_by(|i, j| z[*i].total_cmp(&z[*j]));
    let (mut below, mut positives, mut won) = (0.0, 0.0, 0.0);
    // −0 and 0 are one margin.
    for tied in order.chunk_by(|i, j| z[*i] == z[*j]) {
        let of = |class: f64| {
            tied.iter().filter(|i| (b[**i] > 0.0) == (class > 0.0)).map(|i| weight(w, *i)).sum::<f64>()
        };
        let (here_positive, here_negative) = (of(1.0), of(-1.0));
        won += here_positive * (below + 0.5 * here_negative);
        below += here_negative;
        positives += here_positive;
    }
    (below > 0.0 && positives > 0.0).then(|| won / (below * positives))
}

fn r2(z: &[f64], b: &[f64], w: Option<&[f64]>) -> Option<f64> {
    let centre = mean(z, b, w, |_, b| b);
    let spread = mean(z, b, w, |_, b| (b - centre).powi(2));
    (spread > 0.0).then(|| 1.0 - mean(z, b, w, |z, b| (z - b).powi(2)) / spread)
}
