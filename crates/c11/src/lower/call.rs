//! Calls: allocation, functions without effect, and inlining of everything else.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, CallExpression, Expression, UnaryOperator,
    UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};
use rustc_hash::{FxHashMap, FxHashSet};

use super::place::{Root, Spot, Value};
use super::{Binding, Lowering, returns};
use crate::code::{AccessKind, Expr, LocalId, Statement};
use crate::constant::assigning;
use crate::declare::Function;
use crate::error::Error;
use crate::types::{Kind, Type};

/// Hints to machine and scheduler.
const WITHOUT_EFFECT: [&str; 6] =
    ["sched_yield", "thrd_yield", "cpu_relax", "__builtin_ia32_pause", "_mm_pause", "atomic_signal_fence"];

/// Functions that don't return: the thread stays where it is, for ever. That it gets there is part of the execution.
const ENDS: [&str; 4] = ["abort", "exit", "_Exit", "__builtin_unreachable"];

impl<'a> Lowering<'_, 'a> {
    /// A call.
    pub fn call(&mut self, call: &CallExpression, span: Span) -> Result<(Value, Type), Error> {
        let Expression::Identifier(name) = &call.callee.node else {
            return self.error(span, "function pointers aren't modelled: name the function");
        };
        let name = name.node.name.as_str();
        let nothing = (Value::Number(Expr::Int(0)), Type::plain(Kind::Void));
        if self.lookup(name).is_some() {
            return self.error(span, "function pointers aren't modelled: name the function");
        }
        if let Some(function) = self.reader.function(name).cloned() {
            return self.inline(&function, &call.arguments, span);
        }
        match name {
            _ if WITHOUT_EFFECT.contains(&name) => Ok(nothing),
            _ if ENDS.contains(&name) => {
                let site = self.reader.site(span);
                self.emit(Statement::Loop { body: Vec::new(), site });
                Ok(nothing)
            }
            _ if name.starts_with("atomic_") => self.atomic(name, &call.arguments, span),
            "malloc" | "calloc" => self.allocate(name == "calloc", &call.arguments, span),
            "free" => {
                self.free(&call.arguments, span)?;
                Ok(nothing)
            }
            "assert" | "__builtin_expect" => {
                // The accesses in an assertion happen; what it says about them is not relied on.
                let Some(first) = call.arguments.first() else {
                    return self.error(span, format!("`{name}` needs an argument"));
                };
                let (value, from) = self.value(first)?;
                if name == "assert" {
                    return Ok(nothing);
                }
                let long = Type::difference();
                Ok((self.converted(value, &from, &long, first.span)?, long))
            }
            "asm" => self.error(span, "assembly isn't understood: use <stdatomic.h>"),
            _ if name.starts_with("__atomic_") || name.starts_with("__sync_") => {
                self.error(span, format!("`{name}` isn't understood: use the functions of <stdatomic.h>"))
            }
            _ => self.error(
                span,
                format!(
                    "the function `{name}` isn't known: define it in this file, so that it can be inlined"
                ),
            ),
        }
    }

    /// The argument's struct: `sizeof(struct node)`, `sizeof *n`.
    fn allocated(&mut self, e: &Node<Expression>) -> Result<Option<Type>, Error> {
        match &e.node {
            Expression::SizeOfTy(ty) => Ok(Some(self.reader.named(&ty.node.0)?)),
            Expression::SizeOfVal(value) => Ok(Some(self.type_of(&value.node.0)?)),
            _ => Ok(None),
        }
    }

    fn allocate(
        &mut self,
        is_zeroed: bool,
        arguments: &[Node<Expression>],
        span: Span,
    ) -> Result<(Value, Type), Error> {
        let size = match arguments {
            [size] if !is_zeroed => size,
            [count, size] if is_zeroed && self.reader.constant(count).ok() == Some(1) => size,
            _ => {
                return self
                    .error(span, "only one record can be allocated at once: `malloc(sizeof(struct node))`");
            }
        };
        let Some(ty) = self.allocated(size)? else {
            return self.error(size.span, "only a record can be allocated: `malloc(sizeof(struct node))`");
        };
        let Kind::Struct(s) = ty.kind else {
            let shown = self.show(&ty);
            return self.error(size.span, format!("`{shown}` can't be allocated: put it into a struct"));
        };
        if Some(s) == self.reader.object {
            if self.is_setup {
                return Ok((Value::Pointer(Spot::object(ty.clone())), ty.pointer()));
            }
            let name = &self.reader.structs.0[s].name;
            let advice = format!(
                "name the function in `//@ setup:`, or say with `//@ object:` what the object is instead of `struct {name}`"
            );
            return self.error(span, format!("a method allocates the library's object: {advice}"));
        }
        let record = self.reader.record(s);
        let ty = ty.pointer();
        let to = self.temporary(&ty);
        self.access(span, AccessKind::Allocate { to, record, is_zeroed })?;
        Ok((Value::Number(Expr::Local(to)), ty))
    }

    fn free(&mut self, arguments: &[Node<Expression>], span: Span) -> Result<(), Error> {
        let [pointer] = arguments else { return self.error(span, "`free` needs one argument") };
        let (value, ty) = self.value(pointer)?;
        let Some(s) = ty.struct_pointee() else {
            let shown = self.show(&ty);
            return self.error(
                span,
                format!("what this `{}` points to isn't known: free a pointer to a struct", shown.trim()),
            );
        };
        let pointer = self.as_number(value, span)?;
        let record = self.reader.record(s);
        self.access(span, AccessKind::Free { pointer, record })
    }

    /// Puts a function's body here.
    fn inline(
        &mut self,
        function: &Function<'a>,
        arguments: &[Node<Expression>],
        span: Span,
    ) -> Result<(Value, Type), Error> {
        let name = &function.name;
        if self.callers.contains(name) {
            return self
                .error(span, format!("`{name}` calls itself: recursion can't be inlined, use a loop"));
        }
        if arguments.len() != function.parameters.len() {
            let (given, wanted) = (arguments.len(), function.parameters.len());
            return self
                .error(span, format!("`{name}` takes another number of arguments: {wanted}, not {given}"));
        }
        let result = function.result.unqualified();
        if !result.is_scalar() && result.kind != Kind::Void {
            let shown = self.show(&result);
            return self.error(span, format!("`{name}` returns a `{shown}`: return numbers and pointers"));
        }
        let mut values = Vec::new();
        for (argument, (_, ty, _)) in arguments.iter().zip(&function.parameters) {
            let (value, from) = self.value(argument)?;
            values.push(self.converted(value, &from, ty, argument.span)?);
        }
        // The function may change variables of the caller that it has pointers to.
        let reached = values.iter().filter_map(|v| match v {
            Value::Pointer(Spot { root: Root::Local(local), .. }) => Some(*local),
            _ => None,
        });
        let reached: Vec<LocalId> = reached.collect();
        let changed = Changed::of(function);
        let outer = std::mem::replace(&mut self.scopes, vec![FxHashMap::default()]);
        let loops = std::mem::take(&mut self.loops);
        let switches = std::mem::take(&mut self.switches);
        let outer_result = std::mem::replace(&mut self.result, result.clone());
        let names = self.reader.names();
        self.reader.set_names(self.names.clone());
        self.callers.push(name.clone());
        for ((parameter, ty, span), value) in function.parameters.iter().zip(values) {
            self.argument(parameter, ty, value, changed.contains(parameter), &reached, *span)?;
        }
        if result.kind != Kind::Void {
            self.declare("%result", &result);
        }
        let (body, ()) = self.block(|s| s.items(function.body))?;
        let returned = match self.scopes[0].get("%result").cloned() {
            Some(Binding::Local(local, _)) => Value::Number(Expr::Local(local)),
            Some(Binding::Aim(aim)) => self.aimed(aim, span)?,
            _ => Value::Number(Expr::Int(0)),
        };
        let body = returns::eliminate(body, &mut || self.temporary(&Type::int()));
        let returned = match (&body[..], returned) {
            // A function that only computes leaves no trace.
            ([Statement::Assign { to, value }], Value::Number(Expr::Local(local))) if *to == local => {
                Value::Number(value.clone())
            }
            (_, returned) => {
                body.into_iter().for_each(|s| self.emit(s));
                returned
            }
        };
        self.callers.pop();
        self.reader.set_names(names);
        self.result = outer_result;
        self.switches = switches;
        self.loops = loops;
        self.scopes = outer;
        Ok((returned, result))
    }

    fn argument(
        &mut self,
        name: &str,
        ty: &Type,
        value: Value,
        is_changed: bool,
        reached: &[LocalId],
        span: Span,
    ) -> Result<(), Error> {
        let keeps = |e: &Expr| match e {
            Expr::Int(_) => true,
            Expr::Local(local) => !reached.contains(local),
            _ => false,
        };
        let is_simple = match &value {
            Value::Number(e) => keeps(e),
            Value::Pointer(spot) => spot.base.iter().chain(&spot.index).all(keeps),
        };
        if !is_changed && is_simple {
            self.bind(name, Binding::Fixed(value, ty.unqualified()));
            return Ok(());
        }
        self.declare(name, &ty.unqualified());
        match self.lookup(name).cloned() {
            Some(Binding::Aim(aim)) => self.aim(aim, value, span),
            Some(Binding::Local(local, _)) => {
                let value = self.as_number(value, span)?;
                self.set(local, value);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Names that a function assigns to, or takes the address of.
struct Changed(FxHashSet<String>);

impl Changed {
    fn of(function: &Function) -> FxHashSet<String> {
        let mut changed = Changed(FxHashSet::default());
        for item in function.body {
            changed.visit_block_item(&item.node, &item.span);
        }
        changed.0
    }

    fn add(&mut self, e: &Expression) {
        if let Expression::Identifier(name) = e {
            self.0.insert(name.node.name.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Changed {
    fn visit_binary_operator_expression(&mut self, e: &'ast BinaryOperatorExpression, span: &'ast Span) {
        if e.operator.node == BinaryOperator::Assign || assigning(&e.operator.node).is_some() {
            self.add(&e.lhs.node);
        }
        visit::visit_binary_operator_expression(self, e, span);
    }

    fn visit_unary_operator_expression(&mut self, e: &'ast UnaryOperatorExpression, span: &'ast Span) {
        use UnaryOperator::{Address, PostDecrement, PostIncrement, PreDecrement, PreIncrement};
        if matches!(e.operator.node, PostIncrement | PostDecrement | PreIncrement | PreDecrement | Address) {
            self.add(&e.operand.node);
        }
        visit::visit_unary_operator_expression(self, e, span);
    }
}
