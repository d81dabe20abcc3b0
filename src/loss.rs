//! φ(z, b): the loss of one term at margin z against label b. A loss is one file below and two lines here.
//!
//! The dual variable of a term is α = −φ′(z) at the optimum, so that x = ∇r*((1/W) Σ wᵢ αᵢ aᵢ).

use serde::Serialize;

mod elementary;
mod hinge;
mod huber;
mod logistic;
mod squared;
mod squared_hinge;

/// What a loss must answer. z is a margin aᵀx, b a label (±1 for classification).
trait Term {
    /// φ(z, b).
    fn value(&self, z: f64, b: f64) -> f64;
    /// φ′(z, b) in z; at a kink, one subgradient.
    fn slope(&self, z: f64, b: f64) -> f64;
    /// An upper bound of φ″; infinite where φ is not smooth.
    fn curvature(&self) -> f64;
    /// φ″(z, b); where φ′ has a kink, one of its one-sided values.
    fn second(&self, z: f64, b: f64) -> f64;
    /// φ′(z, b) and φ″(z, b), for what they have in common.
    #[inline]
    fn bend(&self, z: f64, b: f64) -> (f64, f64) {
        (self.slope(z, b), self.second(z, b))
    }
    /// An upper bound of φ″(z + s)/φ″(z) over all z and |s| ≤ t; infinite where there is none.
    fn stretch(&self, t: f64) -> f64;
    /// φ*(−α, b); infinite outside its domain.
    fn conjugate(&self, alpha: f64, b: f64) -> f64;
    /// Σₖ wₖ φ(zₖ, bₖ).
    #[inline]
    fn values(&self, z: &[f64], b: &[f64], w: &[f64]) -> f64 {
        elementary::sum(z, b, w, |_, z, b| self.value(z, b))
    }
    /// Σₖ wₖ φ*(−αₖ, bₖ).
    #[inline]
    fn conjugates(&self, alpha: &[f64], b: &[f64], w: &[f64]) -> f64 {
        elementary::sum(alpha, b, w, |_, alpha, b| self.conjugate(alpha, b))
    }
    /// outₖ = φ′(zₖ, bₖ).
    #[inline]
    fn slopes(&self, z: &[f64], b: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(z.iter().zip(b)).for_each(|(out, (&z, &b))| *out = self.slope(z, b));
    }
    /// outₖ = φ″(zₖ, bₖ).
    #[inline]
    fn seconds(&self, z: &[f64], b: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(z.iter().zip(b)).for_each(|(out, (&z, &b))| *out = self.second(z, b));
    }
    /// argmax over α of −φ*(−α, b) − (α − old) z − (c/2)(α − old)², for c ≥ 0; or so near to it that all but a hundredth
    /// of the gain is had.
    fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64;
}

/// A loss, by name. Dispatch is one predictable branch an update.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Loss {
    /// log(1 + e^(−bz)).
    Logistic,
    /// ½(z − b)².
    Squared,
    /// max(0, 1 − bz).
    Hinge,
    /// max(0, 1 − bz)².
    SquaredHinge,
    /// ½r² for |r| = |z − b| ≤ δ, else δ|r| − ½δ².
    Huber {
        /// δ > 0.
        delta: f64,
    },
}

macro_rules! on_loss {
    ($loss:expr, $term:ident => $body:expr) => {
        match $loss {
            Loss::Logistic => {
                let $term = &logistic::Logistic;
                $body
            }
            Loss::Squared => {
                let $term = &squared::Squared;
                $body
            }
            Loss::Hinge => {
                let $term = &hinge::Hinge;
                $body
            }
            Loss::SquaredHinge => {
                let $term = &squared_hinge::SquaredHinge;
                $body
            }
            Loss::Huber { delta } => {
                let $term = &huber::Huber { delta: *delta };
                $body
            }
        }
    };
}

impl Loss {
    /// Names as written in configs and flags.
    pub const NAMES: [&'static str; 5] = ["logistic", "squared", "hinge", "squared-hinge", "huber"];

    /// The loss called `name`; `delta` is Huber's.
    pub fn named(name: &str, delta: f64) -> Option<Self> {
        Some(match name {
            "logistic" => Loss::Logistic,
            "squared" => Loss::Squared,
            "hinge" => Loss::Hinge,
            "squared-hinge" => Loss::SquaredHinge,
            "huber" => Loss::Huber { delta },
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Loss::Logistic => Self::NAMES[0],
            Loss::Squared => Self::NAMES[1],
            Loss::Hinge => Self::NAMES[2],
            Loss::SquaredHinge => Self::NAMES[3],
            Loss::Huber { .. } => Self::NAMES[4],
        }
    }

    /// True if labels are two classes mapped to ±1.
    pub fn is_classification(&self) -> bool {
        matches!(self, Loss::Logistic | Loss::Hinge | Loss::SquaredHinge)
    }

    /// Whether dual variables come to an end of φ*'s domain, or to a kink of it, and stay there: then most visits of dual
    /// ascent find nothing to do.
    pub fn rests(&self) -> bool {
        matches!(self, Loss::Hinge | Loss::SquaredHinge | Loss::Huber { .. })
    }

    /// φ(z, b).
    #[inline]
    pub fn value(&self, z: f64, b: f64) -> f64 {
        on_loss!(self, term => term.value(z, b))
    }

    /// φ′(z, b).
    #[inline]
    pub fn slope(&self, z: f64, b: f64) -> f64 {
        on_loss!(self, term => term.slope(z, b))
    }

    /// sup φ″; infinite for the hinge.
    pub fn curvature(&self) -> f64 {
        on_loss!(self, term => term.curvature())
    }

    /// φ″(z, b).
    #[inline]
    pub fn second(&self, z: f64, b: f64) -> f64 {
        on_loss!(self, term => term.second(z, b))
    }

    /// φ′(z, b) and φ″(z, b).
    #[inline]
    pub fn bend(&self, z: f64, b: f64) -> (f64, f64) {
        on_loss!(self, term => term.bend(z, b))
    }

    /// An upper bound of φ″(z + s)/φ″(z) over all z and |s| ≤ t; infinite where there is none.
    #[inline]
    pub fn stretch(&self, t: f64) -> f64 {
        on_loss!(self, term => term.stretch(t))
    }

    /// φ*(−α, b).
    #[inline]
    pub fn conjugate(&self, alpha: f64, b: f64) -> f64 {
        on_loss!(self, term => term.conjugate(alpha, b))
    }

    /// Σₖ wₖ φ(zₖ, bₖ): [`Loss::value`] of many, as fast as vectors are.
    pub fn values(&self, z: &[f64], b: &[f64], w: &[f64]) -> f64 {
        on_loss!(self, term => term.values(z, b, w))
    }

    /// outₖ = φ′(zₖ, bₖ), likewise.
    pub fn slopes(&self, z: &[f64], b: &[f64], out: &mut [f64]) {
        on_loss!(self, term => term.slopes(z, b, out))
    }

    /// outₖ = φ″(zₖ, bₖ), likewise.
    pub fn seconds(&self, z: &[f64], b: &[f64], out: &mut [f64]) {
        on_loss!(self, term => term.seconds(z, b, out))
    }

    /// Σₖ wₖ φ*(−αₖ, bₖ), likewise.
    pub fn conjugates(&self, alpha: &[f64], b: &[f64], w: &[f64]) -> f64 {
        on_loss!(self, term => term.conjugates(alpha, b, w))
    }

    /// The maximiser α of −φ*(−α, b) − (α − old) z − (c/2)(α − old)², or an α that gains all but a hundredth of what it
    /// gains: one step of dual coordinate ascent.
    #[inline(always)]
    pub fn ascend(&self, z: f64, b: f64, old: f64, c: f64) -> f64 {
        on_loss!(self, term => term.ascend(z, b, old, c))
    }
}
