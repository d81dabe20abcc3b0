//! Terms that kernels and their twin are tried on.

use farrow::{
    gpu::{Entries, Terms},
    loss::Loss,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Every loss.
pub fn losses() -> [Loss; 5] {
    Loss::NAMES.map(|name| Loss::named(name, 0.75).expect("a name"))
}

/// A source of numbers.
pub fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn marks(loss: Loss, rows: usize, weighted: bool, random: &mut Xoshiro256PlusPlus) -> (Vec<f32>, Option<Vec<f32>>) {
    let mut label = || {
        let drawn: f32 = random.random_range(-1.0..1.0);
        if loss.is_classification() { drawn.signum() } else { 3.0 * drawn }
    };
    let labels = (0..rows).map(|_| label()).collect();
    (labels, weighted.then(|| (0..rows).map(|_| random.random_range(0.25..4.0)).collect()))
}

/// Dense rows.
pub fn dense(loss: Loss, rows: usize, width: usize, weighted: bool) -> Terms {
    let mut random = random(rows as u64 * 31 + width as u64);
    let values = (0..rows * width).map(|_| random.random_range(-1.0..1.0)).collect();
    let (labels, weights) = marks(loss, rows, weighted, &mut random);
    Terms::new(loss, width, Entries::Dense(values), labels, weights).expect("terms")
}

/// Sparse rows of these numbers of entries, which lie anywhere.
pub fn sparse(loss: Loss, lengths: &[usize], width: usize, weighted: bool) -> Terms {
    let mut random = random(lengths.len() as u64 * 17 + width as u64);
    let (mut starts, mut slots, mut values) = (vec![0], Vec::new(), Vec::new());
    for &length in lengths {
        assert!(length <= width);
        let mut own: Vec<u32> = if 2 * length > width {
            (0..length as u32).collect()
        } else {
            let mut own = std::collections::BTreeSet::new();
            while own.len() < length {
                own.insert(random.random_range(0..width as u32));
            }
            own.into_iter().collect()
        };
        slots.append(&mut own);
        values.extend((0..length).map(|_| random.random_range(-1.0f32..1.0)));
        starts.push(values.len());
    }
    let (labels, weights) = marks(loss, lengths.len(), weighted, &mut random);
    Terms::new(loss, width, Entries::Sparse { starts, slots, values }, labels, weights).expect("terms")
}

/// Parameters that make margins of a few units: some terms of a hinge are on either side of its kink.
pub fn point(terms: &Terms) -> Vec<f64> {
    let mut random = random(terms.width() as u64);
    let scale = 3.0 / (terms.mean() as f64).sqrt();
    (0..terms.width()).map(|_| scale * random.random_range(-1.0..1.0)).collect()
}

/// A batch in no order, some rows twice, some not at all.
pub fn batch(terms: &Terms, length: usize) -> Vec<u32> {
    let mut random = random(length as u64);
    (0..length).map(|_| random.random_range(0..terms.rows() as u32)).collect()
}
