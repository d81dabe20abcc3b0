//! CSV, and the same with tabs or semicolons: a dense row a line, one column of it the label.

use super::{
    ReadOptions,
    input::Input,
    memory::InMemory,
    number::field,
    per_row,
    slabs::{self, Fault},
};
use crate::{
    data::Block,
    error::{Error, Result},
    os::memory::Pages,
};
use csv::ByteRecord;
use memchr::memchr_iter;

mod header;

use header::Table;

/// Reads the whole of `input` on `threads` threads.
///
/// # Errors
/// What the first line lacks, and the first row that is ragged or has a cell that is not a finite number.
pub(super) fn read(mut input: Input, options: &ReadOptions, threads: usize) -> Result<InMemory> {
    let path = input.path().to_path_buf();
    let table = Table::open(&mut input, options)?;
    let parse = |scratch: &mut Scratch, text: &[u8], end: usize| table.slab(scratch, &text[..end]);
    let cut = slabs::outside_quotes;
    let parts = slabs::parse(input, cut, options.slab_bytes, threads, table.lines, Scratch::default, parse)?;
    let columns = table.features();
    let (mut blocks, mut labels, mut rows) = (Vec::new(), Vec::new(), 0);
    for part in parts.into_iter().filter(|part| part.rows > 0) {
        blocks.push(Block::Dense { columns, values: part.values });
        labels.extend_from_slice(&part.labels);
        rows += part.rows;
    }
    if blocks.is_empty() {
        let remedy = "give at least one line of numbers; a first line of numbers is a row with `--no-header`";
        return Err(Error::data(&path, None, "a header and no rows", remedy));
    }
    if let Some(replaced) = per_row::labels(options, rows, threads)? {
        labels = replaced;
    } else if table.label.is_none() {
        labels = per_row::unlabelled(rows);
    }
    Ok(InMemory::new(&path, blocks, labels, 0, columns))
}

#[derive(Default)]
struct Scratch {
    record: ByteRecord,
    values: Vec<f32>,
}

struct Part {
    rows: usize,
    values: Pages<f32>,
    labels: Vec<f64>,
}

impl Table {
    fn slab(&self, scratch: &mut Scratch, text: &[u8]) -> std::result::Result<(u64, Part), Fault> {
        scratch.values.clear();
        let (mut reader, lead) = self.reader(text);
        let mut labels = Vec::new();
        loop {
            let start = (reader.position().byte() as usize).saturating_sub(lead);
            match reader.read_byte_record(&mut scratch.record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(e) => return Err(Fault { line: None, what: e.to_string(), remedy: "is this CSV?".into() }),
            }
            let Scratch { record, values } = scratch;
            if let Err((what, remedy)) = self.row(record, values, &mut labels) {
                return Err(Fault { line: Some(line_of(text, start)), what, remedy });
            }
        }
        if let Some(line) = open_quote(text) {
            let (what, remedy) = ("a quote that is not closed", "a cell that begins with `\"` ends with `\"`");
            return Err(Fault { line: Some(line), what: what.into(), remedy: remedy.into() });
        }
        let rows = (scratch.values.len() + labels.len()) / self.width;
        let lines = memchr_iter(b'\n', text).count() as u64;
        Ok((lines, Part { rows, values: Pages::copied(&scratch.values), labels }))
    }

    #[inline]
    fn row(
        &self,
        record: &ByteRecord,
        values: &mut Vec<f32>,
        labels: &mut Vec<f64>,
    ) -> std::result::Result<(), (String, String)> {
        if record.len() != self.width {
            return Err(self.ragged(record.len()));
        }
        for (column, cell) in record.iter().enumerate() {
            let Some((number, digits)) = field(cell) else { return Err(self.not_a_number(column, cell)) };
            if self.label == Some(column) {
                let label = number.f64(digits, 0);
                if !label.is_finite() {
                    return Err(self.too_large(column, cell));
                }
                labels.push(label);
            } else {
                let value = number.f32(digits, 0);
                if !value.is_finite() {
                    return Err(self.too_large(column, cell));
                }
                values.push(value);
            }
        }
        Ok(())
    }

    #[cold]
    fn ragged(&self, cells: usize) -> (String, String) {
        let s = if cells == 1 { "" } else { "s" };
        let what = format!("{cells} cell{s} in a row, {} in the first line", self.width);
        (what, "every row has the same number of cells; quote cells that contain the separator".into())
    }

    #[cold]
    fn not_a_number(&self, column: usize, cell: &[u8]) -> (String, String) {
        let name = self.name(column);
        if cell.trim_ascii().is_empty() {
            return (format!("no value in {name}"), "fill in missing values, or drop the row".into());
        }
        let shown = cell[..cell.len().min(40)].escape_ascii();
        let remedy = "cells are finite decimal numbers; encode categories as numbers, fill in missing values";
        (format!("`{shown}` in {name} is not a finite number"), remedy.into())
    }

    #[cold]
    fn too_large(&self, column: usize, cell: &[u8]) -> (String, String) {
        let shown = cell[..cell.len().min(40)].escape_ascii();
        let remedy = "values are stored in single precision, up to 3.4e38 (labels 1.8e308); scale the data";
        (format!("`{shown}` in {} is too large", self.name(column)), remedy.into())
    }
}

/// The line of the record that is read from `start` on, from 1; blank lines before it are not its own.
#[cold]
fn line_of(text: &[u8], start: usize) -> u64 {
    let blank = text[start..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    1 + memchr_iter(b'\n', &text[..start + blank]).count() as u64
}

/// The line of the last quote, if there is an odd number of them.
fn open_quote(text: &[u8]) -> Option<u64> {
    let quotes = memchr_iter(b'"', text).count();
    let last = memchr_iter(b'"', text).next_back().filter(|_| quotes % 2 == 1)?;
    Some(1 + memchr_iter(b'\n', &text[..last]).count() as u64)
}
