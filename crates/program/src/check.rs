//! Static checks on the syntax tree: names, modes, values, limits. What passes can be lowered for every target.

use crate::ast::{Access, At, Block, Cas, CasKind, Expr, ExprKind, Name, Program, RmwMode, StmtKind, Thread};
use crate::error::{InputError, Warning};
use crate::modes::{self, Use};
use crate::spelling::closest;
use crate::values::Values;
use rustc_hash::FxHashMap;

/// The largest `max_value`.
pub const MAX_VALUE: u32 = 65_535;

/// How many locations a program may have: 64 with the hidden one behind SC fences.
pub const MAX_LOCATIONS: usize = 63;

/// How many threads a program may have, every instance of a replicated thread counted.
pub const MAX_THREADS: usize = 32;

/// How many registers a thread may have.
pub const MAX_LOCALS: usize = 1024;

/// After so many warnings a user has seen enough.
const MAX_WARNINGS: usize = 100;

type Check<T = ()> = Result<T, InputError>;

/// Checks a whole program: the first error, or all warnings.
pub fn check(program: &Program) -> Check<Vec<Warning>> {
    let mut checker = Checker {
        max_value: program.max_value(),
        values: program.values(),
        locations: FxHashMap::default(),
        warnings: Vec::new(),
    };
    checker.max_value(program)?;
    checker.locations(program)?;
    checker.threads(program)?;
    Ok(checker.warnings)
}

struct Checker<'p> {
    max_value: u32,
    values: Values,
    locations: FxHashMap<&'p str, &'p crate::ast::Location>,
    warnings: Vec<Warning>,
}

/// What names mean inside a thread.
struct Scope<'p> {
    thread: &'p Thread,
    locals: FxHashMap<&'p str, &'p Name>,
    labels: FxHashMap<&'p str, &'p Name>,
}

impl<'p> Checker<'p> {
    fn max_value(&self, program: &Program) -> Check {
        match &program.max_value {
            Some(max) if max.node == 0 || max.node > MAX_VALUE => {
                Err(InputError::new(max.span, format!("`max_value` must be between 1 and {MAX_VALUE}")))
            }
            _ => self.min_value(program),
        }
    }

    fn min_value(&self, program: &Program) -> Check {
        let Some(min) = &program.min_value else { return Ok(()) };
        if min.node > 0 {
            return Err(InputError::new(min.span, "`min_value` must be 0 or less"));
        }
        if i64::from(program.max_value()) - min.node > i64::from(MAX_VALUE) {
            let message =
                format!("too many values: at most {} from `min_value` to `max_value`", MAX_VALUE + 1);
            return Err(InputError::new(min.span, message));
        }
        Ok(())
    }

    fn locations(&mut self, program: &'p Program) -> Check {
        for (index, location) in program.locations.iter().enumerate() {
            if index == MAX_LOCATIONS {
                let message = format!("too many locations: at most {MAX_LOCATIONS}");
                return Err(InputError::new(location.name.span, message));
            }
            declare(&mut self.locations, &location.name, location, "location", |l| &l.name)?;
            if let Some(initial) = &location.initial {
                self.value_fits(initial, "the initial value")?;
            }
        }
        for track in &program.tracks {
            self.location(&track.location)?;
            for value in track.values.iter().flatten() {
                self.value_fits(value, "the tracked value")?;
            }
        }
        Ok(())
    }

    fn value_fits(&self, value: &At<i64>, what: &str) -> Check {
        if self.values.contains(value.node) {
            return Ok(());
        }
        let message = format!("{what} {} is not between {}", value.node, self.values);
        let note = match value.node < 0 {
            true => "`min_value` sets the smallest value (0 if not given)",
            false => "`max_value` sets the largest value (255 if not given)",
        };
        Err(InputError::new(value.span, message).with_note(note))
    }

    fn threads(&mut self, program: &'p Program) -> Check {
        let mut names = FxHashMap::default();
        let mut instances = 0;
        for thread in &program.threads {
            declare(&mut names, &thread.name, &thread.name, "thread", |n| n)?;
            let (count, span) = thread.count.as_ref().map_or((1, thread.name.span), |c| (c.node, c.span));
            if count == 0 {
                return Err(InputError::new(span, "a thread needs at least one instance"));
            }
            instances += u64::from(count);
            if instances > MAX_THREADS as u64 {
                return Err(InputError::new(span, format!("too many threads: at most {MAX_THREADS}")));
            }
            self.thread(thread)?;
        }
        Ok(())
    }

    fn thread(&mut self, thread: &'p Thread) -> Check {
        let mut scope = Scope { thread, locals: FxHashMap::default(), labels: FxHashMap::default() };
        for (index, local) in thread.locals.iter().enumerate() {
            if index == MAX_LOCALS {
                let message = format!("too many registers in this thread: at most {MAX_LOCALS}");
                return Err(InputError::new(local.span, message));
            }
            if let Some(location) = self.locations.get(local.node.as_str()) {
                let error = InputError::new(local.span, format!("`{}` already names a location", local.node));
                return Err(error.with_secondary(location.name.span, "the location"));
            }
            if scope.number() == Some(&local.node) {
                let message = format!("`{}` already stands for the number of this thread", local.node);
                let error = InputError::new(local.span, message);
                return Err(error.with_secondary(thread.name.span, "the replicated thread"));
            }
            declare(&mut scope.locals, local, local, "register", |n| n)?;
        }
        collect_labels(&thread.body, &mut scope.labels)?;
        self.block(&thread.body, &scope)
    }

    fn block(&mut self, block: &'p Block, scope: &Scope<'p>) -> Check {
        for stmt in block {
            match &stmt.node {
                StmtKind::Label(_) | StmtKind::Skip => {}
                StmtKind::Goto(label) => {
                    if !scope.labels.contains_key(label.node.as_str()) {
                        return Err(unknown("label", label, scope.labels.keys()));
                    }
                }
                StmtKind::Assign(register, value) => {
                    self.register(register, scope)?;
                    self.expr(value, scope)?;
                }
                StmtKind::Access(dest, access) => {
                    if let Some(register) = dest {
                        self.register(register, scope)?;
                        if matches!(access, Access::Store(..) | Access::NaStore(..)) {
                            return Err(InputError::new(stmt.span, "a store gives no value"));
                        }
                    }
                    self.access(access, scope)?;
                }
                StmtKind::If(condition, then, otherwise) => {
                    self.expr(condition, scope)?;
                    self.block(then, scope)?;
                    self.block(otherwise, scope)?;
                }
                StmtKind::While(condition, body) => {
                    self.expr(condition, scope)?;
                    self.block(body, scope)?;
                }
                StmtKind::OneOf(branches) => {
                    branches.iter().try_for_each(|branch| self.block(branch, scope))?
                }
                StmtKind::Assert(e) | StmtKind::Assume(e) | StmtKind::Verify(e) => self.expr(e, scope)?,
            }
        }
        Ok(())
    }

    fn access(&mut self, access: &Access, scope: &Scope) -> Check {
        match access {
            Access::Load(location, mode) => {
                self.atomic(location, "load", Some("naload"))?;
                modes::check(mode.as_ref(), Use::Load)
            }
            Access::NaLoad(location) => self.non_atomic(location, "naload", "load"),
            Access::Store(location, value, mode) => {
                self.atomic(location, "store", Some("nastore"))?;
                self.expr(value, scope)?;
                modes::check(mode.as_ref(), Use::Store)
            }
            Access::NaStore(location, value) => {
                self.non_atomic(location, "nastore", "store")?;
                self.expr(value, scope)
            }
            Access::Wait(location, values, mode) => {
                self.atomic(location, "wait", None)?;
                values.iter().try_for_each(|value| self.expr(value, scope))?;
                modes::check(mode.as_ref(), Use::Wait)
            }
            Access::FetchAdd(location, operand, mode) => self.update(location, "FADD", operand, mode, scope),
            Access::Exchange(location, value, mode) => self.update(location, "exchange", value, mode, scope),
            Access::Cas(kind, cas) => self.cas(*kind, cas, scope),
            Access::Lock(location) => self.atomic(location, "lock", None),
            Access::Unlock(location) => self.atomic(location, "unlock", None),
            Access::Fence(mode) => modes::check(Some(mode), Use::Fence),
        }
    }

    fn update(
        &mut self,
        location: &Name,
        word: &str,
        operand: &Expr,
        mode: &RmwMode,
        scope: &Scope,
    ) -> Check {
        self.atomic(location, word, None)?;
        self.expr(operand, scope)?;
        modes::check_rmw(mode)
    }

    fn cas(&mut self, kind: CasKind, cas: &Cas, scope: &Scope) -> Check {
        let word = match kind {
            CasKind::Strong => "CAS",
            CasKind::Weak => "WCAS",
            CasKind::Blocking => "BCAS",
            CasKind::Failing => "FCAS",
        };
        self.update(&cas.location, word, &cas.expected, &cas.mode, scope)?;
        self.expr(&cas.new, scope)?;
        modes::check(cas.failure.as_ref(), Use::Failure)
    }

    fn location(&self, name: &Name) -> Check<&'p crate::ast::Location> {
        match self.locations.get(name.node.as_str()) {
            Some(location) => Ok(location),
            None => Err(unknown("location", name, self.locations.keys())),
        }
    }

    fn atomic(&self, name: &Name, word: &str, instead: Option<&str>) -> Check {
        let location = self.location(name)?;
        if !location.non_atomic {
            return Ok(());
        }
        let message = format!("`{word}` is an atomic access, but `{}` is a non-atomic location", name.node);
        let error =
            InputError::new(name.span, message).with_secondary(location.name.span, "declared `na` here");
        let use_instead = instead.map_or(String::new(), |instead| format!("use `{instead}`, or "));
        Err(error.with_note(format!("{use_instead}declare `{}` with `global`", name.node)))
    }

    fn non_atomic(&self, name: &Name, word: &str, instead: &str) -> Check {
        let location = self.location(name)?;
        if location.non_atomic {
            return Ok(());
        }
        let message = format!("`{word}` is a non-atomic access, but `{}` is an atomic location", name.node);
        let error = InputError::new(name.span, message).with_secondary(location.name.span, "declared here");
        Err(error.with_note(format!("use `{instead}`, or declare `{}` with `na`", name.node)))
    }

    /// A register that is assigned.
    fn register(&self, name: &Name, scope: &Scope) -> Check {
        if scope.locals.contains_key(name.node.as_str()) {
            return Ok(());
        }
        if let Some(location) = self.locations.get(name.node.as_str()) {
            let error = InputError::new(name.span, format!("`{}` is a location, not a register", name.node));
            let method = if location.non_atomic { "nastore" } else { "store" };
            return Err(error.with_note(format!("write `{}.{method}(…)` to change it", name.node)));
        }
        if scope.number() == Some(&name.node) {
            let message = format!("`{}` is the number of this thread and cannot be changed", name.node);
            return Err(InputError::new(name.span, message));
        }
        Err(unknown("register", name, scope.locals.keys()).with_note(scope.hint(&name.node)))
    }

    fn expr(&mut self, expr: &Expr, scope: &Scope) -> Check {
        match &expr.node {
            ExprKind::Number(value) if *value > self.max_value && self.values.is_exact() => {
                let message = format!("the constant {value} is over the largest value {}", self.max_value);
                Err(InputError::new(expr.span, message))
            }
            ExprKind::Number(value) if *value > self.max_value => {
                let wrapped = value % (self.max_value + 1);
                let max = self.max_value;
                self.warn(Warning::new(
                    expr.span,
                    format!("the constant {value} is over the largest value {max} and wraps to {wrapped}"),
                ));
                Ok(())
            }
            ExprKind::Number(_) | ExprKind::Bool(_) => Ok(()),
            ExprKind::Name(name) => self.operand(name, expr, scope),
            ExprKind::Unary(_, operand) => self.expr(operand, scope),
            ExprKind::Binary(_, left, right) => {
                self.expr(left, scope)?;
                self.expr(right, scope)
            }
        }
    }

    fn operand(&self, name: &String, expr: &Expr, scope: &Scope) -> Check {
        if scope.locals.contains_key(name.as_str()) {
            return Ok(());
        }
        if let Some(location) = self.locations.get(name.as_str()) {
            let error = InputError::new(expr.span, format!("`{name}` is a location, not a register"));
            let method = if location.non_atomic { "naload" } else { "load" };
            return Err(error.with_note(format!("read it into a register first: `r = {name}.{method}();`")));
        }
        if scope.number() == Some(name) {
            let largest = scope.thread.count.as_ref().map_or(0, |c| c.node - 1);
            if largest <= self.max_value {
                return Ok(());
            }
            let message = format!(
                "the thread's number goes up to {largest}, over the largest value {}",
                self.max_value
            );
            return Err(InputError::new(expr.span, message).with_note("raise `max_value`"));
        }
        let name = At::new(name.clone(), expr.span);
        Err(unknown("register", &name, scope.locals.keys()).with_note(scope.hint(&name.node)))
    }

    fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }
}

impl Scope<'_> {
    /// The name that stands for the thread's number, if it is replicated.
    fn number(&self) -> Option<&String> {
        self.thread.count.as_ref().map(|_| &self.thread.name.node)
    }

    fn hint(&self, name: &str) -> String {
        match closest(name, self.locals.keys()) {
            Some(candidate) => format!("did you mean `{candidate}`?"),
            None => format!("declare it at the start of the thread: `local {name};`"),
        }
    }
}

fn collect_labels<'p>(block: &'p Block, labels: &mut FxHashMap<&'p str, &'p Name>) -> Check {
    for stmt in block {
        match &stmt.node {
            StmtKind::Label(label) => declare(labels, label, label, "label", |n| n)?,
            StmtKind::If(_, then, otherwise) => {
                collect_labels(then, labels)?;
                collect_labels(otherwise, labels)?;
            }
            StmtKind::While(_, body) => collect_labels(body, labels)?,
            StmtKind::OneOf(branches) => {
                branches.iter().try_for_each(|branch| collect_labels(branch, labels))?
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds a name to a table, or says where it is declared already.
fn declare<'p, T: Copy>(
    table: &mut FxHashMap<&'p str, T>,
    name: &'p Name,
    entry: T,
    what: &str,
    name_of: impl Fn(T) -> &'p Name,
) -> Check {
    if let Some(earlier) = table.insert(&name.node, entry) {
        let error = InputError::new(name.span, format!("the {what} `{}` is declared twice", name.node));
        return Err(error.with_secondary(name_of(earlier).span, "first declared here"));
    }
    Ok(())
}

fn unknown<'a>(what: &str, name: &Name, candidates: impl Iterator<Item = &'a &'a str>) -> InputError {
    let error = InputError::new(name.span, format!("unknown {what} `{}`", name.node));
    match closest(&name.node, candidates) {
        Some(candidate) => error.with_note(format!("did you mean `{candidate}`?")),
        None => error,
    }
}
