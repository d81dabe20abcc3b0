//! The phases that judge the origin, where the certificate is relative to it.

use super::{Crew, PANICKED, Run, share};
use crate::{data::matrix::Matrix, sync::Slot};

impl<D: Matrix> Run<'_, D> {
    /// Judges the origin first, where the certificate is relative to it: x = 0, or for a bilinear model the point that its seed
    /// draws, wherever the run itself starts.
    pub(super) fn judge_origin(&self, crew: &Crew<'_>) {
        let kept: Vec<f64> = self.constants.iter().map(|constant| constant.read()).collect();
        let stored: Vec<Vec<f64>> =
            self.agreed.iter().map(|chunk| chunk.read().expect(PANICKED).to_vec()).collect();
        crew.phase(|_| (), || ());
        crew.phase(
            |worker| {
                let start = share(self.engine.width(), worker, self.workers()).start;
                self.task.frame.origin.fill(start, &mut self.agreed[worker].write().expect(PANICKED));
                self.constants[worker].put(0.0);
            },
            || (),
        );
        crew.phase(|worker| self.adopt(worker), || ());
        self.judge(crew, 0.0);
        crew.phase(
            |worker| {
                self.agreed[worker].write().expect(PANICKED).copy_from_slice(&stored[worker]);
                self.constants[worker].put(kept[worker]);
            },
            || {
                let mut ledger = self.ledger.lock().expect(PANICKED);
                ledger.norm_origin = ledger.totals.step2.sqrt();
            },
        );
        crew.phase(|worker| self.adopt(worker), || ());
    }
}
