//! Which form a file has: told by its first bytes, then by its name, then by its first line.

use crate::error::{Error, Result};
use std::path::Path;

/// The forms that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// LIBSVM and SVMlight text: `label index:value index:value …`.
    Libsvm,
    /// Comma-separated values (also tabs or semicolons): dense.
    Csv,
    /// Matrix Market, coordinate (sparse) or array (dense), general.
    MatrixMarket,
    /// NumPy's `.npy`, two-dimensional: dense.
    Npy,
    /// The mapped binary form of [`mapped`](super::mapped).
    Mapped,
}

impl Format {
    /// What people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "LIBSVM text",
            Format::Csv => "CSV",
            Format::MatrixMarket => "Matrix Market",
            Format::Npy => ".npy",
            Format::Mapped => "the mapped binary form",
        }
    }

    /// The form of the data that begin with `head` and are called `path`.
    ///
    /// # Errors
    /// Binary content of no known form.
    pub(super) fn detect(head: &[u8], path: &Path) -> Result<Format> {
        if head.starts_with(&super::mapped::MAGIC) {
            return Ok(Format::Mapped);
        }
        if head.starts_with(b"\x93NUMPY") {
            return Ok(Format::Npy);
        }
        if head.len() >= 14 && head[..14].eq_ignore_ascii_case(b"%%MatrixMarket") {
            return Ok(Format::MatrixMarket);
        }
        if let Some(at) = memchr::memchr(0, head) {
            let what = format!("binary content of no known form (byte 0 at offset {at})");
            let remedy =
                "accepted are LIBSVM text, CSV and Matrix Market in ASCII or UTF-8, .npy, and farrow's own form";
            return Err(Error::data(path, None, what, remedy));
        }
        Ok(Format::by_name(path).unwrap_or_else(|| Format::by_first_line(head)))
    }

    fn by_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "svm" | "libsvm" | "svmlight" => Some(Format::Libsvm),
            "csv" | "tsv" => Some(Format::Csv),
            "mtx" | "mm" => Some(Format::MatrixMarket),
            "npy" => Some(Format::Npy),
            _ => None,
        }
    }

    fn by_first_line(head: &[u8]) -> Format {
        let mut lines = head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        let line = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
        let entry = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()).nth(1);
        let separated = line.iter().any(|b| matches!(b, b',' | b';' | b'\t'));
        if separated && !entry.is_some_and(|entry| entry.contains(&b':')) { Format::Csv } else { Format::Libsvm }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_before_the_name_and_the_name_before_the_first_line() {
        let detect = |head: &[u8], name: &str| Format::detect(head, Path::new(name)).unwrap();
        assert_eq!(detect(b"\x93NUMPY\x01\0", "x.csv"), Format::Npy);
        assert_eq!(detect(b"%%matrixmarket matrix", "x"), Format::MatrixMarket);
        assert_eq!(detect(b"1 2 3\n", "x.CSV.gz"), Format::Csv);
        assert_eq!(detect(b"1,2,3\n", "x.svm"), Format::Libsvm);
        assert_eq!(detect(b"\n# a,b\na,b,c\n", "x"), Format::Csv);
        assert_eq!(detect(b"1,2 3:4\n", "x.txt"), Format::Libsvm);
        assert_eq!(detect(b"+1\t3:4\n", "-"), Format::Libsvm);
        assert_eq!(detect(b"1\n", "-"), Format::Libsvm);
        assert!(Format::detect(b"PAR1\0\0", Path::new("x")).is_err());
    }
}
