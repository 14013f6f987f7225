//! Any bytes as a TPL program: `cargo +nightly fuzz run tpl`.
#![no_main]

mod property;

libfuzzer_sys::fuzz_target!(|source: &[u8]| property::survives(source, "input.tpl"));
