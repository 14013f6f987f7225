//! Expressions of a client as parts of its graph, in the order in which C evaluates them.
//!
//! Where C leaves the order open and it matters, every order is possible, interleavings included.

use super::calls::client_variable;
use super::graph::{Builder, Call, Fixable, NodeId, Owner, Step};
use crate::c::Error;
use lang_c::ast::{BinaryOperator, Expression, GenericAssociation, Statement, UnaryOperator};
use lang_c::span::Node;

impl Builder<'_> {
    /// An expression; gives where its evaluation ends, `from` if nothing in it matters.
    pub fn expression(&mut self, expression: &Node<Expression>, from: NodeId) -> Result<NodeId, Error> {
        let at = expression.span.start;
        match &expression.node {
            Expression::Identifier(name) => {
                let name = &name.node.name;
                self.take_address(name, at)?;
                Ok(if self.names.atomics.contains(name) { self.touch(name, true, at, from) } else { from })
            }
            Expression::Constant(_)
            | Expression::StringLiteral(_)
            | Expression::SizeOfTy(_)
            | Expression::SizeOfVal(_)
            | Expression::AlignOf(_)
            | Expression::OffsetOf(_) => Ok(from),
            Expression::GenericSelection(it) => {
                let choices = it.node.associations.iter().map(|association| match &association.node {
                    GenericAssociation::Type(it) => &it.node.expression,
                    GenericAssociation::Default(it) => it,
                });
                let choices: Vec<&Node<Expression>> = choices.map(|choice| &**choice).collect();
                self.choice(&choices, from)
            }
            Expression::Member(it) => {
                let end = self.operand(&it.node.expression, from)?;
                let name = &it.node.identifier.node.name;
                Ok(if self.names.atomic_members.contains(name) {
                    self.touch(name, false, at, end)
                } else {
                    end
                })
            }
            Expression::Call(it) => self.call(&it.node, at, from),
            Expression::CompoundLiteral(it) => {
                let parts: Vec<_> =
                    it.node.initializer_list.iter().map(|item| &item.node.initializer.node).collect();
                self.unordered(&parts, from, &mut |builder, part, from| builder.initializer(part, from))
            }
            Expression::UnaryOperator(it) => match it.node.operator.node {
                // Of an address nothing is read.
                UnaryOperator::Address => self.operand(&it.node.operand, from),
                UnaryOperator::Indirection => {
                    let end = self.expression(&it.node.operand, from)?;
                    let to_atomic = |name: &str| self.names.to_atomics.contains(name);
                    match &it.node.operand.node {
                        Expression::Identifier(name) if to_atomic(&name.node.name) => {
                            Ok(self.touch(&name.node.name.clone(), false, at, end))
                        }
                        _ => Ok(end),
                    }
                }
                _ => self.expression(&it.node.operand, from),
            },
            Expression::Cast(it) => self.expression(&it.node.expression, from),
            Expression::BinaryOperator(it) => {
                let (left, right) = (&*it.node.lhs, &*it.node.rhs);
                match it.node.operator.node {
                    BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                        let end = self.expression(left, from)?;
                        self.maybe(right, end)
                    }
                    BinaryOperator::Index => {
                        let end = self.both(left, right, from)?;
                        match &left.node {
                            Expression::Identifier(name)
                                if self.names.to_atomics.contains(&name.node.name) =>
                            {
                                Ok(self.touch(&name.node.name.clone(), false, at, end))
                            }
                            _ => Ok(end),
                        }
                    }
                    BinaryOperator::Assign => match &left.node {
                        // The store comes after the value; in what is stored to there may be reads.
                        Expression::Identifier(_) => {
                            let end = self.expression(right, from)?;
                            self.expression(left, end)
                        }
                        _ => self.both(left, right, from),
                    },
                    _ => self.both(left, right, from),
                }
            }
            Expression::Conditional(it) => {
                let end = self.expression(&it.node.condition, from)?;
                self.choice(&[&it.node.then_expression, &it.node.else_expression], end)
            }
            Expression::Comma(parts) => parts.iter().try_fold(from, |from, part| self.expression(part, from)),
            Expression::VaArg(it) => self.expression(&it.node.va_list, from),
            Expression::Statement(it) => {
                let statement: &Node<Statement> = it;
                self.front = None;
                self.inner_statement(statement, from)
            }
        }
    }

    /// What stands under `&` or before a dot: evaluated, but itself not accessed.
    fn operand(&mut self, expression: &Node<Expression>, from: NodeId) -> Result<NodeId, Error> {
        match &expression.node {
            Expression::Identifier(name) => {
                self.take_address(&name.node.name, expression.span.start)?;
                Ok(from)
            }
            Expression::Member(it) => self.operand(&it.node.expression, from),
            Expression::BinaryOperator(it) if it.node.operator.node == BinaryOperator::Index => {
                let end = self.operand(&it.node.lhs, from)?;
                self.expression(&it.node.rhs, end)
            }
            Expression::UnaryOperator(it) if it.node.operator.node == UnaryOperator::Indirection => {
                self.expression(&it.node.operand, from)
            }
            _ => self.expression(expression, from),
        }
    }

    fn both(
        &mut self,
        left: &Node<Expression>,
        right: &Node<Expression>,
        from: NodeId,
    ) -> Result<NodeId, Error> {
        self.unordered(&[left, right], from, &mut |builder, part, from| builder.expression(part, from))
    }

    /// Branches that join again: exactly one of the expressions is evaluated.
    fn choice(&mut self, choices: &[&Node<Expression>], from: NodeId) -> Result<NodeId, Error> {
        let mut ends = Vec::new();
        for choice in choices {
            self.front = None;
            ends.push(self.expression(choice, from)?);
        }
        if ends.iter().all(|&end| end == from) {
            return Ok(from);
        }
        let end = self.node(Step::Nothing, None);
        ends.into_iter().for_each(|branch| self.link(branch, end));
        Ok(end)
    }

    /// An expression that may be evaluated or not.
    fn maybe(&mut self, expression: &Node<Expression>, from: NodeId) -> Result<NodeId, Error> {
        self.front = None;
        let branch = self.expression(expression, from)?;
        if branch == from {
            return Ok(from);
        }
        let end = self.node(Step::Nothing, None);
        self.link(branch, end);
        self.link(from, end);
        Ok(end)
    }

    /// Parts in any order. If more than one of them matters, whatever they do is done in any order and number.
    pub fn unordered<Part: Copy>(
        &mut self,
        parts: &[Part],
        from: NodeId,
        evaluate: &mut dyn FnMut(&mut Self, Part, NodeId) -> Result<NodeId, Error>,
    ) -> Result<NodeId, Error> {
        let first_node = self.client.nodes.len();
        let mut used: Vec<(NodeId, NodeId)> = Vec::new();
        for &part in parts {
            let start = self.node(Step::Nothing, None);
            let first_call = self.client.calls.len();
            let end = evaluate(self, part, start)?;
            if end == start {
                continue;
            }
            used.push((start, end));
            if used.len() > 1 {
                // Neither these calls nor those before can be told what comes in front of them.
                self.client.calls[first_call..].iter_mut().for_each(|call| call.fix = Fixable::Not);
            }
        }
        match used[..] {
            [] => Ok(from),
            [(start, end)] => {
                self.link(from, start);
                Ok(end)
            }
            _ => {
                let last_node = self.client.nodes.len();
                let (hub, end) = (self.node(Step::Nothing, None), self.node(Step::Nothing, None));
                self.link(from, hub);
                self.link(hub, end);
                for node in first_node..last_node {
                    if self.client.nodes[node].step != Step::Nothing {
                        self.link(hub, node);
                        self.link(node, hub);
                    }
                    if let Step::Call(call) = self.client.nodes[node].step {
                        self.client.calls[call].fix = Fixable::Not;
                    }
                }
                Ok(end)
            }
        }
    }

    /// A name as a value: a function's address is taken.
    fn take_address(&mut self, name: &str, at: usize) -> Result<(), Error> {
        if let Some((library, _)) = self.methods.get(name) {
            let message = format!(
                "the address of `{name}`, a method of {}, is taken: calls through pointers to libraries cannot be followed",
                library.name
            );
            return Err(self.error(at, message));
        }
        if let Some(&function) = self.by_name.get(name) {
            self.client.taken.insert(function);
        }
        Ok(())
    }

    /// A step that matters: what comes after it cannot have a fence in front of the same statement.
    pub fn emit(&mut self, step: Step, at: usize, from: NodeId) -> NodeId {
        self.front = None;
        self.then(from, step, at)
    }

    /// An SC access of an atomic variable by its name: a fence, and the access.
    fn touch(&mut self, name: &str, is_one: bool, at: usize, from: NodeId) -> NodeId {
        let fence = self.emit(Step::Fence, at, from);
        let owner = client_variable(name, is_one);
        self.record(name, owner, Fixable::Not, at, fence)
    }

    /// A call to a library, or an access that counts as one.
    pub fn record(&mut self, what: &str, owner: Owner, fix: Fixable, at: usize, from: NodeId) -> NodeId {
        let function = self.client.functions[self.function].name.clone();
        let site = self.source.site(at);
        self.client.calls.push(Call { what: what.to_owned(), owner, site, function, fix });
        self.emit(Step::Call(self.client.calls.len() - 1), at, from)
    }
}
