//! How far the last steps went: prefix sums Sₖ = Σ γₜ over t < k, in a ring, so that a sum over any of the last steps is one
//! difference.

/// Steps that are remembered: 512 KiB a replica. A delay of as many or more leaves no room for a step.
const REMEMBERED: usize = 1 << 16;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Sₖ at k mod [`REMEMBERED`], less what was taken off all of them when the ring last began anew.
    sums: Box<[f64]>,
    /// Steps so far.
    steps: u64,
}

impl Window {
    pub(super) fn new() -> Self {
        Window { sums: vec![0.0; REMEMBERED].into(), steps: 0 }
    }

    fn sum(&self, steps: u64) -> f64 {
        self.sums[steps as usize % REMEMBERED]
    }

    /// Σ γₜ over the last `delay` steps; infinite where that is more than are remembered.
    pub(super) fn spent(&self, delay: u64) -> f64 {
        let delay = delay.min(self.steps);
        if delay >= REMEMBERED as u64 {
            return f64::INFINITY;
        }
        self.sum(self.steps) - self.sum(self.steps - delay)
    }

    /// A step of length γₖ.
    pub(super) fn push(&mut self, length: f64) {
        let sum = self.sum(self.steps) + length;
        self.steps += 1;
        self.sums[self.steps as usize % REMEMBERED] = sum;
        if self.steps.is_multiple_of(REMEMBERED as u64) {
            // The sums keep their digits however long a run is.
            self.sums.iter_mut().for_each(|old| *old -= sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_the_last_steps_are_right_across_the_rings_end() {
        let mut window = Window::new();
        let length = |k: u64| 1.0 + (k % 7) as f64;
        let steps = 3 * REMEMBERED as u64 + 5;
        (0..steps).for_each(|k| window.push(length(k)));
        for delay in [0, 1, 4, 6, 1000, REMEMBERED as u64 - 1] {
            let expected: f64 = (steps - delay..steps).map(length).sum();
            assert_eq!(window.spent(delay), expected, "{delay}");
        }
        assert_eq!(window.spent(REMEMBERED as u64), f64::INFINITY);
    }

    #[test]
    fn a_delay_from_before_the_first_step_counts_all_steps() {
        let mut window = Window::new();
        window.push(2.0);
        assert_eq!(window.spent(9), 2.0);
    }
}
