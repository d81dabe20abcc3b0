//! An axis: the values that it spans, its ticks and their labels.

use super::number;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// One axis of a chart.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<f64>,
    is_log: bool,
    is_bytes: bool,
}

impl Axis {
    /// An axis over `values`, which are finite, and above 0 if it is logarithmic; from `floor` up where none is
    /// below that.
    pub(super) fn over(
        values: impl Iterator<Item = f64> + Clone,
        is_log: bool,
        is_bytes: bool,
        floor: Option<f64>,
    ) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let low = floor.filter(|floor| *floor < low && !is_log).unwrap_or(low);
        let (low, high) = match (low == high, is_log) {
            (true, true) => (low / 2.0, high * 2.0),
            (true, false) => (low - 0.5 * low.abs().max(1.0), high + 0.5 * high.abs().max(1.0)),
            (false, _) => (low, high),
        };
        let mut axis = Axis { low, high, ticks: Vec::new(), is_log, is_bytes };
        axis.ticks = axis.round_values();
        axis
    }

    /// The same axis with a little room before its first and after its last value, so that markers are whole.
    pub(super) fn padded(mut self) -> Self {
        if self.is_log {
            let room = (self.high / self.low).powf(0.02);
            (self.low, self.high) = (self.low / room, self.high * room);
        } else {
            let room = 0.02 * (self.high - self.low);
            (self.low, self.high) = (self.low - room, self.high + room);
        }
        self
    }

    /// The same axis, ended at round values a little outside, so that no point stands on its edge.
    pub(super) fn widened(mut self) -> Self {
        if self.is_log {
            let round_down = |value: f64| 1.0 / number::round_up(1.0 / value);
            (self.low, self.high) = (round_down(self.low / 1.02), number::round_up(self.high * 1.02));
        } else {
            let room = 0.04 * (self.high - self.low);
            let is_at_zero = self.low == 0.0;
            self.high += room;
            self.low -= if is_at_zero { 0.0 } else { room };
        }
        self.ticks = self.round_values();
        self
    }

    fn round_values(&self) -> Vec<f64> {
        let Axis { low, high, .. } = *self;
        let within = |values: Vec<f64>| -> Vec<f64> {
            let slack = |end: f64| 1e-9 * end.abs();
            values.into_iter().filter(|value| *value >= low - slack(low) && *value <= high + slack(high)).collect()
        };
        let ticks = match (self.is_log, self.is_bytes) {
            (true, true) => {
                let (first, last) = (low.log2().floor() as i32, high.log2().ceil() as i32);
                let step = [1, 2, 4, 10].into_iter().find(|step| (last - first) / step < 9).unwrap_or(20);
                within(
                    (first..=last)
                        .filter(|power| power.rem_euclid(step) == 0)
                        .map(|power| 2f64.powi(power))
                        .collect(),
                )
            }
            (true, false) => {
                let decades = (high / low).log10();
                let step = (decades / 8.0).ceil().max(1.0) as i32;
                let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
                let factors: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let powers = (first..=last).filter(|power| power.rem_euclid(step) == 0);
                within(
                    powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power))).collect(),
                )
            }
            (false, true) if high > low => {
                let step = 2f64.powf(((high - low) / 6.0).log2().ceil());
                number::multiples(low, high, step)
            }
            (false, _) => number::ticks(low, high, 8),
        };
        if ticks.len() < 2 { number::ticks(low, high, 4) } else { ticks }
    }

    /// The labels of the ticks.
    pub(super) fn labels(&self) -> Vec<String> {
        if self.is_bytes {
            self.ticks.iter().map(|&tick| number::bytes(tick)).collect()
        } else if self.is_log {
            self.ticks.iter().map(|&tick| number::short(tick)).collect()
        } else {
            number::labels(&self.ticks)
        }
    }

    /// Where a value lies on the axis, 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.is_log { value.ln() } else { value / 2.0 };
        let span = place(self.high) - place(self.low);
        if span > 0.0 { (place(value) - place(self.low)) / span } else { 0.5 }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (begin, end): (i32, i32)) -> i32 {
        (f64::from(begin) + self.share(*value).clamp(0.0, 1.0) * f64::from(end - begin)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().position(|tick| tick == value);
        tick.map_or_else(|| number::short(*value), |tick| self.labels().swap_remove(tick))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], is_log: bool, is_bytes: bool) -> Vec<String> {
        Axis::over(values.iter().copied(), is_log, is_bytes, None).labels()
    }

    #[test]
    fn ticks_of_bytes_are_powers_of_two() {
        let expected = ["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB"];
        assert_eq!(labels(&[4096.0, 16.0 * 1048576.0], true, true), expected);
        assert_eq!(labels(&[64.0, 512.0], true, true), ["64 B", "128 B", "256 B", "512 B"]);
        assert_eq!(labels(&[0.0, 1024.0], false, true)[1], "256 B");
    }

    #[test]
    fn ticks_of_other_values_are_1_2_5_or_powers_of_ten() {
        assert_eq!(labels(&[1.0, 224.0], true, false), ["1", "2", "5", "10", "20", "50", "100", "200"]);
        assert_eq!(labels(&[1.0, 1e5], true, false), ["1", "10", "100", "1000", "10k", "100k"]);
        assert_eq!(labels(&[0.0, 100.0], false, false), ["0", "20", "40", "60", "80", "100"]);
        assert!(labels(&[100.0, 120.0], true, false).len() >= 2);
    }

    #[test]
    fn an_axis_over_one_value_or_none_still_spans_something() {
        for (values, is_log) in
            [(vec![], false), (vec![], true), (vec![7.0], false), (vec![7.0], true), (vec![0.0], false)]
        {
            let axis = Axis::over(values.iter().copied(), is_log, false, None).widened();
            assert!(axis.low < axis.high && axis.ticks.len() >= 2, "{axis:?}");
        }
        let wide = Axis::over([-f64::MAX, f64::MAX].into_iter(), false, false, None);
        assert!((0.0..=1.0).contains(&wide.share(0.0)));
    }

    #[test]
    fn a_logarithmic_axis_gives_each_decade_the_same_room() {
        let axis = Axis::over([1.0, 100.0].into_iter(), true, false, None);
        assert_eq!(
            (axis.map(&1.0, (0, 200)), axis.map(&10.0, (0, 200)), axis.map(&100.0, (0, 200))),
            (0, 100, 200)
        );
        assert_eq!(axis.map(&1.0, (200, 0)), 200);
    }
}
