//! Files to programs, or one message about what is wrong with them.

use ariadne::{Color, Config, IndexType, Label, Report, ReportKind, Source};
use seqcst_program::{InputError, MAX_SOURCE_BYTES, Parsed, parse};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// A program and the file it stands in.
pub struct Input {
    /// The file, as the user named it.
    pub file: String,
    /// Its text.
    pub source: String,
    /// The program.
    pub parsed: Parsed,
}

/// Why a file is no program.
pub enum BadInput {
    /// It cannot be read.
    Unreadable {
        /// The file, as the user named it.
        file: String,
        /// The reason, in words.
        why: String,
    },
    /// It can be read, but not understood.
    Rejected {
        /// The file, as the user named it.
        file: String,
        /// What it contains.
        source: Vec<u8>,
        /// What is wrong with that.
        error: InputError,
    },
}

/// Reads a program.
pub fn read(path: &Path) -> Result<Input, BadInput> {
    let file = path.display().to_string();
    let source = match read_bytes(path) {
        Ok(source) => source,
        Err(error) => return Err(BadInput::Unreadable { file, why: why(&error) }),
    };
    match parse(&source, &file) {
        Ok(parsed) => Ok(Input { file, source: String::from_utf8_lossy(&source).into_owned(), parsed }),
        Err(error) => Err(BadInput::Rejected { file, source, error }),
    }
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut source = Vec::new();
    // One byte more than is allowed: the parser says what is wrong with that.
    file.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut source)?;
    Ok(source)
}

/// The error in words, without a number.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "this is a directory; name the files in it".to_owned(),
        _ => error.to_string(),
    }
}

impl BadInput {
    /// The message: `file:line:column: error: …`, then the source, then what to do about it.
    pub fn render(&self, color: bool) -> String {
        match self {
            BadInput::Unreadable { file, why } => format!("{}: error: {why}\n", printable(file)),
            BadInput::Rejected { file, source, error } => {
                let (line, column) = error.line_column(source);
                let file = &printable(file);
                let mut out = format!("{file}:{line}:{column}: error: {}\n", error.message());
                out.push_str(&snippet(file, source, error, color));
                if let Some(note) = error.note() {
                    out.push_str(&format!("  note: {note}\n"));
                }
                out
            }
        }
    }
}

impl Input {
    /// What is odd about the program, one line each.
    pub fn warnings(&self) -> String {
        let line = |w: &seqcst_program::Warning| {
            let (line, column) = w.line_column(self.source.as_bytes());
            format!("{}:{line}:{column}: warning: {}\n", printable(&self.file), w.message())
        };
        self.parsed.warnings.iter().map(line).collect()
    }
}

/// Lines longer than this are not shown.
const LONGEST_LINE: usize = 240;

/// The source around the error; nothing if it is not text that fits a terminal.
fn snippet(file: &str, source: &[u8], error: &InputError, color: bool) -> String {
    let Ok(text) = std::str::from_utf8(source) else { return String::new() };
    let mut places: Vec<(Range<usize>, &str, Color)> = Vec::new();
    if let Some((span, label)) = error.secondary() {
        places.push((span.start..span.end, label, Color::Cyan));
    }
    places.push((error.span().start..error.span().end, "here", Color::Red));
    let Some(excerpts) = places.iter().map(|(span, ..)| excerpt(text, span)).collect::<Option<Vec<_>>>()
    else {
        return String::new();
    };
    let config = Config::default().with_color(color).with_index_type(IndexType::Byte);
    let labels = places.iter().zip(&excerpts).map(|((_, label, color), span)| {
        Label::new((file, span.clone())).with_message(label).with_color(*color)
    });
    let at = excerpts.last().cloned().unwrap_or_default();
    let report =
        Report::build(ReportKind::Error, (file, at)).with_config(config).with_labels(labels).finish();
    // Byte for byte, so that places stay where they are.
    let shown: String =
        text.chars().map(|c| if c.is_ascii_control() && !c.is_whitespace() { '?' } else { c }).collect();
    let mut out = Vec::new();
    if report.write((file, Source::from(shown)), &mut out).is_err() {
        return String::new();
    }
    // Its first line is a headline; ours says more.
    let out = String::from_utf8_lossy(&out);
    out.lines().skip(1).map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A name that a terminal does not obey.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The part of a span on its first line, at least one character where there is one; `None` if the line is too long
/// to show, or empty.
fn excerpt(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line = &text[line_start..line_end];
    if line.len() > LONGEST_LINE || line.trim().is_empty() || text.len() > 1 << 20 {
        return None;
    }
    let first = text[start..line_end].chars().next().map_or(0, char::len_utf8);
    let end = floor(span.end).clamp(start + first, line_end.max(start + first));
    Some(start..end)
}
