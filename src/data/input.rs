//! A file or standard input as a stream of plain bytes: `.gz`, `.bz2`, `.xz` and `.zst` are told by their first bytes and
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
    Bzip2,
    Xz,
    Zstd,
}

/// An opened input, decompressed, with a look at its beginning.
pub(super) struct Input {
    path: PathBuf,
    compression: Option<Compression>,
    /// The file, if it is one and not a pipe, and its length.
    file: Option<(File, u64)>,
    head: Vec<u8>,
    /// How much of `head` is done with.
    at: usize,
    rest: Box<dyn Read + Send>,
}

/// A file that can be read anywhere, and which of its bytes are to be read.
pub(super) struct PlainFile {
    /// Its name in messages.
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// How much of the beginning is looked at.
const HEAD_BYTES: usize = 64 << 10;

/// A line longer than this is no text that anybody wrote.
pub(super) const LINE_BYTES_MAX: usize = 2 << 30;

impl Input {
    /// Opens `path`; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or a compressed one that is damaged at its beginning.
    pub(super) fn open(path: &Path) -> Result<Input> {
        if path == Path::new("-") {
            return Input::from_reader(path, Box::new(io::stdin()));
        }
        let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
        let length = file.metadata().ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len());
        let again = length.and_then(|length| Some((file.try_clone().ok()?, length)));
        Ok(Input { file: again, ..Input::from_reader(path, Box::new(file))? })
    }

    /// The same for any stream of bytes; `path` is its name in messages.
    pub(super) fn from_reader(path: &Path, mut raw: Box<dyn Read + Send>) -> Result<Input> {
        let mut magic = Vec::new();
        raw.by_ref().take(6).read_to_end(&mut magic).map_err(|e| Error::io("read", path, e))?;
        let compression = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            // The digit is the block size; the six bytes after it, of which two are seen, begin a block or the end.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41] | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72] => {
                Some(Compression::Bzip2)
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        };
        let raw = Cursor::new(magic).chain(raw);
        let rest: Box<dyn Read + Send> = match compression {
            None => Box::new(raw),
            Some(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(raw)),
            Some(Compression::Bzip2) => Box::new(bzip2::read::MultiBzDecoder::new(raw)),
            Some(Compression::Xz) => Box::new(liblzma::read::XzDecoder::new_multi_decoder(raw)),
            Some(Compression::Zstd) => {
                Box::new(zstd::stream::read::Decoder::new(raw).map_err(|e| Error::io("read", path, e))?)
            }
        };
        let mut input = Input { path: path.to_path_buf(), compression, file: None, head: Vec::new(), at: 0, rest };
        input.look_further(HEAD_BYTES)?;
        if input.head.starts_with(b"\xef\xbb\xbf") {
            input.at = 3;
        }
        Ok(input)
    }

    /// What is next, at least 64 KiB unless there is less, without the byte order mark of UTF-8.
    pub(super) fn head(&self) -> &[u8] {
        &self.head[self.at..]
    }

    /// Reads `bytes` more into the head; whether there was anything.
    fn look_further(&mut self, bytes: usize) -> Result<bool> {
        let looked = self.rest.by_ref().take(bytes as u64).read_to_end(&mut self.head);
        looked.map(|count| count > 0).map_err(|e| self.fault(e))
    }

    /// How many bytes of the head, from `from` on, make up a whole record: `find` gives the end of the first record
    /// in a text, if it is in it. All there is where the last record is not ended.
    ///
    /// # Errors
    /// A read that fails.
    pub(super) fn record(&mut self, from: usize, find: fn(&[u8]) -> Option<usize>) -> Result<usize> {
        loop {
            let text = &self.head()[from..];
            if let Some(end) = find(text) {
                return Ok(end);
            }
            let length = text.len();
            if length > LINE_BYTES_MAX {
                return Err(too_long(&self.path));
            }
            if !self.look_further(length.max(HEAD_BYTES))? {
                return Ok(length);
            }
        }
    }

    /// Drops `count` bytes of the head: they will not be read again.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Whether the bytes are those of a file that can be mapped.
    pub(super) fn is_plain_file(&self) -> bool {
        self.file.is_some() && self.compression.is_none()
    }

    /// What is left of a plain file that is not read yet beyond its head; `None` for all else.
    pub(super) fn plain(&self) -> Option<PlainFile> {
        let (file, length) = self.file.as_ref().filter(|_| self.compression.is_none())?;
        let (path, file) = (self.path.clone(), file.try_clone().ok()?);
        Some(PlainFile { path, file, start: self.at as u64, end: *length })
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
            Some(Compression::Bzip2) => ("bzip2", "bzip2 -t"),
            Some(Compression::Xz) => ("xz", "xz -t"),
            Some(Compression::Zstd) => ("zstd", "zstd -t"),
        };
        let remedy = format!("the file is cut short or damaged (`{check}` tells); fetch or compress it again");
        Error::data(&self.path, None, format!("cannot be decompressed ({name}): {error}"), remedy)
    }
}

/// A line of more than [`LINE_BYTES_MAX`].
pub(super) fn too_long(path: &Path) -> Error {
    let what = format!("a line of more than {LINE_BYTES_MAX} bytes");
    Error::data(path, None, what, "is this a text file? end each row by a line end")
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at < self.head.len() {
            let count = (&self.head[self.at..]).read(buffer)?;
            self.at += count;
            return Ok(count);
        }
        self.head = Vec::new();
        self.at = 0;
        self.rest.read(buffer)
    }
}
