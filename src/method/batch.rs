//! Methods that move by whole passes over the data instead of by lines: they ask for a pass, the workers make it, each
//! over its own rows, and what they found, added up, decides what is asked next.
//!
//! The asking is serial and owns the vectors; the passes are parallel and own the rows. So a method says nothing of
//! threads, and both runners drive it alike.

/// A pass over the rows, at the present point x. zᵢ = aᵢᵀx.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ask {
    /// Σ wᵢ φ(zᵢ), Σ wᵢ φ″(zᵢ)‖aᵢ‖², and by slot Σ wᵢ φ′(zᵢ) aᵢ. Reads the data once.
    Gradient,
    /// By slot Σ wᵢ aᵢⱼ².
    Norms,
    /// By pairs of slots Σ wᵢ φ″(zᵢ) aᵢ aᵢᵀ, estimated from about `rows` of them. Reads the data once, and works half the
    /// square of a row's entries for each row taken.
    ///
    /// Rows are drawn by how much they weigh (systematic sampling, with a probability in proportion to sᵢ = wᵢφ″(zᵢ)‖aᵢ‖² plus
    /// a tenth of the mean of that, at most 1) and counted by the inverse of their probability.
    Curvature {
        /// n and above for all rows, each once.
        rows: usize,
        /// Σ sᵢ, as the last `Gradient` found it.
        spread: f64,
    },
    /// The epoch is over.
    Done,
}

/// What the last pass found, all workers together.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Σ wᵢ φ(zᵢ).
    pub loss: f64,
    /// Σ wᵢ φ″(zᵢ)‖aᵢ‖².
    pub spread: f64,
    /// By slot.
    pub vector: &'a [f64],
    /// Row by row, the lower triangle.
    pub matrix: &'a [f64],
}

/// The serial part of such a method.
pub trait Batch: Send {
    /// What an epoch asks for first. As with [`Batch::next`], x may be moved where it is `Gradient` or `Done`.
    fn begin(&mut self, x: &mut [f64]) -> Ask;
    /// The relative certificate that the present point will have, if the method knows: there is no need then to evaluate
    /// before it is small enough.
    fn certificate(&self) -> Option<f64> {
        None
    }
    /// Looks at what was found, and says what to do next; where that is `Gradient` or `Done`, x may have been moved.
    fn next(&mut self, x: &mut [f64], found: Found<'_>) -> Ask;
}
