//! Why a library can't be read, and where.

use std::fmt;

/// One message with its place; line 0 means that it speaks of no line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The path as given.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// What is wrong and what to do.
    pub message: String,
}

impl Error {
    /// A message about a whole file.
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Error { file: file.to_owned(), line: 0, column: 0, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            _ => write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message),
        }
    }
}

impl std::error::Error for Error {}
