//! Tokens, for both front ends: identifiers, numbers, punctuation; white space and comments are skipped.

use crate::ast::Span;
use crate::error::InputError;

/// The kind of a token. Identifiers are told apart by their text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tok {
    Ident,
    Number(u32),
    Punct(&'static str),
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub tok: Tok,
    pub span: Span,
}

/// How long a name may be.
const MAX_NAME: usize = 100;

/// What some editors put at the start of a file.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Longest first, so that the first match is the longest.
const PUNCTUATION: [&str; 42] = [
    "<<=", ">>=", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>", "->", "++", "--", "+=", "-=", "*=", "/=",
    "%=", "+", "-", "*", "/", "%", "<", ">", "=", "!", "&", "|", "^", "~", "(", ")", "{", "}", "[", "]", ";",
    ",", ".", ":", "?",
];

/// Reads tokens one by one: a large file never becomes a large list of tokens.
#[derive(Clone)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    position: usize,
}

impl<'s> Lexer<'s> {
    /// Starts at a byte offset, which must be a character boundary.
    pub fn new(source: &'s str, position: usize) -> Self {
        let marked = position == 0 && source.starts_with(BYTE_ORDER_MARK);
        Lexer { source, position: if marked { BYTE_ORDER_MARK.len_utf8() } else { position } }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.position..]
    }

    /// Skips white space and comments.
    pub fn skip_blank(&mut self) -> Result<(), InputError> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.position += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.position += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let Some(length) = comment.find("*/") else {
                    let start = Span::new(self.position, self.position + 2);
                    return Err(InputError::new(start, "this comment is never closed")
                        .with_note("close it with `*/`"));
                };
                self.position += length + 4;
            } else {
                return Ok(());
            }
        }
    }

    /// The next token.
    pub fn next_token(&mut self) -> Result<Token, InputError> {
        self.skip_blank()?;
        let rest = self.rest();
        let start = self.position;
        let (tok, length) = match rest.bytes().next() {
            None => (Tok::End, 0),
            Some(b'0'..=b'9') => self.number(word_length(rest))?,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.word(word_length(rest))?,
            Some(_) => match PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
                Some(punct) => (Tok::Punct(punct), punct.len()),
                None => {
                    let odd = rest.chars().next().unwrap_or_default();
                    let span = Span::new(start, start + odd.len_utf8());
                    return Err(InputError::new(span, format!("unexpected character {odd:?}")));
                }
            },
        };
        self.position += length;
        Ok(Token { tok, span: Span::new(start, self.position) })
    }

    /// Names are kept short so that messages which quote them stay short too.
    fn word(&self, length: usize) -> Result<(Tok, usize), InputError> {
        if length <= MAX_NAME {
            return Ok((Tok::Ident, length));
        }
        let span = Span::new(self.position, self.position + length);
        Err(InputError::new(span, format!("this name is too long: more than {MAX_NAME} characters")))
    }

    fn number(&self, length: usize) -> Result<(Tok, usize), InputError> {
        let text = &self.rest()[..length];
        let span = Span::new(self.position, self.position + length);
        let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None => (text, 10),
        };
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(InputError::new(span, format!("`{}` is not a number", abbreviate(text))));
        }
        match u32::from_str_radix(digits, radix) {
            Ok(value) => Ok((Tok::Number(value), length)),
            Err(_) => Err(InputError::new(span, format!("the number `{}` is too large", abbreviate(text)))),
        }
    }
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

/// Keeps messages readable when a token is a megabyte long. The text is ASCII.
pub(crate) fn abbreviate(text: &str) -> String {
    if text.len() <= 40 { text.to_string() } else { format!("{}…", &text[..39]) }
}
