//! Any bytes as a C litmus test: `RUSTC_BOOTSTRAP=1 cargo fuzz run litmus`.
#![no_main]

mod property;

libfuzzer_sys::fuzz_target!(|source: &[u8]| property::survives(source, "input.litmus"));
