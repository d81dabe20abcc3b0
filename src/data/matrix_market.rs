//! Matrix Market text: `coordinate` (sparse; entries in any order, gathered into rows) and `array` (dense, column by
//! column), `general`, of `real`, `integer` or `pattern` entries. Its labels are in a file of their own.

use super::{
    ReadOptions,
    input::Input,
    memory::InMemory,
    number::{decimal, integer},
    per_row,
    slabs::{self, Fault},
    turn::{self, ColumnMajor},
};
use crate::{
    error::{Error, Result},
    os::memory::Pages,
};
use memchr::memchr;
use std::path::Path;

mod gather;

/// Reads the whole of `input` on `threads` threads.
///
/// # Errors
/// A header that is not as above, the first line that is no entry, another number of entries than the header says, an
/// entry that stands twice where that is not allowed.
pub(super) fn read(mut input: Input, options: &ReadOptions, threads: usize) -> Result<InMemory> {
    let path = input.path().to_path_buf();
    let header = Header::read(&mut input, &path)?;
    let labels = per_row::labels_needed(options, &path, header.rows, threads)?;
    let parse = |_: &mut (), text: &[u8], end: usize| header.slab(text, end);
    let parts = slabs::parse(input, slabs::at_line_end, options.slab_bytes, threads, header.lines, || (), parse)?;
    let entries = parts.iter().map(|part| part.values.len() as u64).sum::<u64>();
    if entries != header.entries {
        let what = format!("{entries} entries where the header says {}", header.entries);
        return Err(Error::data(&path, None, what, "the file was cut short, or its size line is wrong"));
    }
    if labels.is_none() && header.rows as u64 > entries + EMPTY_ROWS_MAX {
        let what = format!("{} rows of which at most {entries} have an entry", header.rows);
        return Err(Error::data(&path, None, what, "is the size line right? `--labels FILE` would confirm it"));
    }
    let blocks = if header.sparse {
        gather::rows(parts, header.rows, options.duplicates, &path)?
    } else {
        options.check_width(header.columns, &path)?;
        let mut matrix = ColumnMajor::default();
        parts.into_iter().for_each(|part| matrix.push(part.values));
        turn::to_rows(&matrix, header.rows, header.columns)
    };
    let labels = labels.unwrap_or_else(|| per_row::unlabelled(header.rows));
    Ok(InMemory::new(&path, blocks, labels, 0, header.columns.max(options.columns.unwrap_or(0))))
}

/// More empty rows than this are not believed without a file of labels: memory is reserved by the size line alone.
const EMPTY_ROWS_MAX: u64 = 10_000_000;

/// What one slab held, entry by entry; rows and columns (from 0) are empty for dense data.
struct Part {
    rows: Pages<u32>,
    columns: Pages<u32>,
    values: Pages<f32>,
}

struct Header {
    sparse: bool,
    pattern: bool,
    rows: usize,
    columns: usize,
    entries: u64,
    lines: u64,
}

const BANNER: &str = "accepted is `%%MatrixMarket matrix coordinate|array real|integer|pattern general`";

impl Header {
    /// Reads banner, remarks and size line, and leaves `input` after them.
    fn read(input: &mut Input, path: &Path) -> Result<Header> {
        let fault = |line: u64, what: String, remedy: &str| Error::data(path, Some(line), what, remedy);
        let mut at = input.record(0, slabs::first_line_end)?;
        let banner = String::from_utf8_lossy(&input.head()[..at]).trim().to_ascii_lowercase();
        let mut words = banner.split_ascii_whitespace().skip(1);
        let [object, form, kind, symmetry] = [(); 4].map(|()| words.next().unwrap_or(""));
        let known = banner.starts_with("%%matrixmarket") && object == "matrix";
        let kind_fits = matches!((form, kind), (_, "real" | "integer") | ("coordinate", "pattern"));
        if !known || !matches!(form, "coordinate" | "array") || !kind_fits || symmetry != "general" {
            return Err(fault(1, format!("the banner `{}`", shown(banner.as_bytes())), BANNER));
        }
        let mut lines = 1;
        let size = loop {
            let end = at + input.record(at, slabs::first_line_end)?;
            let line = input.head()[at..end].trim_ascii();
            lines += 1;
            if end == at {
                return Err(fault(lines, "no size line".into(), "after the remarks comes `rows columns entries`"));
            }
            if !line.is_empty() && line[0] != b'%' {
                let size: Option<Vec<u64>> = line
                    .split(u8::is_ascii_whitespace)
                    .filter(|word| !word.is_empty())
                    .map(|word| integer(word, 0).and_then(|(size, end)| (end == word.len()).then_some(size)))
                    .collect();
                let size = size.filter(|size| size.len() == if form == "coordinate" { 3 } else { 2 });
                let remedy = "it is `rows columns entries` for coordinate, `rows columns` for array, all integers";
                at = end;
                break size.ok_or_else(|| fault(lines, format!("the size line `{}`", shown(line)), remedy))?;
            }
            at = end;
        };
        let in_range = |size: u64| (1..=u64::from(u32::MAX)).contains(&size);
        if !in_range(size[0]) || !in_range(size[1]) {
            let what = format!("a matrix of {} rows and {} columns", size[0], size[1]);
            return Err(fault(lines, what, "rows and columns are at least 1 and at most 4294967295"));
        }
        input.skip(at);
        let entries = size.get(2).copied().unwrap_or(size[0] * size[1]);
        let (rows, columns) = (size[0] as usize, size[1] as usize);
        Ok(Header { sparse: form == "coordinate", pattern: kind == "pattern", rows, columns, entries, lines })
    }

    fn slab(&self, text: &[u8], end: usize) -> std::result::Result<(u64, Part), Fault> {
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (mut at, mut lines) = (0, 0);
        while at < end {
            lines += 1;
            at = skip_blanks(text, at);
            if text[at] == b'%' || text[at] == b'\n' {
                at += memchr(b'\n', &text[at..]).map_or(text.len() - at, |end| end + 1);
                continue;
            }
            let line = at;
            let entry =
                if self.sparse { self.entry(text, at) } else { number(text, at).map(|(v, at)| (0, 0, v, at)) };
            let (row, column, value, after) = entry.map_err(|what| self.fault(text, line, lines, what))?;
            if self.sparse {
                rows.push(row);
                columns.push(column);
            }
            values.push(value);
            at = skip_blanks(text, after);
            if text[at] != b'\n' {
                return Err(self.fault(text, line, lines, "something follows the entry".into()));
            }
            at += 1;
        }
        let part =
            Part { rows: Pages::copied(&rows), columns: Pages::copied(&columns), values: Pages::copied(&values) };
        Ok((lines, part))
    }

    /// Row and column from 0, value, end.
    #[inline]
    fn entry(&self, text: &[u8], at: usize) -> std::result::Result<(u32, u32, f32, usize), String> {
        let (row, at) = index(text, at, self.rows, "row")?;
        let (column, at) = index(text, at, self.columns, "column")?;
        let (value, at) = if self.pattern { (1.0, at) } else { number(text, at)? };
        Ok((row, column, value, at))
    }

    #[cold]
    fn fault(&self, text: &[u8], at: usize, line: u64, what: String) -> Fault {
        let end = at + memchr(b'\n', &text[at..]).unwrap_or(0);
        let remedy = match (self.sparse, self.pattern) {
            (true, false) => {
                "an entry is `row column value`, rows and columns from 1, values finite and up to 3.4e38"
            }
            (true, true) => "an entry of a pattern is `row column`, both from 1",
            (false, _) => "an array has one finite number a line, up to 3.4e38, column after column",
        };
        let what = format!("{what} in `{}`", shown(text[at..end].trim_ascii()));
        Fault { line: Some(line), what, remedy: remedy.into() }
    }
}

#[inline]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text[at], b' ' | b'\t' | b'\r') {
        at += 1;
    }
    at
}

#[inline]
fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// An index from 1 to `limit`, given from 0, and its end.
#[inline]
fn index(text: &[u8], at: usize, limit: usize, name: &str) -> std::result::Result<(u32, usize), String> {
    let at = skip_blanks(text, at);
    match integer(text, at) {
        Some((index, end)) if ends_word(text[end]) => {
            if index == 0 || index > limit as u64 {
                return Err(format!("{name} {index} is not between 1 and {limit}"));
            }
            Ok(((index - 1) as u32, end))
        }
        _ => Err(format!("no {name}")),
    }
}

/// A finite value, and its end.
#[inline]
fn number(text: &[u8], at: usize) -> std::result::Result<(f32, usize), String> {
    let at = skip_blanks(text, at);
    match decimal(text, at) {
        Some(number) if ends_word(text[number.end]) => {
            let value = number.f32(text, at);
            if value.is_finite() { Ok((value, number.end)) } else { Err("a value that is too large".into()) }
        }
        _ => Err("no finite number".into()),
    }
}

/// Text for messages: shortened, unprintable bytes escaped.
fn shown(text: &[u8]) -> String {
    let more = if text.len() > 60 { "…" } else { "" };
    format!("{}{more}", text[..text.len().min(60)].escape_ascii())
}
