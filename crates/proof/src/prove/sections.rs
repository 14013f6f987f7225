//! Locks: clients take a lock before they give it back, so a lock and an unlock are two halves of one call.

use seqcst_c11::code::{
    AccessKind, Expr, Label, Library, LocalId, Method, Place, Role, Specification, Statement,
};

/// The accesses that begin and end a critical section.
///
/// Without declared linearization points these are the last access of the lock and the first of the unlock: the lock might
/// return right after the one and the unlock be called right before the other, so the specification speaks of what is between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// From this access on the lock is held.
    pub enter: Label,
    /// Up to and including this access it is held.
    pub leave: Label,
}

/// A library with critical sections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joined {
    /// Lock and unlock are one method here.
    pub library: Library,
    /// What the specification alone says.
    pub section: Section,
    /// With the linearization points that the source declares, if it does.
    pub declared: Option<Section>,
}

/// With specification `lock`: replaces the methods that lock and unlock by one that does both, one after the other.
///
/// That covers every client that keeps the promise, since the analysis looks at prefixes of calls. None if there is more than
/// one method of a kind, or another method, which could be called while the lock is held; if one of them returns before its
/// end, or the lock returns something (whether it was taken, perhaps); or if the lock doesn't end with an access.
pub fn join(library: &Library) -> Option<Joined> {
    let contract = &library.contract;
    if contract.specification != Some(Specification::Lock) {
        return None;
    }
    let only = |role: Role| {
        let mut named = contract.roles.iter().filter(|(r, _)| *r == role).map(|(_, name)| name);
        let name = named.next().filter(|_| named.next().is_none())?;
        library.methods.iter().find(|m| m.name == *name)
    };
    let (lock, unlock) = (only(Role::Lock)?, only(Role::Unlock)?);
    if library.methods.len() != 2 || lock.returns {
        return None;
    }
    let mut body = without_last_return(&lock.body)?;
    let second = without_last_return(&unlock.body)?;
    let section = Section { enter: only_access(body.iter().rev())?, leave: only_access(second.iter())? };
    // A point that is passed on every path, and the only one.
    let point = |code: &[Statement]| {
        let mut found = Vec::new();
        labels(code, &mut |label| found.extend(contract.points.contains(&label).then_some(label)));
        let is_passed = |label: &Label| {
            code.iter().any(|s| matches!(s, Statement::Access(access) if access.label == *label))
        };
        found.first().copied().filter(|label| found.len() == 1 && is_passed(label))
    };
    let declared = match (point(&body), point(&second)) {
        (None, None) => None,
        (enter, leave) => {
            Some(Section { enter: enter.unwrap_or(section.enter), leave: leave.unwrap_or(section.leave) })
        }
    };

    let moved = Shift { by: lock.locals.len() as u32 };
    body.extend(second.iter().map(|s| moved.statement(s)));
    let mut locals = lock.locals.clone();
    locals.extend(unlock.locals.iter().cloned());
    let mut parameters = lock.parameters.clone();
    parameters.extend(unlock.parameters.iter().map(|p| moved.local(*p)));
    let both = Method {
        name: format!("{}…{}", lock.name, unlock.name),
        parameters,
        locals,
        body,
        returns: false,
        site: lock.site,
    };
    let mut result = library.clone();
    result.methods.retain(|m| m.name != lock.name && m.name != unlock.name);
    result.methods.push(both);
    Some(Joined { library: result, section, declared })
}

/// The first access, if it comes before all branches and loops.
fn only_access<'a>(mut code: impl Iterator<Item = &'a Statement>) -> Option<Label> {
    code.find_map(|s| match s {
        Statement::Access(a) if is_memory(&a.kind) => Some(Some(a.label)),
        Statement::If { .. } | Statement::Loop { .. } => Some(None),
        _ => None,
    })
    .flatten()
}

fn is_memory(kind: &AccessKind) -> bool {
    !matches!(kind, AccessKind::Fence { .. } | AccessKind::Allocate { .. } | AccessKind::Free { .. })
}

/// The code without a `return` at its very end; none if there is another one.
fn without_last_return(code: &[Statement]) -> Option<Vec<Statement>> {
    let code = match code {
        [rest @ .., Statement::Return(_)] => rest,
        all => all,
    };
    (!has_return(code)).then(|| code.to_vec())
}

fn has_return(code: &[Statement]) -> bool {
    code.iter().any(|s| match s {
        Statement::Return(_) => true,
        Statement::If { then, otherwise, .. } => has_return(then) || has_return(otherwise),
        Statement::Loop { body, .. } => has_return(body),
        _ => false,
    })
}

fn labels(code: &[Statement], visit: &mut impl FnMut(Label)) {
    for statement in code {
        match statement {
            Statement::Access(access) => visit(access.label),
            Statement::If { then, otherwise, .. } => {
                labels(then, visit);
                labels(otherwise, visit);
            }
            Statement::Loop { body, .. } => labels(body, visit),
            _ => {}
        }
    }
}

/// Renames variables by moving their numbers.
struct Shift {
    by: u32,
}

impl Shift {
    fn local(&self, local: LocalId) -> LocalId {
        LocalId(local.0 + self.by)
    }

    fn expr(&self, e: &Expr) -> Expr {
        match e {
            Expr::Int(n) => Expr::Int(*n),
            Expr::Local(local) => Expr::Local(self.local(*local)),
            Expr::Not(e) => Expr::Not(Box::new(self.expr(e))),
            Expr::Wrap(to, e) => Expr::Wrap(*to, Box::new(self.expr(e))),
            Expr::Binary(op, a, b) => Expr::Binary(*op, Box::new(self.expr(a)), Box::new(self.expr(b))),
        }
    }

    fn place(&self, place: &Place) -> Place {
        let part = |e: &Option<Expr>| e.as_ref().map(|e| self.expr(e));
        Place { class: place.class, base: part(&place.base), index: part(&place.index) }
    }

    fn statement(&self, statement: &Statement) -> Statement {
        let block = |code: &[Statement]| code.iter().map(|s| self.statement(s)).collect();
        match statement {
            Statement::Access(access) => {
                let mut access = access.clone();
                self.access(&mut access.kind);
                Statement::Access(access)
            }
            Statement::Assign { to, value } => {
                Statement::Assign { to: self.local(*to), value: self.expr(value) }
            }
            Statement::If { condition, then, otherwise } => Statement::If {
                condition: self.expr(condition),
                then: block(then),
                otherwise: block(otherwise),
            },
            Statement::Loop { body, site } => Statement::Loop { body: block(body), site: *site },
            Statement::Return(value) => Statement::Return(value.as_ref().map(|e| self.expr(e))),
            Statement::Assume(e) => Statement::Assume(self.expr(e)),
            Statement::Break(_) | Statement::Continue(_) => statement.clone(),
        }
    }

    fn access(&self, kind: &mut AccessKind) {
        let place_of = |place: &mut Place| *place = self.place(place);
        match kind {
            AccessKind::Load { to, place, .. } => {
                *to = self.local(*to);
                place_of(place);
            }
            AccessKind::Wait { to, place, until, .. } => {
                *to = self.local(*to);
                *until = self.expr(until);
                place_of(place);
            }
            AccessKind::Store { place, value, .. } => {
                *value = self.expr(value);
                place_of(place);
            }
            AccessKind::Rmw { to, place, operand, .. } => {
                *to = to.map(|l| self.local(l));
                *operand = self.expr(operand);
                place_of(place);
            }
            AccessKind::Cas { succeeded, found, place, expected, desired, .. } => {
                *succeeded = succeeded.map(|l| self.local(l));
                *found = found.map(|l| self.local(l));
                *expected = self.expr(expected);
                *desired = self.expr(desired);
                place_of(place);
            }
            AccessKind::Fence { .. } => {}
            AccessKind::Allocate { to, .. } => *to = self.local(*to),
            AccessKind::Free { pointer, .. } => *pointer = self.expr(pointer),
        }
    }
}
