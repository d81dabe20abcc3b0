//! Where the derivative f of a convex function of t > 0 is nearly 0: Newton's method on f, kept within a bracket.

/// |f| over |f(0)| at which t is good enough: what more costs is better spent on the next direction.
const ENOUGH: f64 = 0.02;
/// Trials, at most.
const TRIALS: usize = 40;
/// A bracket this narrow, relative to its end, is a kink.
const NARROW: f64 = 1e-3;

/// A search under way. Besides what the passes find, f has λ₂xᵀδ + tλ₂‖δ‖².
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    /// λ₂xᵀδ and λ₂‖δ‖².
    ridge: [f64; 2],
    /// f(0) < 0.
    first: f64,
    t: f64,
    /// The bracket, f at its ends, and its width before.
    low: f64,
    high: f64,
    f_low: f64,
    f_high: f64,
    width: f64,
    trials: usize,
}

impl Search {
    /// From f(0) = `first` below 0, at t = 1.
    pub(super) fn new(first: f64, cross: f64, square: f64) -> Self {
        Search {
            ridge: [cross, square],
            first,
            t: 1.0,
            low: 0.0,
            high: f64::INFINITY,
            f_low: first,
            f_high: 0.0,
            width: f64::INFINITY,
            trials: 0,
        }
    }

    /// The t that was tried last, or that the search ended with.
    pub(super) fn t(&self) -> f64 {
        self.t
    }

    /// The next t to try, from the loss's first and second derivative at the last; `None` at the end.
    pub(super) fn next(&mut self, slope: f64, bend: f64) -> Option<f64> {
        let f = self.ridge[0] + self.t * self.ridge[1] + slope;
        let curvature = self.ridge[1] + bend;
        self.trials += 1;
        if f.abs() <= ENOUGH * self.first.abs() {
            return None;
        }
        if f < 0.0 {
            (self.low, self.f_low) = (self.t, f);
        } else {
            (self.high, self.f_high) = (self.t, f);
        }
        let width = self.high - self.low;
        let narrow = self.low > 0.0 && self.high.is_finite() && width <= NARROW * self.high;
        if self.trials >= TRIALS || narrow {
            self.t = self.low;
            return None;
        }
        let newton = self.t - f / curvature;
        self.t = if self.high.is_finite() { self.within(newton, width) } else { self.beyond(newton) };
        self.width = width;
        Some(self.t)
    }

    /// Newton's t, or the secant's where that leaves the bracket, or the middle where the bracket did not halve.
    fn within(&self, newton: f64, width: f64) -> f64 {
        let mut t = newton;
        if !(t > self.low && t < self.high) {
            t = self.low + width * self.f_low / (self.f_low - self.f_high);
        }
        if width > 0.5 * self.width || !t.is_finite() {
            t = 0.5 * (self.low + self.high);
        }
        let t = t.max(self.low + 0.02 * width).min(self.high - 0.02 * width);
        if self.low == 0.0 { t.max(1e-3 * self.high) } else { t }
    }

    /// Newton's t, but a good deal further than the last and not beyond all measure.
    fn beyond(&self, newton: f64) -> f64 {
        let t = if newton > 1.1 * self.t { newton } else { 2.0 * self.t };
        t.min(10.0 * self.t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Σ max(0, t − kₖ) sₖ − 1, and its derivative.
    fn loss(kinks: &[(f64, f64)], t: f64) -> (f64, f64) {
        let beyond = kinks.iter().filter(|kink| t > kink.0);
        beyond.fold((-1.0, 0.0), |(f, bend), kink| (f + (t - kink.0) * kink.1, bend + kink.1))
    }

    /// f of a search over Σ max(0, t − kₖ) sₖ − 1 + ct/100, a sum of kinks, and how it ends.
    fn ends_at(kinks: &[(f64, f64)]) -> (f64, f64, usize) {
        let mut search = Search::new(-1.0, 0.0, 0.01);
        while let Some(t) = {
            let (slope, bend) = loss(kinks, search.t());
            search.next(slope, bend)
        } {
            assert!(t > 0.0 && t.is_finite());
        }
        (search.t(), loss(kinks, search.t()).0 + 0.01 * search.t(), search.trials)
    }

    proptest! {
        #[test]
        fn a_search_over_kinks_of_any_height_ends_where_f_is_small_or_jumps(
            kinks in prop::collection::vec((0.0..20.0f64, -3.0..6.0f64), 1..20),
        ) {
            let kinks: Vec<_> = kinks.into_iter().map(|(at, height)| (at, 10f64.powf(height))).collect();
            let (t, f, trials) = ends_at(&kinks);
            // f rises: from below 0 at t to above it a little further on.
            let beyond = t * (1.0 + 2.0 * NARROW);
            let crosses = f < 0.0 && loss(&kinks, beyond).0 + 0.01 * beyond > 0.0;
            prop_assert!(f.abs() <= ENOUGH || (crosses && trials < TRIALS), "t {t}, f {f}, {trials} trials");
        }
    }
}
