//! What the front ends say about an input: the one error that stops it, or warnings beside a program.
//!
//! Nothing is printed here: a caller that has the source text renders the snippet.

use crate::ast::Span;
use std::fmt;

/// Why an input was rejected: the first problem found, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError(Box<Details>);

/// Boxed, because the parsers' results carry it through deep recursion.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Details {
    message: String,
    span: Span,
    note: Option<String>,
    secondary: Option<(Span, String)>,
}

impl InputError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        InputError(Box::new(Details { message: message.into(), span, note: None, secondary: None }))
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.0.note = Some(note.into());
        self
    }

    pub(crate) fn with_secondary(mut self, span: Span, label: impl Into<String>) -> Self {
        self.0.secondary = Some((span, label.into()));
        self
    }

    /// What is wrong, in one line, without a position.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The offending bytes of the source; empty where something is missing.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// What to do about it.
    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// A second place that matters (an earlier declaration, an opening brace), with what to say about it.
    pub fn secondary(&self) -> Option<(Span, &str)> {
        self.0.secondary.as_ref().map(|(span, label)| (*span, label.as_str()))
    }

    /// Line and column of the error, counted from 1. Works on any bytes, since the error may be that they are no
    /// text.
    pub fn line_column(&self, source: &[u8]) -> (usize, usize) {
        line_column(source, self.0.span.start)
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for InputError {}

/// Something odd that does not stop the program from being checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    message: String,
    span: Span,
}

impl Warning {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Warning { message: message.into(), span }
    }

    /// What is odd, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The bytes of the source that it is about.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Line and column of the warning, counted from 1.
    pub fn line_column(&self, source: &[u8]) -> (usize, usize) {
        line_column(source, self.span.start)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Line and column (in characters) of a byte offset, counted from 1.
pub fn line_column(source: &[u8], offset: usize) -> (usize, usize) {
    let before = &source[..offset.min(source.len())];
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
    let is_continuation = |b: u8| b & 0xC0 == 0x80;
    let column = 1 + before[line_start..].iter().filter(|&&b| !is_continuation(b)).count();
    (line, column)
}
