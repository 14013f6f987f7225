//! `switch`, where every case ends by itself.

use lang_c::ast::{BlockItem, Label, Statement as Syntax, SwitchStatement};
use lang_c::span::{Node, Span};
use rustc_hash::FxHashMap;

use super::Lowering;
use crate::arithmetic;
use crate::code::{Expr, Operator, Statement};
use crate::error::Error;
use crate::fold;

/// A statement, or an item of the block.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Statement(&'a Node<Syntax>),
    Item(&'a Node<BlockItem>),
    /// How a block begins, of which all later pieces are the rest.
    Block(&'a [Node<BlockItem>]),
}

impl<'a> Piece<'a> {
    fn statement(self) -> Option<&'a Node<Syntax>> {
        match self {
            Piece::Statement(s) => Some(s),
            Piece::Item(item) => match &item.node {
                BlockItem::Statement(s) => Some(s),
                _ => None,
            },
            Piece::Block(_) => None,
        }
    }

    /// Without the `break` at its end.
    fn without_break(self) -> Option<Vec<Piece<'a>>> {
        match &self.statement()?.node {
            Syntax::Break => Some(Vec::new()),
            Syntax::Compound(items) => {
                let (last, others) = items.split_last()?;
                let last = Piece::Item(last).without_break()?;
                Some([Piece::Block(others)].into_iter().chain(last).collect())
            }
            _ => None,
        }
    }

    /// Does it end with a `return` or `continue`?
    fn leaves(self) -> bool {
        match self.statement().map(|s| &s.node) {
            Some(Syntax::Return(_) | Syntax::Continue) => true,
            Some(Syntax::Compound(items)) => items.last().is_some_and(|last| Piece::Item(last).leaves()),
            _ => false,
        }
    }
}

/// The labels of a case and what it does; no labels: only `default`.
#[derive(Default)]
struct Case<'a> {
    values: Vec<i128>,
    is_default: bool,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Lowering<'_, 'a> {
    /// Translates to a chain of `if`.
    pub fn switch(&mut self, switch: &'a SwitchStatement, span: Span) -> Result<(), Error> {
        let Syntax::Compound(items) = &switch.statement.node else {
            return self.error(span, "a `switch` needs a block");
        };
        let (value, from) = self.value(&switch.expression)?;
        let ty = arithmetic::promoted(&from);
        let value = self.stored(value, &from, &ty, switch.expression.span)?;
        let value = self.snapshot(value, &ty);
        let mut cases: Vec<Case> = Vec::new();
        for item in items {
            let mut piece = Piece::Item(item);
            let mut is_new = true;
            while let Some(Node { node: Syntax::Labeled(labeled), .. }) = piece.statement() {
                if is_new && cases.last().is_none_or(|c| !c.pieces.is_empty()) {
                    cases.push(Case::default());
                }
                is_new = false;
                let label = &labeled.node.label;
                let known = match &label.node {
                    Label::Case(e) => Some(self.reader.constant_of(e, &ty)?),
                    Label::Default => None,
                    _ => {
                        return self.error(
                            label.span,
                            "only `case` with one constant, and `default`, are understood",
                        );
                    }
                };
                if let Some(case) = cases.last_mut() {
                    case.values.extend(known);
                    case.is_default |= known.is_none();
                }
                piece = Piece::Statement(&labeled.node.statement);
            }
            match cases.last_mut() {
                Some(case) => case.pieces.push(piece),
                None => return self.error(item.span, "a `case` must stand here"),
            }
        }
        let mut chain = Vec::new();
        let mut arms = Vec::new();
        let count = cases.len();
        for (at, mut case) in cases.into_iter().enumerate() {
            let last = case.pieces.last().copied();
            if let Some(others) = last.and_then(Piece::without_break) {
                case.pieces.pop();
                case.pieces.extend(others);
            } else if at + 1 < count && !last.is_some_and(Piece::leaves) {
                let place = last.and_then(Piece::statement).map_or(span, |s| s.span);
                return self.error(
                    place,
                    "a case that runs into the next one isn't understood: end it with `break`",
                );
            }
            let (body, ()) = self.block(|l| l.arm(&case.pieces))?;
            if case.is_default {
                chain = body;
            } else {
                arms.push((case.values, body));
            }
        }
        for (values, then) in arms.into_iter().rev() {
            let tests =
                values.into_iter().map(|v| fold::binary(Operator::Equal, value.clone(), Expr::Int(v)));
            let condition = tests.reduce(|a, b| fold::binary(Operator::Either, a, b)).unwrap_or(Expr::Int(0));
            chain = vec![Statement::If { condition, then, otherwise: chain }];
        }
        self.out.extend(chain);
        Ok(())
    }

    fn arm(&mut self, pieces: &[Piece<'a>]) -> Result<(), Error> {
        self.switches += 1;
        let outer = self.scopes.len();
        self.scopes.push(FxHashMap::default());
        for piece in pieces {
            match piece {
                Piece::Statement(s) => self.statement(s)?,
                Piece::Item(item) => self.item(item)?,
                Piece::Block(items) => {
                    self.scopes.push(FxHashMap::default());
                    items.iter().try_for_each(|item| self.item(item))?;
                }
            }
        }
        self.scopes.truncate(outer);
        self.switches -= 1;
        Ok(())
    }
}
