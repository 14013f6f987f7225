//! Lines and words of textual LLVM IR.
//!
//! LLVM prints one instruction per line, apart from a few that go on: `switch` in brackets, the targets of an `invoke`, the
//! clauses of a `landingpad`. [`statements`] puts these together; [`words`] cuts a statement into [`Word`]s. Neither knows what
//! the words mean, which is what makes the reader live with attributes and flags it has never seen.

use std::ops::Range;

/// One piece of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word<'a> {
    /// A keyword, type, attribute, number or label: `load`, `i32`, `-1`, `0x3FF0`, `nocapture`.
    Plain(&'a str),
    /// `%name`, without the sign and the quotes.
    Local(&'a str),
    /// `@name`, without the sign and the quotes.
    Global(&'a str),
    /// `!dbg`, `!17`, `!DILocation`, without the sign.
    Metadata(&'a str),
    /// `"…"` or `c"…"`, without the quotes, with escapes left as they are.
    Text(&'a str),
    /// `#0`, `#dbg_value`, `$comdat`, without the sign.
    Group(&'a str),
    /// Everything else is one character: brackets, commas, `=`, `*`, `:`.
    Sign(char),
}

/// A word and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub word: Word<'a>,
    /// The first byte of it in the whole text.
    pub at: usize,
}

/// What may stand in names and numbers without quotes.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$' | b'+') || byte >= 0x80
}

/// The words of a statement that stands at `span` of `text`. A string that does not end is the error: where it began.
pub fn words<'a>(text: &'a str, span: Range<usize>, out: &mut Vec<Token<'a>>) -> Result<(), usize> {
    out.clear();
    let bytes = text.as_bytes();
    let mut at = span.start;
    while at < span.end {
        let start = at;
        let byte = bytes[at];
        let name = |from: usize| (from..span.end).find(|&i| !is_name(bytes[i])).unwrap_or(span.end);
        // The text between quotes that open at `from`, and where to go on.
        let quoted = |from: usize| {
            let end = (from + 1..span.end).find(|&i| bytes[i] == b'"').ok_or(start)?;
            Ok::<_, usize>((&text[from + 1..end], end + 1))
        };
        let signed = |at: usize| match bytes[..span.end].get(at + 1) {
            Some(b'"') => quoted(at + 1),
            _ => Ok((&text[at + 1..name(at + 1)], name(at + 1))),
        };
        let word = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b';' => {
                at = (at..span.end).find(|&i| bytes[i] == b'\n').unwrap_or(span.end);
                continue;
            }
            b'%' | b'@' | b'!' | b'#' | b'$' => {
                let (name, end) = signed(at)?;
                at = end;
                match byte {
                    b'%' => Word::Local(name),
                    b'@' => Word::Global(name),
                    b'!' => Word::Metadata(name),
                    _ => Word::Group(name),
                }
            }
            b'"' => {
                let (name, end) = quoted(at)?;
                at = end;
                Word::Text(name)
            }
            b'c' if bytes[..span.end].get(at + 1) == Some(&b'"') => {
                let (name, end) = quoted(at + 1)?;
                at = end;
                Word::Text(name)
            }
            _ if is_name(byte) => {
                at = name(at);
                Word::Plain(&text[start..at])
            }
            _ => {
                at += 1;
                Word::Sign(byte as char)
            }
        };
        out.push(Token { word, at: start });
    }
    Ok(())
}

/// A statement: an instruction, a label, a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Where it stands, from the first character that is no blank to the end of its last line.
    pub span: Range<usize>,
    /// Brackets that were opened and not closed, at the end of the text.
    pub open: bool,
}

/// Words that cannot begin an instruction: the line belongs to the one before.
const CONTINUES: [&str; 5] = ["to", "unwind", "cleanup", "catch", "filter"];

/// Cuts a text into statements. A `{` that ends a line opens the body of a function and is not counted as a bracket.
pub fn statements(text: &str) -> Vec<Statement> {
    let mut out: Vec<Statement> = Vec::new();
    let mut depth = 0i32;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let code = code(line);
        let blank = code.len() - code.trim_start().len();
        let code = code.trim();
        if code.is_empty() {
            continue;
        }
        let span = start + blank..start + blank + code.len();
        let first =
            code.split(|c: char| c.is_whitespace() || matches!(c, '(' | ',')).next().unwrap_or_default();
        let inside = depth > 0;
        depth = (depth + brackets(code)).max(0);
        match out.last_mut() {
            Some(last) if inside || CONTINUES.contains(&first) => last.span.end = span.end,
            _ => out.push(Statement { span, open: false }),
        }
    }
    if let Some(last) = out.last_mut() {
        last.open = depth > 0;
    }
    out
}

/// A line without its comment.
fn code(line: &str) -> &str {
    let mut quoted = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

/// How many brackets stay open after a line.
fn brackets(code: &str) -> i32 {
    let mut depth = 0;
    let mut quoted = false;
    for byte in code.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    match code {
        _ if quoted => 0,
        // The body of a function.
        "}" => 0,
        _ if code.starts_with("define") && code.ends_with('{') => depth - 1,
        _ => depth,
    }
}

/// Line and column of a byte, both from 1.
pub fn line_column(text: &str, at: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    (line as u32 + 1, (before.len() - start) as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        statements(text).into_iter().map(|s| &text[s.span]).collect()
    }

    #[test]
    fn a_line_is_a_statement_but_for_brackets_and_clauses() {
        let text = "define void @f() {\n  switch i32 %0, label %a [\n    i32 1, label %b ; one\n  ]\n\na: ; preds\n\
                    %1 = invoke i32 @g()\n          to label %b unwind label %c\n}\n";
        assert_eq!(
            cut(text),
            [
                "define void @f() {",
                "switch i32 %0, label %a [\n    i32 1, label %b",
                "a:",
                "%1 = invoke i32 @g()\n          to label %b unwind label %c",
                "}"
            ]
            .map(|s| if s.starts_with("switch") {
                "switch i32 %0, label %a [\n    i32 1, label %b ; one\n  ]"
            } else {
                s
            })
        );
        assert!(statements("  switch i32 %0, label %a [\n").last().is_some_and(|s| s.open));
    }

    #[test]
    fn words_of_all_kinds() {
        let text = r#"%"a b" = load i32, ptr @x, !dbg !7 ; c"#;
        let mut out = Vec::new();
        words(text, 0..text.len(), &mut out).expect("ends");
        let words: Vec<Word> = out.iter().map(|t| t.word).collect();
        use Word::{Global, Local, Metadata, Plain, Sign};
        let expected = [
            Local("a b"),
            Sign('='),
            Plain("load"),
            Plain("i32"),
            Sign(','),
            Plain("ptr"),
            Global("x"),
            Sign(','),
            Metadata("dbg"),
            Metadata("7"),
        ];
        assert_eq!(words, expected);
        assert_eq!(self::words("a \"b", 0..4, &mut Vec::new()), Err(2));
    }
}
