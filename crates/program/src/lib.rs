//! The finite-state language: syntax (TPL, C litmus), lowering, one-step semantics.

pub mod ast;
mod check;
pub mod code;
mod error;
mod lower;
mod lower_access;
mod modes;
mod print;
pub mod semantics;
mod spelling;
mod syntax;
mod values;

pub use check::{MAX_LOCALS, MAX_LOCATIONS, MAX_THREADS, MAX_VALUE, check};
pub use error::{InputError, Warning, line_column};
pub use lower::{Unsupported, lower};
pub use print::{print, print_statement};
pub use syntax::{MAX_DEPTH, MAX_NODES, MAX_SOURCE_BYTES};
pub use values::Values;

/// The format that a program was written in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Format {
    /// TPL, the language of finite-state programs.
    Tpl,
    /// The C litmus format of herd.
    Litmus {
        /// The test's name.
        name: String,
        /// The final condition, as written. Robustness does not ask for it.
        condition: Option<String>,
    },
}

/// A program that passed all static checks.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: ast::Program,
    /// What is odd about it.
    pub warnings: Vec<Warning>,
    /// What it was written in.
    pub format: Format,
}

/// Reads a program: decides on the format, parses, and checks names, modes and values.
///
/// `name_hint` is the file's name or "": `.litmus` and `.tpl` decide on the format, otherwise the text does.
pub fn parse(source: &[u8], name_hint: &str) -> Result<Parsed, InputError> {
    let text = syntax::decode(source)?;
    let is_litmus =
        name_hint.ends_with(".litmus") || (!name_hint.ends_with(".tpl") && syntax::litmus::looks_like(text));
    let (program, format) = if is_litmus {
        let litmus = syntax::litmus::parse(text)?;
        (litmus.program, Format::Litmus { name: litmus.name, condition: litmus.condition })
    } else {
        (syntax::tpl::parse(text)?, Format::Tpl)
    };
    let warnings = check(&program)?;
    Ok(Parsed { program, warnings, format })
}
