//! The mapped binary form: a data set as it lies in memory, opened at once and checked as it is copied.
//!
//! All numbers are little-endian. The first page of 4096 bytes is the header; a section begins at each next multiple
//! of 4096; bytes between sections are zero and mean nothing.
//!
//! | offset | bytes | header |
//! |---|---|---|
//! | 0 | 8 | magic: `89 66 61 72 72 6f 77 0a` (`\x89farrow\n`) |
//! | 8 | 4 | byte order mark 0x0a0b0c0d |
//! | 12 | 4 | version, 1 |
//! | 16 | 8 | length of the file in bytes |
//! | 24 | 8 | n, rows |
//! | 32 | 8 | d, columns, at most 2³² |
//! | 40 | 8 | stored entries; n × d in the dense form |
//! | 48 | 4 | form: 0 sparse, 1 dense |
//! | 52 | 4 | number of sections, k |
//! | 56 | 4 | bytes a checksum covers, 1048576 |
//! | 60 | 4 | crc32 of bytes 0 to 4095, these four taken as zero |
//! | 64 | 40 k | the section table; zeros follow to 4096 |
//!
//! | offset | bytes | entry of the section table |
//! |---|---|---|
//! | 0 | 4 | kind: 1 starts, 2 columns, 3 values, 4 labels, 5 weights, 6 spans, 7 checksums |
//! | 4 | 4 | bytes an item |
//! | 8 | 8 | offset in the file, a multiple of 4096 |
//! | 16 | 8 | length in bytes |
//! | 24 | 8 | which checksum is the section's first |
//! | 32 | 4 | crc32 of the section, for checksums; 0 for the others |
//! | 36 | 4 | 0 |
//!
//! Sections in this order, those in brackets where they apply, each length given by the header:
//!
//! | section | items | holds |
//! |---|---|---|
//! | starts (sparse) | u64 × (n + 1) | row i is entries `starts[i]..starts[i + 1]` |
//! | columns (sparse) | u32 × entries | column of each entry, from 0, strictly ascending within a row |
//! | values | f32 × entries | value of each entry, finite; dense: row after row |
//! | labels | f64 × n | as in the source |
//! | weights (where there are any) | f64 × n | > 0 |
//! | spans (sparse) | 2 u64 × blocks, at most 65536 | first row and first entry of each block that [`Source::take`] copies |
//! | checksums | u32 each | crc32 (IEEE) of each 1 MiB block of each section before, in order; a section's last block may be short |

use super::{Block, BlockSpan, Shape, Source};
use crate::{error::Result, os::mapped_file::MappedFile};
use std::path::Path;

mod block;
mod header;
mod sections;
mod span;
mod write;

pub use write::write;

use header::{Header, Kind};
use sections::Sections;

/// The first bytes of every file of this form.
pub const MAGIC: [u8; 8] = *b"\x89farrow\n";

/// A data set in the mapped binary form. Opening it reads the header and the list of blocks only; each 1 MiB of the
/// file is checked when it is first read, and its pages are let go once copied.
#[derive(Debug)]
pub struct Mapped {
    sections: Sections,
    shape: Shape,
    spans: Vec<BlockSpan>,
    /// First entry of each span.
    entries: Vec<u64>,
}

impl Mapped {
    /// Opens the file at `path`: checks header, lengths, section table and list of blocks, in milliseconds whatever
    /// the size of the file.
    ///
    /// # Errors
    /// A file that is not of this form, of another version or byte order, cut short, or whose header is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let file = MappedFile::open(path)?;
        let header = Header::decode(file.bytes()).map_err(|fault| fault.of(path))?;
        let shape = header.shape;
        let sections = Sections::new(file, header)?;
        let spans = match shape.dense {
            true => span::dense(shape),
            false => span::decode(path, shape, sections.read::<[u64; 2]>(Kind::Spans, None)?)?,
        };
        let running = |end: &mut u64, span: &BlockSpan| Some(std::mem::replace(end, *end + span.nonzeros));
        let entries = spans.iter().scan(0, running).collect();
        Ok(Mapped { sections, shape, spans, entries })
    }

    /// The weight of every row, if the file has weights.
    ///
    /// # Errors
    /// A damaged block, or a weight that is not finite and above 0.
    pub fn weights(&self) -> Result<Option<Vec<f64>>> {
        if !self.sections.has(Kind::Weights) {
            return Ok(None);
        }
        let weights = self.sections.copy_f64(Kind::Weights)?;
        block::check_weights(self.sections.path(), &weights)?;
        Ok(Some(weights))
    }
}

impl Source for Mapped {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn spans(&self) -> &[BlockSpan] {
        &self.spans
    }

    fn take(&self, index: usize) -> Result<Block> {
        block::copy(&self.sections, self.shape, self.spans[index], self.entries[index])
    }

    fn labels(&self) -> Result<Vec<f64>> {
        let labels = self.sections.copy_f64(Kind::Labels)?;
        block::check_labels(self.sections.path(), &labels)?;
        Ok(labels)
    }
}
