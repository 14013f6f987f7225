//! Reads a library from C11 source: preprocessor, parser (lang-c), and a translation into [`crate::code`].
//!
//! Methods are the functions that are not `static`; the functions that they call are inlined. What the analysis can't see
//! through is refused with its place, never skipped. Integers are those of the usual 64-bit machines, as gcc and clang have them:
//! `char` is signed, and an enumeration is `unsigned` if no enumerator is negative.

mod arithmetic;
pub mod code;
mod constant;
mod contract;
mod declare;
mod depth;
mod error;
mod fold;
mod initial;
mod lower;
mod objects;
mod preprocess;
pub mod source;
mod specifiers;
mod tidy;
mod types;

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use seqcst_model::panics;

pub use error::Error;
use source::Source;

use crate::code::Library;

/// Options of the front end.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Terms of the contract (key, value) that replace those of comments.
    pub contract: Vec<(String, String)>,
    /// Macros `NAME` or `NAME=value`, defined beforehand.
    pub definitions: Vec<String>,
}

/// Reads the library with this text; `path` is for messages and for files that it includes.
pub fn read(path: &str, text: &[u8], options: &Options) -> Result<Library, Error> {
    let terms = contract::read(path, text, &options.contract)?;
    on_deep_stack(path, || {
        let (source, unit) = parse(path, text, &options.definitions)?;
        declare::Reader::new(&source, terms).read(&unit)
    })
}

/// Preprocesses and parses; the places of the result are those of the preprocessed text.
pub fn parse(path: &str, text: &[u8], definitions: &[String]) -> Result<(Source, TranslationUnit), Error> {
    let mut preprocessed = preprocess::preprocess(path, text, definitions)?;
    preprocess::drop_alignment(&mut preprocessed);
    let source = Source::new(path, text, &preprocessed);
    let error = |offset, message: String| {
        let site = source.site(offset);
        Error { file: source.file(site).to_owned(), line: site.line, column: site.column, message }
    };
    depth::check(&preprocessed).map_err(|(offset, message)| error(offset, message))?;
    let config = Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    match parse_preprocessed(&config, preprocessed) {
        Ok(parsed) => Ok((source, parsed.unit)),
        Err(e) => {
            let mut expected: Vec<_> =
                e.expected.into_iter().filter(|t| t.len() > 1 || !t.trim().is_empty()).collect();
            expected.sort_unstable();
            expected.truncate(6);
            let expected = if expected.is_empty() {
                String::new()
            } else {
                format!("; {} would fit", expected.join(" "))
            };
            Err(error(e.offset, format!("this isn't C{expected}")))
        }
    }
}

/// What is said if something breaks that never should.
pub const PANICKED: &str = "the C parser failed on this file: please report it";

/// Parser and translation are recursive: they run on a stack of their own, and a panic in them becomes a message.
pub fn on_deep_stack<T: Send>(path: &str, run: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, || panics::catch(run));
        let thread = thread.map_err(|e| Error::of_file(path, format!("can't start a thread: {e}")))?;
        thread.join().ok().flatten().unwrap_or_else(|| Err(Error::of_file(path, PANICKED)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_message() {
        let error = on_deep_stack("a.c", || -> Result<(), Error> { panic!("a bug") }).unwrap_err();
        assert_eq!((error.file.as_str(), error.message.as_str()), ("a.c", PANICKED));
    }
}
