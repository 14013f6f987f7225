//! The C front end: what comes out of it, what it refuses, and that nothing makes it panic.

mod agree;
mod arithmetic;
mod bad;
mod corpus;
mod fuzz;
mod language;
mod objects;
mod random;

use seqcst_c11::Options;
use seqcst_c11::code::Library;

/// Reads a library that begins with the usual headers, on one line.
fn read(text: &str) -> Result<Library, seqcst_c11::Error> {
    let text = format!("#include <stdatomic.h>\n#include <stdlib.h>\n{text}");
    seqcst_c11::read("lib.c", text.as_bytes(), &Options::default())
}

/// The library as text, or the message.
fn show(text: &str) -> String {
    read(text).map_or_else(|error| format!("{error}\n"), |library| library.to_string())
}
