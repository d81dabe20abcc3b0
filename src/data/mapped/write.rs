//! Writing the mapped form in one pass over the blocks, 1 MiB a section in memory.

use super::{
    Block, Shape, Source, block,
    header::{CHECKED_BYTES, Header, Kind},
    span,
};
use crate::{
    error::{Error, Result},
    output::write_whole_file,
};
use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

/// Writes `source` to `path` in the mapped form, with the label of every row and, if there are any, its weight.
/// `progress` is told after each block how many rows were written. The file appears under its name when it is complete
/// and on disk.
///
/// # Errors
/// If nothing can be written there or the disk is full; if a block of the source cannot be had, is out of bounds, or
/// does not agree with the source's shape; if there are not as many labels and weights as rows.
pub fn write(
    path: &Path,
    source: &dyn Source,
    labels: &[f64],
    weights: Option<&[f64]>,
    progress: &mut dyn FnMut(usize),
) -> Result<()> {
    let shape = source.shape();
    check_lengths(path, shape, labels, weights)?;
    write_whole_file(path, |file| write_to(file, path, source, labels, weights, progress))
}

fn check_lengths(path: &Path, shape: Shape, labels: &[f64], weights: Option<&[f64]>) -> Result<()> {
    for (name, length) in [("labels", labels.len()), ("weights", weights.map_or(shape.rows, <[f64]>::len))] {
        if length != shape.rows {
            let what = format!("{length} {name} for {} rows", shape.rows);
            return Err(Error::data(path, None, what, format!("give as many {name} as rows")));
        }
    }
    block::check_labels(path, labels)?;
    weights.map_or(Ok(()), |weights| block::check_weights(path, weights))
}

fn write_to(
    file: &File,
    path: &Path,
    source: &dyn Source,
    labels: &[f64],
    weights: Option<&[f64]>,
    progress: &mut dyn FnMut(usize),
) -> Result<()> {
    let io = |e| Error::io("write", path, e);
    let shape = source.shape();
    let layout = |spans: u64| {
        let overflow = || Error::data(path, None, format!("{shape:?} is too large for one file"), "split the data");
        Header::new(shape, weights.is_some(), spans).ok_or_else(overflow)
    };
    // Where a section before the spans lies does not depend on how many spans there will be.
    let early = layout(0)?;
    let mut writers: Vec<Stream<'_>> =
        early.sections.iter().map(|section| Stream::new(file, section.kind, section.offset)).collect();
    let begins = write_rows(&mut writers, path, source, progress)?;
    stream(&mut writers, Kind::Labels).push(bytemuck::cast_slice(labels)).map_err(io)?;
    if let Some(weights) = weights {
        stream(&mut writers, Kind::Weights).push(bytemuck::cast_slice(weights)).map_err(io)?;
    }
    if !shape.dense {
        stream(&mut writers, Kind::Spans).push(bytemuck::cast_slice(&begins)).map_err(io)?;
    }
    let mut header = layout(begins.len() as u64)?;
    let mut checksums: Vec<u8> = Vec::new();
    for writer in writers.iter_mut().filter(|writer| writer.kind != Kind::Checksums) {
        writer.flush().map_err(io)?;
        checksums.extend(writer.checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
    }
    header.checksums_crc = crc32fast::hash(&checksums);
    let at = header.section(Kind::Checksums).map_or(0, |section| section.offset);
    file.set_len(header.file_length).map_err(io)?;
    file.write_all_at(&checksums, at).map_err(io)?;
    file.write_all_at(&header.encode(), 0).map_err(io)
}

/// Streams all rows out and returns where the blocks of the file begin.
fn write_rows(
    writers: &mut [Stream<'_>],
    path: &Path,
    source: &dyn Source,
    progress: &mut dyn FnMut(usize),
) -> Result<Vec<[u64; 2]>> {
    let io = |e| Error::io("write", path, e);
    let shape = source.shape();
    let mut cutter = span::Cutter::new(shape);
    let (mut rows, mut entries) = (0, 0_u64);
    if !shape.dense {
        stream(writers, Kind::Starts).push(bytemuck::bytes_of(&0_u64)).map_err(io)?;
    }
    for k in 0..source.spans().len() {
        let block = source.take(k)?;
        block::check(path, &block, rows, shape.columns)?;
        rows += block.rows();
        if matches!(block, Block::Dense { .. }) != shape.dense {
            return Err(changed(path, format!("block {k} is not of the form announced, {shape:?}")));
        }
        match &block {
            Block::Sparse { starts, columns, values } => {
                for pair in starts.windows(2) {
                    stream(writers, Kind::Starts).push(bytemuck::bytes_of(&(entries + pair[1]))).map_err(io)?;
                    cutter.row(pair[1] - pair[0]);
                }
                entries += columns.len() as u64;
                stream(writers, Kind::Columns).push(bytemuck::cast_slice(columns)).map_err(io)?;
                stream(writers, Kind::Values).push(bytemuck::cast_slice(values)).map_err(io)?;
            }
            Block::Dense { values, .. } => {
                entries += values.len() as u64;
                stream(writers, Kind::Values).push(bytemuck::cast_slice(values)).map_err(io)?;
            }
        }
        progress(rows);
    }
    if (rows, entries) != (shape.rows, shape.nonzeros) {
        let what = format!("{rows} rows with {entries} entries came where {shape:?} was announced");
        return Err(changed(path, what));
    }
    Ok(cutter.finish())
}

fn changed(path: &Path, what: String) -> Error {
    Error::data(path, None, what, "the source changed while it was read: convert it again")
}

fn stream<'a, 'f>(writers: &'a mut [Stream<'f>], kind: Kind) -> &'a mut Stream<'f> {
    writers.iter_mut().find(|writer| writer.kind == kind).expect("the layout has a section for all that is written")
}

/// One section being written, front to back.
struct Stream<'f> {
    file: &'f File,
    kind: Kind,
    offset: u64,
    block: Vec<u8>,
    checksums: Vec<u32>,
}

impl<'f> Stream<'f> {
    fn new(file: &'f File, kind: Kind, offset: u64) -> Self {
        Stream { file, kind, offset, block: Vec::new(), checksums: Vec::new() }
    }

    fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = CHECKED_BYTES as usize - self.block.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(now);
            bytes = later;
            if self.block.len() == CHECKED_BYTES as usize {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is gathered as one block, the last if it is short.
    fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.file.write_all_at(&self.block, self.offset)?;
        self.checksums.push(crc32fast::hash(&self.block));
        self.offset += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }
}
