//! Any bytes as a C litmus test: `cargo +nightly fuzz run litmus`.
#![no_main]

mod property;

libfuzzer_sys::fuzz_target!(|source: &[u8]| property::survives(source, "input.litmus"));
