//! Statements of a client as parts of its graph.

use super::graph::{Builder, NodeId, Step};
use crate::c::Error;
use lang_c::ast::{
    BlockItem, Declaration, ExternalDeclaration, ForInitializer, FunctionDefinition, Initializer, Label,
    Statement, TranslationUnit,
};
use lang_c::span::Node;
use rustc_hash::FxHashMap;

/// Where jumps go.
#[derive(Default)]
struct Jumps {
    /// Where `break` goes, innermost last.
    breaks: Vec<NodeId>,
    /// Where `continue` goes, innermost last.
    continues: Vec<NodeId>,
    /// Heads of `switch` statements, and whether they have a default.
    switches: Vec<(NodeId, bool)>,
    labels: FxHashMap<String, NodeId>,
}

impl Builder<'_> {
    /// Functions in initial values of globals.
    pub fn globals(&mut self, unit: &TranslationUnit) -> Result<(), Error> {
        let Some(first) = self.client.functions.first().map(|function| function.entry) else { return Ok(()) };
        for external in &unit.0 {
            if let ExternalDeclaration::Declaration(declaration) = &external.node {
                // Constant expressions: nothing is executed, but addresses may be taken.
                let before = self.client.nodes[first].clone();
                self.declaration(&declaration.node, first)?;
                self.client.nodes[first] = before;
            }
        }
        Ok(())
    }

    /// The body of the current function.
    pub fn body(&mut self, definition: &FunctionDefinition) -> Result<(), Error> {
        let (entry, exit) = {
            let function = &self.client.functions[self.function];
            (function.entry, function.exit)
        };
        self.client.nodes[entry].site = Some(self.source.site(definition.declarator.span.start));
        let end = self.statement(&definition.statement, entry, true, &mut Jumps::default())?;
        self.link(end, exit);
        Ok(())
    }

    /// A statement that stands alone in an expression.
    pub fn inner_statement(&mut self, statement: &Node<Statement>, from: NodeId) -> Result<NodeId, Error> {
        self.statement(statement, from, false, &mut Jumps::default())
    }

    /// A statement; `is_item`: another one could be put in front of it.
    fn statement(
        &mut self,
        statement: &Node<Statement>,
        from: NodeId,
        is_item: bool,
        jumps: &mut Jumps,
    ) -> Result<NodeId, Error> {
        let at = statement.span.start;
        self.front = is_item.then_some(at);
        match &statement.node {
            Statement::Labeled(labeled) => {
                let here = match &labeled.node.label.node {
                    Label::Identifier(name) => self.label(&name.node.name, at, jumps),
                    label => {
                        let node = self.node(Step::Nothing, Some(at));
                        if let Some((head, has_default)) = jumps.switches.last_mut() {
                            *has_default |= *label == Label::Default;
                            let head = *head;
                            self.link(head, node);
                        }
                        node
                    }
                };
                self.link(from, here);
                self.statement(&labeled.node.statement, here, false, jumps)
            }
            Statement::Compound(items) => {
                let mut end = from;
                for item in items {
                    end = match &item.node {
                        BlockItem::Statement(statement) => self.statement(statement, end, true, jumps)?,
                        BlockItem::Declaration(declaration) => {
                            self.front = Some(declaration.span.start);
                            self.declaration(&declaration.node, end)?
                        }
                        BlockItem::StaticAssert(_) => end,
                    };
                }
                Ok(end)
            }
            Statement::Expression(Some(expression)) => self.expression(expression, from),
            Statement::Expression(None) => Ok(from),
            Statement::If(it) => {
                let end = self.expression(&it.node.condition, from)?;
                let head = self.then(end, Step::Nothing, at);
                let end = self.node(Step::Nothing, None);
                let then = self.statement(&it.node.then_statement, head, false, jumps)?;
                self.link(then, end);
                match &it.node.else_statement {
                    Some(otherwise) => {
                        let otherwise = self.statement(otherwise, head, false, jumps)?;
                        self.link(otherwise, end);
                    }
                    None => self.link(head, end),
                }
                Ok(end)
            }
            Statement::Switch(it) => {
                let end = self.expression(&it.node.expression, from)?;
                let head = self.then(end, Step::Nothing, at);
                let (nowhere, end) = (self.node(Step::Nothing, None), self.node(Step::Nothing, None));
                jumps.switches.push((head, false));
                jumps.breaks.push(end);
                let last = self.statement(&it.node.statement, nowhere, false, jumps)?;
                self.link(last, end);
                jumps.breaks.pop();
                if let Some((_, false)) = jumps.switches.pop() {
                    self.link(head, end);
                }
                Ok(end)
            }
            Statement::While(it) => {
                let head = self.then(from, Step::Nothing, at);
                self.front = None;
                let tested = self.expression(&it.node.expression, head)?;
                let end = self.node(Step::Nothing, None);
                let inside = self.then(tested, Step::Nothing, at);
                if !always(&it.node.expression.node) {
                    self.link(inside, end);
                }
                let last = self.looped(&it.node.statement, inside, (end, head), jumps)?;
                self.link(last, head);
                Ok(end)
            }
            Statement::DoWhile(it) => {
                let head = self.then(from, Step::Nothing, at);
                let (test, end) = (self.node(Step::Nothing, Some(at)), self.node(Step::Nothing, None));
                let last = self.looped(&it.node.statement, head, (end, test), jumps)?;
                self.link(last, test);
                self.front = None;
                let tested = self.expression(&it.node.expression, test)?;
                self.link(tested, head);
                self.link(tested, end);
                Ok(end)
            }
            Statement::For(it) => {
                let begun = match &it.node.initializer.node {
                    ForInitializer::Empty | ForInitializer::StaticAssert(_) => from,
                    ForInitializer::Expression(expression) => self.expression(expression, from)?,
                    ForInitializer::Declaration(declaration) => self.declaration(&declaration.node, from)?,
                };
                let head = self.then(begun, Step::Nothing, at);
                self.front = None;
                let tested = match &it.node.condition {
                    Some(condition) => self.expression(condition, head)?,
                    None => head,
                };
                let (step, end) = (self.node(Step::Nothing, Some(at)), self.node(Step::Nothing, None));
                let inside = self.then(tested, Step::Nothing, at);
                if it.node.condition.as_ref().is_some_and(|condition| !always(&condition.node)) {
                    self.link(inside, end);
                }
                let last = self.looped(&it.node.statement, inside, (end, step), jumps)?;
                self.link(last, step);
                self.front = None;
                let stepped = match &it.node.step {
                    Some(expression) => self.expression(expression, step)?,
                    None => step,
                };
                self.link(stepped, head);
                Ok(end)
            }
            Statement::Goto(name) => {
                let label = self.label(&name.node.name, name.span.start, jumps);
                self.link(from, label);
                Ok(self.node(Step::Nothing, None))
            }
            Statement::Break | Statement::Continue => {
                let to = match statement.node {
                    Statement::Break => jumps.breaks.last(),
                    _ => jumps.continues.last(),
                };
                let Some(&to) = to else { return Err(self.error(at, "there is nothing here to leave")) };
                self.link(from, to);
                Ok(self.node(Step::Nothing, None))
            }
            Statement::Return(value) => {
                let end = match value {
                    Some(value) => self.expression(value, from)?,
                    None => from,
                };
                let exit = self.client.functions[self.function].exit;
                self.link(end, exit);
                Ok(self.node(Step::Nothing, None))
            }
            Statement::Asm(_) => Err(self.error(at, "assembly in a client cannot be looked into")),
        }
    }

    /// The body of a loop, with where `break` and `continue` go.
    fn looped(
        &mut self,
        body: &Node<Statement>,
        from: NodeId,
        (out, again): (NodeId, NodeId),
        jumps: &mut Jumps,
    ) -> Result<NodeId, Error> {
        jumps.breaks.push(out);
        jumps.continues.push(again);
        let end = self.statement(body, from, false, jumps);
        jumps.breaks.pop();
        jumps.continues.pop();
        end
    }

    fn label(&mut self, name: &str, offset: usize, jumps: &mut Jumps) -> NodeId {
        match jumps.labels.get(name) {
            Some(&node) => node,
            None => {
                let node = self.node(Step::Nothing, Some(offset));
                jumps.labels.insert(name.to_owned(), node);
                node
            }
        }
    }

    /// Initial values, one after the other.
    fn declaration(&mut self, declaration: &Declaration, from: NodeId) -> Result<NodeId, Error> {
        let mut end = from;
        for declarator in &declaration.declarators {
            if let Some(initializer) = &declarator.node.initializer {
                end = self.initializer(&initializer.node, end)?;
            }
        }
        Ok(end)
    }

    /// An initial value; parts of lists come in any order.
    pub fn initializer(&mut self, initializer: &Initializer, from: NodeId) -> Result<NodeId, Error> {
        match initializer {
            Initializer::Expression(expression) => self.expression(expression, from),
            Initializer::List(items) => {
                let parts: Vec<&Initializer> = items.iter().map(|item| &item.node.initializer.node).collect();
                self.unordered(&parts, from, &mut |builder, part, from| builder.initializer(part, from))
            }
        }
    }
}

/// A condition that holds always, so that a loop has no way out but jumps.
fn always(condition: &lang_c::ast::Expression) -> bool {
    use lang_c::ast::{Constant, Expression};
    match condition {
        Expression::Constant(constant) => {
            matches!(&constant.node, Constant::Integer(number) if number.number.bytes().any(|digit| digit != b'0'))
        }
        _ => false,
    }
}
