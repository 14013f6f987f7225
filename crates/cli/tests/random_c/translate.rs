//! TPL to C: threads become functions, atomic locations C11 atomics, the others plain variables.
//!
//! Values are bytes, which wrap as TPL's arithmetic with `max_value 255` does. Loops have fuel, for a thread that stops early has done
//! what a thread of the program may have done so far. `assert` does nothing.

use seqcst_model::Mode;
use seqcst_program::ast::{
    Access, At, CasKind, Expr, ExprKind, Name, Program, RmwMode, Stmt, StmtKind, Thread,
};
use seqcst_program::code::{Binary, Unary};
use std::fmt::Write;

/// The same program with values that are bytes.
pub fn in_bytes(text: &str) -> String {
    let lines = text.lines().map(|line| match line.starts_with("max_value ") {
        true => "max_value 255;\n".to_owned(),
        false => format!("{line}\n"),
    });
    lines.collect()
}

/// Whether something blocks in it, and can be written in C so that it does.
pub fn blocks(text: &str) -> bool {
    let waits = |line: &str| line.split_once("wait(").map(|(_, rest)| rest.matches(',').count());
    let blocks = text.contains("BCAS(") || text.contains("wait(");
    blocks && !text.lines().filter_map(waits).any(|commas| commas != 2)
}

/// The same program with values that are bytes, and without what blocks: a `wait` becomes a load that ends the thread if it reads
/// another value, a `BCAS` a `CAS` that does. In C a failed attempt is an access like any other.
pub fn without_blocking(text: &str) -> String {
    let mut out = String::new();
    for line in in_bytes(text).lines() {
        let _ = match line.trim_start().starts_with("local ") {
            true => writeln!(out, "{}", line.replace(';', ", w;")),
            false => writeln!(out, "{}", unblocked(line)),
        };
    }
    out
}

/// A line in which nothing blocks.
fn unblocked(line: &str) -> String {
    let Some(start) = line.find("wait(").or_else(|| line.find("BCAS(")) else { return line.to_owned() };
    let Some(end) = line[start..].find(");").map(|at| start + at) else { return line.to_owned() };
    let (dest, blank) = match line[..start].trim_end().strip_suffix('=') {
        Some(before) => {
            let dest = before.trim_end().rsplit(' ').next().unwrap_or("w");
            (dest, before.trim_end().len() - dest.len())
        }
        None => ("w", start),
    };
    let arguments: Vec<&str> = line[start + 5..end].split(", ").collect();
    let before = &line[..blank];
    let after = &line[end + 2..];
    let (access, wanted) = if line[start..].starts_with("wait(") {
        let (location, mode) = (arguments[0], arguments[arguments.len() - 1]);
        (format!("{location}.load({mode})"), &arguments[1..arguments.len() - 1])
    } else {
        (format!("CAS({})", arguments.join(", ")), &arguments[1..2])
    };
    // What is waited for is computed before the register is overwritten.
    let wanted: Vec<String> = wanted.iter().map(|value| format!("w == {value}")).collect();
    let copy = if dest == "w" { String::new() } else { format!(" {dest} = w;") };
    format!("{before}w = {access}; assume({});{copy}{after}", wanted.join(" || "))
}

/// The functions of a program's threads, named `{name}_{thread}`.
pub fn threads(name: &str, program: &Program) -> String {
    let mut out = String::new();
    for thread in &program.threads {
        let mut writer = Writer { name, thread, out: String::new() };
        writer.function();
        out += &writer.out;
    }
    out
}

struct Writer<'a> {
    name: &'a str,
    thread: &'a Thread,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out += text;
        self.out.push('\n');
    }

    fn function(&mut self) {
        let thread = self.thread;
        let name = self.name;
        self.line(&format!("static void {name}_{}(value me, struct source *source) {{", thread.name.node));
        for local in &thread.locals {
            self.line(&format!("value r_{0} = 0; (void)r_{0};", local.node));
        }
        self.line("int fuel = 20; (void)fuel; (void)me; (void)source;");
        self.block(&thread.body);
        self.line("}");
    }

    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.node {
            StmtKind::Label(label) => self.line(&format!("l_{}:;", label.node)),
            StmtKind::Goto(label) => self.line(&format!("if (--fuel == 0) return; goto l_{};", label.node)),
            StmtKind::Assign(register, value) => {
                let value = self.expr(value);
                self.line(&format!("r_{} = {value};", register.node));
            }
            StmtKind::Access(dest, access) => self.access(dest.as_ref(), access),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.expr(condition);
                self.line(&format!("if ({condition}) {{"));
                self.block(then);
                self.line("} else {");
                self.block(otherwise);
                self.line("}");
            }
            StmtKind::While(condition, body) => {
                let condition = self.expr(condition);
                self.line(&format!("while ({condition}) {{ if (--fuel == 0) return;"));
                self.block(body);
                self.line("}");
            }
            StmtKind::OneOf(branches) => {
                self.line(&format!("switch (draw(source) % {}) {{", branches.len()));
                for (number, branch) in branches.iter().enumerate() {
                    self.line(&format!("case {number}: {{"));
                    self.block(branch);
                    self.line("} break;");
                }
                self.line("}");
            }
            StmtKind::Assume(condition) => {
                let condition = self.expr(condition);
                self.line(&format!("if (!({condition})) return;"));
            }
            StmtKind::Assert(_) | StmtKind::Verify(_) | StmtKind::Skip => {}
        }
    }

    /// A line for each access, so that a report says which one it means.
    fn access(&mut self, dest: Option<&Name>, access: &Access) {
        let read = |mode: &Option<At<Mode>>| order(mode.as_ref().map(|mode| mode.node));
        let at = |location: &Name| format!("&{}.{}", self.name, location.node);
        let result = match access {
            Access::Load(x, mode) => format!("atomic_load_explicit({}, {})", at(x), read(mode)),
            Access::NaLoad(x) => format!("{}.{}", self.name, x.node),
            Access::Store(x, e, mode) => {
                format!("atomic_store_explicit({}, {}, {})", at(x), self.expr(e), read(mode))
            }
            Access::NaStore(x, e) => format!("{}.{} = {}", self.name, x.node, self.expr(e)),
            Access::FetchAdd(x, e, mode) => {
                format!("atomic_fetch_add_explicit({}, {}, {})", at(x), self.expr(e), whole(mode))
            }
            Access::Exchange(x, e, mode) => {
                format!("atomic_exchange_explicit({}, {}, {})", at(x), self.expr(e), whole(mode))
            }
            Access::Cas(kind, cas) => {
                let failure = match (&cas.failure, cas.mode.whole()) {
                    (Some(failure), _) => order(Some(failure.node)),
                    (None, Some(Mode::SeqCst)) => order(Some(Mode::SeqCst)),
                    (None, Some(mode)) if mode.is_acquire() => order(Some(Mode::Acquire)),
                    (None, _) => order(None),
                };
                let (x, e, v) = (at(&cas.location), self.expr(&cas.expected), self.expr(&cas.new));
                let success = whole(&cas.mode);
                match kind {
                    CasKind::Weak => format!("weak_cas({x}, {e}, {v}, {success}, {failure})"),
                    CasKind::Strong => format!("strong_cas({x}, {e}, {v}, {success}, {failure})"),
                    CasKind::Failing => unreachable!("C has none"),
                    CasKind::Blocking => format!("blocking_cas({x}, {e}, {v}, {success})"),
                }
            }
            Access::Fence(mode) => format!("atomic_thread_fence({})", order(Some(mode.node))),
            Access::Wait(x, values, mode) => {
                // One value: see `blocks`.
                let value = values.first().map_or("0".to_owned(), |value| self.expr(value));
                format!("wait_for({}, {value}, {})", at(x), read(mode))
            }
            Access::Lock(x) => format!("blocking_cas({}, 0, 1, memory_order_acquire)", at(x)),
            Access::Unlock(x) => format!("atomic_store_explicit({}, 0, memory_order_release)", at(x)),
        };
        match dest {
            Some(dest) => self.line(&format!("step(source); r_{0} = {result}; keep(r_{0});", dest.node)),
            None => self.line(&format!("step(source); {result};")),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match &expr.node {
            ExprKind::Number(number) => format!("(value){number}"),
            ExprKind::Bool(it) => u8::from(*it).to_string(),
            ExprKind::Name(name) if *name == self.thread.name.node => "me".to_owned(),
            ExprKind::Name(name) => format!("r_{name}"),
            ExprKind::Unary(op, inner) => {
                let op = match op {
                    Unary::Not => "!",
                    Unary::Neg => "-",
                    Unary::BitNot => "~",
                };
                format!("(value)({op}{})", self.expr(inner))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let op = match op {
                    Binary::Add => "+",
                    Binary::Sub => "-",
                    Binary::Mul => "*",
                    Binary::Div => return format!("(value)({b} ? {a} / {b} : 0)"),
                    Binary::Rem => return format!("(value)({b} ? {a} % {b} : 0)"),
                    Binary::Lt => "<",
                    Binary::Le => "<=",
                    Binary::Gt => ">",
                    Binary::Ge => ">=",
                    Binary::Eq => "==",
                    Binary::Ne => "!=",
                    Binary::And => "&&",
                    Binary::Or => "||",
                    Binary::BitAnd => "&",
                    Binary::BitOr => "|",
                    Binary::BitXor => "^",
                    Binary::Shl => return format!("(value)({b} < 8 ? {a} << {b} : 0)"),
                    Binary::Shr => return format!("(value)({b} < 8 ? {a} >> {b} : 0)"),
                };
                format!("(value)({a} {op} {b})")
            }
        }
    }
}

/// C's name for the mode of a read-modify-write.
fn whole(mode: &RmwMode) -> &'static str {
    order(mode.whole())
}

/// C's name for a mode; nothing written is relaxed.
fn order(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Acquire) => "memory_order_acquire",
        Some(Mode::Release) => "memory_order_release",
        Some(Mode::AcqRel) => "memory_order_acq_rel",
        Some(Mode::SeqCst) => "memory_order_seq_cst",
        _ => "memory_order_relaxed",
    }
}
