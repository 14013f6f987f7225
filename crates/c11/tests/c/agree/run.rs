//! Runs methods one after the other, alone.

use std::collections::HashMap;

use seqcst_c11::code::{
    AccessKind, Class, Expr, Library, LocalId, Method, Operator, Place, Statement, Update,
};

/// A library's memory.
pub struct Machine<'l> {
    library: &'l Library,
    memory: HashMap<(u32, i128, i128), i128>,
    next: i128,
    locals: Vec<i128>,
}

enum Flow {
    On,
    Break(u32),
    Continue(u32),
    Return(i128),
}

impl<'l> Machine<'l> {
    pub fn new(library: &'l Library) -> Self {
        Machine { library, memory: HashMap::new(), next: 16, locals: Vec::new() }
    }

    /// What the method returns (0 if nothing), and what it leaves in variables `*…`.
    pub fn call(&mut self, method: &Method, arguments: &[i128]) -> (i128, Vec<i128>) {
        self.locals = vec![0; method.locals.len()];
        let mut given = arguments.iter();
        for parameter in &method.parameters {
            // Memory of the client is 0.
            if !method.locals[parameter.0 as usize].name.starts_with('*') {
                self.locals[parameter.0 as usize] = *given.next().unwrap();
            }
        }
        let result = match self.block(&method.body) {
            Flow::Return(value) => value,
            _ => 0,
        };
        let out = method.locals.iter().zip(&self.locals).filter(|(l, _)| l.name.starts_with('*'));
        (result, out.map(|(_, v)| *v).collect())
    }

    fn block(&mut self, body: &[Statement]) -> Flow {
        for statement in body {
            match statement {
                Statement::Access(access) => self.access(&access.kind),
                Statement::Assign { to, value } => self.set(*to, self.value(value)),
                Statement::If { condition, then, otherwise } => {
                    let chosen = if self.value(condition) != 0 { then } else { otherwise };
                    match self.block(chosen) {
                        Flow::On => {}
                        flow => return flow,
                    }
                }
                Statement::Loop { body, .. } => loop {
                    match self.block(body) {
                        Flow::On | Flow::Continue(0) => {}
                        Flow::Break(0) => break,
                        Flow::Break(levels) => return Flow::Break(levels - 1),
                        Flow::Continue(levels) => return Flow::Continue(levels - 1),
                        flow => return flow,
                    }
                },
                Statement::Break(levels) => return Flow::Break(*levels),
                Statement::Continue(levels) => return Flow::Continue(*levels),
                Statement::Return(value) => return Flow::Return(value.as_ref().map_or(0, |e| self.value(e))),
                Statement::Assume(e) => assert_ne!(self.value(e), 0, "undefined"),
            }
        }
        Flow::On
    }

    fn set(&mut self, to: LocalId, value: i128) {
        self.locals[to.0 as usize] = value;
    }

    fn value(&self, e: &Expr) -> i128 {
        let value = self.value_at(e, 0);
        assert_eq!(e.evaluate(&|local| Some(self.locals[local.0 as usize])), Some(value));
        value
    }

    /// `index` is what [`Class::INDEX`] stands for.
    fn value_at(&self, e: &Expr, index: i128) -> i128 {
        match e {
            Expr::Int(n) => *n,
            Expr::Local(Class::INDEX) => index,
            Expr::Local(local) => self.locals[local.0 as usize],
            Expr::Not(e) => (self.value_at(e, index) == 0).into(),
            Expr::Wrap(to, e) => match &**e {
                // Only the lowest bits are wanted.
                Expr::Binary(Operator::Mul, a, b) => {
                    to.wrap(self.value_at(a, index).wrapping_mul(self.value_at(b, index)))
                }
                e => to.wrap(self.value_at(e, index)),
            },
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value_at(a, index), self.value_at(b, index));
                match op {
                    Operator::Add => a + b,
                    Operator::Sub => a - b,
                    Operator::Mul => a * b,
                    Operator::Div => a / b,
                    Operator::Rem => a % b,
                    Operator::And => a & b,
                    Operator::Or => a | b,
                    Operator::Xor => a ^ b,
                    Operator::Shl => a << b,
                    Operator::Shr => a >> b,
                    Operator::Equal => (a == b).into(),
                    Operator::NotEqual => (a != b).into(),
                    Operator::Less => (a < b).into(),
                    Operator::LessEqual => (a <= b).into(),
                    Operator::Both => (a != 0 && b != 0).into(),
                    Operator::Either => (a != 0 || b != 0).into(),
                }
            }
        }
    }

    fn location(&self, place: &Place) -> (u32, i128, i128) {
        let part = |e: &Option<Expr>| e.as_ref().map_or(0, |e| self.value(e));
        let (base, index) = (part(&place.base), part(&place.index));
        assert!(place.base.is_none() || base != 0, "NULL");
        if let Some(Some(length)) = self.library.classes[place.class.0 as usize].cells {
            assert!((0..length as i128).contains(&index), "cell {index} of {length}");
        }
        (place.class.0, base, index)
    }

    fn load(&self, place: &Place) -> i128 {
        let location = self.location(place);
        let class = &self.library.classes[location.0 as usize];
        self.memory.get(&location).copied().unwrap_or_else(|| match &class.initial_cell {
            Some(e) => self.value_at(e, if class.record.is_some() { location.1 } else { location.2 }),
            None => class.initial,
        })
    }

    fn store(&mut self, place: &Place, value: i128) {
        self.memory.insert(self.location(place), value);
    }

    fn access(&mut self, kind: &AccessKind) {
        match kind {
            AccessKind::Load { to, place, .. } => self.set(*to, self.load(place)),
            AccessKind::Store { place, value, .. } => self.store(place, self.value(value)),
            AccessKind::Rmw { to, place, update, integer, operand, .. } => {
                let (old, operand) = (self.load(place), self.value(operand));
                let new = match update {
                    Update::Exchange => operand,
                    Update::Add => old + operand,
                    Update::Sub => old - operand,
                    Update::And => old & operand,
                    Update::Or => old | operand,
                    Update::Xor => old ^ operand,
                };
                self.store(place, integer.wrap(new));
                to.iter().for_each(|to| self.set(*to, old));
            }
            AccessKind::Cas { succeeded, found, place, expected, desired, .. } => {
                let (old, expected, desired) = (self.load(place), self.value(expected), self.value(desired));
                if old == expected {
                    self.store(place, desired);
                }
                found.iter().for_each(|found| self.set(*found, old));
                succeeded.iter().for_each(|to| self.set(*to, (old == expected).into()));
            }
            AccessKind::Allocate { to, .. } => {
                self.set(*to, self.next);
                self.next += 16;
            }
            AccessKind::Fence { .. } | AccessKind::Free { .. } => {}
            AccessKind::Wait { .. } => unreachable!("made by the analysis only"),
        }
    }
}
