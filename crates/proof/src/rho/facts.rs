//! What is known about local variables at a point of a method: constants, results of reads, own nodes.

use seqcst_c11::code::{Expr, Label, LocalId, Operator};
use std::collections::BTreeSet;

/// What is known about the value of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Known {
    /// Nothing; but it is no address of an own node that nobody else knows (see [`Facts::escaped`]).
    Nothing,
    /// This number.
    Int(i128),
    /// The address of the node that was allocated last at this label.
    Node(Label),
    /// What the last read with this label found.
    Read(Label),
}

/// What is known about all variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Facts {
    values: Vec<Known>,
    /// Own nodes (by where they are allocated) whose address may be somewhere else than in variables that are
    /// [`Known::Node`]: in memory, in the result of arithmetic, or in a variable about which nothing is known.
    pub escaped: BTreeSet<Label>,
}

impl Facts {
    /// Nothing is known.
    pub fn nothing(locals: usize) -> Facts {
        Facts { values: vec![Known::Nothing; locals], escaped: BTreeSet::new() }
    }

    /// What is known about a variable.
    pub fn of(&self, local: LocalId) -> Known {
        self.values.get(local.0 as usize).copied().unwrap_or(Known::Nothing)
    }

    /// A variable is assigned.
    pub fn set(&mut self, local: LocalId, known: Known) {
        if let Some(value) = self.values.get_mut(local.0 as usize) {
            *value = known;
        }
    }

    /// A node that was allocated here before is no longer the last one.
    pub fn allocate(&mut self, to: LocalId, label: Label) {
        for value in &mut self.values {
            if *value == Known::Node(label) {
                *value = Known::Nothing;
            }
        }
        self.escaped.remove(&label);
        self.set(to, Known::Node(label));
    }

    /// Results of reads are forgotten: an iteration begins.
    pub fn forget_reads(&mut self) {
        for value in &mut self.values {
            if matches!(value, Known::Read(_)) {
                *value = Known::Nothing;
            }
        }
    }

    /// The own node that an expression is the address of, if nobody else can know it.
    pub fn own_node(&self, expr: &Expr) -> Option<Label> {
        match self.value(expr) {
            Known::Node(label) if !self.escaped.contains(&label) => Some(label),
            _ => None,
        }
    }

    /// The value of this expression gets out of the variables that are watched.
    pub fn escape(&mut self, expr: &Expr) {
        let mut nodes = Vec::new();
        locals(expr, &mut |local| {
            if let Known::Node(label) = self.of(local) {
                nodes.push(label);
            }
        });
        self.escaped.extend(nodes);
    }

    /// `to = value`.
    pub fn assign(&mut self, to: LocalId, value: &Expr) {
        let known = self.value(value);
        if known == Known::Nothing {
            // An address in an expression that is not simply a copy.
            self.escape(value);
        }
        self.set(to, known);
    }

    /// The value of an expression, as far as it is known.
    pub fn value(&self, expr: &Expr) -> Known {
        match expr {
            Expr::Local(local) => self.of(*local),
            _ => self.int(expr).map_or(Known::Nothing, Known::Int),
        }
    }

    /// The value of an expression, if it is a known number.
    pub fn int(&self, expr: &Expr) -> Option<i128> {
        match expr {
            Expr::Int(value) => Some(*value),
            Expr::Local(local) => match self.of(*local) {
                Known::Int(value) => Some(value),
                _ => None,
            },
            Expr::Not(e) => Some((!self.truth(e)?).into()),
            Expr::Wrap(to, e) => match &**e {
                Expr::Binary(operator, a, b) => to.compute(*operator, self.int(a)?, self.int(b)?),
                e => Some(to.wrap(self.int(e)?)),
            },
            Expr::Binary(Operator::Both, a, b) => match (self.truth(a), self.truth(b)) {
                (Some(false), _) | (_, Some(false)) => Some(0),
                (Some(true), Some(true)) => Some(1),
                _ => None,
            },
            Expr::Binary(Operator::Either, a, b) => match (self.truth(a), self.truth(b)) {
                (Some(true), _) | (_, Some(true)) => Some(1),
                (Some(false), Some(false)) => Some(0),
                _ => None,
            },
            Expr::Binary(operator, a, b) => operator.compute(self.int(a)?, self.int(b)?),
        }
    }

    /// Is the expression true, if that is known? Addresses of nodes are not 0.
    pub fn truth(&self, expr: &Expr) -> Option<bool> {
        match self.value(expr) {
            Known::Int(value) => Some(value != 0),
            Known::Node(_) => Some(true),
            _ => None,
        }
    }

    /// What is known in addition where the expression is true, or false; `None` if it never is.
    pub fn assume(mut self, expr: &Expr, truth: bool) -> Option<Facts> {
        if let Some(known) = self.truth(expr) {
            return (known == truth).then_some(self);
        }
        match expr {
            Expr::Not(e) => self.assume(e, !truth),
            Expr::Local(local) if !truth => {
                self.set(*local, Known::Int(0));
                Some(self)
            }
            Expr::Binary(Operator::Both, a, b) if truth => self.assume(a, true)?.assume(b, true),
            Expr::Binary(Operator::Either, a, b) if !truth => self.assume(a, false)?.assume(b, false),
            Expr::Binary(operator @ (Operator::Equal | Operator::NotEqual), a, b) => {
                let equal = (*operator == Operator::Equal) == truth;
                match (&**a, &**b) {
                    (Expr::Local(local), e) | (e, Expr::Local(local)) if equal => {
                        // A result of a read stays one: that is worth more than its number.
                        if let (Some(value), Known::Nothing) = (self.int(e), self.of(*local)) {
                            self.set(*local, Known::Int(value));
                        }
                        Some(self)
                    }
                    // `!flag == 0` and the like.
                    (e, Expr::Int(0)) | (Expr::Int(0), e) => self.assume(e, !equal),
                    _ => Some(self),
                }
            }
            _ => Some(self),
        }
    }

    /// What is known in both cases.
    pub fn join(&self, other: &Facts) -> Facts {
        let mut escaped = &self.escaped | &other.escaped;
        let values = self.values.iter().zip(&other.values).map(|(a, b)| {
            if a == b {
                return *a;
            }
            // The variable may hold the address still, and nobody watches it any more.
            for known in [a, b] {
                if let Known::Node(label) = known {
                    escaped.insert(*label);
                }
            }
            Known::Nothing
        });
        let values = values.collect();
        Facts { values, escaped }
    }
}

/// Calls `f` with all variables in an expression.
pub fn locals(expr: &Expr, f: &mut impl FnMut(LocalId)) {
    match expr {
        Expr::Int(_) => {}
        Expr::Local(local) => f(*local),
        Expr::Not(e) | Expr::Wrap(_, e) => locals(e, f),
        Expr::Binary(_, a, b) => {
            locals(a, f);
            locals(b, f);
        }
    }
}
