//! Numbers as a person reads them, and round numbers for ticks.

/// `value` with about three digits, large ones with k, M or G: `0.051`, `1.23`, `45.6`, `789`, `12.3k`.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 999.5e9 || (size > 0.0 && size < 0.5e-3) {
        return format!("{value:.1e}");
    }
    for (suffix, unit) in [("G", 1e9_f64), ("M", 1e6), ("k", 1e3)] {
        if size >= unit.max(9999.5) || (size >= 0.9995 * unit && unit > 1e3) {
            return format!("{}{suffix}", trimmed(value / unit, decimals(value / unit)));
        }
    }
    trimmed(value, decimals(value))
}

/// How many decimals leave three digits.
fn decimals(value: f64) -> usize {
    match value.abs() {
        99.95.. => 0,
        9.995.. => 1,
        0.9995.. => 2,
        _ => 3,
    }
}

/// `value` with at most so many decimals, without zeros at its end.
pub(super) fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text };
    if text == "-0" { "0".into() } else { text }
}

/// A number of bytes with the largest binary unit that leaves a number of 1 or more: `4 KiB`, `1.5 MiB`.
pub(super) fn bytes(value: f64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fitting = units.iter().find(|(_, power)| value.abs() >= 2f64.powi(*power));
    match fitting {
        Some((unit, power)) => format!("{} {unit}", trimmed(value / 2f64.powi(*power), 1)),
        None => format!("{} B", trimmed(value, 1)),
    }
}

/// The least of 1, 2, 5, 10, 20, … (times any power of ten) that is not below `at_least`, which is above 0.
pub(super) fn round_up(at_least: f64) -> f64 {
    let power = 10f64.powf(at_least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    // Rounding must not turn 5 into 10.
    factors.into_iter().find(|factor| factor * power >= at_least * (1.0 - 1e-12)).unwrap_or(10.0) * power
}

/// The multiples of a round step from `low` to `high`, about `count` of them; `low` alone where nothing lies between.
pub(super) fn ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    multiples(low, high, round_up(span / count.max(1) as f64))
}

/// The multiples of `step` from `low` to `high`.
pub(super) fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let slack = 1e-9 * (high - low);
    let (first, last) = (((low - slack) / step).ceil() as i64, ((high + slack) / step).floor() as i64);
    // A step far below the numbers themselves cannot be told apart from them.
    (first..=last.min(first.saturating_add(100))).map(|k| k as f64 * step).collect()
}

/// Labels of ticks, which tell them apart: with as many decimals as their step has.
pub(super) fn labels(ticks: &[f64]) -> Vec<String> {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let largest = ticks.iter().fold(0.0, |largest: f64, tick| largest.max(tick.abs()));
    let is_plain = largest < 9999.5 && step.is_finite() && step >= 1e-6;
    let decimals = if is_plain { (-step.log10() - 1e-9).ceil().max(0.0) as usize } else { 0 };
    ticks.iter().map(|&tick| if is_plain { trimmed(tick, decimals) } else { short(tick) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let texts = [0.0, 0.0512, 1.234, 45.64, 789.4, 1234.0, 9999.0, 12345.0, 999_999.0, 2.5e6, 3e9, -45.64];
        let expected = ["0", "0.051", "1.23", "45.6", "789", "1234", "9999", "12.3k", "1M", "2.5M", "3G", "-45.6"];
        assert_eq!(texts.map(short), expected);
        assert_eq!((short(1e-9), short(1e15)), ("1.0e-9".into(), "1.0e15".into()));
    }

    #[test]
    fn bytes_have_binary_units() {
        assert_eq!(
            [64.0, 4096.0, 98304.0, 1572864.0, 2f64.powi(34)].map(bytes),
            ["64 B", "4 KiB", "96 KiB", "1.5 MiB", "16 GiB"]
        );
    }

    #[test]
    fn labels_tell_ticks_apart() {
        assert_eq!(labels(&[1000.0, 1000.5, 1001.0]), ["1000", "1000.5", "1001"]);
        assert_eq!(labels(&[0.0, 0.02, 0.04]), ["0", "0.02", "0.04"]);
        assert_eq!(labels(&[0.0, 20000.0]), ["0", "20k"]);
        assert_eq!(labels(&[7.25]), ["7.25"]);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(37.0, 52.0, 4), [40.0, 45.0, 50.0]);
        assert_eq!(ticks(7.0, 7.0, 4), [7.0]);
        assert_eq!(ticks(0.0, f64::INFINITY, 4), [0.0]);
        assert_eq!([1.0, 1.1, 2.0, 3.0, 5.0, 0.07, 700.0].map(round_up), [1.0, 2.0, 2.0, 5.0, 5.0, 0.1, 1000.0]);
    }
}
