//! The first page: what is in the file and where. The layout follows from the shape alone, so that a table that says
//! otherwise is a damaged one, and no length read from a file is trusted before it equals a computed one.

use super::{MAGIC, Shape};
use crate::error::Error;
use std::path::Path;

/// Sections begin at multiples of this, and the header is as long.
pub(super) const ALIGN: u64 = 4096;
/// A checksum covers so many bytes of one section.
pub(super) const CHECKED_BYTES: u64 = 1 << 20;
/// At most so many blocks of rows, so that their list is read in a millisecond.
pub(super) const SPANS_MAX: u64 = 1 << 16;

const ORDER_MARK: u32 = 0x0a0b_0c0d;
const VERSION: u32 = 1;
const ENTRY_BYTES: usize = 40;
const TABLE: usize = 64;
const CRC_AT: usize = 60;

/// What a section holds. Numbers and order are those of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    Starts = 1,
    Columns = 2,
    Values = 3,
    Labels = 4,
    Weights = 5,
    Spans = 6,
    Checksums = 7,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Starts => "starts",
            Kind::Columns => "columns",
            Kind::Values => "values",
            Kind::Labels => "labels",
            Kind::Weights => "weights",
            Kind::Spans => "spans",
            Kind::Checksums => "checksums",
        }
    }
}

/// Where a section lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) kind: Kind,
    pub(super) item_bytes: u32,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) first_checksum: u64,
}

/// The header, decoded.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) shape: Shape,
    pub(super) sections: Vec<Section>,
    pub(super) file_length: u64,
    /// crc32 of the checksum section.
    pub(super) checksums_crc: u32,
}

/// What is wrong with a header.
#[derive(Debug)]
pub(super) struct Fault {
    what: String,
    remedy: &'static str,
}

impl Fault {
    pub(super) fn of(self, path: &Path) -> Error {
        Error::data(path, None, self.what, self.remedy)
    }
}

/// What to do about a damaged file.
pub(super) const DAMAGED: &str =
    "the file is damaged: make it again with `farrow data convert`, or restore it from a copy";

fn damaged(what: impl Into<String>) -> Fault {
    Fault { what: what.into(), remedy: DAMAGED }
}

impl Header {
    /// The layout of a data set; `None` if its lengths overflow. `spans` is the number of blocks of rows.
    pub(super) fn new(shape: Shape, weights: bool, spans: u64) -> Option<Self> {
        let (rows, entries) = (shape.rows as u64, shape.nonzeros);
        let mut wanted = Vec::new();
        if !shape.dense {
            wanted.push((Kind::Starts, 8, rows.checked_add(1)?));
            wanted.push((Kind::Columns, 4, entries));
        }
        wanted.push((Kind::Values, 4, entries));
        wanted.push((Kind::Labels, 8, rows));
        if weights {
            wanted.push((Kind::Weights, 8, rows));
        }
        if !shape.dense {
            wanted.push((Kind::Spans, 16, spans));
        }
        let (mut end, mut checksums, mut sections) = (ALIGN, 0, Vec::new());
        let mut place = |kind, item_bytes: u32, items: u64, first_checksum| -> Option<u64> {
            let length = items.checked_mul(u64::from(item_bytes))?;
            let offset = end;
            end = offset.checked_add(length)?.checked_next_multiple_of(ALIGN)?;
            sections.push(Section { kind, item_bytes, offset, length, first_checksum });
            Some(length.div_ceil(CHECKED_BYTES))
        };
        for (kind, item_bytes, items) in wanted {
            checksums += place(kind, item_bytes, items, checksums)?;
        }
        place(Kind::Checksums, 4, checksums, 0)?;
        // Sums of lengths stay below 2^63, so that offsets fit the kernel's off_t and usize.
        (end < 1 << 63).then_some(Header { shape, sections, file_length: end, checksums_crc: 0 })
    }

    /// The section that holds `kind`, if the file has one.
    pub(super) fn section(&self, kind: Kind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    /// The first page of the file.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut page = Vec::with_capacity(ALIGN as usize);
        page.extend_from_slice(&MAGIC);
        page.extend_from_slice(&ORDER_MARK.to_le_bytes());
        page.extend_from_slice(&VERSION.to_le_bytes());
        for value in [self.file_length, self.shape.rows as u64, self.shape.columns as u64, self.shape.nonzeros] {
            page.extend_from_slice(&value.to_le_bytes());
        }
        for value in [u32::from(self.shape.dense), self.sections.len() as u32, CHECKED_BYTES as u32, 0] {
            page.extend_from_slice(&value.to_le_bytes());
        }
        for section in &self.sections {
            page.extend_from_slice(&(section.kind as u32).to_le_bytes());
            page.extend_from_slice(&section.item_bytes.to_le_bytes());
            for value in [section.offset, section.length, section.first_checksum] {
                page.extend_from_slice(&value.to_le_bytes());
            }
            let crc = if section.kind == Kind::Checksums { self.checksums_crc } else { 0 };
            page.extend_from_slice(&u64::from(crc).to_le_bytes());
        }
        page.resize(ALIGN as usize, 0);
        let crc = crc32fast::hash(&page);
        page[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
        page
    }

    /// Reads and checks the first page of the file `bytes`.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Fault> {
        let page = identify(bytes)?;
        let [file_length, rows, columns, nonzeros] = [16, 24, 32, 40].map(|at| u64_at(page, at));
        if file_length != bytes.len() as u64 {
            return Err(damaged(format!("{} bytes long, its header says {file_length}", bytes.len())));
        }
        let dense = match u32_at(page, 48) {
            0 => false,
            1 => true,
            form => return Err(damaged(format!("form {form}; 0 (sparse) and 1 (dense) are known"))),
        };
        if columns > 1 << 32 || (dense && (columns == 0 || rows.checked_mul(columns) != Some(nonzeros))) {
            let form = if dense { "dense" } else { "sparse" };
            return Err(damaged(format!(
                "{rows} rows, {columns} columns and {nonzeros} {form} entries do not fit"
            )));
        }
        let shape = Shape { rows: rows as usize, columns: columns as usize, nonzeros, dense };
        let entry = |k: usize| &page[TABLE + k * ENTRY_BYTES..][..ENTRY_BYTES];
        let count = (u32_at(page, 52) as usize).min((ALIGN as usize - TABLE) / ENTRY_BYTES);
        let of_kind = |kind: Kind| (0..count).map(entry).find(|entry| u32_at(entry, 0) == kind as u32);
        let spans = of_kind(Kind::Spans).map_or(0, |entry| u64_at(entry, 16) / 16);
        if spans > SPANS_MAX {
            return Err(damaged(format!("{spans} blocks of rows; at most {SPANS_MAX} are allowed")));
        }
        let checksums_crc = of_kind(Kind::Checksums).map_or(0, |entry| u32_at(entry, 32));
        let expected = Header::new(shape, of_kind(Kind::Weights).is_some(), spans);
        let header = expected.ok_or_else(|| damaged(format!("{rows} rows and {nonzeros} entries overflow")))?;
        let header = Header { checksums_crc, ..header };
        if header.encode() != page {
            return Err(damaged("the section table does not follow from the shape in the header"));
        }
        Ok(header)
    }
}

/// The first page, if the file is of this form, byte order and version, and the page is undamaged.
fn identify(bytes: &[u8]) -> Result<&[u8], Fault> {
    if !bytes.starts_with(&MAGIC) {
        let seen: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let what = format!("not in farrow's mapped form: it begins with [{}]", seen.join(" "));
        return Err(Fault { what, remedy: "convert text with `farrow data convert IN OUT.farrow`" });
    }
    let Some(page) = bytes.get(..ALIGN as usize) else {
        return Err(damaged(format!("{} bytes long, the header alone takes {ALIGN}", bytes.len())));
    };
    let order: [u8; 4] = page[8..12].try_into().unwrap_or_default();
    if order == ORDER_MARK.to_be_bytes() || (order == ORDER_MARK.to_le_bytes() && cfg!(target_endian = "big")) {
        let what = format!("byte order mark {order:02x?}: the file or this machine is big-endian");
        return Err(Fault {
            what,
            remedy: "files of this form are little-endian, written and read on such machines",
        });
    }
    let (version, crc) = (u32_at(page, 12), u32_at(page, CRC_AT));
    if version != VERSION {
        let what = format!("version {version} of the mapped form; this program reads version {VERSION}");
        return Err(Fault { what, remedy: "convert the source again with this program's `farrow data convert`" });
    }
    let mut zeroed = page.to_vec();
    zeroed[CRC_AT..CRC_AT + 4].fill(0);
    let found = crc32fast::hash(&zeroed);
    if found != crc {
        return Err(damaged(format!(
            "the header (bytes 0 to 4095) has checksum {crc:08x} written and {found:08x} found"
        )));
    }
    Ok(page)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
