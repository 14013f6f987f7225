//! The C of litmus tests: expressions. An access inside an expression goes to a register of its
//! own, just before; `&&` and `||` keep the accesses on their right conditional.

use super::c_stmt::MAX_C_DEPTH;
use super::cursor::Parse;
use super::lexer::{Tok, abbreviate};
use super::litmus::{Parser, number};
use super::ops::{binary_operator, unary_operator};
use crate::ast::{Access, At, Expr, ExprKind, Name, Span, StmtKind};
use crate::code::{Binary, Unary};
use crate::error::InputError;
use seqcst_model::Mode;

/// What an expression gives: a value over registers, or an access that nobody has executed yet.
pub(super) enum Value {
    Plain(Expr),
    Access(Access, Span),
}

impl<'s> Parser<'s> {
    /// An expression, with every access in it executed.
    pub(super) fn c_expression(&mut self) -> Parse<Expr> {
        let value = self.value()?;
        Ok(self.execute(value))
    }

    /// An expression that may be a single access, for whoever can give it a register.
    pub(super) fn value(&mut self) -> Parse<Value> {
        Ok(self.c_binary(1, 0)?.0)
    }

    pub(super) fn execute(&mut self, value: Value) -> Expr {
        match value {
            Value::Plain(expr) => expr,
            Value::Access(access, span) => {
                let register = self.temporary(span);
                self.emit(StmtKind::Access(Some(register.clone()), access), span);
                use_of(&register)
            }
        }
    }

    /// A value as a location takes it.
    pub(super) fn stored(&self, location: &Name, value: Expr) -> Expr {
        if self.is_bool(location) { truth(value) } else { value }
    }

    pub(super) fn temporary(&mut self, span: Span) -> Name {
        let register = At::new(self.fresh_name("t"), span);
        self.thread.locals.push(register.clone());
        register
    }

    /// Operators of at least this precedence, with the height of the tree built, which bounds long chains. This
    /// recurses into right operands (their accesses must be told apart), so `depth` counts those too.
    fn c_binary(&mut self, precedence: u8, depth: usize) -> Parse<(Value, usize)> {
        let (mut left, mut height) = self.c_unary(depth)?;
        while let Some((operator, level)) = binary_operator(self.cursor.token().tok) {
            if level < precedence {
                break;
            }
            self.cursor.advance()?;
            let left_value = self.execute(left);
            let ((right, right_height), accesses) = self.capture(|parser| {
                let (right, height) = parser.c_binary(level + 1, depth + 1)?;
                Ok((parser.execute(right), height))
            })?;
            height = 1 + height.max(right_height);
            self.cursor.check_depth(height, MAX_C_DEPTH, "this expression is")?;
            let conditional = matches!(operator, Binary::And | Binary::Or) && !accesses.is_empty();
            left = if conditional {
                height = 1;
                Value::Plain(self.short_circuit(operator, left_value, right, accesses))
            } else {
                self.thread.out.extend(accesses);
                Value::Plain(binary(operator, left_value, right))
            };
        }
        Ok((left, height))
    }

    /// `a && b` where evaluating b takes accesses: `t = a != 0; if (t) { …; t = b != 0; }`.
    fn short_circuit(
        &mut self,
        operator: Binary,
        left: Expr,
        right: Expr,
        mut accesses: Vec<crate::ast::Stmt>,
    ) -> Expr {
        let (left_span, right_span) = (left.span, right.span);
        let flag = self.temporary(left_span);
        self.emit(StmtKind::Assign(flag.clone(), truth(left)), left_span);
        accesses.push(At::new(StmtKind::Assign(flag.clone(), truth(right)), right_span));
        let wanted = match operator {
            Binary::And => use_of(&flag),
            _ => At::new(ExprKind::Unary(Unary::Not, Box::new(use_of(&flag))), left_span),
        };
        self.emit(StmtKind::If(wanted, accesses, Vec::new()), left_span.to(right_span));
        use_of(&flag)
    }

    fn c_unary(&mut self, depth: usize) -> Parse<(Value, usize)> {
        self.cursor.count_node()?;
        self.cursor.check_depth(depth, MAX_C_DEPTH, "this expression is")?;
        let start = self.cursor.token().span;
        if let Some(operator) = unary_operator(self.cursor.token().tok) {
            self.cursor.advance()?;
            let (operand, height) = self.c_unary(depth + 1)?;
            self.cursor.check_depth(height + 1, MAX_C_DEPTH, "this expression is")?;
            let operand = self.execute(operand);
            let span = start.to(operand.span);
            return Ok((
                Value::Plain(At::new(ExprKind::Unary(operator, Box::new(operand)), span)),
                height + 1,
            ));
        }
        if self.cursor.eat("(")? {
            let cast = self.skip_type()?;
            if cast.is_some() || self.cursor.eat_word("void")? {
                self.cursor.expect(")", "after the type of a cast")?;
                let (operand, height) = self.c_unary(depth + 1)?;
                // Otherwise a cast changes nothing: all values have one range here.
                return match cast.is_some_and(|cast| cast.is_bool) {
                    true => Ok((Value::Plain(truth(self.execute(operand))), height + 1)),
                    false => Ok((operand, height)),
                };
            }
            let inner = self.c_binary(1, depth + 1)?;
            self.cursor.expect(")", "after this expression")?;
            return Ok(inner);
        }
        if self.cursor.at("*") {
            let (location, atomic) = self.dereference()?;
            let access = match atomic {
                true => Access::Load(location, Some(At::new(Mode::SeqCst, start))),
                false => Access::NaLoad(location),
            };
            return Ok((Value::Access(access, self.cursor.since(start)), 1));
        }
        if let Tok::Number(value) = self.cursor.token().tok {
            self.cursor.advance()?;
            self.note_number(value, start);
            return Ok((Value::Plain(number(value, start)), 1));
        }
        if let "true" | "false" = self.cursor.word() {
            let value = self.cursor.word() == "true";
            self.cursor.advance()?;
            return Ok((Value::Plain(At::new(ExprKind::Bool(value), start)), 1));
        }
        if !self.cursor.word().is_empty() && self.cursor.peek()?.tok == Tok::Punct("(") {
            return Ok((self.operation(start)?, 1));
        }
        let variable = self.variable()?;
        Ok((Value::Plain(use_of(&variable)), 1))
    }

    /// A variable of the thread.
    pub(super) fn variable(&mut self) -> Parse<Name> {
        let word = self.cursor.word();
        let name = self.name("an expression")?;
        if self.thread.visible.contains_key(word) || self.thread.initial.contains(&name.node) {
            return Ok(name);
        }
        if self.thread.parameters.contains_key(word) {
            let error =
                InputError::new(name.span, format!("`{}` is a pointer to a location", abbreviate(word)));
            return Err(error.with_note(format!("write `*{word}`, or use an atomic operation")));
        }
        let error = InputError::new(name.span, format!("unknown variable `{}`", abbreviate(word)));
        Err(error.with_note("declare variables in the thread: `int r0;`"))
    }

    /// `*x`: the location, and whether it is atomic.
    pub(super) fn dereference(&mut self) -> Parse<(Name, bool)> {
        self.cursor.expect("*", "before a location")?;
        if !self.cursor.eat("(")? {
            return self.pointer();
        }
        let location = self.pointer()?;
        self.cursor.expect(")", "after the location")?;
        Ok(location)
    }

    /// A parameter of the thread.
    pub(super) fn pointer(&mut self) -> Parse<(Name, bool)> {
        let word = self.cursor.word();
        let name = self.name("a location")?;
        match self.thread.parameters.get(word) {
            Some(atomic) => Ok((name, *atomic)),
            None => {
                let error = InputError::new(name.span, format!("unknown location `{}`", abbreviate(word)));
                Err(error.with_note("locations are parameters of the thread: `P0(atomic_int* x)`"))
            }
        }
    }
}

pub(super) fn use_of(register: &Name) -> Expr {
    At::new(ExprKind::Name(register.node.clone()), register.span)
}

/// What C makes of a value where it needs 0 or 1.
pub(super) fn truth(value: Expr) -> Expr {
    let is_truth = match &value.node {
        ExprKind::Bool(_) | ExprKind::Number(0 | 1) | ExprKind::Unary(Unary::Not, _) => true,
        ExprKind::Binary(operator, ..) => matches!(
            operator,
            Binary::Lt
                | Binary::Le
                | Binary::Gt
                | Binary::Ge
                | Binary::Eq
                | Binary::Ne
                | Binary::And
                | Binary::Or
        ),
        _ => false,
    };
    let zero = number(0, value.span);
    if is_truth { value } else { binary(Binary::Ne, value, zero) }
}

pub(super) fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    At::new(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span)
}
