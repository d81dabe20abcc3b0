#![no_main]

use farrow::data::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| farrow_fuzz::check(bytes, Some(Format::Libsvm)));
