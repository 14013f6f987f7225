//! The C of litmus tests: atomic operations and their memory orders.

use super::c_expr::{Value, binary, use_of};
use super::cursor::Parse;
use super::lexer::abbreviate;
use super::litmus::{Parser, number};
use crate::ast::{Access, At, Cas, CasKind, Expr, ExprKind, Name, RmwMode, Span, Stmt, StmtKind};
use crate::code::{Binary, Unary};
use crate::error::InputError;
use seqcst_model::Mode;

/// Where a compare-exchange finds the expected value, and puts the value found when it fails.
enum Expected {
    Variable(Name),
    /// A location, and whether it is atomic; herd's own tests do it this way. The accesses to it are not atomic, or
    /// relaxed if the location is.
    Location(Name, bool),
}

impl Expected {
    fn update(&self, found: &Name, span: Span) -> Stmt {
        let kind = match self {
            Expected::Variable(variable) => StmtKind::Assign(variable.clone(), use_of(found)),
            Expected::Location(location, true) => {
                let mode = At::new(Mode::Relaxed, span);
                StmtKind::Access(None, Access::Store(location.clone(), use_of(found), Some(mode)))
            }
            Expected::Location(location, false) => {
                StmtKind::Access(None, Access::NaStore(location.clone(), use_of(found)))
            }
        };
        At::new(kind, span)
    }
}

impl Parser<'_> {
    /// A call of an atomic operation.
    pub(super) fn operation(&mut self, start: Span) -> Parse<Value> {
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
            "atomic_fetch_add" | "atomic_fetch_sub" if self.is_bool(&location) => {
                return Err(InputError::new(start, format!("`{word}` of a `bool`, which C doesn't have")));
            }
            _ => {
                let operand = self.operand()?;
                Some(self.stored(&location, operand))
            }
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

    /// `lock(m)`, `mtx_unlock(m)`: statements, read up to their `;`.
    pub(super) fn lock_statement(&mut self, start: Span) -> Parse<()> {
        let word = self.cursor.word();
        self.cursor.advance()?;
        self.cursor.expect("(", &format!("after `{word}`"))?;
        let location = self.atomic_pointer(word)?;
        self.cursor.expect(")", "after the location")?;
        let access = match word.ends_with("unlock") {
            true => Access::Unlock(location),
            false => Access::Lock(location),
        };
        self.emit(StmtKind::Access(None, access), self.cursor.since(start));
        Ok(())
    }

    fn atomic_pointer(&mut self, word: &str) -> Parse<Name> {
        let (location, atomic) = self.pointer()?;
        if atomic {
            return Ok(location);
        }
        let message = format!("`{word}` needs an atomic location, but `{}` is declared plain", location.node);
        Err(InputError::new(location.span, message).with_note("declare it `atomic_int*`"))
    }

    /// `atomic_compare_exchange_*(x, &r, e, …)`: r gets the value found if that is another one, and the result says
    /// whether it succeeded. The weak one is a free choice between the strong one and one that fails.
    fn compare_exchange(&mut self, start: Span, location: Name, weak: bool, explicit: bool) -> Parse<Value> {
        self.cursor.expect(",", "after the location")?;
        let expected = self.expected()?;
        let new = self.operand()?;
        let new = self.stored(&location, new);
        let success = self.optional_order(explicit, start)?;
        let failure = match explicit {
            true => self.optional_order(true, start)?,
            false => success.clone(),
        };
        self.cursor.expect(")", "after the arguments of the compare-exchange")?;
        let span = self.cursor.since(start);
        let old = match &expected {
            Expected::Variable(variable) => variable.clone(),
            Expected::Location(location, atomic) => {
                let old = self.temporary(span);
                let access = match atomic {
                    true => Access::Load(location.clone(), Some(At::new(Mode::Relaxed, span))),
                    false => Access::NaLoad(location.clone()),
                };
                self.emit(StmtKind::Access(Some(old.clone()), access), span);
                old
            }
        };
        let (found, flag) = (self.temporary(span), self.temporary(span));

        let (mode, other_failure) = modes_of_cas(&success, &failure);
        let cas = Cas { location, expected: use_of(&old), new, mode, failure: other_failure };
        let access = Access::Cas(CasKind::Strong, Box::new(cas.clone()));
        let mut strong = vec![
            At::new(StmtKind::Access(Some(found.clone()), access), span),
            At::new(StmtKind::Assign(flag.clone(), binary(Binary::Eq, use_of(&found), use_of(&old))), span),
        ];
        strong.push(match expected {
            Expected::Variable(_) => expected.update(&found, span),
            Expected::Location(..) => {
                let failed = At::new(ExprKind::Unary(Unary::Not, Box::new(use_of(&flag))), span);
                At::new(StmtKind::If(failed, vec![expected.update(&found, span)], Vec::new()), span)
            }
        });
        if weak {
            let access = Access::Cas(CasKind::Failing, Box::new(cas));
            let fail = vec![
                At::new(StmtKind::Access(Some(found.clone()), access), span),
                At::new(StmtKind::Assign(flag.clone(), number(0, span)), span),
                expected.update(&found, span),
            ];
            self.emit(StmtKind::OneOf(vec![strong, fail]), span);
        } else {
            self.thread.out.extend(strong);
        }
        Ok(Value::Plain(use_of(&flag)))
    }

    /// `&r`, or a parameter of the thread.
    fn expected(&mut self) -> Parse<Expected> {
        if self.cursor.eat("&")? {
            return Ok(Expected::Variable(self.variable()?));
        }
        if self.thread.visible.contains_key(self.cursor.word()) {
            return Err(self.cursor.unexpected("`&` before the variable with the expected value"));
        }
        let (location, atomic) = self.pointer()?;
        Ok(Expected::Location(location, atomic))
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
