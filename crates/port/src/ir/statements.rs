//! Statements of C and C++: where in a source a fence can stand.
//!
//! This is no parser. It knows brackets, `;` and the keywords of control flow, which is enough for most sources; macros can
//! look like anything. So the result of a change has to be compiled.

use std::ops::Range;

/// Where a fence can stand. All numbers are bytes of the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Spot {
    /// In front of a statement, or at the end of a block.
    Before(usize),
    /// In front of a statement that is all of a body: braces have to go around it.
    Body(usize, usize),
    /// In front of all of an expression, which is evaluated again and again: `while (fence, …)`.
    Head(usize),
    /// In front of a part of an expression: `a && (fence, b)`.
    Operand(usize, usize),
}

/// The statements of a source.
pub struct Statements {
    text: String,
    tokens: Vec<Range<usize>>,
    /// For every bracket, the one that it belongs to.
    partners: Vec<Option<usize>>,
    found: Vec<Statement>,
    /// Closing braces of blocks.
    ends: Vec<usize>,
}

/// A statement: numbers of tokens.
struct Statement {
    range: Range<usize>,
    /// Whether it is all of a body.
    body: bool,
    /// What stands in the parentheses of a loop.
    head: Option<Range<usize>>,
}

impl Statements {
    /// Finds them.
    pub fn new(text: &str) -> Statements {
        let tokens = tokens(text);
        let partners = partners(text, &tokens);
        let (text, found, ends) = (text.to_owned(), Vec::new(), Vec::new());
        let mut statements = Statements { text, tokens, partners, found, ends };
        statements.outside(0..statements.tokens.len());
        statements
    }

    /// Where a fence can stand that comes right before what is at a byte of the text; none outside of functions.
    pub fn spot(&self, at: usize) -> Option<Spot> {
        let token = self.tokens.iter().rposition(|token| token.start <= at)?;
        if self.ends.contains(&token) {
            return Some(Spot::Before(self.tokens[token].start));
        }
        let around = self.found.iter().filter(|statement| statement.range.contains(&token));
        let statement = around.min_by_key(|statement| statement.range.len())?;
        let range = &statement.range;
        if let Some(head) = &statement.head {
            // The keyword of a loop stands for its jump back.
            let inside = head.contains(&token);
            let parts = self.parts(head);
            let part = match (inside, &parts[..]) {
                (true, [first, ..]) if parts.len() > 1 && first.contains(&token) => None,
                (true, _) => parts.iter().find(|part| part.contains(&token)),
                (false, [_, condition, _]) => Some(condition),
                (false, [condition]) if !self.is(range.start, "for") => Some(condition),
                (false, _) => None,
            };
            if let Some(part) = part.filter(|part| !part.is_empty()) {
                let operand = if inside { self.operand(part, token) } else { None };
                return Some(operand.unwrap_or(Spot::Head(self.tokens[part.start].start)));
            }
        }
        self.operand(range, token).or_else(|| {
            let bytes = self.bytes(range)?;
            Some(if statement.body { Spot::Body(bytes.start, bytes.end) } else { Spot::Before(bytes.start) })
        })
    }

    fn is(&self, token: usize, text: &str) -> bool {
        self.word(token) == text
    }

    fn word(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |token| &self.text[token.clone()])
    }

    fn bytes(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let last = self.tokens.get(range.end.checked_sub(1)?)?;
        Some(self.tokens.get(range.start)?.start..last.end)
    }

    /// The bracket that closes one; the end if none does.
    fn close(&self, open: usize) -> usize {
        self.partners.get(open).copied().flatten().unwrap_or(self.tokens.len())
    }

    /// What stands between semicolons.
    fn parts(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        let (mut start, mut at) = (range.start, range.start);
        while at < range.end {
            if self.is(at, ";") {
                out.push(start..at);
                start = at + 1;
            }
            at = self.next(at);
        }
        out.push(start..range.end);
        out
    }

    /// The next token that is not inside of brackets.
    fn next(&self, at: usize) -> usize {
        match self.word(at) {
            "(" | "[" | "{" => self.close(at).saturating_add(1),
            _ => at + 1,
        }
    }

    /// The innermost part of an expression around a token that is not always evaluated.
    fn operand(&self, range: &Range<usize>, token: usize) -> Option<Spot> {
        let mut start = None;
        let mut at = range.start;
        while at < token {
            match self.word(at) {
                "(" | "[" if self.close(at) > token => {
                    let inner = self.operand(&(at + 1..self.close(at)), token);
                    return inner.or_else(|| self.operand_from(start?, at, range.end));
                }
                "{" if self.close(at) > token => return None,
                "&&" | "||" | "?" => start = Some(at + 1),
                // The other half, if there was a first one.
                ":" => start = start.map(|_| at + 1),
                "," | "=" | ";" => start = None,
                _ => {}
            }
            at = self.next(at);
        }
        self.operand_from(start?, at, range.end)
    }

    /// The operand from one token on, which goes beyond another.
    fn operand_from(&self, start: usize, beyond: usize, end: usize) -> Option<Spot> {
        let mut at = beyond;
        while at < end && !matches!(self.word(at), "&&" | "||" | "?" | ":" | "," | ";") {
            at = self.next(at);
        }
        self.bytes(&(start..at.min(end))).map(|bytes| Spot::Operand(bytes.start, bytes.end))
    }

    /// Outside of functions.
    fn outside(&mut self, range: Range<usize>) {
        let (mut first, mut at) = (range.start, range.start);
        while at < range.end {
            if self.is(at, ";") {
                first = at + 1;
            } else if self.is(at, "{") {
                let close = self.close(at).min(range.end);
                let has = |wanted: &[&str]| {
                    let mut word = first;
                    let mut found = false;
                    while word < at {
                        found |= wanted.contains(&self.word(word));
                        word = self.next(word);
                    }
                    found
                };
                let scope =
                    has(&["namespace", "extern"]) || has(&["struct", "class", "union"]) && !has(&["("]);
                if scope {
                    self.outside(at + 1..close);
                } else if has(&["("]) && (!has(&["="]) || has(&["operator"])) {
                    self.block(at);
                }
                first = close + 1;
            }
            at = self.next(at);
        }
    }

    /// The statements in braces; gives the token behind them.
    fn block(&mut self, open: usize) -> usize {
        let close = self.close(open);
        let mut at = open + 1;
        while at < close {
            at = self.statement(at, close, false).max(at + 1);
        }
        self.ends.push(close);
        close.saturating_add(1)
    }

    /// The statement that begins here; gives the token behind it.
    fn statement(&mut self, at: usize, end: usize, body: bool) -> usize {
        if at >= end {
            return end;
        }
        let text = self.word(at).to_owned();
        let open = if self.is(at + 1, "constexpr") { at + 2 } else { at + 1 };
        let mut head = None;
        let next = match text.as_str() {
            "{" => return self.block(at),
            "if" | "while" | "for" | "switch" | "catch" if self.is(open, "(") => {
                let close = self.close(open);
                head = matches!(text.as_str(), "while" | "for").then_some(open + 1..close);
                let mut next = self.statement(close.saturating_add(1), end, true);
                if text == "if" && self.is(next, "else") && next < end {
                    next = self.statement(next + 1, end, true);
                }
                next
            }
            "do" => {
                let next = self.statement(at + 1, end, true);
                let close = self.close(next + 1);
                head = self.is(next + 1, "(").then_some(next + 2..close);
                close.saturating_add(2)
            }
            "case" | "default" => {
                let colon = (at..end).find(|&token| self.is(token, ":")).unwrap_or(end);
                return self.statement(colon + 1, end, false);
            }
            "else" | "try" => return self.statement(at + 1, end, text == "else"),
            _ if self.is(at + 1, ":") => return self.statement(at + 2, end, false),
            _ => self.simple(at, end),
        };
        let next = next.min(end);
        self.found.push(Statement { range: at..next, body, head });
        next
    }

    /// A statement up to its semicolon. There may be functions in it.
    fn simple(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end && !self.is(at, ";") {
            self.inside(at);
            at = self.next(at);
        }
        at + 1
    }

    /// Blocks inside of brackets: `[&] { … }`, `[](int i) { … }`, `({ … })`.
    fn inside(&mut self, open: usize) {
        let before = open.checked_sub(1).map_or("", |before| self.word(before));
        if self.is(open, "{") && matches!(before, ")" | "]" | "(" | "mutable" | "noexcept") {
            self.block(open);
        } else if matches!(self.word(open), "(" | "[" | "{") {
            let close = self.close(open);
            let mut at = open + 1;
            while at < close {
                self.inside(at);
                at = self.next(at);
            }
        }
    }
}

/// Words, signs and strings; no comments, and no lines of the preprocessor.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let ends = |from: usize, what: &str| text[from..].find(what).map_or(text.len(), |found| from + found);
    let mut out: Vec<Range<usize>> = Vec::new();
    let (mut at, mut fresh) = (0, true);
    while at < bytes.len() {
        let rest = &text[at..];
        let c = rest.chars().next().unwrap_or(' ');
        if c == '\n' {
            fresh = true;
        }
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if rest.starts_with("//") || c == '#' && fresh {
            loop {
                at = ends(at, "\n");
                let line = text[..at].trim_end_matches('\r');
                if c != '#' || !line.ends_with('\\') || at >= text.len() {
                    break;
                }
                at += 1;
            }
            continue;
        }
        if rest.starts_with("/*") {
            at = (ends(at + 2, "*/") + 2).min(text.len());
            continue;
        }
        fresh = false;
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match c {
            '"' | '\'' => quoted(rest, c),
            _ if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ if ["&&", "||", "::", "==", "<=", ">=", "!="].iter().any(|sign| rest.starts_with(sign)) => 2,
            _ => c.len_utf8(),
        };
        out.push(at..at + length);
        at += length;
    }
    out
}

/// How long a string is.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped || c == '\n' {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

fn partners(text: &str, tokens: &[Range<usize>]) -> Vec<Option<usize>> {
    let mut out = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let opens = match &text[token.clone()] {
            "(" | "[" | "{" => {
                open.push(number);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        if let Some(at) = open.pop_if(|&mut at| &text[tokens[at].clone()] == opens) {
            (out[at], out[number]) = (Some(number), Some(at));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source with `@` where the instruction stands, and what comes of it: `^` where the fence goes, `<` and `>` around an
    /// operand, `{` and `}` around a body.
    #[track_caller]
    fn goes(source: &str, expected: Option<&str>) {
        let at = source.find('@').expect("is there");
        let text = source.replacen('@', "", 1);
        let around = |range: Range<usize>, open: &str, close: &str| {
            format!("{}{open}{}{close}{}", &text[..range.start], &text[range.clone()], &text[range.end..])
        };
        let found = Statements::new(&text).spot(at).map(|spot| match spot {
            Spot::Before(at) => around(at..at, "^", ""),
            Spot::Head(at) => around(at..at, "~", ""),
            Spot::Body(start, end) => around(start..end, "{", "}"),
            Spot::Operand(start, end) => around(start..end, "<", ">"),
        });
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn in_front_of_statements() {
        goes("int f(void) { a = 1; b @= 2; c = 3; }", Some("int f(void) { a = 1; ^b = 2; c = 3; }"));
        goes("int f() { return g(@x); }", Some("int f() { ^return g(x); }"));
        goes("int f() { x = 1; @}", Some("int f() { x = 1; ^}"));
        goes(
            "int f() { switch (x) { case 1: y @= 2; } }",
            Some("int f() { switch (x) { case 1: ^y = 2; } }"),
        );
        goes("int @f() { x = 1; }", None);
        goes("int x @= 1; int f() {}", None);
        goes("struct s { int a@; }; int f() {}", None);
        goes(
            "#define F { \\\n {\nint f() { \";{\"; /* { */ x @= '{'; }",
            Some("#define F { \\\n {\nint f() { \";{\"; /* { */ ^x = '{'; }"),
        );
    }

    #[test]
    fn bodies() {
        goes("int f() { if (a) b @= 1; else c = 2; }", Some("int f() { if (a) {b = 1;} else c = 2; }"));
        goes("int f() { if (a) b = 1; else c @= 2; }", Some("int f() { if (a) b = 1; else {c = 2;} }"));
        goes("int f() { if (a@) b = 1; }", Some("int f() { ^if (a) b = 1; }"));
        goes("int f() { for (;;) { b @= 1; } }", Some("int f() { for (;;) { ^b = 1; } }"));
    }

    #[test]
    fn loops() {
        goes("int f() { while (!@x) ; }", Some("int f() { while (~!x) ; }"));
        goes("int f() { @while (!x) ; }", Some("int f() { while (~!x) ; }"));
        goes("int f() { do x = 1; while (@y); }", Some("int f() { do x = 1; while (~y); }"));
        goes("int f() { for (i @= 0; i < n; i++) x(); }", Some("int f() { ^for (i = 0; i < n; i++) x(); }"));
        goes("int f() { for (i = 0; i <@ n; i++) x(); }", Some("int f() { for (i = 0; ~i < n; i++) x(); }"));
        goes("int f() { for (i = 0; i < n; i@++) x(); }", Some("int f() { for (i = 0; i < n; ~i++) x(); }"));
        goes("int f() { @for (i = 0; i < n;) x(); }", Some("int f() { for (i = 0; ~i < n;) x(); }"));
    }

    #[test]
    fn operands() {
        goes("int f() { if (a && g(@b) || c) d(); }", Some("int f() { if (a && <g(b)> || c) d(); }"));
        goes("int f() { x = a ? b : (c + @d); }", Some("int f() { x = a ? b : <(c + d)>; }"));
        goes("int f() { g(a && b, @c); }", Some("int f() { ^g(a && b, c); }"));
        goes("int f() { while (a && @b) ; }", Some("int f() { while (a && <b>) ; }"));
    }

    #[test]
    fn functions_in_functions() {
        goes("int f() { thread t([&] { x @= 1; }); }", Some("int f() { thread t([&] { ^x = 1; }); }"));
        goes(
            "namespace n { struct s { int f() const { y = 1; x @= 1; } }; }",
            Some("namespace n { struct s { int f() const { y = 1; ^x = 1; } }; }"),
        );
    }

    #[test]
    fn anything_else() {
        for text in
            ["", "}", "{ ( ] }", "int f() { if", "f() { do", "f() { case", "for (", "f() { (((", "f(){}}}{"]
        {
            let found = Statements::new(text);
            for at in 0..=text.len() {
                found.spot(at);
            }
        }
    }
}
