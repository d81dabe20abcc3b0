//! The gradient of a batch in f64, and how far the same in f32 can be from it: the bound of `gpu/README.md`, computed.

use farrow::{
    gpu::{Cut, Entries, Sums, Terms},
    loss::Loss,
};

/// The largest relative error of one rounding.
const U: f64 = 1.0 / 16_777_216.0;

/// γₖ = k u/(1 − k u): the relative error of k roundings one after the other.
pub fn gamma(k: usize) -> f64 {
    let ku = k as f64 * U;
    assert!(ku < 1.0, "{k} roundings have no bound");
    ku / (1.0 - ku)
}

/// Roundings one after the other at most, by what is summed.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    /// Invocations that share a row.
    pub team: usize,
    /// Of a term of a gradient's slot, where all slots have as many; `None` where rows add to slots in any order.
    pub slot: Option<usize>,
    /// Of a term of the sums.
    pub sums: usize,
    /// Additions more to a slot or a sum: pieces of the data that are added up one after the other.
    pub pieces: usize,
}

/// Additions of a team's sum, in two levels or by the subgroup in any order.
fn of_team(team: usize) -> usize {
    let fan = team.min(16);
    (fan + team / fan).max(if team <= 128 { team } else { 0 })
}

/// Additions over partial sums.
fn of_groups(groups: usize) -> usize {
    groups.div_ceil(32) + 32 + 1
}

impl Depth {
    /// As the kernels cut a batch of `rows` of `terms`; sparse rows by rows.
    pub fn of(terms: &Terms, rows: usize, pieces: usize) -> Self {
        let by_team = |cut: Cut| 4 * cut.turns(rows) + cut.teams() + of_groups(cut.groups(rows));
        match terms.entries() {
            Entries::Dense(_) => match Cut::holding(terms.width()) {
                Some(cut) => {
                    Depth { team: cut.team(), slot: Some(2 + by_team(cut)), sums: 1 + by_team(cut), pieces }
                }
                None => {
                    let groups = rows.div_ceil(16).clamp(1, ((1 << 23) / terms.width()).clamp(1, 256));
                    let slot = 2 + rows.div_ceil(groups) + of_groups(groups);
                    Depth {
                        team: Cut::walking(terms.mean()).team(),
                        slot: Some(slot),
                        ..Self::of_slopes(rows, pieces)
                    }
                }
            },
            Entries::Sparse { .. } => {
                let cut = Cut::walking(terms.mean());
                Depth { team: cut.team(), slot: None, sums: 1 + by_team(cut), pieces }
            }
        }
    }

    /// Of sums that come from stored margins.
    fn of_slopes(rows: usize, pieces: usize) -> Self {
        let groups = rows.div_ceil(256).clamp(1, 2048);
        let sums = 1 + rows.div_ceil(groups * 256) + of_team(256) + of_groups(groups);
        Depth { team: 256, slot: None, sums, pieces }
    }

    /// Of sparse rows by columns, and of the objective.
    pub fn from_margins(terms: &Terms, rows: usize, pieces: usize) -> Self {
        Depth { team: Cut::walking(terms.mean()).team(), ..Self::of_slopes(rows, pieces) }
    }
}

/// What is right, and how far off each number of it may be.
pub struct Right {
    pub gradient: Vec<f64>,
    pub gradient_bound: Vec<f64>,
    pub sums: Sums,
    pub sums_bound: Sums,
    pub margins: Vec<f64>,
    pub margins_bound: Vec<f64>,
}

/// Of `rows` of `terms` at `x` and `constant`.
pub fn right(terms: &Terms, x: &[f64], constant: f64, rows: &[u32], depth: Depth) -> Right {
    let (loss, width) = (terms.loss(), terms.width());
    let (mut gradient, mut magnitude) = (vec![0.0; width], vec![0.0; width]);
    let (mut spread, mut entries) = (vec![0.0; width], vec![0usize; width]);
    let (mut sums, mut sums_magnitude, mut sums_spread) = (Sums::default(), Sums::default(), Sums::default());
    let (mut margins, mut margins_bound) = (Vec::new(), Vec::new());
    for row in rows.iter().map(|&row| row as usize) {
        let (b, w) = (f64::from(terms.label(row)), f64::from(terms.weight(row)));
        let products = || terms.row(row).map(|(slot, value)| x[slot] * f64::from(value));
        let z = products().sum::<f64>() + constant;
        // x rounded, a product, sums of an invocation, of its vectors, of the team, and the constant, itself rounded.
        let chain = 1 + 1 + terms.row(row).count().div_ceil(depth.team) + 3 + of_team(depth.team) + 2;
        let dz = gamma(chain) * (products().map(f64::abs).sum::<f64>() + constant.abs());
        margins.push(z);
        margins_bound.push(dz);
        // Of φ and φ′ as functions of the margin that was found, and times the weight.
        let (value, slope) = (w * loss.value(z, b), w * loss.slope(z, b));
        let dvalue = w * (moved_value(&loss, z, b, dz) + own_value(&loss, z, b, dz)) * (1.0 + 2.0 * U);
        let dslope =
            w * (moved_slope(&loss, z, b, dz) + own_slope(&loss, z, b, dz)) * (1.0 + 2.0 * U) + U * slope.abs();
        for (slot, a) in terms.row(row) {
            let a = f64::from(a);
            gradient[slot] += slope * a;
            magnitude[slot] += (slope.abs() + dslope) * a.abs();
            spread[slot] += dslope * a.abs();
            entries[slot] += 1;
        }
        sums.loss += value;
        sums.slope += slope;
        sums_magnitude.loss += value + dvalue;
        sums_magnitude.slope += slope.abs() + dslope;
        sums_spread.loss += dvalue;
        sums_spread.slope += dslope;
    }
    let bound = |slot: usize| {
        let chain = depth.slot.unwrap_or(2 + entries[slot] + of_team(256)) + depth.pieces;
        // What is too small to be a normal number may be taken for 0, wherever it comes up.
        spread[slot] + gamma(chain) * magnitude[slot] + f64::from(f32::MIN_POSITIVE) * (1 + entries[slot]) as f64
    };
    let of_sum = |spread: f64, magnitude: f64| spread + gamma(depth.sums + depth.pieces) * magnitude;
    Right {
        gradient_bound: (0..width).map(bound).collect(),
        gradient,
        sums_bound: Sums {
            loss: of_sum(sums_spread.loss, sums_magnitude.loss),
            slope: of_sum(sums_spread.slope, sums_magnitude.slope),
        },
        sums,
        margins,
        margins_bound,
    }
}

/// |φ′(z + e) − φ′(z)| for |e| ≤ dz.
fn moved_slope(loss: &Loss, z: f64, b: f64, dz: f64) -> f64 {
    match loss {
        // It jumps where bz = 1, and bz is rounded too.
        Loss::Hinge if (1.0 - b * z).abs() <= b.abs() * dz + U * (b * z).abs() => b.abs(),
        Loss::Hinge => 0.0,
        _ => loss.curvature() * dz,
    }
}

/// |φ(z + e) − φ(z)| for |e| ≤ dz: φ′ there is at most its value here and what it moved.
fn moved_value(loss: &Loss, z: f64, b: f64, dz: f64) -> f64 {
    (loss.slope(z, b).abs() + moved_slope(loss, z, b, dz)) * dz
}

/// Of e^(−|z|): 3 + 2|z| units in the last place (WGSL), a unit being at most 2u of the number.
fn exponential(z: f64) -> f64 {
    2.0 * U * (3.0 + 2.0 * z.abs())
}

/// What φ′ of an exact margin is off by, its labels of classes being ±1.
fn own_slope(loss: &Loss, z: f64, b: f64, dz: f64) -> f64 {
    let slope = loss.slope(z, b).abs() + moved_slope(loss, z, b, dz);
    match loss {
        // The exponential, the sum, a quotient of 2.5 units.
        Loss::Logistic => slope * (exponential(z.abs() + dz) + 7.0 * U),
        Loss::Squared => slope * U,
        Loss::Hinge => 0.0,
        Loss::SquaredHinge => 2.0 * b.abs() * U * (b * z).abs() + slope * gamma(2),
        Loss::Huber { delta } => slope * U + U * delta,
    }
}

/// What φ of an exact margin is off by.
fn own_value(loss: &Loss, z: f64, b: f64, dz: f64) -> f64 {
    let value = loss.value(z, b) + moved_value(loss, z, b, dz);
    match loss {
        Loss::Logistic => {
            let tail = (-z.abs() + dz).exp();
            // A logarithm of a number in [1, 2] is good to 2⁻²¹ (WGSL).
            tail * (exponential(z.abs() + dz) + 9.0 * U) + 2f64.powi(-21) + value * gamma(2)
        }
        Loss::Squared => value * gamma(4),
        Loss::Hinge => U * (b * z).abs() + value * U,
        Loss::SquaredHinge => {
            let slack = value.sqrt();
            let off = U * (b * z).abs() + slack * U;
            2.0 * slack * off + off * off + value * U
        }
        Loss::Huber { delta } => gamma(5) * delta * ((z - b).abs() + dz + delta) + value * gamma(4),
    }
}

/// Holds `found` to `right` number by number; `times` the bound where both are in f32.
pub fn hold(name: &str, found: &[f64], right: &[f64], bound: &[f64]) {
    assert_eq!((found.len(), bound.len()), (right.len(), right.len()), "{name}");
    for (k, ((found, right), bound)) in found.iter().zip(right).zip(bound).enumerate() {
        assert!(
            (found - right).abs() <= *bound,
            "{name}, number {k}: {found} for {right}, more than {bound:.1e} off"
        );
    }
}

/// As [`hold`], of sums.
pub fn hold_sums(name: &str, found: Sums, right: Sums, bound: Sums) {
    hold(&format!("{name}: loss"), &[found.loss], &[right.loss], &[bound.loss]);
    hold(&format!("{name}: slope"), &[found.slope], &[right.slope], &[bound.slope]);
}
