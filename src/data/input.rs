//! A file or standard input as a stream of plain bytes: `.gz`, `.xz` and `.zst` are told by their first bytes and
//! decompressed, files of several streams too.

use crate::error::{Error, Result};
use std::{
    fs::File,
    io::{self, Cursor, Read},
    path::{Path, PathBuf},
};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Xz,
    Zstd,
}

/// An opened input, decompressed, with a look at its beginning.
pub(super) struct Input {
    path: PathBuf,
    compression: Option<Compression>,
    head: Cursor<Vec<u8>>,
    rest: Box<dyn Read + Send>,
}

/// How much of the beginning is looked at.
const HEAD: u64 = 64 << 10;

impl Input {
    /// Opens `path`; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or a compressed one that is damaged at its beginning.
    pub(super) fn open(path: &Path) -> Result<Input> {
        let raw: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).map_err(|e| Error::io("read", path, e))?)
        };
        Input::from_reader(path, raw)
    }

    /// The same for any stream of bytes; `path` is its name in messages.
    pub(super) fn from_reader(path: &Path, mut raw: Box<dyn Read + Send>) -> Result<Input> {
        let mut magic = Vec::new();
        raw.by_ref().take(6).read_to_end(&mut magic).map_err(|e| Error::io("read", path, e))?;
        let compression = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        };
        let raw = Cursor::new(magic).chain(raw);
        let mut rest: Box<dyn Read + Send> = match compression {
            None => Box::new(raw),
            Some(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(raw)),
            Some(Compression::Xz) => Box::new(liblzma::read::XzDecoder::new_multi_decoder(raw)),
            Some(Compression::Zstd) => {
                Box::new(zstd::stream::read::Decoder::new(raw).map_err(|e| Error::io("read", path, e))?)
            }
        };
        let mut head = Vec::new();
        let looked = rest.by_ref().take(HEAD).read_to_end(&mut head);
        let input = Input { path: path.to_path_buf(), compression, head: Cursor::new(head), rest };
        looked.map_err(|e| input.fault(e))?;
        Ok(input)
    }

    /// The first 64 KiB, or all there is.
    pub(super) fn head(&self) -> &[u8] {
        self.head.get_ref()
    }

    /// Its name in messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What a failed read means to a person.
    pub(super) fn fault(&self, error: io::Error) -> Error {
        let (name, check) = match self.compression {
            None => return Error::io("read", &self.path, error),
            Some(Compression::Gzip) => ("gzip", "gzip -t"),
            Some(Compression::Xz) => ("xz", "xz -t"),
            Some(Compression::Zstd) => ("zstd", "zstd -t"),
        };
        let remedy = format!("the file is cut short or damaged (`{check}` tells); fetch or compress it again");
        Error::data(&self.path, None, format!("cannot be decompressed ({name}): {error}"), remedy)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 => self.rest.read(buffer),
            count => Ok(count),
        }
    }
}
