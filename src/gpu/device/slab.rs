//! Rows on the device, in pieces that a kernel can see as one array.

use super::{
    moving::SENT,
    open::Device,
    packed::{Packed, words},
};
use crate::{
    error::{Error, Result, Trouble},
    gpu::{Entries, Terms, twin::sparse_columns::Columns},
};
use std::ops::Range;
use wgpu::{Buffer, BufferUsages};

/// Rows on the device.
#[derive(Debug)]
pub(super) struct Slab {
    /// Which of the terms' rows; of the slab for rows that stay on the host, none.
    pub(super) rows: Range<usize>,
    pub(super) values: Buffer,
    pub(super) starts: Buffer,
    pub(super) slots: Buffer,
    pub(super) marks: Buffer,
    /// The same entries by columns.
    pub(super) by_columns: Option<ByColumns>,
}

/// Entries by columns.
#[derive(Debug)]
pub(super) struct ByColumns {
    pub(super) values: Buffer,
    pub(super) starts: Buffer,
    pub(super) rows: Buffer,
}

/// Bytes of the largest array that `entries` entries of `rows` rows take.
fn largest_array(terms: &Terms, rows: usize, entries: usize) -> u64 {
    let value = if terms.is_halved() { 2 } else { 4 };
    let arrays = match terms.entries() {
        Entries::Dense(_) => [rows * terms.width().next_multiple_of(4) * value, rows * 8],
        Entries::Sparse { .. } => [entries * 4, (rows + 1) * 8],
    };
    arrays[0].max(arrays[1]) as u64
}

/// Bytes of all arrays.
fn all_arrays(terms: &Terms, rows: &Range<usize>, by_columns: bool) -> u64 {
    let value = if terms.is_halved() { 2 } else { 4 };
    let entries = terms.range(rows.end - 1).end - terms.range(rows.start).start;
    let bytes = match terms.entries() {
        Entries::Dense(_) => rows.len() * (terms.width().next_multiple_of(4) * value + 8),
        Entries::Sparse { .. } if by_columns => entries * 2 * (4 + value) + rows.len() * 12 + terms.width() * 4,
        Entries::Sparse { .. } => entries * (4 + value) + rows.len() * 12,
    };
    bytes as u64
}

/// Cuts all rows into runs whose arrays have at most `bytes` bytes.
///
/// # Errors
/// A row that alone has more.
pub(super) fn cut(device: &Device, terms: &Terms, bytes: u64) -> Result<Vec<Range<usize>>> {
    let mut runs = Vec::new();
    let (mut first, mut entries) = (0, 0);
    for row in 0..terms.rows() {
        let own = terms.range(row).len();
        if largest_array(terms, 1, own) > bytes {
            return Err(Error::device(
                Trouble::Refused,
                format!(
                    "row {row} has {own} entries, more than the {bytes} bytes that {} sees at once",
                    device.adapter.name
                ),
                "compute on the cpus, or keep values in two bytes",
            ));
        }
        if largest_array(terms, row + 1 - first, entries + own) > bytes {
            runs.push(first..row);
            (first, entries) = (row, 0);
        }
        entries += own;
    }
    if first < terms.rows() {
        runs.push(first..terms.rows());
    }
    Ok(runs)
}

impl Slab {
    /// Puts as many of `runs` on the device as it has memory for, and at most `bytes` bytes.
    ///
    /// # Errors
    /// Of the device, but for too little memory.
    pub(super) fn fill(
        device: &Device,
        terms: &Terms,
        runs: &[Range<usize>],
        by_columns: bool,
        bytes: Option<u64>,
    ) -> Result<Vec<Slab>> {
        let (mut slabs, mut left) = (Vec::new(), bytes.unwrap_or(u64::MAX));
        for run in runs {
            let own = all_arrays(terms, run, by_columns);
            if own > left {
                break;
            }
            left -= own;
            match Slab::of(device, terms, run.clone(), by_columns) {
                Ok(slab) => slabs.push(slab),
                Err(Error::Device { trouble: Trouble::Memory, .. }) => {
                    // What is left on the device is needed for batches: one slab's worth.
                    slabs.pop();
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(slabs)
    }

    fn of(device: &Device, terms: &Terms, rows: Range<usize>, by_columns: bool) -> Result<Slab> {
        let entries = terms.range(rows.end - 1).end - terms.range(rows.start).start;
        let mut slab = Slab::empty(device, terms, rows.len(), entries)?;
        slab.rows = rows.clone();
        let mut packed = Packed::default();
        match terms.entries() {
            Entries::Dense(_) => {
                let row_bytes = terms.width().next_multiple_of(4) * if terms.is_halved() { 2 } else { 4 };
                let at_once = (SENT / row_bytes.max(1)).max(1);
                for first in rows.clone().step_by(at_once) {
                    packed.take(terms, first..(first + at_once).min(rows.end));
                    let from = (first - rows.start) as u64;
                    device
                        .guarded("take rows", || slab.write(device, &packed, from * row_bytes as u64, from * 8))?;
                }
            }
            Entries::Sparse { .. } => {
                packed.take(terms, rows.clone());
                device.guarded("take rows", || slab.write(device, &packed, 0, 0))?;
            }
        }
        if by_columns && matches!(terms.entries(), Entries::Sparse { .. }) {
            slab.by_columns = Some(ByColumns::of(device, terms, rows)?);
        }
        Ok(slab)
    }

    /// One without rows yet, for `rows` rows of `entries` entries.
    pub(super) fn empty(device: &Device, terms: &Terms, rows: usize, entries: usize) -> Result<Slab> {
        let sparse = matches!(terms.entries(), Entries::Sparse { .. });
        let entries = if sparse { entries } else { rows * terms.width().next_multiple_of(4) };
        let value_bytes = entries * if terms.is_halved() { 2 } else { 4 };
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let of = |label: &str, bytes: usize| device.buffer(label, bytes as u64, usage);
        device.guarded("hold rows", || Slab {
            rows: 0..0,
            values: of("values", value_bytes),
            starts: of("starts", if sparse { 4 * (rows + 1) } else { 0 }),
            slots: of("slots", if sparse { 4 * entries } else { 0 }),
            marks: of("marks", 8 * rows),
            by_columns: None,
        })
    }

    /// Writes what is packed, values from byte `values` and marks from byte `marks` on.
    pub(super) fn write(&self, device: &Device, packed: &Packed, values: u64, marks: u64) {
        let write = |buffer: &Buffer, at: u64, words: &[u32]| device.send(buffer, at, bytemuck::cast_slice(words));
        write(&self.values, values, &packed.values);
        device.send(&self.marks, marks, bytemuck::cast_slice(&packed.marks));
        if packed.starts.len() > 1 {
            write(&self.starts, 0, &packed.starts);
            write(&self.slots, 0, &packed.slots);
        }
    }
}

impl ByColumns {
    fn of(device: &Device, terms: &Terms, rows: Range<usize>) -> Result<ByColumns> {
        let columns = Columns::of_rows(terms, rows);
        let mut values = Vec::new();
        words(terms.is_halved(), &columns.values, &mut values);
        let starts: Vec<u32> = columns.starts.iter().map(|&start| start as u32).collect();
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let of = |label: &str, words: &[u32]| {
            let buffer = device.buffer(label, 4 * words.len() as u64, usage);
            device.send(&buffer, 0, bytemuck::cast_slice(words));
            buffer
        };
        device.guarded("hold columns", || ByColumns {
            values: of("values by column", &values),
            starts: of("starts of columns", &starts),
            rows: of("rows by column", &columns.rows),
        })
    }
}

/// How many of the first `rows`, at least one, have arrays of at most `bytes` bytes together.
pub(super) fn fitting(terms: &Terms, rows: &[u32], bytes: u64) -> usize {
    let mut entries = 0;
    let fits = rows.iter().enumerate().take_while(|&(k, &row)| {
        entries += terms.range(row as usize).len();
        largest_array(terms, k + 1, entries) <= bytes
    });
    fits.count().max(1)
}
