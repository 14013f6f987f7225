//! The TPL parser: declarations, threads, statements, expressions. Recursive descent over the token stream, because
//! that gives the most precise messages.
//!
//! ```text
//! program    = { "min_value" ["-"] N ";" | "max_value" N ";" | ("global" | "na") place { "," place } ";"
//!              | "track" x ":" ("all" | N { "," N }) ";" | thread }
//! place      = x [ "=" N ]
//! thread     = "fn" f [ "[" N "]" ] "{" { "local" r { "," r } ";" } { stmt } "}"
//! stmt       = l ":" | "goto" l ";" | r "=" expr ";" | [ r "=" ] access ";" | "skip" ";"
//!              | "if" expr body [ "else" body ] | "while" expr body | "oneof" "(" { block } ")" ";"
//!              | ("assert" | "assume" | "verify") "(" expr ")" ";"
//! body       = block | stmt            block = "{" { stmt } "}"
//! access     = x ".load" "(" [ mode ] ")" | x ".store" "(" expr [ "," mode ] ")" | x ".naload" "(" ")"
//!              | x ".nastore" "(" expr ")" | "wait" "(" x { "," expr } [ "," mode ] ")"
//!              | ("FADD" | "exchange") "(" x "," expr [ modes ] ")"
//!              | ("CAS" | "WCAS" | "BCAS" | "FCAS") "(" x "," expr "," expr [ modes ] ")"
//!              | ("lock" | "unlock") "(" x ")" | "fence" [ "(" (mode | "upd") ")" ]
//! modes      = "," whole | "," read "," write [ "," failure ]        (failure: CAS and WCAS only)
//! mode       = "rlx" | "acq" | "rel" | "acq_rel" | "sc" | "seq_cst"
//! ```
//!
//! Expressions have C's operators and precedence over numbers, `true`, `false` and registers. `fn t[4]` stands for four
//! threads; in its body `t` is the number of the instance, from 0. Parentheses around conditions are optional.

use super::cursor::{Cursor, Parse};
use super::lexer::Tok;
use super::ops::{binary_operator, unary_operator};
use super::{MAX_DEPTH, MAX_NODES};
use crate::ast::{At, Block, Expr, ExprKind, Location, Program, Span, Stmt, StmtKind, Thread, Track};
use crate::code::Binary;
use crate::error::InputError;

/// Words that cannot be names.
const RESERVED: [&str; 34] = [
    "min_value",
    "max_value",
    "global",
    "na",
    "track",
    "fn",
    "local",
    "if",
    "else",
    "while",
    "goto",
    "oneof",
    "assert",
    "assume",
    "verify",
    "skip",
    "fence",
    "wait",
    "lock",
    "unlock",
    "FADD",
    "CAS",
    "WCAS",
    "BCAS",
    "FCAS",
    "exchange",
    "true",
    "false",
    "rlx",
    "acq",
    "rel",
    "acq_rel",
    "sc",
    "seq_cst",
];

/// Whether a word cannot be a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Parses a TPL program. Names are not resolved yet.
pub(crate) fn parse(source: &str) -> Parse<Program> {
    let mut parser = Parser { cursor: Cursor::new(source, 0, MAX_NODES)? };
    parser.program()
}

pub(super) struct Parser<'s> {
    pub cursor: Cursor<'s>,
}

impl Parser<'_> {
    fn program(&mut self) -> Parse<Program> {
        let mut program = Program::default();
        while !self.cursor.at_end() {
            match self.cursor.word() {
                "min_value" => self.min_value(&mut program)?,
                "max_value" => self.max_value(&mut program)?,
                "global" => self.locations(false, &mut program.locations)?,
                "na" => self.locations(true, &mut program.locations)?,
                "track" => program.tracks.push(self.track()?),
                "fn" => program.threads.push(self.thread()?),
                _ if program == Program::default() => {
                    let error = self.cursor.unexpected("a program");
                    return Err(
                        error.with_note("a TPL program starts with `max_value`, `global`, `na` or `fn`")
                    );
                }
                _ => return Err(self.cursor.unexpected("a declaration or a thread (`fn name { … }`)")),
            }
        }
        if program.threads.is_empty() {
            let empty = program == Program::default();
            let message = if empty { "this file is empty" } else { "there is no thread in this program" };
            let error = InputError::new(self.cursor.token().span, message);
            return Err(error.with_note("write at least one thread: `fn name { … }`"));
        }
        Ok(program)
    }

    fn min_value(&mut self, program: &mut Program) -> Parse<()> {
        let keyword = self.cursor.advance()?.span;
        let value = self.cursor.signed_number("a number after `min_value`")?;
        self.cursor.semicolon("`min_value`")?;
        if let Some(earlier) = &program.min_value {
            let error = InputError::new(keyword.to(value.span), "`min_value` is given twice");
            return Err(error.with_secondary(earlier.span, "first given here"));
        }
        program.min_value = Some(value);
        Ok(())
    }

    fn max_value(&mut self, program: &mut Program) -> Parse<()> {
        let keyword = self.cursor.advance()?.span;
        let value = self.cursor.number("a number after `max_value`")?;
        self.cursor.semicolon("`max_value`")?;
        if let Some(earlier) = &program.max_value {
            let error = InputError::new(keyword.to(value.span), "`max_value` is given twice");
            return Err(error.with_secondary(earlier.span, "first given here"));
        }
        program.max_value = Some(value);
        Ok(())
    }

    fn locations(&mut self, non_atomic: bool, locations: &mut Vec<Location>) -> Parse<()> {
        self.cursor.advance()?;
        loop {
            self.cursor.count_node()?;
            let name = self.cursor.name("the name of a location", is_reserved)?;
            let initial = match self.cursor.eat("=")? {
                true => Some(self.cursor.signed_number("an initial value")?),
                false => None,
            };
            locations.push(Location { name, initial, non_atomic });
            if !self.cursor.eat(",")? {
                return self.cursor.semicolon("this declaration");
            }
        }
    }

    fn track(&mut self) -> Parse<Track> {
        self.cursor.advance()?;
        let location = self.cursor.name("the name of a location", is_reserved)?;
        self.cursor.expect(":", "after the location")?;
        let values = if self.cursor.eat_word("all")? {
            None
        } else {
            let mut values = Vec::new();
            loop {
                self.cursor.count_node()?;
                values.push(self.cursor.signed_number("a value or `all`")?);
                if !self.cursor.eat(",")? {
                    break Some(values);
                }
            }
        };
        self.cursor.semicolon("`track`")?;
        Ok(Track { location, values })
    }

    fn thread(&mut self) -> Parse<Thread> {
        self.cursor.advance()?;
        let name = self.cursor.name("the name of a thread", is_reserved)?;
        let mut count = None;
        if self.cursor.eat("[")? {
            count = Some(self.cursor.number("the number of instances")?);
            self.cursor.expect("]", "after the number of instances")?;
        }
        let open = self.cursor.expect("{", "before the body of the thread")?;
        let mut locals = Vec::new();
        while self.cursor.eat_word("local")? {
            loop {
                self.cursor.count_node()?;
                locals.push(self.cursor.name("the name of a register", is_reserved)?);
                if !self.cursor.eat(",")? {
                    break;
                }
            }
            self.cursor.semicolon("the declaration of registers")?;
        }
        let body = self.rest_of_block(open, 0)?;
        Ok(Thread { name, count, locals, body })
    }

    /// Statements up to the `}` that matches the `{` at `open`.
    fn rest_of_block(&mut self, open: Span, depth: usize) -> Parse<Block> {
        self.cursor.check_depth(depth, MAX_DEPTH, "statements are")?;
        let mut block = Vec::new();
        while !self.cursor.eat("}")? {
            if self.cursor.at_end() || self.cursor.word() == "fn" {
                let error = self.cursor.unexpected("a statement or `}`");
                return Err(error.with_secondary(open, "this block is still open"));
            }
            // An empty statement is harmless: people write `};` out of habit.
            if !self.cursor.eat(";")? {
                block.push(self.statement(depth)?);
            }
        }
        Ok(block)
    }

    /// `{ … }`, or a single statement.
    fn body(&mut self, depth: usize) -> Parse<Block> {
        if self.cursor.at("{") {
            let open = self.cursor.advance()?.span;
            return self.rest_of_block(open, depth);
        }
        self.cursor.check_depth(depth, MAX_DEPTH, "statements are")?;
        Ok(vec![self.statement(depth)?])
    }

    fn statement(&mut self, depth: usize) -> Parse<Stmt> {
        self.cursor.count_node()?;
        let start = self.cursor.token().span;
        let kind = match self.cursor.word() {
            "" => return Err(self.cursor.unexpected("a statement")),
            "if" => return self.if_statement(depth),
            "while" => {
                self.cursor.advance()?;
                let condition = self.expression()?;
                let head = self.cursor.since(start);
                return Ok(At::new(StmtKind::While(condition, self.body(depth + 1)?), head));
            }
            "oneof" => self.one_of(depth)?,
            "goto" => {
                self.cursor.advance()?;
                StmtKind::Goto(self.cursor.name("a label", is_reserved)?)
            }
            "assert" => StmtKind::Assert(self.argument()?),
            "assume" => StmtKind::Assume(self.argument()?),
            "verify" => StmtKind::Verify(self.argument()?),
            "skip" => {
                self.cursor.advance()?;
                StmtKind::Skip
            }
            "local" => {
                let error = InputError::new(start, "registers are declared at the start of a thread");
                return Err(error.with_note("move this `local` to just after the `{` of its thread"));
            }
            "fence" | "wait" | "lock" | "unlock" | "FADD" | "CAS" | "WCAS" | "BCAS" | "FCAS" | "exchange" => {
                StmtKind::Access(None, self.call()?)
            }
            word if is_reserved(word) => return Err(self.cursor.unexpected("a statement")),
            _ => match self.cursor.peek()?.tok {
                Tok::Punct(":") => {
                    let name = self.cursor.name("a label", is_reserved)?;
                    self.cursor.advance()?;
                    return Ok(At::new(StmtKind::Label(name), start));
                }
                Tok::Punct("=") => self.assignment()?,
                Tok::Punct(".") => StmtKind::Access(None, self.method()?),
                _ => {
                    let name = self.cursor.name("a statement", is_reserved)?;
                    return Err(self.cursor.unexpected(&format!("`=`, `.` or `:` after `{}`", name.node)));
                }
            },
        };
        let span = self.cursor.since(start);
        self.cursor.semicolon("this statement").map_err(|error| match (&kind, self.cursor.token().tok) {
            (StmtKind::Access(Some(_), _), tok) if binary_operator(tok).is_some() => error
                .with_note("an access stands alone: assign it to a register, then compute with the register"),
            _ => error,
        })?;
        Ok(At::new(kind, span))
    }

    fn if_statement(&mut self, depth: usize) -> Parse<Stmt> {
        let start = self.cursor.advance()?.span;
        let condition = self.expression()?;
        let head = self.cursor.since(start);
        let then = self.body(depth + 1)?;
        let otherwise = match self.cursor.eat_word("else")? {
            true => self.body(depth + 1)?,
            false => Vec::new(),
        };
        Ok(At::new(StmtKind::If(condition, then, otherwise), head))
    }

    fn one_of(&mut self, depth: usize) -> Parse<StmtKind> {
        self.cursor.advance()?;
        self.cursor.expect("(", "after `oneof`")?;
        let mut branches = Vec::new();
        while branches.is_empty() || !self.cursor.at(")") {
            self.cursor.count_node()?;
            let open = self.cursor.expect("{", "before a branch of `oneof`")?;
            branches.push(self.rest_of_block(open, depth + 1)?);
        }
        self.cursor.expect(")", "after the branches of `oneof`")?;
        Ok(StmtKind::OneOf(branches))
    }

    fn argument(&mut self) -> Parse<Expr> {
        self.cursor.advance()?;
        self.cursor.expect("(", "before a condition")?;
        let condition = self.expression()?;
        self.cursor.expect(")", "after a condition")?;
        Ok(condition)
    }

    fn assignment(&mut self) -> Parse<StmtKind> {
        let name = self.cursor.name("the name of a register", is_reserved)?;
        self.cursor.expect("=", "after the register")?;
        match self.cursor.word() {
            "wait" | "FADD" | "CAS" | "WCAS" | "BCAS" | "FCAS" | "exchange" => {
                Ok(StmtKind::Access(Some(name), self.call()?))
            }
            word if !word.is_empty() && !is_reserved(word) && self.cursor.peek()?.tok == Tok::Punct(".") => {
                Ok(StmtKind::Access(Some(name), self.method()?))
            }
            _ => Ok(StmtKind::Assign(name, self.expression()?)),
        }
    }

    /// An expression.
    pub fn expression(&mut self) -> Parse<Expr> {
        Ok(self.binary(0)?.0)
    }

    /// Operands and binary operators, with the height of the tree built. `depth` counts the parentheses and unary
    /// operators around it; the height bounds long chains, which become deep trees too. Pending operators wait on a
    /// list, not on the call stack, so that only parentheses and unary operators recurse.
    fn binary(&mut self, depth: usize) -> Parse<(Expr, usize)> {
        let mut last = self.unary(depth)?;
        let mut pending: Vec<(Expr, usize, Binary, u8)> = Vec::new();
        loop {
            let next = binary_operator(self.cursor.token().tok);
            let precedence = next.map_or(0, |(_, precedence)| precedence);
            while pending.last().is_some_and(|(.., waiting)| *waiting >= precedence) {
                let Some((left, left_height, operator, _)) = pending.pop() else { break };
                let (right, right_height) = last;
                let height = 1 + left_height.max(right_height);
                self.cursor.check_depth(height, MAX_DEPTH, "this expression is")?;
                let span = left.span.to(right.span);
                last = (At::new(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span), height);
            }
            let Some((operator, precedence)) = next else { return Ok(last) };
            self.cursor.advance()?;
            pending.push((last.0, last.1, operator, precedence));
            last = self.unary(depth)?;
        }
    }

    fn unary(&mut self, depth: usize) -> Parse<(Expr, usize)> {
        self.cursor.count_node()?;
        self.cursor.check_depth(depth, MAX_DEPTH, "this expression is")?;
        let start = self.cursor.token().span;
        if let Some(operator) = unary_operator(self.cursor.token().tok) {
            self.cursor.advance()?;
            let (operand, height) = self.unary(depth + 1)?;
            self.cursor.check_depth(height + 1, MAX_DEPTH, "this expression is")?;
            let span = start.to(operand.span);
            return Ok((At::new(ExprKind::Unary(operator, Box::new(operand)), span), height + 1));
        }
        if self.cursor.eat("(")? {
            let (inner, height) = self.binary(depth + 1)?;
            let close = self.cursor.expect(")", "after this expression")?;
            return Ok((At::new(inner.node, start.to(close)), height));
        }
        if let Tok::Number(value) = self.cursor.token().tok {
            self.cursor.advance()?;
            return Ok((At::new(ExprKind::Number(value), start), 1));
        }
        let kind = match self.cursor.word() {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "wait" | "FADD" | "CAS" | "WCAS" | "BCAS" | "FCAS" | "exchange" => {
                return Err(self.access_inside(start));
            }
            word if word.is_empty() || is_reserved(word) => {
                return Err(self.cursor.unexpected("an expression"));
            }
            word => {
                if self.cursor.peek()?.tok == Tok::Punct(".") {
                    return Err(self.access_inside(start));
                }
                ExprKind::Name(word.to_string())
            }
        };
        self.cursor.advance()?;
        Ok((At::new(kind, start), 1))
    }

    fn access_inside(&self, at: Span) -> InputError {
        InputError::new(at, "an access to a shared location cannot stand inside an expression")
            .with_note("assign it to a register first, then use the register")
    }
}
