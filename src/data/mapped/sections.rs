//! Sections as slices: each 1 MiB block is held against its checksum the first time a slice touches it.

use super::header::{CHECKED_BYTES, DAMAGED, Header, Kind, Section};
use crate::{
    error::{Error, Result},
    os::mapped_file::MappedFile,
};
use bytemuck::Pod;
use std::{
    ops::Range,
    path::Path,
    sync::{Mutex, PoisonError},
};

/// The sections of an open file.
#[derive(Debug)]
pub(super) struct Sections {
    file: MappedFile,
    header: Header,
    /// One bit a checksum: whether its block was found sound.
    sound: Mutex<Vec<u64>>,
}

impl Sections {
    /// Of a file whose length is the header's. Checks the checksum section.
    pub(super) fn new(file: MappedFile, header: Header) -> Result<Self> {
        let sections = Sections { file, header, sound: Mutex::default() };
        let checksums = sections.section(Kind::Checksums);
        let found = crc32fast::hash(&sections.file.bytes()[byte_range(checksums, 0..checksums.length)]);
        let stored = sections.header.checksums_crc;
        if found != stored {
            let Section { offset, .. } = checksums;
            let what = format!(
                "section `checksums` at byte {offset} has checksum {stored:08x} written and {found:08x} found"
            );
            return Err(Error::data(sections.path(), None, what, DAMAGED));
        }
        let count = checksums.length / 4;
        *sections.sound.lock().unwrap_or_else(PoisonError::into_inner) = vec![0; count.div_ceil(64) as usize];
        Ok(sections)
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        self.header.section(kind).is_some()
    }

    /// The section of a kind that this form of file always has.
    fn section(&self, kind: Kind) -> &Section {
        self.header.section(kind).expect("the header was checked to list this section")
    }

    /// Items `range` of a section (all of them if `None`), each block they touch checked.
    ///
    /// # Panics
    /// If the range is not within the section, whose length is known from the header, or `T` is not its item.
    pub(super) fn read<T: Pod>(&self, kind: Kind, range: Option<Range<u64>>) -> Result<&[T]> {
        let section = self.section(kind);
        assert_eq!(size_of::<T>(), section.item_bytes as usize);
        let item = u64::from(section.item_bytes);
        let range = range.map_or(0..section.length, |range| range.start * item..range.end * item);
        assert!(range.start <= range.end && range.end <= section.length);
        self.check(section, range.clone())?;
        Ok(bytemuck::cast_slice(&self.file.bytes()[byte_range(section, range)]))
    }

    /// Lets go of the pages of the blocks that `range` touches.
    pub(super) fn release(&self, kind: Kind, range: Range<u64>) {
        let section = self.section(kind);
        let item = u64::from(section.item_bytes);
        let start = range.start * item / CHECKED_BYTES * CHECKED_BYTES;
        let end = (range.end * item).next_multiple_of(CHECKED_BYTES).min(section.length);
        if start < end {
            let bytes = byte_range(section, start..end);
            // A section's last page holds nothing else.
            self.file.release(bytes.start..bytes.end.next_multiple_of(4096));
        }
    }

    /// A section of f64, copied out.
    pub(super) fn copy_f64(&self, kind: Kind) -> Result<Vec<f64>> {
        self.file.still_whole()?;
        let items = self.section(kind).length / 8;
        let mut copy = Vec::new();
        if copy.try_reserve_exact(items as usize).is_err() {
            let what = format!("{items} {} do not fit in memory", kind.name());
            return Err(Error::data(self.path(), None, what, "use a machine with more memory, or fewer rows"));
        }
        // In steps, so that what was copied is let go of before the next is read.
        let step = CHECKED_BYTES / 8;
        for start in (0..items).step_by(step as usize) {
            let range = start..(start + step).min(items);
            copy.extend_from_slice(self.read::<f64>(kind, Some(range.clone()))?);
            self.release(kind, range);
        }
        Ok(copy)
    }

    /// Checks that the file was not cut short since it was opened.
    pub(super) fn still_whole(&self) -> Result<()> {
        self.file.still_whole()
    }

    /// Holds each block that bytes `range` of `section` touch against its checksum, unless that was done before. Two
    /// threads may both check one block; neither goes on before it was found sound.
    fn check(&self, section: &Section, range: Range<u64>) -> Result<()> {
        for block in range.start / CHECKED_BYTES..range.end.div_ceil(CHECKED_BYTES) {
            let checksum = section.first_checksum + block;
            let (word, bit) = (checksum as usize / 64, 1_u64 << (checksum % 64));
            let sound = || self.sound.lock().unwrap_or_else(PoisonError::into_inner);
            if sound()[word] & bit != 0 {
                continue;
            }
            let start = block * CHECKED_BYTES;
            let bytes = byte_range(section, start..(start + CHECKED_BYTES).min(section.length));
            let found = crc32fast::hash(&self.file.bytes()[bytes.clone()]);
            let stored = self.checksum(checksum);
            if found != stored {
                let (name, offset) = (section.kind.name(), bytes.start);
                let what = format!(
                    "block {block} of section `{name}` (1 MiB, at byte {offset} of the file) has checksum {stored:08x} \
                     written and {found:08x} found"
                );
                return Err(Error::data(self.path(), None, what, DAMAGED));
            }
            sound()[word] |= bit;
        }
        Ok(())
    }

    fn checksum(&self, index: u64) -> u32 {
        let section = self.section(Kind::Checksums);
        let bytes = &self.file.bytes()[byte_range(section, 4 * index..4 * index + 4)];
        u32::from_le_bytes(bytes.try_into().unwrap_or_default())
    }
}

/// Where bytes `range` of `section` lie in the file. They are within it: the header was checked.
fn byte_range(section: &Section, range: Range<u64>) -> Range<usize> {
    (section.offset + range.start) as usize..(section.offset + range.end) as usize
}
