//! The parser's place in the token stream, and what both grammars share: expectations, names, limits.

use super::lexer::{Lexer, Tok, Token, abbreviate};
use crate::ast::{At, Name, Span};
use crate::error::InputError;

pub(crate) type Parse<T> = Result<T, InputError>;

/// One token of look-ahead over a [`Lexer`], and counters that keep hostile input from costing too much.
pub(crate) struct Cursor<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    token: Token,
    previous: Span,
    nodes: usize,
    max_nodes: usize,
}

impl<'s> Cursor<'s> {
    pub fn new(source: &'s str, position: usize, max_nodes: usize) -> Parse<Self> {
        let mut lexer = Lexer::new(source, position);
        let token = lexer.next_token()?;
        Ok(Cursor { source, lexer, token, previous: Span::new(position, position), nodes: 0, max_nodes })
    }

    pub fn token(&self) -> Token {
        self.token
    }

    /// Where the last consumed token stands.
    pub fn previous(&self) -> Span {
        self.previous
    }

    /// From `start` to the end of the last consumed token.
    pub fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.previous.end.max(start.end))
    }

    pub fn text(&self, span: Span) -> &'s str {
        &self.source[span.range()]
    }

    /// The current token's text if it is an identifier, otherwise "".
    pub fn word(&self) -> &'s str {
        if self.token.tok == Tok::Ident { self.text(self.token.span) } else { "" }
    }

    pub fn advance(&mut self) -> Parse<Token> {
        let token = self.token;
        self.previous = token.span;
        self.token = self.lexer.next_token()?;
        Ok(token)
    }

    /// The token after the current one.
    pub fn peek(&self) -> Parse<Token> {
        self.lexer.clone().next_token()
    }

    pub fn at_end(&self) -> bool {
        self.token.tok == Tok::End
    }

    pub fn at(&self, punct: &str) -> bool {
        matches!(self.token.tok, Tok::Punct(p) if p == punct)
    }

    /// Consumes the punctuation if it is next.
    pub fn eat(&mut self, punct: &str) -> Parse<bool> {
        let found = self.at(punct);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Consumes the word if it is next.
    pub fn eat_word(&mut self, word: &str) -> Parse<bool> {
        let found = self.word() == word;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// How messages call a token.
    pub fn describe(&self, token: Token) -> String {
        match token.tok {
            Tok::End => "the end of the file".to_string(),
            _ => format!("`{}`", abbreviate(self.text(token.span))),
        }
    }

    /// "expected …, found …" at the current token.
    pub fn unexpected(&self, expected: &str) -> InputError {
        InputError::new(self.token.span, format!("expected {expected}, found {}", self.describe(self.token)))
    }

    /// Consumes the punctuation; `place` says after or before what it must stand.
    pub fn expect(&mut self, punct: &str, place: &str) -> Parse<Span> {
        if self.at(punct) {
            return Ok(self.advance()?.span);
        }
        Err(self.unexpected(&format!("`{punct}` {place}")))
    }

    /// Consumes a `;`. A missing one is reported where it should stand, not at the next token.
    pub fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.eat(";")? {
            return Ok(());
        }
        let gap = Span::new(self.previous.end, self.previous.end);
        Err(InputError::new(gap, format!("expected `;` after {after}, found {}", self.describe(self.token))))
    }

    /// Consumes an identifier that `is_reserved` does not claim.
    pub fn name(&mut self, what: &str, is_reserved: fn(&str) -> bool) -> Parse<Name> {
        let word = self.word();
        if word.is_empty() {
            return Err(self.unexpected(what));
        }
        if is_reserved(word) {
            return Err(InputError::new(
                self.token.span,
                format!("expected {what}, found the reserved word `{word}`"),
            ));
        }
        let span = self.advance()?.span;
        Ok(At::new(word.to_string(), span))
    }

    /// Consumes a number without sign.
    pub fn number(&mut self, what: &str) -> Parse<At<u32>> {
        let Tok::Number(value) = self.token.tok else { return Err(self.unexpected(what)) };
        Ok(At::new(value, self.advance()?.span))
    }

    /// Consumes a number that may have a minus sign.
    pub fn signed_number(&mut self, what: &str) -> Parse<At<i64>> {
        let start = self.token.span;
        let negative = self.eat("-")?;
        let number = self.number(what)?;
        let value = i64::from(number.node);
        Ok(At::new(if negative { -value } else { value }, start.to(number.span)))
    }

    /// Counts a statement or operand, so that the tree of a huge file never gets built.
    pub fn count_node(&mut self) -> Parse<()> {
        self.nodes += 1;
        if self.nodes > self.max_nodes {
            let message = format!(
                "this program is too large: it has more than {} statements and operands",
                self.max_nodes
            );
            return Err(InputError::new(self.token.span, message));
        }
        Ok(())
    }

    /// Refuses to nest deeper than `limit`: parsers and everything after them recurse over the tree.
    pub fn check_depth(&self, depth: usize, limit: usize, what: &str) -> Parse<()> {
        if depth <= limit {
            return Ok(());
        }
        let message = format!("{what} nested too deeply: more than {limit} levels");
        Err(InputError::new(self.token.span, message))
    }
}
