//! The phases that take a snapshot for the methods that want one: all memos at the point where the replicas are, and their
//! average. Traffic: the data once, and W + K times d for K replicas.

use super::{
    Crew, PANICKED, Run,
    evaluate::{PIECE, pieces},
    share,
};
use crate::{data::matrix::Matrix, method::Companion, objective::Linear, store::add_fixed, sync::Slot};

impl<D: Matrix> Run<'_, D> {
    /// A snapshot, where the method wants one before epoch `epoch`.
    pub(super) fn snapshot(&self, crew: &Crew<'_>, epoch: u64) {
        if let Some(Companion::Snapshot { epochs }) = self.engine.companion()
            && epoch.is_multiple_of(epochs)
        {
            self.lay_aside(crew);
            crew.phase(|worker| self.take_slopes(worker), || ());
            crew.phase(|worker| self.average_memos(worker), || ());
            self.take_up(crew);
        }
    }

    /// Memos wᵢφ′ of the worker's rows, and the sum of memo times row over W.
    fn take_slopes(&self, worker: usize) {
        let frame = self.task.frame;
        let (f, state) = (self.task.shards.glm(worker, frame), &self.task.shards.parts[worker].state);
        let mut vector = self.sheets[worker].vector.write().expect(PANICKED);
        vector.fill(0.0);
        let (mut z, mut slopes) = ([0.0; PIECE], [0.0; PIECE]);
        for piece in pieces(0..f.lines()) {
            let (z, slopes) = (&mut z[..piece.len()], &mut slopes[..piece.len()]);
            self.engine.margins(self.replica_of(worker), &f, piece.clone(), None, z);
            frame.loss.slopes(z, &f.labels[piece.clone()], slopes);
            for (i, slope) in piece.zip(slopes) {
                let memo = f.weight(i) * *slope;
                state[i].put(memo);
                add_fixed(&mut vector, memo / frame.total_weight, f.line(i));
            }
        }
    }

    /// Adds up the worker's range of all workers' sums, and gives it to every replica.
    pub(super) fn average_memos(&self, worker: usize) {
        let width = self.task.width();
        let range = share(width, worker, self.workers());
        let mut sums = vec![0.0; range.len()];
        for sheet in &self.sheets {
            let vector = sheet.vector.read().expect(PANICKED);
            sums.iter_mut().zip(&vector[range.start..]).for_each(|(sum, value)| *sum += value);
        }
        let mut stored = vec![0.0; range.len()];
        self.engine.read(self.replica_of(worker), width + range.start, &mut stored);
        self.drifted(worker, &stored, &sums);
        // Not agreed before replicas meet again, where an exchange draws them together.
        self.moving.mark_in_all(width + range.start..width + range.end);
        (0..self.replicas()).for_each(|replica| self.engine.write(replica, width + range.start, &sums));
    }
}
