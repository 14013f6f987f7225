//! Any bytes as a TPL program: `RUSTC_BOOTSTRAP=1 cargo fuzz run tpl`.
#![no_main]

mod property;

libfuzzer_sys::fuzz_target!(|source: &[u8]| property::survives(source, "input.tpl"));
