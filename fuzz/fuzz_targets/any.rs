//! The form told by content, and compressed streams.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| farrow_fuzz::check(bytes, None));
