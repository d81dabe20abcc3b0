//! Which slot of a replica each column has: `parameters.layout`.
//!
//! Rows are written down with slots for columns when they are copied to where the plan wants them, so that the update
//! loop knows nothing of a layout. Models and checkpoints speak of columns.

use crate::config::Layout;
use std::cmp::Reverse;

/// Slots that share what a cache moves at once: two lines of 64 bytes, which hardware fetches in pairs, of 8-byte slots.
const TOGETHER: usize = 16;

/// Columns that `padded` sets alone, at most: they take 512 KiB.
const PADDED: usize = 4096;

/// The mark of a slot that no column has.
const HOLE: u32 = u32::MAX;

/// Slots for columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    columns: usize,
    width: usize,
    /// The slot of a column of ones beside the others.
    ones: Option<usize>,
    /// The slot of each column, where that is not its number.
    slot_of: Option<Box<[u32]>>,
    /// The column of each slot that is not the column of ones; where `slot_of` is.
    column_of: Option<Box<[u32]>>,
}

impl Slots {
    /// Slots that `padded` leaves without one of `columns` columns, at most.
    pub fn holes_max(columns: usize) -> usize {
        columns.min(PADDED) * (TOGETHER - 1)
    }

    /// Column j in slot j, a column of ones right behind: for rows that touch every coordinate, and for the coefficients of
    /// methods that go by columns.
    pub fn dense(columns: usize, ones: bool) -> Self {
        let (width, ones) = (columns + usize::from(ones), ones.then_some(columns));
        Slots { columns, width, ones, slot_of: None, column_of: None }
    }

    /// Column j in slot j, and a column of ones, that every row touches, on lines of its own.
    pub fn plain(columns: usize, ones: bool) -> Self {
        Slots { columns, width: columns, ones: None, slot_of: None, column_of: None }.with_ones(ones)
    }

    /// The slots of `layout` where column j has `counts[j]` entries, and a column of ones on lines of its own. `None` if
    /// there would be 2³² slots or more.
    pub fn new(layout: Layout, counts: &[u64], ones: bool) -> Option<Self> {
        let columns = counts.len();
        if layout == Layout::Plain {
            return Some(Slots::plain(columns, ones));
        }
        let mut hottest: Vec<u32> = (0..u32::try_from(columns).ok()?).collect();
        hottest.sort_by_key(|&column| Reverse(counts[column as usize]));
        let mut column_of = match layout {
            Layout::Plain | Layout::Frequency => hottest,
            Layout::Scatter => apart(&hottest),
            Layout::Padded => alone(hottest, counts),
        };
        while column_of.last() == Some(&HOLE) {
            column_of.pop();
        }
        let mut slot_of = vec![0; columns];
        for (slot, &column) in column_of.iter().enumerate().filter(|(_, column)| **column != HOLE) {
            slot_of[column as usize] = u32::try_from(slot).ok()?;
        }
        let slots = Slots {
            columns,
            width: column_of.len(),
            ones: None,
            slot_of: Some(slot_of.into()),
            column_of: Some(column_of.into()),
        };
        Some(slots.with_ones(ones)).filter(|slots| u32::try_from(slots.width).is_ok())
    }

    fn with_ones(mut self, ones: bool) -> Self {
        if ones {
            let slot = self.width.next_multiple_of(TOGETHER);
            (self.ones, self.width) = (Some(slot), slot + 1);
        }
        self
    }

    /// Number of columns, one of ones not counted.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of slots, holes and all.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The slot of the column of ones, the last one.
    pub fn ones(&self) -> Option<usize> {
        self.ones
    }

    /// The slot of column `column`.
    #[inline]
    pub fn of(&self, column: usize) -> usize {
        self.slot_of.as_ref().map_or(column, |slots| slots[column] as usize)
    }

    /// Whether columns have slots of other numbers than their own.
    pub fn permute(&self) -> bool {
        self.slot_of.is_some()
    }

    /// Whether no column has slot `slot`.
    #[inline]
    pub fn is_hole(&self, slot: usize) -> bool {
        if self.ones == Some(slot) {
            return false;
        }
        self.column_of.as_ref().map_or(slot >= self.columns, |columns| columns.get(slot).is_none_or(|&c| c == HOLE))
    }

    /// The column of slot `slot`; `None` for the column of ones and for a slot that no column has.
    pub fn column(&self, slot: usize) -> Option<usize> {
        if self.is_hole(slot) || self.ones == Some(slot) {
            return None;
        }
        Some(self.column_of.as_ref().map_or(slot, |columns| columns[slot] as usize))
    }

    /// Values by slot → values by column, that of the column of ones last.
    pub fn by_column(&self, slots: &[f64]) -> Vec<f64> {
        (0..self.columns).map(|column| slots[self.of(column)]).chain(self.ones.map(|slot| slots[slot])).collect()
    }

    /// Values by column, that of the column of ones last → values by slot, 0 in holes.
    pub fn by_slot(&self, columns: &[f64]) -> Vec<f64> {
        let mut slots = vec![0.0; self.width];
        (0..self.columns).for_each(|column| slots[self.of(column)] = columns[column]);
        if let Some(slot) = self.ones {
            slots[slot] = columns[self.columns];
        }
        slots
    }
}

/// The hottest one to a run of slots that a cache moves at once, then the next ones, and so on.
fn apart(hottest: &[u32]) -> Vec<u32> {
    let runs = hottest.len().div_ceil(TOGETHER);
    let mut columns = vec![HOLE; runs * TOGETHER];
    for (rank, &column) in hottest.iter().enumerate() {
        columns[rank % runs * TOGETHER + rank / runs] = column;
    }
    columns
}

/// The hottest each at the head of such a run, which has nothing else in it; then the others by number.
fn alone(hottest: Vec<u32>, counts: &[u64]) -> Vec<u32> {
    let touched = hottest.partition_point(|&column| counts[column as usize] > 0);
    let (hot, others) = hottest.split_at(touched.min(PADDED));
    let mut columns = vec![HOLE; hot.len() * TOGETHER];
    for (rank, &column) in hot.iter().enumerate() {
        columns[rank * TOGETHER] = column;
    }
    let mut others = others.to_vec();
    others.sort_unstable();
    columns.extend(others);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LAYOUTS: [Layout; 4] = [Layout::Plain, Layout::Frequency, Layout::Scatter, Layout::Padded];

    fn run(slot: usize) -> usize {
        slot / TOGETHER
    }

    proptest! {
        #[test]
        fn every_column_has_a_slot_of_its_own_and_all_others_are_holes(
            counts in prop::collection::vec(0u64..50, 0..300),
            layout in prop::sample::select(LAYOUTS.to_vec()),
            ones: bool,
        ) {
            let slots = Slots::new(layout, &counts, ones).unwrap();
            let mut taken: Vec<usize> = (0..counts.len()).map(|column| slots.of(column)).chain(slots.ones()).collect();
            taken.sort_unstable();
            let free: Vec<usize> = (0..slots.width()).filter(|&slot| !slots.is_hole(slot)).collect();
            prop_assert_eq!(taken, free);
            prop_assert!((0..counts.len()).all(|column| slots.column(slots.of(column)) == Some(column)));
            prop_assert_eq!((0..slots.width()).filter_map(|slot| slots.column(slot)).count(), counts.len());
            let values: Vec<f64> = (1..=counts.len() + usize::from(ones)).map(|k| k as f64).collect();
            prop_assert_eq!(slots.by_column(&slots.by_slot(&values)), values);
        }

        #[test]
        fn the_column_of_ones_shares_no_line(counts in prop::collection::vec(0u64..9, 1..200)) {
            for layout in LAYOUTS {
                let slots = Slots::new(layout, &counts, true).unwrap();
                let ones = slots.ones().unwrap();
                prop_assert!((0..counts.len()).all(|column| run(slots.of(column)) != run(ones)), "{layout:?}");
                prop_assert_eq!(slots.width(), ones + 1);
            }
        }
    }

    #[test]
    fn hot_columns_come_first_or_lie_apart_or_alone() {
        // Column j has j entries: the last is the hottest.
        let counts: Vec<u64> = (0..100).collect();
        let frequency = Slots::new(Layout::Frequency, &counts, false).unwrap();
        assert!((0..100).all(|column| frequency.of(column) == 99 - column));
        let scatter = Slots::new(Layout::Scatter, &counts, false).unwrap();
        let runs: std::collections::BTreeSet<usize> = (93..100).map(|column| run(scatter.of(column))).collect();
        assert_eq!(runs.len(), 7, "the seven hottest of 100 have the seven runs of 16 slots");
        let padded = Slots::new(Layout::Padded, &counts, false).unwrap();
        let runs: std::collections::BTreeSet<usize> = (0..100).map(|column| run(padded.of(column))).collect();
        assert_eq!(runs.len(), 100, "up to 4096 columns that rows touch are alone");
    }

    #[test]
    fn beyond_the_hottest_4096_padded_is_plain() {
        let counts: Vec<u64> = (0..5000).map(|column| u64::from(column >= 900) * 5).collect();
        let padded = Slots::new(Layout::Padded, &counts, false).unwrap();
        assert_eq!(padded.width(), 4096 * TOGETHER + 904);
        assert_eq!((0..900).map(|column| padded.of(column)).collect::<Vec<_>>()[..3], [65536, 65537, 65538]);
    }
}
