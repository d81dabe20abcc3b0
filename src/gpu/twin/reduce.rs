//! Partial sums added up: the twin of `reduce.wgsl`.

use crate::gpu::cut::LANES;

/// Adds up partial sums, given one after the other: lane k takes every 32nd from the k-th on, and the lanes are added in order.
#[derive(Debug)]
pub(super) struct Reduction {
    width: usize,
    lanes: Vec<f32>,
    given: usize,
}

impl Reduction {
    /// Of partial sums of `width` numbers.
    pub(super) fn new(width: usize) -> Self {
        Reduction { width, lanes: vec![0.0; LANES * width], given: 0 }
    }

    /// The next partial sum.
    pub(super) fn add(&mut self, partial: impl IntoIterator<Item = f32>) {
        let lane = self.given % LANES * self.width;
        let lane = &mut self.lanes[lane..lane + self.width];
        lane.iter_mut().zip(partial).for_each(|(sum, n)| *sum += n);
        self.given += 1;
    }

    /// Adds the sum of all to `out`, and returns those of its numbers that `out` has no place for.
    pub(super) fn finish(self, out: &mut [f32]) -> Vec<f32> {
        let mut sum = vec![0.0f32; self.width];
        for lane in self.lanes.chunks(self.width) {
            sum.iter_mut().zip(lane).for_each(|(sum, n)| *sum += n);
        }
        out.iter_mut().zip(&sum).for_each(|(out, n)| *out += n);
        sum.split_off(out.len())
    }
}
