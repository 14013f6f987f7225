//! Prints a library as text, for people and for tests.

use std::fmt::{self, Write};

use super::{
    Access, AccessKind, Class, Expr, Library, Local, Method, Operator, Place, Specification, Statement,
    Update, order_name,
};

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for record in &self.records {
            writeln!(f, "record {}", record.name)?;
        }
        for class in &self.classes {
            writeln!(f, "{class}")?;
        }
        if let Some(specification) = self.contract.specification {
            writeln!(f, "specification {specification}")?;
        }
        for (role, method) in &self.contract.roles {
            writeln!(f, "role {} {method}", format!("{role:?}").to_lowercase())?;
        }
        for group in &self.contract.one_thread {
            writeln!(f, "one-thread {}", group.join(" "))?;
        }
        for point in &self.contract.points {
            writeln!(f, "linearization-point @{}", point.0)?;
        }
        for method in &self.methods {
            write!(f, "\n{}", self.show_method(method))?;
        }
        Ok(())
    }
}

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", if self.is_atomic { "atomic" } else { "plain" }, self.name)?;
        match self.cells {
            Some(Some(length)) => write!(f, " (cells: {length})")?,
            Some(None) => write!(f, " (cells: unbounded)")?,
            None => {}
        }
        match &self.initial_cell {
            Some(value) => write!(f, " = {}", show(value, &[])),
            None => write!(f, " = {}", self.initial),
        }
    }
}

impl Library {
    /// A method as text, one statement on each line, accesses with their labels.
    pub fn show_method(&self, method: &Method) -> String {
        let parameters: Vec<_> =
            method.parameters.iter().map(|p| method.locals[p.0 as usize].name.as_str()).collect();
        let returns = if method.returns { " returns" } else { "" };
        let mut out = format!("{}({}){returns}\n", method.name, parameters.join(", "));
        self.show_block(&method.body, &method.locals, 1, &mut out);
        out
    }

    /// An access as text, with the names of a method's variables.
    pub fn show_access(&self, access: &Access, locals: &[Local]) -> String {
        let value = |e: &Expr| show(e, locals);
        let name = |local: &super::LocalId| show(&Expr::Local(*local), locals);
        let place = |p: &Place| self.show_place(p, locals);
        let target =
            |to: &Option<super::LocalId>| to.as_ref().map_or(String::new(), |to| format!("{} = ", name(to)));
        match &access.kind {
            AccessKind::Load { to, place: p, order } => {
                format!("{} = load {} {}", name(to), order_name(*order), place(p))
            }
            AccessKind::Wait { to, place: p, until, order } => {
                format!("{} = wait {} {} until {}", name(to), order_name(*order), place(p), value(until))
            }
            AccessKind::Store { place: p, value: v, order } => {
                format!("store {} {} {}", order_name(*order), place(p), value(v))
            }
            AccessKind::Rmw { to, place: p, update, operand, order, .. } => {
                let update = match update {
                    Update::Exchange => "exchange",
                    Update::Add => "add",
                    Update::Sub => "sub",
                    Update::And => "and",
                    Update::Or => "or",
                    Update::Xor => "xor",
                };
                format!("{}{update} {} {} {}", target(to), order_name(*order), place(p), value(operand))
            }
            AccessKind::Cas {
                succeeded,
                found,
                place: p,
                expected,
                desired,
                success,
                failure,
                is_weak,
                is_blocking,
            } => {
                let kind = match (is_blocking, is_weak) {
                    (true, _) => "blocking-cas",
                    (false, true) => "weak-cas",
                    (false, false) => "cas",
                };
                let (success, failure) = (order_name(*success), order_name(*failure));
                let orders = if *is_blocking { success.to_owned() } else { format!("{success}/{failure}") };
                let found = found.as_ref().map_or(String::new(), |found| format!(" finding {}", name(found)));
                let (p, expected, desired) = (place(p), value(expected), value(desired));
                format!("{}{kind} {orders} {p} {expected} -> {desired}{found}", target(succeeded))
            }
            AccessKind::Fence { order } => format!("fence {}", order_name(*order)),
            AccessKind::Allocate { to, record, is_zeroed } => {
                let zeroed = if *is_zeroed { " zeroed" } else { "" };
                format!("{} = allocate {}{zeroed}", name(to), self.records[record.0 as usize].name)
            }
            AccessKind::Free { pointer, .. } => format!("free {}", value(pointer)),
        }
    }

    /// A place as text: `head`, `n->node.next`, `buffer[i]`.
    pub fn show_place(&self, place: &Place, locals: &[Local]) -> String {
        let mut text = self.classes[place.class.0 as usize].name.clone();
        if let Some(index) = &place.index {
            let index = format!("[{}]", show(index, locals));
            text = text.replacen("[]", &index, 1);
        }
        match &place.base {
            Some(base) => format!("{}->{text}", show_inner(base, locals)),
            None => text,
        }
    }

    fn show_block(&self, body: &[Statement], locals: &[Local], depth: usize, out: &mut String) {
        let value = |e: &Expr| show(e, locals);
        for statement in body {
            // Writing to a string never fails.
            let _ = write!(out, "{:1$}", "", depth * 2);
            match statement {
                Statement::Access(access) => {
                    let text = self.show_access(access, locals);
                    let _ = writeln!(out, "@{} {text}", access.label.0);
                }
                Statement::Assign { to, value: v } => {
                    let _ = writeln!(out, "{} = {}", value(&Expr::Local(*to)), value(v));
                }
                Statement::If { condition, then, otherwise } => {
                    let _ = writeln!(out, "if {}", value(condition));
                    self.show_block(then, locals, depth + 1, out);
                    if !otherwise.is_empty() {
                        let _ = writeln!(out, "{:1$}else", "", depth * 2);
                        self.show_block(otherwise, locals, depth + 1, out);
                    }
                }
                Statement::Loop { body, .. } => {
                    out.push_str("loop\n");
                    self.show_block(body, locals, depth + 1, out);
                }
                Statement::Break(0) => out.push_str("break\n"),
                Statement::Continue(0) => out.push_str("continue\n"),
                Statement::Break(levels) => {
                    let _ = writeln!(out, "break {levels}");
                }
                Statement::Continue(levels) => {
                    let _ = writeln!(out, "continue {levels}");
                }
                Statement::Return(None) => out.push_str("return\n"),
                Statement::Return(Some(e)) => {
                    let _ = writeln!(out, "return {}", value(e));
                }
                Statement::Assume(e) => {
                    let _ = writeln!(out, "assume {}", value(e));
                }
            }
        }
    }
}

/// An expression as text, with the names of a method's variables.
pub fn show(e: &Expr, locals: &[Local]) -> String {
    match e {
        Expr::Int(n) => n.to_string(),
        Expr::Local(Class::INDEX) => "index".to_owned(),
        Expr::Local(local) => {
            locals.get(local.0 as usize).map_or_else(|| format!("${}", local.0), |l| l.name.clone())
        }
        Expr::Not(e) => format!("!{}", show_inner(e, locals)),
        Expr::Wrap(to, e) => format!("{to}({})", show(e, locals)),
        Expr::Binary(op, a, b) => {
            format!("{} {} {}", show_inner(a, locals), symbol(*op), show_inner(b, locals))
        }
    }
}

fn show_inner(e: &Expr, locals: &[Local]) -> String {
    match e {
        Expr::Binary(..) => format!("({})", show(e, locals)),
        _ => show(e, locals),
    }
}

fn symbol(op: Operator) -> &'static str {
    match op {
        Operator::Add => "+",
        Operator::Sub => "-",
        Operator::Mul => "*",
        Operator::Div => "/",
        Operator::Rem => "%",
        Operator::And => "&",
        Operator::Or => "|",
        Operator::Xor => "^",
        Operator::Shl => "<<",
        Operator::Shr => ">>",
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::Less => "<",
        Operator::LessEqual => "<=",
        Operator::Both => "&&",
        Operator::Either => "||",
    }
}
