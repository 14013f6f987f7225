//! `switch`, where every case ends by itself.

use lang_c::ast::{BlockItem, Label, Statement as Syntax, SwitchStatement};
use lang_c::span::{Node, Span};
use rustc_hash::FxHashMap;

use super::Lowering;
use crate::c::error::Error;
use crate::c::fold;
use crate::code::{Expr, Operator, Statement};

/// A statement, or an item of the block.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Statement(&'a Node<Syntax>),
    Item(&'a Node<BlockItem>),
}

impl<'a> Piece<'a> {
    fn statement(self) -> Option<&'a Node<Syntax>> {
        match self {
            Piece::Statement(s) => Some(s),
            Piece::Item(item) => match &item.node {
                BlockItem::Statement(s) => Some(s),
                _ => None,
            },
        }
    }
}

/// The labels of a case and what it does; no labels: only `default`.
#[derive(Default)]
struct Case<'a> {
    values: Vec<i64>,
    is_default: bool,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Lowering<'_, 'a> {
    /// Translates to a chain of `if`.
    pub fn switch(&mut self, switch: &'a SwitchStatement, span: Span) -> Result<(), Error> {
        let Syntax::Compound(items) = &switch.statement.node else {
            return self.error(span, "a `switch` needs a block");
        };
        let (value, ty) = self.number(&switch.expression)?;
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
                    Label::Case(e) => Some(self.reader.constant(e)?),
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
            let last = case.pieces.last().and_then(|p| p.statement());
            let is_break = last.is_some_and(|s| s.node == Syntax::Break);
            let is_end = last.is_some_and(|s| matches!(s.node, Syntax::Return(_) | Syntax::Continue));
            if !is_break && !is_end && at + 1 < count {
                let place = last.map_or(span, |s| s.span);
                return self.error(
                    place,
                    "a case that runs into the next one isn't understood: end it with `break`",
                );
            }
            if is_break {
                case.pieces.pop();
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
        self.scopes.push(FxHashMap::default());
        for piece in pieces {
            match piece {
                Piece::Statement(s) => self.statement(s)?,
                Piece::Item(item) => self.item(item)?,
            }
        }
        self.scopes.pop();
        self.switches -= 1;
        Ok(())
    }
}
