//! NumPy's `.npy`: a matrix of rows (dense), or a vector of labels or weights. Numbers of any real type and either
//! byte order; matrices in C order are read block by block, in Fortran order column by column and then turned.

use super::{
    ReadOptions,
    input::Input,
    memory::InMemory,
    per_row,
    room::Watch,
    turn::{self, ColumnMajor},
};
use crate::{
    data::Block,
    error::{Error, Result},
    os::memory::Pages,
};
use ndarray_npy::npy::header::Header;
use std::{
    io::{Cursor, Read},
    path::PathBuf,
};

/// Entries of a block.
const BLOCK_ENTRIES: usize = 1 << 20;

/// A longer header is none that NumPy wrote for an array of numbers.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// Whether data that begin with `head` are a `.npy` file.
pub(super) fn is_npy(head: &[u8]) -> bool {
    head.starts_with(b"\x93NUMPY")
}

/// Reads a matrix; its labels are in a file of their own.
///
/// # Errors
/// Anything but a two-dimensional array of finite numbers that fit `f32`; labels that are missing or do not fit.
pub(super) fn read(input: Input, options: &ReadOptions, threads: usize) -> Result<InMemory> {
    let mut array = Array::open(input)?;
    let [rows, columns] = array.shape[..] else {
        let what = format!("an array of {} dimensions, shape {:?}", array.shape.len(), array.shape);
        return Err(array.fault(what, "give a matrix: one row a sample, one column a feature"));
    };
    if rows == 0 || columns == 0 || u32::try_from(columns).is_err() {
        let what = format!("a matrix of {rows} rows and {columns} columns");
        return Err(array.fault(what, "give at least one row, and 1 to 4294967295 columns"));
    }
    let labels = per_row::labels_needed(options, &array.path, rows, threads)?;
    let blocks = match array.fortran {
        false => array.by_rows(rows, columns)?,
        true => turn::to_rows(&array.by_columns(rows, columns)?, rows, columns),
    };
    array.at_end()?;
    let path = array.path.clone();
    options.check_width(columns, &path)?;
    let labels = labels.unwrap_or_else(|| per_row::unlabelled(rows));
    Ok(InMemory::new(&path, blocks, labels, 0, columns))
}

/// Reads a vector, n or n × 1 or 1 × n.
///
/// # Errors
/// Anything but a vector of finite numbers.
pub(super) fn vector(input: Input) -> Result<Vec<f64>> {
    let mut array = Array::open(input)?;
    let count = match array.shape[..] {
        [count] | [count, 1] | [1, count] => count,
        _ => {
            let what = format!("an array of shape {:?}", array.shape);
            return Err(array.fault(what, "give one number a row: a vector"));
        }
    };
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let start = numbers.len();
        array.numbers((count - start).min(BLOCK_ENTRIES), |number| numbers.push(number))?;
        if let Some(at) = numbers[start..].iter().position(|number| !number.is_finite()) {
            let what = format!("entry {} is {}", start + at, numbers[start + at]);
            return Err(array.fault(what, "labels and weights are finite numbers"));
        }
    }
    array.at_end()?;
    Ok(numbers)
}

/// A real type of NumPy.
#[derive(Clone, Copy, Debug)]
struct Element {
    kind: u8,
    bytes: usize,
    big_endian: bool,
}

impl Element {
    /// From a descriptor such as `<f4`.
    fn parse(descriptor: &str) -> Option<Element> {
        let [order @ (b'<' | b'>' | b'|' | b'='), kind, size] = descriptor.as_bytes() else { return None };
        let bytes = usize::from(size.checked_sub(b'0')?);
        match (kind, bytes) {
            (b'f', 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1) => {
                Some(Element { kind: *kind, bytes, big_endian: *order == b'>' })
            }
            _ => None,
        }
    }

    /// The value of one element; integers beyond 2⁵³ are rounded.
    fn value(self, raw: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..self.bytes].copy_from_slice(raw);
        if self.big_endian {
            word[..self.bytes].reverse();
        }
        let word = u64::from_le_bytes(word);
        let unused = 64 - 8 * self.bytes as u32;
        match (self.kind, self.bytes) {
            (b'f', 4) => f64::from(f32::from_bits(word as u32)),
            (b'f', _) => f64::from_bits(word),
            (b'i', _) => (((word << unused) as i64) >> unused) as f64,
            _ => word as f64,
        }
    }
}

/// An opened array.
struct Array {
    input: Input,
    path: PathBuf,
    element: Element,
    fortran: bool,
    shape: Vec<usize>,
    raw: Vec<u8>,
    room: Watch,
    /// Bytes of numbers read.
    read: u64,
}

impl Array {
    fn open(mut input: Input) -> Result<Array> {
        let path = input.path().to_path_buf();
        let length = header_length(input.head())
            .ok_or_else(|| Error::data(&path, None, "no .npy header that can be read", REMEDY))?;
        let header = Header::from_reader(&mut Cursor::new(&input.head()[..length]))
            .map_err(|e| Error::data(&path, None, format!("a bad .npy header: {e}"), REMEDY))?;
        input.skip(length);
        let descriptor = header.type_descriptor.to_string();
        let element = Element::parse(descriptor.trim_matches('\''))
            .ok_or_else(|| Error::data(&path, None, format!("elements of type {descriptor}"), REMEDY))?;
        let (fortran, shape) = (header.layout.is_fortran(), header.shape);
        Ok(Array { input, path, element, fortran, shape, raw: Vec::new(), room: Watch::begin(), read: 0 })
    }

    fn fault(&self, what: String, remedy: &str) -> Error {
        Error::data(&self.path, None, what, remedy)
    }

    /// Hands on the next `count` numbers. Memory grows with what the file holds, not with what its header says.
    fn numbers(&mut self, count: usize, take: impl FnMut(f64)) -> Result<()> {
        let bytes = count.saturating_mul(self.element.bytes);
        self.room.look(&self.path, self.read)?;
        self.read += bytes as u64;
        self.raw.clear();
        let read = self.input.by_ref().take(bytes as u64).read_to_end(&mut self.raw);
        if read.map_err(|e| self.input.fault(e))? < bytes {
            let what = format!("the file ends before all of an array of shape {:?}", self.shape);
            return Err(self.fault(what, "it was cut short; save it again"));
        }
        self.raw.chunks_exact(self.element.bytes).map(|raw| self.element.value(raw)).for_each(take);
        Ok(())
    }

    /// The next `count` numbers in single precision; the first is number `start` of the array.
    fn singles(&mut self, start: usize, count: usize) -> Result<Pages<f32>> {
        let mut wide = Vec::new();
        self.numbers(count, |number| wide.push(number))?;
        let mut values = Pages::zeroed(count);
        for (at, (value, number)) in values.iter_mut().zip(&wide).enumerate() {
            *value = *number as f32;
            if !value.is_finite() {
                let columns = self.shape[1];
                let (major, minor) = ((start + at) / columns.max(1), (start + at) % columns.max(1));
                let place = match self.fortran {
                    false => format!("row {major}, column {minor}"),
                    true => format!("entry {} in file order", start + at),
                };
                return Err(self.fault(
                    format!("{number} at {place} (from 0)"),
                    "values are finite and stored in single precision, up to 3.4e38; mend or scale the data",
                ));
            }
        }
        Ok(values)
    }

    fn by_rows(&mut self, rows: usize, columns: usize) -> Result<Vec<Block>> {
        let rows_a_block = (BLOCK_ENTRIES / columns).max(1);
        let mut blocks = Vec::new();
        for first in (0..rows).step_by(rows_a_block) {
            let count = rows_a_block.min(rows - first);
            let values = self.singles(first.saturating_mul(columns), count * columns)?;
            blocks.push(Block::Dense { columns, values });
        }
        Ok(blocks)
    }

    fn by_columns(&mut self, rows: usize, columns: usize) -> Result<ColumnMajor> {
        let mut parts = ColumnMajor::default();
        for column in 0..columns {
            for first in (0..rows).step_by(BLOCK_ENTRIES) {
                let count = BLOCK_ENTRIES.min(rows - first);
                parts.push(self.singles(column.saturating_mul(rows).saturating_add(first), count)?);
            }
        }
        Ok(parts)
    }

    /// Nothing may follow the array.
    fn at_end(&mut self) -> Result<()> {
        let more = self.input.read(&mut [0]).map_err(|e| self.input.fault(e))?;
        if more > 0 {
            let what = format!("bytes follow an array of shape {:?}", self.shape);
            return Err(self.fault(what, "the header does not fit the data; save the array again"));
        }
        Ok(())
    }
}

const REMEDY: &str = "save a plain array of numbers: `numpy.save(\"x.npy\", x.astype(\"float32\"))`";

/// Bytes up to the end of the header, if it is all there, no longer than is sensible, and not nested deeper than a
/// shape needs (the parser of the header calls itself at each bracket).
fn header_length(head: &[u8]) -> Option<usize> {
    let length = match head.get(6)? {
        1 => 10 + usize::from(u16::from_le_bytes(head.get(8..10)?.try_into().ok()?)),
        _ => u32::from_le_bytes(head.get(8..12)?.try_into().ok()?) as usize + 12,
    };
    let header = head.get(..length.min(HEADER_BYTES_MAX + 1))?;
    let brackets = header.iter().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
    (length <= HEADER_BYTES_MAX && brackets <= 8).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_every_real_type_have_their_value() {
        let value = |descriptor: &str, raw: &[u8]| Element::parse(descriptor).unwrap().value(raw);
        assert_eq!(value("<f4", &1.5f32.to_le_bytes()), 1.5);
        assert_eq!(value(">f8", &(-2.25f64).to_be_bytes()), -2.25);
        assert_eq!(value("<i2", &(-3i16).to_le_bytes()), -3.0);
        assert_eq!(value(">i8", &(-4i64).to_be_bytes()), -4.0);
        assert_eq!(value("|u1", &[255]), 255.0);
        assert_eq!(value("|b1", &[1]), 1.0);
        for other in ["<c8", "<U3", "|O", "<f2", "f4", ""] {
            assert!(Element::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_header_of_nothing_but_brackets_is_refused_before_it_is_parsed() {
        let mut head = b"\x93NUMPY\x01\0\xff\xff".to_vec();
        head.resize(10 + 0xffff, b'(');
        assert_eq!(header_length(&head), None);
        assert!(is_npy(&head));
    }
}
