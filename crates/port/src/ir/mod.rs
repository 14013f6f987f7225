//! Textual LLVM IR, as clang and rustc print it, to a [`Program`](crate::program::Program).
//!
//! * [`lexer`], [`types`], `operands`, `instruction`, `reader`: text to a [`module::Module`]. The reader is tolerant: it
//!   knows what touches memory and what changes control flow, and lets everything else pass, so that files of LLVM 14 to 22
//!   can be read alike;
//! * [`debug`]: places in the source; [`limits`]: what attributes say about memory;
//! * [`code`]: several files as one program; [`library`]: what functions do that are in none of them; [`barrier`]: fence
//!   instructions;
//! * [`threads`], `targets`: which functions threads run; `given`: which others are called by who knows whom; [`inline`]: the code of a thread; [`pointers`], `escape`, `leaks`:
//!   where its addresses come from and where they go; [`classes`]: which of them may be the same;
//! * [`lower`]: all that as a program; [`patch`], [`source`]: changes of it back in the text, with `statements` for C and C++.

pub mod barrier;
pub mod classes;
pub mod code;
pub mod debug;
mod depend;
mod escape;
mod flow;
mod given;
pub mod inline;
mod instruction;
mod leaks;
pub mod lexer;
pub mod library;
pub mod limits;
pub mod lower;
pub mod module;
mod offset;
mod operands;
pub mod patch;
pub mod pointers;
mod reader;
pub mod source;
mod statements;
mod targets;
pub mod threads;
pub mod types;

pub use reader::read;

/// Why a file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The first byte that is at fault.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

/// What to say about bitcode.
pub const BITCODE: &str = "this is LLVM bitcode, not text; `llvm-dis` makes text of it";

impl Error {
    fn new(at: usize, message: impl Into<String>) -> Error {
        Error { at, message: message.into() }
    }

    /// Line and column, both from 1.
    pub fn line_column(&self, text: &str) -> (u32, u32) {
        lexer::line_column(text, self.at)
    }
}
