//! What a run takes beside its data, and whether the machine has it.

use super::{Fit, Form};
use crate::{
    error::{Error, Result},
    os::host,
};

impl Fit<'_> {
    /// Refuses a run whose parameters and vectors cannot fit, with the arithmetic: an index of four billion in a text file
    /// asks for as many coefficients.
    ///
    /// # Errors
    /// [`Error::Unmet`].
    pub(super) fn check_memory(&self) -> Result<()> {
        let Some(available) = host::memory_available_bytes() else {
            return Ok(());
        };
        let (replicas, workers) = (self.plan.replicas.len(), self.plan.workers.len());
        let width = if self.form() == Form::Columns { self.shape.rows } else { self.shape.columns };
        // A replica each, a vector a worker for certificates, and what was last agreed; then x, once more for the model.
        let vectors = replicas as u128 + workers as u128 + 1;
        let needed = 8 * (width as u128 * vectors + 2 * self.shape.columns as u128);
        if needed <= u128::from(available) {
            return Ok(());
        }
        let gib = |bytes: u128| bytes as f64 / f64::from(1 << 30);
        Err(Error::unmet(
            format!(
                "parameters would take {:.1} GiB: 8 bytes × ({width} values × ({replicas} replicas + {workers} workers + 1) \
                 + 2 × {} columns), and {:.1} GiB are available",
                gib(needed),
                self.shape.columns,
                gib(u128::from(available))
            ),
            "Check the largest column number of the data; take fewer workers, or --set parameters.replicas=machine.",
        ))
    }
}
