//! What gradients are made from: terms copied once, in the precision of a device.

use super::half;
use crate::{
    data::matrix::{Matrix, Row},
    error::{Error, Result},
    loss::Loss,
    objective::Glm,
};
use std::ops::Range;

/// The entries of some rows, by slot.
#[derive(Clone, Debug, PartialEq)]
pub enum Entries {
    /// Rows one after the other, as many values each as there are slots.
    Dense(Vec<f32>),
    /// Row i has entries `starts[i]..starts[i + 1]`.
    Sparse {
        /// Rows + 1 offsets, from 0, ascending.
        starts: Vec<usize>,
        /// Slot of each entry.
        slots: Vec<u32>,
        /// Value of each entry.
        values: Vec<f32>,
    },
}

/// Terms wᵢ φ(aᵢᵀx + c, bᵢ).
///
/// Labels and weights are rounded to f32: labels of classes and weights of 1 are exact.
#[derive(Clone, Debug)]
pub struct Terms {
    loss: Loss,
    width: usize,
    entries: Entries,
    labels: Vec<f32>,
    weights: Option<Vec<f32>>,
    halved: bool,
}

impl Terms {
    /// `entries` of rows of `width` slots, `labels` by row, and `weights` by row or 1.
    ///
    /// # Errors
    /// Lengths that do not fit together, offsets that descend, a slot that is not there, or a value that is not finite.
    pub fn new(
        loss: Loss,
        width: usize,
        entries: Entries,
        labels: Vec<f32>,
        weights: Option<Vec<f32>>,
    ) -> Result<Self> {
        let rows = labels.len();
        let fits = weights.as_ref().is_none_or(|weights| weights.len() == rows)
            && match &entries {
                Entries::Dense(values) => values.len() == rows * width,
                Entries::Sparse { starts, slots, values } => {
                    starts.len() == rows + 1
                        && starts[0] == 0
                        && starts[rows] == values.len()
                        && slots.len() == values.len()
                        && starts.windows(2).all(|pair| pair[0] <= pair[1])
                        && slots.iter().all(|&slot| (slot as usize) < width)
                }
            };
        let terms = Terms { loss, width, entries, labels, weights, halved: false };
        if !fits || width > u32::MAX as usize || rows > u32::MAX as usize {
            return Err(Error::unmet(
                format!("{rows} labels, {} entries and {width} slots do not make rows", terms.values().len()),
                "give a label a row, offsets that ascend from 0 to the number of entries, and slots below the width",
            ));
        }
        if let Some(value) = terms.values().iter().chain(&terms.labels).find(|value| !value.is_finite()) {
            return Err(Error::unmet(
                format!("{value} is among the values and labels"),
                "give finite numbers within the range of four bytes, ±3.4e38",
            ));
        }
        Ok(terms)
    }

    /// The rows of `parts`, one part after the other.
    ///
    /// # Errors
    /// As [`Terms::new`], and rows that are not fixed (a bilinear model's).
    pub fn of<D: Matrix>(parts: &[Glm<'_, D>]) -> Result<Self> {
        let (Some(first), true) = (parts.first(), D::FIXED) else {
            return Err(Error::unmet(
                "there are no rows of a linear model to copy",
                "gradients of batches are for linear models: leave problem.rank out",
            ));
        };
        let rows = || parts.iter().flat_map(|part| (0..part.matrix.rows()).map(|i| part.matrix.row(i)));
        let labels = parts.iter().flat_map(|part| part.labels).map(|&label| label as f32).collect();
        let weighted = parts.iter().any(|part| part.weights.is_some());
        let weights = weighted.then(|| {
            let of = |part: &Glm<'_, D>| {
                let weight = |i| part.weights.map_or(1.0, |weights| weights[i]) as f32;
                (0..part.matrix.rows()).map(weight).collect::<Vec<f32>>()
            };
            parts.iter().flat_map(of).collect()
        });
        let dense = rows().all(|row| matches!(row, Row::Dense(_)));
        let mut values = Vec::with_capacity(parts.iter().map(|part| part.matrix.nonzeros() as usize).sum());
        let (mut starts, mut slots) = (vec![0], Vec::with_capacity(if dense { 0 } else { values.capacity() }));
        for row in rows() {
            match row {
                Row::Dense(row) => values.extend_from_slice(row),
                Row::Sparse(row) => {
                    slots.extend_from_slice(row.columns());
                    values.extend_from_slice(row.values());
                }
                Row::Pair(_) => unreachable!("its rows are fixed"),
            }
            starts.push(values.len());
        }
        let entries = if dense { Entries::Dense(values) } else { Entries::Sparse { starts, slots, values } };
        Terms::new(first.frame.loss, first.matrix.columns(), entries, labels, weights)
    }

    /// The same with each value rounded to a half float (11 bits), so that a device may keep two bytes a value. Labels and
    /// weights stay as they are. Values below 6.1e-5 become 0.
    ///
    /// # Errors
    /// A value beyond ±65504.
    pub fn halved(mut self) -> Result<Self> {
        match &mut self.entries {
            Entries::Dense(values) | Entries::Sparse { values, .. } => half::round(values)?,
        }
        self.halved = true;
        Ok(self)
    }

    /// φ.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Number of slots.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The entries.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Whether every value is a half float.
    pub fn is_halved(&self) -> bool {
        self.halved
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f32] {
        match &self.entries {
            Entries::Dense(values) | Entries::Sparse { values, .. } => values,
        }
    }

    /// Where the entries of row `row` lie among all.
    pub fn range(&self, row: usize) -> Range<usize> {
        match &self.entries {
            Entries::Dense(_) => row * self.width..(row + 1) * self.width,
            Entries::Sparse { starts, .. } => starts[row]..starts[row + 1],
        }
    }

    /// The entries of row `row` as (slot, value).
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.range(row);
        let slots = match &self.entries {
            Entries::Dense(_) => None,
            Entries::Sparse { slots, .. } => Some(&slots[range.clone()]),
        };
        self.values()[range].iter().enumerate().map(move |(k, &v)| (slots.map_or(k, |slots| slots[k] as usize), v))
    }

    /// bᵢ of row `row`.
    pub fn label(&self, row: usize) -> f32 {
        self.labels[row]
    }

    /// wᵢ of row `row`.
    pub fn weight(&self, row: usize) -> f32 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Entries of a row on average, at least 1.
    pub fn mean(&self) -> usize {
        (self.values().len() / self.rows().max(1)).max(1)
    }
}
