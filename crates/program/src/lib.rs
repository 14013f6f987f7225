//! The finite-state language: syntax (TPL, C litmus), lowering, one-step semantics.

pub mod ast;
mod check;
pub mod code;
mod error;
mod lower;
mod lower_access;
mod modes;
mod print;
mod syntax;
mod target;

pub use check::{MAX_LOCALS, MAX_LOCATIONS, MAX_THREADS, MAX_VALUE, check};
pub use error::{InputError, Warning, line_column};
pub use lower::lower;
pub use print::{print, print_statement};
pub use syntax::{MAX_DEPTH, MAX_NODES, MAX_SOURCE_BYTES};
pub use target::{Target, UnknownTarget};

/// A program that passed all static checks.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: ast::Program,
    /// What is odd about it.
    pub warnings: Vec<Warning>,
}

/// Reads a program: decides on the format, parses, and checks names, modes and values.
///
/// `name_hint` is the file's name or "": `.litmus` and `.tpl` decide on the format, otherwise the text does.
pub fn parse(source: &[u8], name_hint: &str) -> Result<Parsed, InputError> {
    let _ = name_hint;
    let text = syntax::decode(source)?;
    let program = syntax::tpl::parse(text)?;
    let warnings = check(&program)?;
    Ok(Parsed { program, warnings })
}
