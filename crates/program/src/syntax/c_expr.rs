//! The C of litmus tests: expressions and atomic operations. An access inside an expression goes to a register of its
//! own, just before; `&&` and `||` keep the accesses on their right conditional.

use super::c_stmt::MAX_C_DEPTH;
use super::cursor::Parse;
use super::lexer::{Tok, abbreviate};
use super::litmus::{Parser, number};
use super::ops::{binary_operator, unary_operator};
use crate::ast::{Access, At, Cas, CasKind, Expr, ExprKind, Name, RmwMode, Span, StmtKind};
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

    fn execute(&mut self, value: Value) -> Expr {
        match value {
            Value::Plain(expr) => expr,
            Value::Access(access, span) => {
                let register = self.temporary(span);
                self.emit(StmtKind::Access(Some(register.clone()), access), span);
                use_of(&register)
            }
        }
    }

    fn temporary(&mut self, span: Span) -> Name {
        let register = At::new(self.fresh_name("t"), span);
        self.thread.locals.push(register.clone());
        register
    }

    /// Operators of at least this precedence, with the height of the tree built (see the parser of TPL).
    fn c_binary(&mut self, precedence: u8, depth: usize) -> Parse<(Value, usize)> {
        let (mut left, mut height) = self.c_unary(depth)?;
        while let Some((operator, level)) = binary_operator(self.cursor.token().tok) {
            if level < precedence {
                break;
            }
            self.cursor.advance()?;
            let left_value = self.execute(left);
            let ((right, right_height), accesses) = self.capture(|parser| {
                let (right, height) = parser.c_binary(level + 1, depth)?;
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
        let truth = |value: Expr| {
            let zero = number(0, value.span);
            binary(Binary::Ne, value, zero)
        };
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
            if operator == Unary::Neg {
                self.negative.get_or_insert(span);
            }
            return Ok((
                Value::Plain(At::new(ExprKind::Unary(operator, Box::new(operand)), span)),
                height + 1,
            ));
        }
        if self.cursor.eat("(")? {
            if self.cursor.eat_word("void")? || self.skip_type()?.is_some() {
                // A cast changes nothing: all values have one range here.
                self.cursor.expect(")", "after the type of a cast")?;
                return self.c_unary(depth + 1);
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
        self.pointer()
    }

    /// A parameter of the thread.
    fn pointer(&mut self) -> Parse<(Name, bool)> {
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

    /// A call of an atomic operation.
    fn operation(&mut self, start: Span) -> Parse<Value> {
        let word = self.cursor.word();
        let (base, explicit) = match word.strip_suffix("_explicit") {
            Some(base) => (base, true),
            None => (word, false),
        };
        let known = [
            "atomic_load",
            "atomic_store",
            "atomic_exchange",
            "atomic_fetch_add",
            "atomic_fetch_sub",
            "atomic_compare_exchange_strong",
            "atomic_compare_exchange_weak",
        ];
        if !known.contains(&base) {
            let error = InputError::new(start, format!("unknown function `{}`", abbreviate(word)));
            return Err(
                error.with_note("atomic loads, stores, exchanges, additions and compare-exchanges are known")
            );
        }
        self.cursor.advance()?;
        self.cursor.expect("(", &format!("after `{word}`"))?;
        let (location, atomic) = self.pointer()?;
        if !atomic {
            let message =
                format!("`{word}` needs an atomic location, but `{}` is declared plain", location.node);
            return Err(InputError::new(location.span, message).with_note("declare it `atomic_int*`"));
        }
        if base.starts_with("atomic_compare_exchange") {
            return self.compare_exchange(start, location, base.ends_with("weak"), explicit);
        }
        let operand = match base {
            "atomic_load" => None,
            _ => Some(self.operand()?),
        };
        let mode = self.optional_order(explicit, start)?;
        self.cursor.expect(")", &format!("after the arguments of `{word}`"))?;
        let access = match (base, operand) {
            ("atomic_store", Some(value)) => Access::Store(location, value, Some(mode)),
            ("atomic_exchange", Some(value)) => Access::Exchange(location, value, RmwMode::Whole(mode)),
            ("atomic_fetch_add", Some(operand)) => Access::FetchAdd(location, operand, RmwMode::Whole(mode)),
            (_, Some(operand)) => {
                let span = operand.span;
                let negated = At::new(ExprKind::Unary(Unary::Neg, Box::new(operand)), span);
                Access::FetchAdd(location, negated, RmwMode::Whole(mode))
            }
            (_, None) => Access::Load(location, Some(mode)),
        };
        Ok(Value::Access(access, self.cursor.since(start)))
    }

    fn operand(&mut self) -> Parse<Expr> {
        self.cursor.expect(",", "after the location")?;
        self.c_expression()
    }

    /// `atomic_compare_exchange_*(x, &r, e, …)`: r gets the value found if that is another one, and the result says
    /// whether it succeeded. The weak one is a free choice between the strong one and a load.
    fn compare_exchange(&mut self, start: Span, location: Name, weak: bool, explicit: bool) -> Parse<Value> {
        self.cursor.expect(",", "after the location")?;
        self.cursor.expect("&", "before the variable with the expected value")?;
        let expected = self.variable()?;
        let new = self.operand()?;
        let success = self.optional_order(explicit, start)?;
        let failure = match explicit {
            true => self.optional_order(true, start)?,
            false => success.clone(),
        };
        self.cursor.expect(")", "after the arguments of the compare-exchange")?;
        let span = self.cursor.since(start);
        let (found, flag) = (self.temporary(span), self.temporary(span));

        let (mode, other_failure) = modes_of_cas(&success, &failure);
        let cas = Cas {
            location: location.clone(),
            expected: use_of(&expected),
            new,
            mode,
            failure: other_failure,
        };
        let ((), strong) = self.capture(|parser| {
            let access = Access::Cas(CasKind::Strong, Box::new(cas));
            parser.emit(StmtKind::Access(Some(found.clone()), access), span);
            let equal = binary(Binary::Eq, use_of(&found), use_of(&expected));
            parser.emit(StmtKind::Assign(flag.clone(), equal), span);
            parser.emit(StmtKind::Assign(expected.clone(), use_of(&found)), span);
            Ok(())
        })?;
        if weak {
            let load = Access::Load(location, Some(failure));
            let fail = vec![
                At::new(StmtKind::Access(Some(expected), load), span),
                At::new(StmtKind::Assign(flag.clone(), number(0, span)), span),
            ];
            self.emit(StmtKind::OneOf(vec![strong, fail]), span);
        } else {
            self.thread.out.extend(strong);
        }
        Ok(Value::Plain(use_of(&flag)))
    }

    fn optional_order(&mut self, explicit: bool, call: Span) -> Parse<At<Mode>> {
        if !explicit {
            return Ok(At::new(Mode::SeqCst, call));
        }
        self.cursor.expect(",", "before the memory order")?;
        self.order()
    }

    /// A memory order.
    pub(super) fn order(&mut self) -> Parse<At<Mode>> {
        let mode = match self.cursor.word() {
            "memory_order_relaxed" => Mode::Relaxed,
            // No compiler implements consume as anything but acquire.
            "memory_order_acquire" | "memory_order_consume" => Mode::Acquire,
            "memory_order_release" => Mode::Release,
            "memory_order_acq_rel" => Mode::AcqRel,
            "memory_order_seq_cst" => Mode::SeqCst,
            _ => return Err(self.cursor.unexpected("a memory order such as `memory_order_acquire`")),
        };
        Ok(At::new(mode, self.cursor.advance()?.span))
    }
}

/// The modes of a compare-exchange in the form of TPL: where failing has a mode of its own, the halves are apart.
fn modes_of_cas(success: &At<Mode>, failure: &At<Mode>) -> (RmwMode, Option<At<Mode>>) {
    if failure.node == success.node.read_part() {
        return (RmwMode::Whole(success.clone()), None);
    }
    let (read, write) = match success.node {
        Mode::Acquire => (Mode::Acquire, Mode::Relaxed),
        Mode::Release => (Mode::Relaxed, Mode::Release),
        Mode::AcqRel => (Mode::Acquire, Mode::Release),
        other => (other, other),
    };
    let halves = RmwMode::Halves(At::new(read, success.span), At::new(write, success.span));
    (halves, Some(failure.clone()))
}

fn use_of(register: &Name) -> Expr {
    At::new(ExprKind::Name(register.node.clone()), register.span)
}

fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    At::new(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span)
}
