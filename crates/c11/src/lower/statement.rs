//! Statements and local declarations.

use lang_c::ast::{BlockItem, Declaration, Expression, ForInitializer, Initializer, Statement as Syntax};
use lang_c::span::{Node, Span};
use rustc_hash::FxHashMap;

use super::place::Value;
use super::{Binding, Lowering, returns};
use crate::code::{Expr, Statement};
use crate::error::Error;
use crate::fold;
use crate::types::{Kind, Type};

/// Stands for "what a loop does before its next iteration" until that is known.
const AGAIN: Statement = Statement::Continue(u32::MAX);

impl<'a> Lowering<'_, 'a> {
    /// A block with a scope of its own.
    pub fn items(&mut self, items: &'a [Node<BlockItem>]) -> Result<(), Error> {
        self.scopes.push(FxHashMap::default());
        let names = self.reader.names();
        for item in items {
            self.item(item)?;
        }
        self.reader.set_names(names);
        self.scopes.pop();
        Ok(())
    }

    /// A declaration or statement of a block.
    pub fn item(&mut self, item: &'a Node<BlockItem>) -> Result<(), Error> {
        match &item.node {
            BlockItem::Declaration(d) => self.declaration(d),
            BlockItem::StaticAssert(_) => Ok(()),
            BlockItem::Statement(s) => self.statement(s),
        }
    }

    fn declaration(&mut self, d: &'a Node<Declaration>) -> Result<(), Error> {
        let (base, storage) = self.reader.declared(&d.node.specifiers, d.span)?;
        for declarator in &d.node.declarators {
            let (name, ty) = self.reader.declarator(base.clone(), &declarator.node.declarator)?;
            let initializer = declarator.node.initializer.as_ref();
            if storage.is_typedef {
                self.reader.typedefs.insert(name, ty);
            } else if storage.is_static {
                let global = self.static_name(&name, declarator.span);
                self.reader.variable(global.clone(), ty, initializer, declarator.span)?;
                self.bind(&name, Binding::Static(global));
            } else if !storage.is_extern && ty.kind != Kind::Function {
                self.local_declaration(&name, &ty, initializer, declarator.span)?;
            }
        }
        Ok(())
    }

    /// The name of a static variable of a function, with a number if another block has one that is called the same.
    fn static_name(&self, name: &str, span: Span) -> String {
        let function = self.callers.last().cloned().unwrap_or_default();
        let is_another = |global: &str| self.reader.global(global).is_some_and(|g| g.span != span);
        let mut unique = format!("{function}.{name}");
        let mut number = 1;
        while is_another(&unique) {
            number += 1;
            unique = format!("{function}.{name}.{number}");
        }
        unique
    }

    fn local_declaration(
        &mut self,
        name: &str,
        ty: &Type,
        initializer: Option<&'a Node<Initializer>>,
        span: Span,
    ) -> Result<(), Error> {
        if !ty.is_scalar() {
            let shown = self.show(ty);
            return self
                .error(span, format!("a local variable of type `{shown}` isn't modelled: use scalars"));
        }
        let plain = ty.unqualified();
        let Some(initializer) = initializer else {
            self.declare(name, &plain);
            return Ok(());
        };
        let Initializer::Expression(e) = &initializer.node else {
            return self.error(initializer.span, "a single value must stand here");
        };
        // C has the variable in scope here already, but its value is of no use.
        let is_self_sized = matches!(&e.node, Expression::Call(_) | Expression::Cast(_));
        let (value, from) = if is_self_sized { self.sized(name, &plain, e)? } else { self.value(e)? };
        if ty.is_const
            && let Value::Number(Expr::Int(_)) = value
        {
            let value = self.converted(value, &from, ty, e.span)?;
            self.bind(name, Binding::Fixed(value, plain));
            return Ok(());
        }
        self.declare(name, &plain);
        match self.lookup(name).cloned() {
            Some(Binding::Aim(aim)) => self.aim(aim, value, span),
            Some(Binding::Local(local, _)) => {
                let value = self.stored(value, &from, ty, e.span)?;
                self.set(local, value);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `T *n = malloc(sizeof *n)`: the name is in scope for `sizeof`, though it has no value.
    fn sized(&mut self, name: &str, ty: &Type, e: &Node<Expression>) -> Result<(Value, Type), Error> {
        self.scopes.push(FxHashMap::default());
        self.bind(name, Binding::Fixed(Value::Number(Expr::Int(0)), ty.clone()));
        let made = self.value(e);
        self.scopes.pop();
        made
    }

    /// A statement.
    pub fn statement(&mut self, s: &'a Node<Syntax>) -> Result<(), Error> {
        match &s.node {
            Syntax::Compound(items) => self.items(items),
            Syntax::Expression(None) => Ok(()),
            Syntax::Expression(Some(e)) => self.effect(e),
            Syntax::If(s) => {
                let condition = self.condition(&s.node.condition)?;
                let (then, ()) = self.block(|l| l.statement(&s.node.then_statement))?;
                let (otherwise, ()) = match &s.node.else_statement {
                    Some(otherwise) => self.block(|l| l.statement(otherwise))?,
                    None => (Vec::new(), ()),
                };
                match condition {
                    Expr::Int(n) => self.out.extend(if n != 0 { then } else { otherwise }),
                    _ if then.is_empty() && otherwise.is_empty() => {}
                    _ => self.emit(Statement::If { condition, then, otherwise }),
                }
                Ok(())
            }
            Syntax::While(w) => self.repeat(s.span, Some(&w.node.expression), None, &w.node.statement),
            Syntax::DoWhile(d) => self.repeat_after(s.span, &d.node.expression, &d.node.statement),
            Syntax::For(f) => {
                self.scopes.push(FxHashMap::default());
                match &f.node.initializer.node {
                    ForInitializer::Empty | ForInitializer::StaticAssert(_) => {}
                    ForInitializer::Expression(e) => self.effect(e)?,
                    ForInitializer::Declaration(d) => self.declaration(d)?,
                }
                let (condition, step) = (f.node.condition.as_deref(), f.node.step.as_deref());
                self.repeat(s.span, condition, step, &f.node.statement)?;
                self.scopes.pop();
                Ok(())
            }
            Syntax::Break if self.switches > 0 => self.error(
                s.span,
                "`break` in the middle of a `switch` isn't understood: let it end a case, or use `if`",
            ),
            Syntax::Break | Syntax::Continue if self.loops == 0 => {
                self.error(s.span, "there is no loop around this")
            }
            Syntax::Break => {
                self.emit(Statement::Break(0));
                Ok(())
            }
            Syntax::Continue => {
                self.emit(AGAIN);
                Ok(())
            }
            Syntax::Return(e) => self.give_back(e.as_deref(), s.span),
            Syntax::Switch(switch) => self.switch(&switch.node, s.span),
            Syntax::Goto(_) => self.error(s.span, "`goto` isn't understood: use loops, break and continue"),
            Syntax::Labeled(_) => {
                self.error(s.span, "labels aren't understood: use loops, break and continue")
            }
            Syntax::Asm(_) => self.error(s.span, "assembly isn't understood: use <stdatomic.h>"),
        }
    }

    fn give_back(&mut self, e: Option<&Node<Expression>>, span: Span) -> Result<(), Error> {
        let ty = self.result.clone();
        let Some(e) = e else {
            self.emit(Statement::Return(None));
            return Ok(());
        };
        if ty.kind == Kind::Void {
            // `return f();` where f returns nothing.
            self.value(e)?;
            self.emit(Statement::Return(None));
            return Ok(());
        }
        let (value, from) = self.value(e)?;
        if self.callers.len() == 1 {
            let value = match value {
                Value::Pointer(_) if self.is_setup => Expr::Int(0),
                value => self.stored(value, &from, &ty, span)?,
            };
            self.emit(Statement::Return(Some(value)));
            return Ok(());
        }
        match self.scopes[0].get("%result").cloned() {
            Some(Binding::Aim(aim)) => self.aim(aim, value, span)?,
            Some(Binding::Local(local, _)) => {
                let value = self.stored(value, &from, &ty, span)?;
                self.set(local, value);
            }
            _ => {}
        }
        self.emit(Statement::Return(None));
        Ok(())
    }

    /// `while` and `for`.
    fn repeat(
        &mut self,
        span: Span,
        condition: Option<&Node<Expression>>,
        step: Option<&Node<Expression>>,
        body: &'a Node<Syntax>,
    ) -> Result<(), Error> {
        let (body, ()) = self.in_loop(|l| {
            if let Some(condition) = condition {
                match fold::test(fold::not(l.condition(condition)?)) {
                    Expr::Int(0) => {}
                    condition => {
                        let then = vec![Statement::Break(0)];
                        l.emit(Statement::If { condition, then, otherwise: Vec::new() });
                    }
                }
            }
            l.statement(body)
        })?;
        let (step, ()) = self.block(|l| step.map_or(Ok(()), |e| l.effect(e)))?;
        let mut body = again(body, &step);
        if !returns::ends(&body) {
            body.extend(step);
        }
        let site = self.reader.site(span);
        self.emit(Statement::Loop { body, site });
        Ok(())
    }

    /// `do … while`.
    fn repeat_after(
        &mut self,
        span: Span,
        condition: &Node<Expression>,
        body: &'a Node<Syntax>,
    ) -> Result<(), Error> {
        let (body, ()) = self.in_loop(|l| l.statement(body))?;
        let (mut step, condition) = self.block(|l| l.condition(condition))?;
        match fold::test(fold::not(condition)) {
            Expr::Int(0) => {}
            condition => {
                let is_once = condition == Expr::Int(1);
                if is_once && !leaves(&body) {
                    // `do { … } while (0)` of macros.
                    self.out.extend(body);
                    return Ok(());
                }
                let then = vec![Statement::Break(0)];
                if is_once {
                    step.extend(then);
                } else {
                    step.push(Statement::If { condition, then, otherwise: Vec::new() });
                }
            }
        }
        let mut body = again(body, &step);
        if !returns::ends(&body) {
            body.extend(step);
        }
        let site = self.reader.site(span);
        self.emit(Statement::Loop { body, site });
        Ok(())
    }

    fn in_loop(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(Vec<Statement>, ()), Error> {
        let switches = std::mem::take(&mut self.switches);
        self.loops += 1;
        let made = self.block(make);
        self.loops -= 1;
        self.switches = switches;
        made
    }
}

/// Is there a `break` or `continue` for the loop around?
fn leaves(body: &[Statement]) -> bool {
    body.iter().any(|s| match s {
        Statement::Break(0) => true,
        s if *s == AGAIN => true,
        Statement::If { then, otherwise, .. } => leaves(then) || leaves(otherwise),
        _ => false,
    })
}

/// Puts the step before every `continue` of this loop (those of inner loops are done).
fn again(body: Vec<Statement>, step: &[Statement]) -> Vec<Statement> {
    let mut out = Vec::new();
    for statement in body {
        match statement {
            s if s == AGAIN => {
                out.extend_from_slice(step);
                if !returns::ends(step) {
                    out.push(Statement::Continue(0));
                }
            }
            Statement::If { condition, then, otherwise } => {
                let (then, otherwise) = (again(then, step), again(otherwise, step));
                out.push(Statement::If { condition, then, otherwise });
            }
            other => out.push(other),
        }
    }
    out
}
