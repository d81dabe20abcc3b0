//! Methods that move by whole passes over the data instead of by lines: they ask for a pass, the workers make it, each
//! over its own rows, and what they found, added up, decides what is asked next.
//!
//! The asking is serial and owns the vectors; the passes are parallel and own the rows. So a method says nothing of
//! threads, and both runners drive it alike.
//!
//! Some passes are of the hinge loss smoothed around multipliers αᵢ in [0, 1], with rᵢ = 1 − bᵢzᵢ and a parameter σ > 0:
//! φσ(zᵢ) = max over π in [0, 1] of πrᵢ − (π − αᵢ)²/(2σ). Its slope is −bᵢπᵢ, where πᵢ = min(max(uᵢ, 0), 1) with
//! uᵢ = αᵢ + σrᵢ is that maximum's place. A row is active where 0 < uᵢ < 1: there alone φσ″ is not 0, but σ. For these,
//! bᵢzᵢ, αᵢ, πᵢ and the margins of a direction are kept with each row, where its worker is, and bᵢπᵢ is the dual point
//! that the run certifies x with.

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
    /// The values kept for each row, brought up to date, and by slot Σ wᵢ bᵢ (πᵢ − πᵢ before) aᵢ. Reads the rows whose πᵢ
    /// changes, all of them where `margins` says so.
    Smoothed {
        /// Where the margins come from.
        margins: Margins,
        /// σ.
        sigma: f64,
    },
    /// By pairs of slots Σ wᵢ aᵢ aᵢᵀ over the active rows, estimated from about `rows` of them, drawn as for `Curvature`.
    Active {
        /// As many as are active, and above, for all of them, each once.
        rows: usize,
        /// How many are active, and Σ wᵢ‖aᵢ‖² over them, as the last `Smoothed` found it.
        active: usize,
        /// See `active`.
        spread: f64,
        /// σ.
        sigma: f64,
    },
    /// qᵢ = bᵢaᵢᵀx of each row, for an x that is a direction; then as `Slope` at t = 1. Reads the data once.
    Along {
        /// σ.
        sigma: f64,
    },
    /// The first and second derivative in t of Σ wᵢ φσ(mᵢ + tqᵢ). Reads what is kept for each row, not the data.
    Slope {
        /// σ.
        sigma: f64,
        /// t.
        t: f64,
    },
    /// The epoch is over.
    Done,
}

impl Ask {
    /// Whether x may have been moved before it, so that the workers need it anew.
    pub fn takes_point(&self) -> bool {
        match self {
            Ask::Smoothed { margins, .. } => *margins == Margins::Fresh,
            Ask::Active { .. } | Ask::Slope { .. } | Ask::Norms | Ask::Curvature { .. } => false,
            Ask::Gradient | Ask::Along { .. } | Ask::Done => true,
        }
    }
}

/// Bytes kept with each row for the passes over a smoothed loss: bᵢzᵢ, qᵢ, αᵢ and πᵢ.
pub const KEPT_BYTES: f64 = 32.0;

/// Where the margins mᵢ = bᵢzᵢ come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margins {
    /// From the data, at the present point; αᵢ starts anew at ½, and πᵢ at 0.
    Fresh,
    /// mᵢ + tqᵢ.
    Along(f64),
    /// They are what they were; αᵢ becomes πᵢ first.
    Kept,
}

/// The scalars that a pass adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Σ wᵢ φ(zᵢ).
    pub loss: f64,
    /// Σ wᵢ φ″(zᵢ)‖aᵢ‖²; of `Smoothed`, Σ wᵢ‖aᵢ‖² over active rows.
    pub spread: f64,
    /// Σ wᵢ (max(rᵢ, 0) − πᵢrᵢ), none of which is negative.
    pub slack: f64,
    /// How many rows are active.
    pub active: usize,
    /// The first derivative along the direction.
    pub slope: f64,
    /// The second.
    pub bend: f64,
}

impl Sums {
    /// Adds another worker's.
    pub fn add(&mut self, other: &Sums) {
        self.loss += other.loss;
        self.spread += other.spread;
        self.slack += other.slack;
        self.active += other.active;
        self.slope += other.slope;
        self.bend += other.bend;
    }
}

/// What the last pass found, all workers together.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Scalars.
    pub sums: Sums,
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
    /// Whether it asks for the passes that keep values with each row.
    fn keeps_rows(&self) -> bool {
        false
    }
    /// Looks at what was found, and says what to do next; where that takes the point ([`Ask::takes_point`]), x may
    /// have been moved.
    fn next(&mut self, x: &mut [f64], found: Found<'_>) -> Ask;
}
