//! Matrix completion: the stored entries become the lines of a bilinear model, and the methods that take it are chosen from.

use super::{Fit, Made, Outcome, Placed, Start};
use crate::{
    data::{Data, matrix::Pairs},
    error::{Error, Result},
    layout::Slots,
    method::About,
    model::{Factors, Model},
    objective::{Frame, Origin},
    os::{clock::Stopwatch, memory::Apart},
    placement::team,
    shard::{self, Deal, Part, Shards},
    trace::Observer,
};
use std::sync::{Arc, OnceLock};

/// As many parameters as data may have columns.
const PARAMETERS_MAX: usize = 1 << 32;
/// E(uᵀv)² at the start, as a share of the mean square of the entries: small, so that the start says little, and not so small
/// that leaving it takes many epochs.
const START: f64 = 0.01;

impl Fit<'_> {
    /// As `with_data`, for a model of rank `rank`.
    pub(super) fn with_pairs(
        self,
        rank: usize,
        data: Data,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let clock = Stopwatch::start();
        let mut placed = self.place_pairs(rank, &data, start)?;
        placed.seconds = clock.seconds();
        let frame = placed.frame.clone();
        let about = About { frame: &frame, nonzeros: placed.shards.nonzeros() };
        self.choice.method.make_for_any(&about, Made { fit: &self, placed, observer })
    }

    fn place_pairs<'s>(&self, rank: usize, data: &Data, start: Start<'s>) -> Result<Placed<'s, Pairs>> {
        let (problem, terms) = (&self.setup.problem, self.terms());
        let width = self.check_size(rank, data)?;
        let mut parts = self.pairs(rank, data)?;
        shard::number(self.plan, &mut parts);
        let prox = problem.prox(terms);
        let all = || parts[self.plan.once()].iter().map(|part| &**part);
        let values = || all().flat_map(|part| &part.labels[..]);
        // In row order, so that the sum is the same for any number of workers.
        let mean_square = values().map(|a| a * a).sum::<f64>() / terms as f64;
        let weights = || all().flat_map(|part| part.weights.iter().flat_map(|weights| &weights[..]));
        let frame = Frame {
            loss: problem.loss,
            prox,
            rows: terms,
            columns: width,
            slots: Arc::new(Slots::dense(width, false)),
            total_weight: if data.weights.is_some() { weights().sum() } else { terms as f64 },
            free: None,
            private_constant: false,
            origin: Origin::pairs(self.setup.seed, rank, START * mean_square, prox.lo, prox.hi),
        };
        let template = Model {
            loss: problem.loss,
            labels: None,
            normalize_rows: false,
            intercept: 0.0,
            factors: Some(Factors { rank, rows: self.shape.rows }),
            weights: vec![0.0; width],
        };
        let identity = self.identity(values().chain(weights()));
        let standings = team::standings(self.plan);
        let shards = Shards::new(self.plan, parts, Vec::new(), Vec::new());
        Ok(Placed {
            shards,
            frame,
            column_scale: Vec::new(),
            template,
            identity,
            standings,
            seconds: 0.0,
            start,
            smoothness: OnceLock::new(),
        })
    }

    /// Number of parameters.
    ///
    /// # Errors
    /// More than 2³², or no stored entry.
    fn check_size(&self, rank: usize, data: &Data) -> Result<usize> {
        if self.shape.nonzeros == 0 {
            return Err(Error::data(&data.path, None, "no entry is stored", "a rank asks for entries to fit"));
        }
        let width = (self.shape.rows + self.shape.columns).checked_mul(rank);
        width.filter(|width| *width <= PARAMETERS_MAX).ok_or_else(|| {
            let Self { shape, .. } = self;
            let what = format!(
                "problem.rank is {rank}, with which {} rows and {} columns have more than 2³² parameters",
                shape.rows, shape.columns
            );
            Error::unmet(what, "Take a smaller problem.rank.")
        })
    }

    /// The entries of each worker's rows.
    fn pairs(&self, rank: usize, data: &Data) -> Result<Vec<Apart<Part<Pairs>>>> {
        let (source, weights) = (&*data.source, data.weights.as_deref());
        let deal = if self.holds_blocks() {
            Deal::held(source, self.plan, self.blocks(data)?)
        } else {
            Deal::new(source, self.plan)?
        };
        let copy = |worker: usize| {
            let site = self.site_of_shard(worker);
            Ok(Apart::new(shard::pairs(source, &deal, worker, weights, rank, &site)?, &site))
        };
        team::each(self.plan, copy).into_iter().collect()
    }
}
