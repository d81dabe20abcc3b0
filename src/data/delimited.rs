//! CSV, and the same with tabs or semicolons: a dense row a line, one column of it the label.

use super::{
    LabelColumn, ReadOptions,
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
use csv::{ByteRecord, ReaderBuilder};
use memchr::memchr_iter;
use std::path::Path;

/// Reads the whole of `input` on `threads` threads.
///
/// # Errors
/// A label column that is not there, and the first row that is ragged or has a cell that is not a finite number.
pub(super) fn read(mut input: Input, options: &ReadOptions, threads: usize) -> Result<InMemory> {
    let path = input.path().to_path_buf();
    let blank = input.head().iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    let end = blank + input.record(blank, slabs::first_outside_quotes)?;
    let first = &input.head()[blank..end];
    let delimiter = delimiter(first);
    let record = first_record(first, delimiter)
        .ok_or_else(|| Error::data(&path, None, "no rows", "give at least one line of numbers"))?;
    let header = options.header.unwrap_or_else(|| is_header(&record));
    let mut table = Table { names: None, width: record.len(), label: None, delimiter };
    let mut lines_before = 0;
    if header {
        table.names =
            Some(record.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect());
        lines_before = memchr_iter(b'\n', &input.head()[..end]).count() as u64;
        input.skip(end);
    }
    table.label = table.label_column(options, &path)?;
    let features = table.width - usize::from(table.label.is_some());
    if features == 0 {
        let what =
            format!("one column only, and it is the label (columns are told apart by `{}`)", delimiter as char);
        return Err(Error::data(
            &path,
            None,
            what,
            "rows have a label and at least one value, separated by commas",
        ));
    }
    if let Some(wanted) = options.columns.filter(|wanted| *wanted > features) {
        let what = format!("{features} columns of values where {wanted} are wanted");
        return Err(Error::data(
            &path,
            None,
            what,
            "dense data must have all columns; `--label-column` says which is not one",
        ));
    }
    let parse = |scratch: &mut Scratch, text: &[u8], end: usize| table.slab(scratch, &text[..end]);
    let cut = slabs::outside_quotes;
    let parts = slabs::parse(input, cut, options.slab_bytes, threads, lines_before, Scratch::default, parse)?;
    let (mut blocks, mut labels, mut rows) = (Vec::new(), Vec::new(), 0);
    for part in parts.into_iter().filter(|part| part.rows > 0) {
        blocks.push(Block::Dense { columns: features, values: part.values });
        labels.extend_from_slice(&part.labels);
        rows += part.rows;
    }
    if blocks.is_empty() {
        return Err(Error::data(
            &path,
            None,
            "a header and no rows",
            "give at least one line of numbers; a first line of numbers is a row with `--no-header`",
        ));
    }
    if let Some(replaced) = per_row::labels(options, rows, threads)? {
        labels = replaced;
    } else if table.label.is_none() {
        labels = per_row::unlabelled(rows);
    }
    Ok(InMemory::new(&path, blocks, labels, 0, features))
}

/// The separator that the first line uses: a comma, or where there is none a semicolon or a tab.
fn delimiter(line: &[u8]) -> u8 {
    [b',', b';', b'\t'].into_iter().find(|delimiter| line.contains(delimiter)).unwrap_or(b',')
}

fn reader(text: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text)
}

fn first_record(text: &[u8], delimiter: u8) -> Option<ByteRecord> {
    let mut record = ByteRecord::new();
    matches!(reader(text, delimiter).read_byte_record(&mut record), Ok(true)).then_some(record)
}

/// A first line with a cell that has letters and is no number names the columns. An empty cell or `nan` does not: that
/// is a row with a missing value.
fn is_header(record: &ByteRecord) -> bool {
    let missing = |cell: &[u8]| {
        [&b"nan"[..], b"na", b"inf", b"-inf", b"+inf", b"null"].iter().any(|m| cell.eq_ignore_ascii_case(m))
    };
    record.iter().map(<[u8]>::trim_ascii).any(|cell| {
        field(cell).is_none()
            && cell.iter().any(|b| b.is_ascii_alphabetic() || *b >= 0x80 || *b == b'_')
            && !missing(cell)
    })
}

/// What all rows have in common.
struct Table {
    names: Option<Vec<String>>,
    width: usize,
    label: Option<usize>,
    delimiter: u8,
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
    fn label_column(&self, options: &ReadOptions, path: &Path) -> Result<Option<usize>> {
        let column = match &options.label_column {
            None if options.labels.is_some() => return Ok(None),
            None => 0,
            Some(LabelColumn::None) if options.labels.is_some() || options.unlabelled => return Ok(None),
            Some(LabelColumn::None) => {
                return Err(Error::data(
                    path,
                    None,
                    "`--label-column none`, and no `--labels FILE`",
                    "say where the labels are",
                ));
            }
            Some(LabelColumn::Number(number)) => {
                let column = if *number < 0 { self.width as i64 + number } else { *number };
                usize::try_from(column).ok().filter(|column| *column < self.width).ok_or_else(|| {
                    let what = format!("`--label-column {number}`, and there are {} columns", self.width);
                    Error::data(path, None, what, "columns count from 0; -1 is the last")
                })?
            }
            Some(LabelColumn::Name(name)) => {
                let Some(names) = &self.names else {
                    let what = format!("`--label-column {name}`, and the file has no line of column names");
                    return Err(Error::data(
                        path,
                        Some(1),
                        what,
                        "give the column's number, from 0; -1 is the last",
                    ));
                };
                names.iter().position(|known| known == name).ok_or_else(|| {
                    let known: Vec<_> = names.iter().take(20).map(String::as_str).collect();
                    let more = if names.len() > 20 { ", …" } else { "" };
                    let remedy = format!("the columns are {}{more}", known.join(", "));
                    Error::data(path, Some(1), format!("no column `{name}`"), remedy)
                })?
            }
        };
        Ok(Some(column))
    }

    fn slab(&self, scratch: &mut Scratch, text: &[u8]) -> std::result::Result<(u64, Part), Fault> {
        scratch.values.clear();
        let mut reader = reader(text, self.delimiter);
        let mut labels = Vec::new();
        loop {
            let start = reader.position().byte() as usize;
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

    fn name(&self, column: usize) -> String {
        let label = if self.label == Some(column) { " (the label)" } else { "" };
        match self.names.as_ref().and_then(|names| names.get(column)).filter(|name| !name.is_empty()) {
            Some(name) => format!("column `{name}`{label}"),
            None => format!("column {column}{label}, from 0"),
        }
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
    let last = memchr_iter(b'"', text).last().filter(|_| quotes % 2 == 1)?;
    Some(1 + memchr_iter(b'\n', &text[..last]).count() as u64)
}
