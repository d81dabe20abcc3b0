//! LIBSVM and SVMlight text: a row a line, `label [qid:N] index:value index:value … [# comment]`.

use super::{
    DUPLICATES, Duplicates, IndexBase, ReadOptions,
    input::Input,
    memory::{InMemory, SparseBuilder},
    number::integer,
    per_row,
    slabs::{self, Fault},
};
use crate::{
    data::Block,
    error::{Error, Result},
};
use memchr::memchr_iter;

mod word;

use word::{ACCEPTED, Misfit, Parsed, end_of_line, label, not_an_entry, query, skip_blanks, token, value};

/// What one slab held.
struct Part {
    block: Block,
    labels: Vec<f64>,
    /// Smallest and largest index as written; smallest > largest if there is none.
    least: u32,
    largest: u32,
    /// Lines of any kind.
    lines: u64,
}

/// Reads the whole of `input` on `threads` threads.
///
/// # Errors
/// The first line that is not well formed.
pub(super) fn read(input: Input, options: &ReadOptions, threads: usize) -> Result<InMemory> {
    let path = input.path().to_path_buf();
    let rules = Rules { base: options.index_base, duplicates: options.duplicates, sort: options.sort };
    let parts = slabs::parse(
        input,
        slabs::at_line_end,
        options.slab_bytes,
        threads,
        0,
        Scratch::default,
        |scratch, text, end| rules.slab(scratch, text, end).map(|part| (part.lines, part)),
    )?;
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
        if part.block.rows() > 0 {
            blocks.push(part.block);
        }
    }
    if labels.is_empty() {
        return Err(Error::data(&path, None, "no rows", ACCEPTED));
    }
    if let Some(replaced) = per_row::labels(options, labels.len(), threads)? {
        labels = replaced;
    }
    Ok(InMemory::new(&path, blocks, labels, base, seen.max(options.columns.unwrap_or(0))))
}

#[derive(Default)]
struct Scratch {
    rows: SparseBuilder,
    labels: Vec<f64>,
    order: Vec<(u32, f32)>,
}

struct Rules {
    base: Option<IndexBase>,
    duplicates: Duplicates,
    sort: bool,
}

impl Rules {
    fn slab(&self, scratch: &mut Scratch, text: &[u8], end: usize) -> std::result::Result<Part, Fault> {
        scratch.rows.clear();
        scratch.labels.clear();
        let (mut at, mut lines) = (0, 0);
        let (mut least, mut largest) = (u32::MAX, 0);
        while at < end {
            at = self.line(scratch, text, at, &mut least, &mut largest).map_err(|misfit| {
                let line = Some(1 + memchr_iter(b'\n', &text[..misfit.at]).count() as u64);
                Fault { line, what: misfit.what, remedy: misfit.remedy }
            })?;
            lines += 1;
        }
        let labels = scratch.labels.clone();
        Ok(Part { block: scratch.rows.finish(), labels, least, largest, lines })
    }

    /// Parses the line at `at`; gives the start of the next.
    #[inline]
    fn line(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        at: usize,
        least: &mut u32,
        largest: &mut u32,
    ) -> Parsed<usize> {
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
            let start = at;
            let Some((index, colon)) = integer(text, at) else {
                match text[at] {
                    b'\n' => at += 1,
                    b'#' => at = end_of_line(text, at),
                    b'q' if text[at..].starts_with(b"qid:") => {
                        at = query(text, at)?;
                        continue;
                    }
                    _ => return Err(not_an_entry(text, at)),
                }
                break;
            };
            if text[colon] != b':' {
                return Err(not_an_entry(text, start));
            }
            let index = self.index(text, start, index)?;
            let (value, end) = value(text, colon + 1)?;
            at = end;
            if previous.is_some_and(|previous| index <= previous) {
                self.check_order(text, start, index, previous)?;
                irregular = true;
            }
            previous = Some(index);
            *least = index.min(*least);
            *largest = index.max(*largest);
            scratch.rows.push(index, value);
        }
        if irregular {
            self.mend(scratch).map_err(|(what, remedy)| Misfit::new(at - 1, what, remedy))?;
        }
        scratch.labels.push(label);
        scratch.rows.end_row();
        Ok(at)
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
    fn mend(&self, scratch: &mut Scratch) -> std::result::Result<(), (String, &'static str)> {
        let start = scratch.rows.row_start();
        let Scratch { rows, order, .. } = scratch;
        order.clear();
        order.extend(rows.columns.drain(start..).zip(rows.values.drain(start..)));
        order.sort_by_key(|entry| entry.0);
        for &(index, value) in order.iter() {
            if rows.columns.len() == start || rows.columns.last() != Some(&index) {
                rows.push(index, value);
                continue;
            }
            let last = rows.values.len() - 1;
            match self.duplicates {
                Duplicates::Error => return Err((format!("index {index} twice in a row of data"), DUPLICATES)),
                Duplicates::Sum => rows.values[last] += value,
                Duplicates::Last => rows.values[last] = value,
            }
            if !rows.values[last].is_finite() {
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
