//! The mapped binary form, which is read from a file.

#![no_main]

use farrow::data::{ReadOptions, read};
use std::io::Write;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    let options = ReadOptions { format: Some(farrow::data::Format::Mapped), ..ReadOptions::default() };
    if let Ok(data) = read(file.path(), &options, 1) {
        let _ = farrow_fuzz::table(&data);
    }
});
