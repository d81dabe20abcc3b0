//! Rows as the device wants them.

use crate::gpu::{Entries, Terms, half};

/// Some rows in the words of their arrays.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// Values: of dense rows padded to vectors of four; two to a word where they are halved.
    pub(super) values: Vec<u32>,
    /// Of sparse rows, offsets among these.
    pub(super) starts: Vec<u32>,
    /// Of sparse rows, slots.
    pub(super) slots: Vec<u32>,
    /// Label and weight.
    pub(super) marks: Vec<[f32; 2]>,
    padded: Vec<f32>,
}

impl Packed {
    /// Takes `rows` of `terms` in place of what it had, in the memory that it has.
    pub(super) fn take(&mut self, terms: &Terms, rows: impl Iterator<Item = usize>) {
        let Packed { values, starts, slots, marks, padded } = self;
        [&mut *values, &mut *starts, &mut *slots].into_iter().for_each(Vec::clear);
        padded.clear();
        marks.clear();
        starts.push(0);
        let mut count = 0;
        for row in rows {
            marks.push([terms.label(row), terms.weight(row)]);
            let range = terms.range(row);
            let own = &terms.values()[range.clone()];
            count += own.len();
            match terms.entries() {
                Entries::Dense(_) => {
                    padded.clear();
                    padded.extend_from_slice(own);
                    padded.resize(own.len().next_multiple_of(4), 0.0);
                    words(terms.is_halved(), padded, values);
                }
                Entries::Sparse { slots: from, .. } => {
                    slots.extend_from_slice(&from[range]);
                    starts.push(count as u32);
                    // Halves are paired across rows, once all are there.
                    if terms.is_halved() { padded.extend_from_slice(own) } else { words(false, own, values) }
                }
            }
        }
        if terms.is_halved() && matches!(terms.entries(), Entries::Sparse { .. }) {
            words(true, padded, values);
        }
    }
}

/// `values` as words.
pub(super) fn words(halved: bool, values: &[f32], into: &mut Vec<u32>) {
    if halved {
        into.extend(half::pack(values));
    } else {
        into.extend(values.iter().map(|value| value.to_bits()));
    }
}
