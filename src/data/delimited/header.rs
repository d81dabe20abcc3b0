//! What the first line of CSV says: separator, number of columns, their names, which is the label.

use super::super::{LabelColumn, ReadOptions, input::Input, number::field, slabs::first_outside_quotes};
use crate::error::{Error, Result};
use csv::{ByteRecord, ReaderBuilder};
use memchr::memchr_iter;
use std::io::Read;
use std::path::Path;

/// What all rows have in common.
pub(super) struct Table {
    pub(super) names: Option<Vec<String>>,
    pub(super) width: usize,
    pub(super) label: Option<usize>,
    pub(super) delimiter: u8,
    /// Lines up to the first row.
    pub(super) lines: u64,
}

impl Table {
    /// From the first line of `input`, which is dropped if it names the columns.
    ///
    /// # Errors
    /// Nothing but blank lines, a label column that is not there, no column of values.
    pub(super) fn open(input: &mut Input, options: &ReadOptions) -> Result<Table> {
        let path = input.path().to_path_buf();
        let blank = input.head().iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let end = blank + input.record(blank, first_outside_quotes)?;
        let first = &input.head()[blank..end];
        let delimiter = delimiter(first);
        let record = first_record(first, delimiter)
            .ok_or_else(|| Error::data(&path, None, "no rows", "give at least one line of numbers"))?;
        let mut table = Table { names: None, width: record.len(), label: None, delimiter, lines: 0 };
        if options.header.unwrap_or_else(|| is_header(&record)) {
            let name = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
            table.names = Some(record.iter().map(name).collect());
            table.lines = memchr_iter(b'\n', &input.head()[..end]).count() as u64;
            input.skip(end);
        }
        table.label = table.label_column(options, &path)?;
        if table.features() == 0 {
            let what =
                format!("one column only, and it is the label (`{}` would separate columns)", delimiter as char);
            let remedy = "rows have a label and at least one value, separated by commas";
            return Err(Error::data(&path, None, what, remedy));
        }
        options.check_width(table.features(), &path)?;
        Ok(table)
    }

    /// Columns that are not the label.
    pub(super) fn features(&self) -> usize {
        self.width - usize::from(self.label.is_some())
    }

    /// A reader of `text`, a piece of the file, with the separator, and how many bytes it reads before `text`. The crate
    /// takes a byte order mark off the front of whatever it reads; one that is left here stands between two lines, and is
    /// no part of a number: an empty line, which is skipped, keeps it from the front.
    pub(super) fn reader<'a>(&self, text: &'a [u8]) -> (csv::Reader<impl Read + 'a>, usize) {
        let lead: &[u8] = if text.starts_with(b"\xef\xbb\xbf") { b"\n" } else { b"" };
        (reader(lead.chain(text), self.delimiter), lead.len())
    }

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

    /// A column's name in messages.
    pub(super) fn name(&self, column: usize) -> String {
        let label = if self.label == Some(column) { " (the label)" } else { "" };
        match self.names.as_ref().and_then(|names| names.get(column)).filter(|name| !name.is_empty()) {
            Some(name) => format!("column `{name}`{label}"),
            None => format!("column {column}{label}, from 0"),
        }
    }
}

/// The separator that the first line uses: a comma, or where there is none a semicolon or a tab.
fn delimiter(line: &[u8]) -> u8 {
    [b',', b';', b'\t'].into_iter().find(|delimiter| line.contains(delimiter)).unwrap_or(b',')
}

fn reader<R: Read>(text: R, delimiter: u8) -> csv::Reader<R> {
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
