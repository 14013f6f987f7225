//! Text to syntax tree: the formats, how to tell them apart, and the limits on what is read.

mod c_atomic;
mod c_expr;
mod c_stmt;
mod cursor;
mod lexer;
pub(crate) mod litmus;
pub(crate) mod ops;
pub(crate) mod tpl;
mod tpl_access;

use crate::ast::Span;
use crate::error::InputError;

/// The largest source that is read, in bytes.
pub const MAX_SOURCE_BYTES: usize = 64 << 20;

/// How many statements and operands a program may have.
pub const MAX_NODES: usize = 100_000;

/// How deeply blocks may nest, and expressions too.
pub const MAX_DEPTH: usize = 200;

/// The source as text, or why it is none.
pub(crate) fn decode(source: &[u8]) -> Result<&str, InputError> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("this file is too large: more than {} MiB", MAX_SOURCE_BYTES >> 20);
        return Err(InputError::new(Span::default(), message));
    }
    let text = std::str::from_utf8(source);
    let bad_byte = match text {
        Ok(text) => text.bytes().position(|b| b == 0),
        Err(error) => Some(error.valid_up_to()),
    };
    match (text, bad_byte) {
        (Ok(text), None) => Ok(text),
        (_, bad_byte) => {
            let at = bad_byte.unwrap_or(0);
            let message = format!("this is not a text file: byte {at} is {:#04x}", source[at]);
            Err(InputError::new(Span::new(at, at), message))
        }
    }
}
