//! The C of litmus tests: statements. Each is appended, in simpler form, to the thread's current block.

use super::c_expr::{Value, truth};
use super::cursor::Parse;
use super::lexer::Tok;
use super::litmus::{Parser, number};
use crate::ast::{Access, At, Block, Expr, ExprKind, Name, Span, StmtKind};
use crate::code::Binary;
use crate::error::InputError;
use seqcst_model::Mode;

/// How deeply statements and expressions of C may nest: less than in TPL, because they nest deeper once simplified.
pub(super) const MAX_C_DEPTH: usize = 60;

impl<'s> Parser<'s> {
    pub(super) fn emit(&mut self, kind: StmtKind, span: Span) {
        self.thread.out.push(At::new(kind, span));
    }

    /// Runs a part of the parser and takes away the statements that it emitted.
    pub(super) fn capture<T>(&mut self, part: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<(T, Block)> {
        let outer = std::mem::take(&mut self.thread.out);
        let result = part(self);
        let inner = std::mem::replace(&mut self.thread.out, outer);
        Ok((result?, inner))
    }

    /// Statements up to the `}` that matches the `{` at `open`, with a scope of their own.
    pub(super) fn block(&mut self, open: Span, depth: usize) -> Parse<()> {
        self.cursor.check_depth(depth, MAX_C_DEPTH, "statements are")?;
        self.thread.scopes.push(Vec::new());
        while !self.cursor.eat("}")? {
            if self.cursor.at_end() {
                let error = self.cursor.unexpected("a statement or `}`");
                return Err(error.with_secondary(open, "this block is still open"));
            }
            self.c_statement(depth)?;
        }
        for name in self.thread.scopes.pop().into_iter().flatten() {
            self.thread.visible.remove(name);
        }
        Ok(())
    }

    fn nested(&mut self, depth: usize) -> Parse<Block> {
        self.cursor.check_depth(depth, MAX_C_DEPTH, "statements are")?;
        let ((), block) = self.capture(|parser| match parser.cursor.at("{") {
            true => {
                let open = parser.cursor.advance()?.span;
                parser.block(open, depth)
            }
            false => parser.c_statement(depth),
        })?;
        Ok(block)
    }

    fn c_statement(&mut self, depth: usize) -> Parse<()> {
        self.cursor.count_node()?;
        let start = self.cursor.token().span;
        match self.cursor.word() {
            "if" => return self.c_if(start, depth),
            "while" => return self.c_while(start, depth),
            "do" => return self.c_do(start, depth),
            "goto" => {
                self.cursor.advance()?;
                let label = self.name("a label")?;
                self.emit(StmtKind::Goto(label), start);
            }
            "assert" => {
                self.cursor.advance()?;
                self.cursor.expect("(", "after `assert`")?;
                let condition = self.c_expression()?;
                self.cursor.expect(")", "after the condition")?;
                self.emit(StmtKind::Assert(condition), self.cursor.since(start));
            }
            "atomic_thread_fence" => {
                self.cursor.advance()?;
                self.cursor.expect("(", "after `atomic_thread_fence`")?;
                let mode = self.order()?;
                self.cursor.expect(")", "after the memory order")?;
                // A relaxed fence is legal C and does nothing.
                if mode.node != Mode::Relaxed {
                    self.emit(StmtKind::Access(None, Access::Fence(mode)), self.cursor.since(start));
                }
            }
            "lock" | "unlock" | "mtx_lock" | "mtx_unlock" if self.cursor.peek()?.tok == Tok::Punct("(") => {
                self.lock_statement(start)?;
            }
            word @ ("for" | "return" | "break" | "continue" | "switch") => {
                return Err(InputError::new(start, format!("`{word}` is not supported in litmus tests")));
            }
            "" if self.cursor.eat("{")? => return self.block(start, depth + 1),
            "" if self.cursor.eat(";")? => return Ok(()),
            "" if self.cursor.at("*") => self.store_through_pointer(start)?,
            _ => {
                if let Some(declared) = self.skip_type()? {
                    self.declarations(declared.is_bool, start)?;
                } else if self.cursor.peek()?.tok == Tok::Punct(":") {
                    let label = self.name("a label")?;
                    self.cursor.advance()?;
                    self.emit(StmtKind::Label(label), start);
                    return Ok(());
                } else {
                    self.expression_statement(start)?;
                }
            }
        }
        self.cursor.semicolon("this statement")
    }

    fn condition(&mut self, after: &str) -> Parse<Expr> {
        self.cursor.expect("(", &format!("after `{after}`"))?;
        let condition = self.c_expression()?;
        self.cursor.expect(")", "after the condition")?;
        Ok(condition)
    }

    fn c_if(&mut self, start: Span, depth: usize) -> Parse<()> {
        self.cursor.advance()?;
        let condition = self.condition("if")?;
        let head = self.cursor.since(start);
        let then = self.nested(depth + 1)?;
        let otherwise = match self.cursor.eat_word("else")? {
            true => self.nested(depth + 1)?,
            false => Vec::new(),
        };
        self.emit(StmtKind::If(condition, then, otherwise), head);
        Ok(())
    }

    /// The accesses of the condition come before the loop, and again at the end of its body.
    fn c_while(&mut self, start: Span, depth: usize) -> Parse<()> {
        self.cursor.advance()?;
        let (condition, accesses) = self.capture(|parser| parser.condition("while"))?;
        let head = self.cursor.since(start);
        let mut body = self.nested(depth + 1)?;
        body.extend(accesses.iter().cloned());
        self.thread.out.extend(accesses);
        self.emit(StmtKind::While(condition, body), head);
        Ok(())
    }

    fn c_do(&mut self, start: Span, depth: usize) -> Parse<()> {
        self.cursor.advance()?;
        let label = At::new(self.fresh_name("again"), start);
        self.emit(StmtKind::Label(label.clone()), start);
        let body = self.nested(depth + 1)?;
        self.thread.out.extend(body);
        if !self.cursor.eat_word("while")? {
            return Err(self.cursor.unexpected("`while` after the body of `do`"));
        }
        let condition = self.condition("while")?;
        let goto = At::new(StmtKind::Goto(label), start);
        self.emit(StmtKind::If(condition, vec![goto], Vec::new()), self.cursor.since(start));
        self.cursor.semicolon("`do … while`")
    }

    /// `int r0 = e, r1;` with the type already read.
    fn declarations(&mut self, is_bool: bool, start: Span) -> Parse<()> {
        let mut start = start;
        loop {
            if self.cursor.at("*") {
                return Err(InputError::new(self.cursor.token().span, "pointer variables are not supported"));
            }
            let word = self.cursor.word();
            let register = self.name("the name of a variable")?;
            if let Some(earlier) = self.thread.visible.get(word) {
                let error =
                    InputError::new(register.span, format!("the variable `{word}` is declared twice"));
                return Err(error.with_secondary(*earlier, "first declared here"));
            }
            if self.thread.parameters.contains_key(word) {
                let message = format!("`{word}` already names a parameter of this thread");
                return Err(InputError::new(register.span, message));
            }
            // Variables of sibling blocks share a register.
            if self.thread.declared.insert(word) && !self.thread.initial.contains(&register.node) {
                self.thread.locals.push(register.clone());
            }
            match is_bool {
                true => self.thread.bools.insert(register.node.clone()),
                false => self.thread.bools.remove(&register.node),
            };
            if self.cursor.eat("=")? {
                let value = self.value()?;
                self.assign(register.clone(), value, start);
            }
            // C lets a variable appear in its own initialiser; nobody means that.
            self.thread.visible.insert(word, register.span);
            if let Some(scope) = self.thread.scopes.last_mut() {
                scope.push(word);
            }
            if !self.cursor.eat(",")? {
                return Ok(());
            }
            start = self.cursor.token().span;
        }
    }

    /// `*x = e`
    fn store_through_pointer(&mut self, start: Span) -> Parse<()> {
        let (location, atomic) = self.dereference()?;
        self.cursor.expect("=", "after the location")?;
        let value = self.c_expression()?;
        let value = self.stored(&location, value);
        let access = match atomic {
            true => Access::Store(location, value, Some(At::new(Mode::SeqCst, start))),
            false => Access::NaStore(location, value),
        };
        self.emit(StmtKind::Access(None, access), self.cursor.since(start));
        Ok(())
    }

    /// `r = e`, `r += e`, `r++`, or a call whose value nobody wants.
    fn expression_statement(&mut self, start: Span) -> Parse<()> {
        let operator = match self.cursor.peek()?.tok {
            Tok::Punct("=") => None,
            Tok::Punct("+=" | "++") => Some(Binary::Add),
            Tok::Punct("-=" | "--") => Some(Binary::Sub),
            Tok::Punct("*=") => Some(Binary::Mul),
            _ => {
                let value = self.value()?;
                if let Value::Access(access, _) = value {
                    self.emit(StmtKind::Access(None, access), self.cursor.since(start));
                }
                return Ok(());
            }
        };
        let register = self.variable()?;
        let sign = self.cursor.advance()?.tok;
        let Some(operator) = operator else {
            let value = self.value()?;
            self.assign(register, value, start);
            return Ok(());
        };
        let operand = match sign {
            Tok::Punct("++" | "--") => number(1, self.cursor.previous()),
            _ => self.c_expression()?,
        };
        let span = self.cursor.since(start);
        let old = At::new(ExprKind::Name(register.node.clone()), register.span);
        let sum = At::new(ExprKind::Binary(operator, Box::new(old), Box::new(operand)), span);
        self.assign(register, Value::Plain(sum), start);
        Ok(())
    }

    fn assign(&mut self, register: Name, value: Value, start: Span) {
        let span = self.cursor.since(start);
        let value = match self.thread.bools.contains(&register.node) {
            true => Value::Plain(truth(self.execute(value))),
            false => value,
        };
        match value {
            Value::Plain(value) => self.emit(StmtKind::Assign(register, value), span),
            Value::Access(access, _) => self.emit(StmtKind::Access(Some(register), access), span),
        }
    }
}
