//! From values to shares of the colour scale.

use super::super::number;

/// The span of values that the colours cover.
pub(super) struct Scale {
    low: f64,
    high: f64,
    /// How many values lie below and above.
    outside: (usize, usize),
}

impl Scale {
    /// From the 1st to the 99th percentile of the values, which are finite: from the least to the greatest where they
    /// are a hundred or fewer. `None` where there are none.
    pub(super) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let low = values[(0.01 * last as f64).floor() as usize];
        let high = values[(0.99 * last as f64).ceil() as usize];
        // Noise must not look like structure: the colours span a tenth of the values at least.
        let missing = 0.1 * f64::midpoint(low, high).abs() - (high - low);
        let (low, high) = if missing > 0.0 { (low - missing / 2.0, high + missing / 2.0) } else { (low, high) };
        let below = values.iter().filter(|value| **value < low).count();
        let above = values.iter().filter(|value| **value > high).count();
        Some(Scale { low, high, outside: (below, above) })
    }

    pub(super) fn is_constant(&self) -> bool {
        self.low == self.high
    }

    /// Where a value lies on the scale, 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        if value < self.low {
            0.0
        } else if value > self.high {
            1.0
        } else if self.is_constant() {
            0.5
        } else {
            // Halved, so that a span beyond the greatest number does not overflow.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        }
    }

    /// Ticks with their shares of the scale.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let ticks = number::ticks(self.low, self.high, 5);
        let labels = number::labels(&ticks);
        ticks.iter().map(|&tick| self.share(tick)).zip(labels).collect()
    }

    /// What lies outside, in words.
    pub(super) fn notes(&self, unit: &str) -> Vec<String> {
        let (low, high) = (number::short(self.low), number::short(self.high));
        let told = |count: usize, side: &str, limit: &str| match count {
            0 => None,
            1 => Some(format!("1 cell {side} {limit} {unit}")),
            _ => Some(format!("{count} cells {side} {limit} {unit}")),
        };
        let sides = [told(self.outside.0, "below", &low), told(self.outside.1, "above", &high)];
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        if sides.is_empty() {
            return Vec::new();
        }
        vec![format!("colours span the 1st to the 99th percentile; clipped: {}", sides.join(", "))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_of_many_values_are_clipped_and_said_and_of_few_are_not() {
        // 1 … 400 and one outlier above: the ranks are 4 and 396 of 0 … 400, so 4 lie below and 4 above.
        let values = (1..=400).map(f64::from).chain([1e6]).collect();
        let scale = Scale::of(values).expect("values");
        assert_eq!((scale.low, scale.high, scale.outside), (5.0, 397.0, (4, 4)));
        assert_eq!((scale.share(1.0), scale.share(201.0), scale.share(1e6)), (0.0, 0.5, 1.0));
        assert!(scale.notes("ns")[0].ends_with("clipped: 4 cells below 5 ns, 4 cells above 397 ns"));
        let few = Scale::of(vec![1.0, 2.0, 1e6]).expect("values");
        assert_eq!((few.low, few.high), (1.0, 1e6));
        assert!(few.notes("ns").is_empty() && Scale::of(vec![]).is_none());
    }

    #[test]
    fn one_value_is_in_the_middle_and_great_spans_do_not_overflow() {
        let constant = Scale::of(vec![7.0; 4]).expect("values");
        assert!((constant.share(7.0) - 0.5).abs() < 1e-12 && constant.ticks().len() > 2);
        let zero = Scale::of(vec![0.0; 4]).expect("values");
        assert_eq!((zero.share(0.0), zero.ticks()), (0.5, vec![(0.5, "0".to_string())]));
        // 99 and 101 differ by less than the span of a tenth, so neither has an end colour.
        let noise = Scale::of(vec![99.0, 101.0]).expect("values");
        assert!((noise.share(99.0) - 0.4).abs() < 1e-12 && (noise.share(101.0) - 0.6).abs() < 1e-12);
        let wide = Scale::of(vec![-f64::MAX, f64::MAX]).expect("values");
        assert_eq!(wide.share(0.0), 0.5);
        assert!(!wide.ticks().is_empty());
    }
}
