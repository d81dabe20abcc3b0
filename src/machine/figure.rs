//! One measured number and how sure it is.

use serde::{Deserialize, Serialize};

/// A number that was measured in several passes of several samples each. Its unit is in the name of the table's field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The median of the passes' medians: one disturbed pass of three does not move it.
    pub median: f64,
    /// Nine in ten samples of all passes are above.
    pub p10: f64,
    /// One in ten samples of all passes is above.
    pub p90: f64,
    /// Samples of all passes.
    pub samples: u32,
    /// Passes.
    pub passes: u32,
    /// (largest − smallest median of a pass) / median; 0 of one pass.
    pub spread: f64,
}

/// Passes of a steady figure lie no further apart than this share of its median.
const STEADY: f64 = 0.1;

impl Figure {
    /// True unless the medians of its passes lie more than a tenth of its median apart; of one pass nothing is known against it.
    pub fn steady(&self) -> bool {
        self.spread <= STEADY
    }

    /// The figure of these passes; `None` if none has a sample. Samples that are no finite numbers are passed over.
    pub fn of(passes: &[Vec<f64>]) -> Option<Self> {
        let finite = |pass: &Vec<f64>| pass.iter().copied().filter(|value| value.is_finite()).collect::<Vec<_>>();
        let passes: Vec<Vec<f64>> = passes.iter().map(finite).filter(|pass| !pass.is_empty()).collect();
        let medians = sorted(passes.iter().map(|pass| quantile(&sorted(pass.iter().copied()), 0.5)));
        let all = sorted(passes.iter().flatten().copied());
        let (&least, &most) = medians.first().zip(medians.last())?;
        let median = quantile(&medians, 0.5);
        Some(Figure {
            median,
            p10: quantile(&all, 0.1),
            p90: quantile(&all, 0.9),
            samples: all.len() as u32,
            passes: medians.len() as u32,
            spread: if median == 0.0 { 0.0 } else { ((most - least) / median).abs() },
        })
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The q-quantile of ascending values, between neighbours by proportion; NaN of none.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = q * last as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (place - low as f64) * (sorted[high.min(last)] - sorted[low])
}

/// [`quantile`], or 0 where there is no value.
pub(crate) fn quantile_or_0(sorted: &[f64], q: f64) -> f64 {
    if sorted.is_empty() { 0.0 } else { quantile(sorted, q) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_pass_of_three_does_not_move_the_median_and_is_seen_in_the_spread() {
        let figure =
            Figure::of(&[vec![9.0, 10.0, 11.0], vec![90.0, 100.0, 110.0], vec![10.0, 11.0, 12.0]]).unwrap();
        assert_eq!((figure.median, figure.samples, figure.passes), (11.0, 9, 3));
        assert!(figure.spread == 90.0 / 11.0 && !figure.steady());
        assert!(figure.p10 < 11.0 && figure.p90 > 90.0);
    }

    #[test]
    fn quantiles_of_eleven_numbers_are_those_numbers() {
        let figure = Figure::of(&[(0..=10).rev().map(f64::from).collect()]).unwrap();
        assert_eq!((figure.p10, figure.median, figure.p90, figure.spread), (1.0, 5.0, 9.0, 0.0));
        assert!(figure.steady());
    }

    #[test]
    fn no_sample_is_no_figure() {
        assert_eq!(Figure::of(&[]), None);
        assert_eq!(Figure::of(&[vec![], vec![f64::NAN]]), None);
    }
}
