//! LIBSVM and SVMlight text: a row a line, `label [qid:N] index:value index:value … [# comment]`.

use super::{
    DUPLICATES, Duplicates, IndexBase, ReadOptions,
    input::Input,
    memory::{InMemory, SparseBuilder},
    number::integer,
    per_row, ranges,
    slabs::{self, Fault},
};
use crate::{
    data::Block,
    error::{Error, Result},
};
use memchr::memchr_iter;
use std::mem;

mod entry;
mod kernel;
mod word;

use word::{
    ACCEPTED, Misfit, Parsed, end_of_line, is_blank, label, not_an_entry, query, skip_blanks, token, value,
};

/// What one slab held, or one range.
struct Part {
    blocks: Vec<Block>,
    labels: Vec<f64>,
    /// Smallest and largest index as written; smallest > largest if there is none.
    least: u32,
    largest: u32,
}

/// Up to this much text, blocks may ask for huge pages: each block is a handful of mappings then, of which the kernel
/// grants a process 65530.
const HUGE_TEXT_BYTES_MAX: u64 = 32 << 30;

/// Reads the whole of `input` on `threads` threads.
///
/// # Errors
/// The first line that is not well formed.
pub(super) fn read(input: Input, options: &ReadOptions, threads: usize) -> Result<InMemory> {
    let path = input.path().to_path_buf();
    let rules = Rules { base: options.index_base, duplicates: options.duplicates, sort: options.sort };
    let parts = match input.plain().filter(|plain| plain.end > plain.start) {
        Some(plain) => {
            let huge = plain.end - plain.start <= HUGE_TEXT_BYTES_MAX;
            let piece = |scratch: &mut Scratch, text: &[u8], end: usize| rules.slab(scratch, text, end);
            let bytes_min = options.slab_bytes;
            ranges::parse(&plain, bytes_min, threads, || Scratch::new(huge), piece, Scratch::finish)?
        }
        None => {
            let slab = |scratch: &mut Scratch, text: &[u8], end: usize| {
                rules.slab(scratch, text, end).map(|lines| (lines, scratch.finish()))
            };
            let scratch = || Scratch::new(false);
            slabs::parse(input, slabs::at_line_end, options.slab_bytes, threads, 0, scratch, slab)?
        }
    };
    let least = parts.iter().map(|part| part.least).min().unwrap_or(u32::MAX);
    let largest = parts.iter().filter(|part| part.least <= part.largest).map(|part| part.largest).max();
    let base = match options.index_base {
        Some(IndexBase::Zero) => 0,
        Some(IndexBase::One) => 1,
        None => u32::from(least != 0),
    };
    let seen = largest.map_or(0, |largest| (largest - base) as usize + 1);
    let mut labels = Vec::with_capacity(parts.iter().map(|part| part.labels.len()).sum());
    let mut blocks = Vec::with_capacity(parts.len());
    for part in parts {
        labels.extend_from_slice(&part.labels);
        blocks.extend(part.blocks);
    }
    if labels.is_empty() {
        return Err(Error::data(&path, None, "no rows", ACCEPTED));
    }
    if let Some(replaced) = per_row::labels(options, labels.len(), threads)? {
        labels = replaced;
    }
    Ok(InMemory::new(&path, blocks, labels, base, seen.max(options.columns.unwrap_or(0))))
}

/// Rows being gathered.
struct Scratch {
    rows: SparseBuilder,
    labels: Vec<f64>,
    blocks: Vec<Block>,
    least: u32,
    largest: u32,
    huge: bool,
}

impl Scratch {
    fn new(huge: bool) -> Self {
        let (rows, labels, blocks) = (SparseBuilder::default(), Vec::new(), Vec::new());
        Scratch { rows, labels, blocks, least: u32::MAX, largest: 0, huge }
    }

    /// The row at hand is complete.
    #[inline]
    fn end_row(&mut self, label: f64) {
        let row = &self.rows.entries[self.rows.row_start()..];
        if let (Some((first, _)), Some((last, _))) = (row.first(), row.last()) {
            self.least = self.least.min(*first);
            self.largest = self.largest.max(*last);
        }
        self.labels.push(label);
        self.rows.end_row();
        if self.rows.is_full() {
            self.blocks.push(self.rows.finish(self.huge));
        }
    }

    /// All that was gathered, and scratch as new.
    fn finish(&mut self) -> Part {
        if self.rows.rows() > 0 {
            self.blocks.push(self.rows.finish(self.huge));
        }
        let (least, largest) = (mem::replace(&mut self.least, u32::MAX), mem::take(&mut self.largest));
        Part { blocks: mem::take(&mut self.blocks), labels: mem::take(&mut self.labels), least, largest }
    }
}

/// What may stand in a row after its label, and where it ends.
enum Next {
    Entry(u32, f32, usize),
    Query(usize),
    /// A line end or a remark: the start of the next line.
    Line(usize),
}

struct Rules {
    base: Option<IndexBase>,
    duplicates: Duplicates,
    sort: bool,
}

impl Rules {
    /// Gathers the lines of `text[..end]`; how many they were.
    fn slab(&self, scratch: &mut Scratch, text: &[u8], end: usize) -> std::result::Result<u64, Fault> {
        let (mut at, mut lines) = (0, 0);
        while at < end {
            at = self.line(scratch, text, at).map_err(|misfit| {
                let line = Some(1 + memchr_iter(b'\n', &text[..misfit.at]).count() as u64);
                Fault { line, what: misfit.what, remedy: misfit.remedy }
            })?;
            lines += 1;
        }
        Ok(lines)
    }

    /// Parses the line at `at`; gives the start of the next.
    #[inline]
    fn line(&self, scratch: &mut Scratch, text: &[u8], at: usize) -> Parsed<usize> {
        let mut at = skip_blanks(text, at);
        match text[at] {
            b'\n' => return Ok(at + 1),
            b'#' => return Ok(end_of_line(text, at)),
            _ => {}
        }
        let (label, after) = label(text, at)?;
        at = after;
        let mut previous = None;
        let mut irregular = false;
        loop {
            at = skip_blanks(text, at);
            let floor = previous.map_or(u64::from(self.base == Some(IndexBase::One)), |index| u64::from(index) + 1);
            at = entry::common_run(text, at, floor, &mut scratch.rows);
            if scratch.rows.has_row_begun() {
                previous = scratch.rows.entries.last().map(|last| last.0);
            }
            if is_blank(text[at]) {
                continue;
            }
            let start = at;
            let (index, value) = match self.next(text, at)? {
                Next::Entry(index, value, end) => {
                    at = end;
                    (index, value)
                }
                Next::Query(end) => {
                    at = end;
                    continue;
                }
                Next::Line(end) => {
                    at = end;
                    break;
                }
            };
            if previous.is_some_and(|previous| index <= previous) {
                self.check_order(text, start, index, previous)?;
                irregular = true;
            }
            previous = Some(index);
            scratch.rows.push(index, value);
        }
        if irregular {
            self.mend(&mut scratch.rows).map_err(|(what, remedy)| Misfit::new(at - 1, what, remedy))?;
        }
        scratch.end_row(label);
        Ok(at)
    }

    /// What stands at `at`, which is no blank: the general parser.
    #[inline]
    fn next(&self, text: &[u8], at: usize) -> Parsed<Next> {
        if text[at] == b'\n' {
            return Ok(Next::Line(at + 1));
        }
        self.uncommon(text, at)
    }

    /// The same, of what is no line end.
    #[inline(never)]
    fn uncommon(&self, text: &[u8], at: usize) -> Parsed<Next> {
        let Some((index, colon)) = integer(text, at) else {
            return match text[at] {
                b'#' => Ok(Next::Line(end_of_line(text, at))),
                b'q' if text[at..].starts_with(b"qid:") => query(text, at).map(Next::Query),
                _ => Err(not_an_entry(text, at)),
            };
        };
        if text[colon] != b':' {
            return Err(not_an_entry(text, at));
        }
        let index = self.index(text, at, index)?;
        let (value, end) = value(text, colon + 1)?;
        Ok(Next::Entry(index, value, end))
    }

    #[inline]
    fn index(&self, text: &[u8], at: usize, index: u64) -> Parsed<u32> {
        if index == 0 && self.base == Some(IndexBase::One) {
            let what = format!("index 0 in {}, and indices were said to begin with 1", token(text, at));
            return Err(Misfit::new(at, what, "drop `--index-base 1`, or give `--index-base 0`"));
        }
        u32::try_from(index).map_err(|_| {
            let what = format!("index {index} in {} is too large", token(text, at));
            Misfit::new(at, what, format!("indices go up to {}", u32::MAX))
        })
    }

    /// Whether an index that does not pass the one before it is allowed.
    #[cold]
    fn check_order(&self, text: &[u8], at: usize, index: u32, previous: Option<u32>) -> Parsed<()> {
        let previous = previous.unwrap_or(0);
        if index == previous && self.duplicates == Duplicates::Error {
            return Err(Misfit::new(at, format!("index {index} twice in a row of data"), DUPLICATES));
        }
        if index < previous && !self.sort {
            let what = format!("index {index} in {} after index {previous}", token(text, at));
            return Err(Misfit::new(at, what, "indices ascend within a line; `--sort` sorts them while reading"));
        }
        Ok(())
    }

    /// Sorts the row at hand and merges repeated indices.
    #[cold]
    fn mend(&self, rows: &mut SparseBuilder) -> std::result::Result<(), (String, &'static str)> {
        let start = rows.row_start();
        let mut order: Vec<(u32, f32)> = rows.entries.drain(start..).collect();
        order.sort_by_key(|entry| entry.0);
        for (index, value) in order {
            let Some(last) = rows.entries[start..].last_mut().filter(|last| last.0 == index) else {
                rows.push(index, value);
                continue;
            };
            match self.duplicates {
                Duplicates::Error => return Err((format!("index {index} twice in a row of data"), DUPLICATES)),
                Duplicates::Sum => last.1 += value,
                Duplicates::Last => last.1 = value,
            }
            if !last.1.is_finite() {
                return Err((format!("the values of index {index} add up to more than 3.4e38"), "scale the data"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Source;
    use proptest::{collection::vec, prelude::*};
    use std::path::Path;

    fn rows(text: &str, options: &ReadOptions, threads: usize) -> Result<InMemory> {
        let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
        read(Input::from_reader(Path::new("t.svm"), Box::new(bytes))?, options, threads)
    }

    #[test]
    fn the_first_fault_of_the_file_is_reported_with_its_line_wherever_slabs_are_cut() {
        let mut text = "1 1:2\n".repeat(40);
        text.push_str("# remark\n\n1 7:x\n");
        text.push_str(&"1 2:\n".repeat(40));
        for slab_bytes in [1, 7, 64, 1 << 20] {
            for threads in [1, 2, 5] {
                let options = ReadOptions { slab_bytes, ..ReadOptions::default() };
                let message = rows(&text, &options, threads).err().unwrap().to_string();
                assert!(message.starts_with("t.svm:43: the value in `7:x`"), "{slab_bytes} {threads}: {message}");
            }
        }
    }

    /// The file's text as rows, or the message; from the file, in ranges, or as a stream.
    fn outcome(
        text: &str,
        slab_bytes: usize,
        threads: usize,
        ranges: bool,
    ) -> std::result::Result<Vec<String>, String> {
        let options = ReadOptions { slab_bytes, ..ReadOptions::default() };
        let read = if ranges {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("t.svm"), text).unwrap();
            let input = Input::open(&folder.path().join("t.svm")).unwrap();
            assert!(input.plain().is_some());
            read(input, &options, threads)
        } else {
            rows(text, &options, threads)
        };
        let name = |message: String| message[message.find("t.svm").expect("named")..].to_string();
        let source = read.map_err(|error| name(error.to_string()))?;
        let mut rows = Vec::new();
        for index in 0..source.spans().len() {
            let Block::Sparse { starts, columns, values } = source.take(index).unwrap() else {
                panic!("not sparse")
            };
            for ends in starts.windows(2) {
                let row = ends[0] as usize..ends[1] as usize;
                rows.push(format!("{:?} {:?}", &columns[row.clone()], &values[row]));
            }
        }
        let labels = source.labels().unwrap();
        assert_eq!(labels.len(), rows.len());
        Ok(rows.into_iter().zip(labels).map(|(row, label)| format!("{label} {row}")).collect())
    }

    proptest! {
        #[test]
        fn a_file_read_in_ranges_is_the_same_as_a_stream_with_its_faults(
            lines in vec("1 1:[0-9]{1,3} 2:0\\.[0-9]{1,18}|-1( 3:[0-9]{1,2})?|# remark|| \t\r|1 5:1 9:[1-9]e3 12:x?1", 1..60),
            ended in any::<bool>(),
            slab_bytes in 1usize..200,
            threads in 1usize..4,
        ) {
            let text = lines.join("\n") + if ended { "\n" } else { "" };
            prop_assume!(!text.is_empty());
            let whole = outcome(&text, 1 << 20, 1, false);
            prop_assert_eq!(&outcome(&text, slab_bytes, threads, true), &whole);
            prop_assert_eq!(&outcome(&text, slab_bytes, threads, false), &whole);
        }
    }

    #[test]
    fn sums_and_lasts_are_those_of_the_row() {
        let text = "1 3:1 1:2 3:4\n-1 2:5\n";
        for (duplicates, third) in [(Duplicates::Sum, 5.0), (Duplicates::Last, 4.0)] {
            let options = ReadOptions { duplicates, sort: true, ..ReadOptions::default() };
            let Block::Sparse { columns, values, .. } = rows(text, &options, 1).unwrap().take(0).unwrap() else {
                panic!("sparse text gave a dense block")
            };
            assert_eq!(columns[..], [0, 2, 1]);
            assert_eq!(values[..], [2.0, third, 5.0]);
        }
    }
}
