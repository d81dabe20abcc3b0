//! The phases that judge x = 0, where the certificate is relative to it.

use super::{Crew, PANICKED, Run};
use crate::{data::matrix::Matrix, sync::Slot};

impl<D: Matrix> Run<'_, D> {
    /// Judges x = 0 first, where the certificate is relative to it.
    pub(super) fn judge_zero(&self, crew: &Crew<'_>) {
        let kept: Vec<f64> = self.constants.iter().map(|constant| constant.read()).collect();
        let stored: Vec<Vec<f64>> =
            self.agreed.iter().map(|chunk| chunk.read().expect(PANICKED).to_vec()).collect();
        let fill = |worker: usize, from: &dyn Fn(usize) -> Vec<f64>| {
            self.agreed[worker].write().expect(PANICKED).copy_from_slice(&from(worker));
        };
        crew.phase(|_| (), || ());
        crew.phase(
            |worker| {
                fill(worker, &|chunk| vec![0.0; stored[chunk].len()]);
                self.constants[worker].put(0.0);
            },
            || (),
        );
        crew.phase(|worker| self.adopt(worker), || ());
        self.judge(crew, 0.0);
        crew.phase(
            |worker| {
                fill(worker, &|chunk| stored[chunk].clone());
                self.constants[worker].put(kept[worker]);
            },
            || {
                let mut ledger = self.ledger.lock().expect(PANICKED);
                ledger.norm_zero = ledger.totals.step2.sqrt();
            },
        );
        crew.phase(|worker| self.adopt(worker), || ());
    }
}
