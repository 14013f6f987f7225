//! Syntax tree to TPL text. Parsing the text gives an equal tree, whichever format the tree came from.

use crate::ast::{Access, At, Block, CasKind, Expr, ExprKind, Name, Program, RmwMode, Stmt, StmtKind};
use crate::syntax::ops::{UNARY_PRECEDENCE, binary_symbol, unary_symbol};
use seqcst_model::Mode;
use std::fmt::Write;

/// Prints a program as TPL.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    printer.program(program);
    printer.out
}

/// Prints a memory access, fence or other simple statement in one line, without its semicolon; of a compound
/// statement, only the head.
pub fn print_statement(stmt: &Stmt) -> String {
    match &stmt.node {
        StmtKind::Label(label) => format!("{}:", label.node),
        StmtKind::Goto(label) => format!("goto {}", label.node),
        StmtKind::Assign(register, value) => format!("{} = {}", register.node, expr(value)),
        StmtKind::Access(None, access) => print_access(access),
        StmtKind::Access(Some(register), access) => format!("{} = {}", register.node, print_access(access)),
        StmtKind::If(condition, ..) => format!("if ({})", expr(condition)),
        StmtKind::While(condition, _) => format!("while ({})", expr(condition)),
        StmtKind::OneOf(_) => "oneof".to_string(),
        StmtKind::Assert(condition) => format!("assert({})", expr(condition)),
        StmtKind::Assume(condition) => format!("assume({})", expr(condition)),
        StmtKind::Verify(value) => format!("verify({})", expr(value)),
        StmtKind::Skip => "skip".to_string(),
    }
}

fn print_access(access: &Access) -> String {
    let call = |word: &str, location: &Name, arguments: Vec<String>| {
        let arguments: Vec<String> = std::iter::once(location.node.clone()).chain(arguments).collect();
        format!("{word}({})", arguments.join(", "))
    };
    match access {
        Access::Load(location, mode) => {
            format!("{}.load({})", location.node, mode.as_ref().map_or(String::new(), |m| m.node.to_string()))
        }
        Access::NaLoad(location) => format!("{}.naload()", location.node),
        Access::Store(location, value, None) => format!("{}.store({})", location.node, expr(value)),
        Access::Store(location, value, Some(mode)) => {
            format!("{}.store({}, {})", location.node, expr(value), mode.node)
        }
        Access::NaStore(location, value) => format!("{}.nastore({})", location.node, expr(value)),
        Access::Wait(location, values, mode) => {
            call("wait", location, values.iter().map(expr).chain(mode.iter().map(mode_text)).collect())
        }
        Access::FetchAdd(location, operand, mode) => {
            call("FADD", location, std::iter::once(expr(operand)).chain(rmw_modes(mode)).collect())
        }
        Access::Exchange(location, value, mode) => {
            call("exchange", location, std::iter::once(expr(value)).chain(rmw_modes(mode)).collect())
        }
        Access::Cas(kind, cas) => {
            let word = match kind {
                CasKind::Strong => "CAS",
                CasKind::Weak => "WCAS",
                CasKind::Blocking => "BCAS",
                CasKind::Failing => "FCAS",
            };
            let operands = [expr(&cas.expected), expr(&cas.new)].into_iter();
            let modes = rmw_modes(&cas.mode).into_iter().chain(cas.failure.iter().map(mode_text));
            call(word, &cas.location, operands.chain(modes).collect())
        }
        Access::Lock(location) => format!("lock({})", location.node),
        Access::Unlock(location) => format!("unlock({})", location.node),
        Access::Fence(At { node: Mode::SeqCst, .. }) => "fence(seq_cst)".to_string(),
        Access::Fence(mode) => format!("fence({})", mode.node),
    }
}

fn mode_text(mode: &At<Mode>) -> String {
    mode.node.to_string()
}

fn rmw_modes(mode: &RmwMode) -> Vec<String> {
    match mode {
        RmwMode::Unwritten => vec![],
        RmwMode::Whole(mode) => vec![mode_text(mode)],
        RmwMode::Halves(read, write) => vec![mode_text(read), mode_text(write)],
    }
}

pub(crate) fn expr(expr: &Expr) -> String {
    let mut out = String::new();
    write_expr(expr, 0, &mut out);
    out
}

/// Writes an expression, in parentheses if it binds less tightly than its surroundings ask.
fn write_expr(expr: &Expr, required: u8, out: &mut String) {
    match &expr.node {
        ExprKind::Number(value) => write!(out, "{value}").expect("writing to a string"),
        ExprKind::Bool(value) => write!(out, "{value}").expect("writing to a string"),
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::Unary(operator, operand) => {
            out.push_str(unary_symbol(*operator));
            // `--` would be another token.
            if out.ends_with('-') && matches!(&operand.node, ExprKind::Unary(..)) {
                out.push(' ');
            }
            write_expr(operand, UNARY_PRECEDENCE, out);
        }
        ExprKind::Binary(operator, left, right) => {
            let (symbol, precedence) = binary_symbol(*operator);
            if precedence < required {
                out.push('(');
            }
            write_expr(left, precedence, out);
            write!(out, " {symbol} ").expect("writing to a string");
            // All operators associate to the left.
            write_expr(right, precedence + 1, out);
            if precedence < required {
                out.push(')');
            }
        }
    }
}

struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.extend(std::iter::repeat_n("    ", self.indent));
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn program(&mut self, program: &Program) {
        if let Some(min) = &program.min_value {
            self.line(&format!("min_value {};", min.node));
        }
        if let Some(max) = &program.max_value {
            self.line(&format!("max_value {};", max.node));
        }
        for group in program.locations.chunk_by(|a, b| a.non_atomic == b.non_atomic) {
            let keyword = if group[0].non_atomic { "na" } else { "global" };
            let names = group.iter().map(|location| match &location.initial {
                Some(initial) => format!("{} = {}", location.name.node, initial.node),
                None => location.name.node.clone(),
            });
            self.line(&format!("{keyword} {};", names.collect::<Vec<_>>().join(", ")));
        }
        for track in &program.tracks {
            let values = match &track.values {
                Some(values) => values.iter().map(|v| v.node.to_string()).collect::<Vec<_>>().join(", "),
                None => "all".to_string(),
            };
            self.line(&format!("track {}: {values};", track.location.node));
        }
        for thread in &program.threads {
            if !self.out.is_empty() {
                self.line("");
            }
            let count = thread.count.as_ref().map_or(String::new(), |c| format!("[{}]", c.node));
            self.line(&format!("fn {}{count} {{", thread.name.node));
            self.indent += 1;
            if !thread.locals.is_empty() {
                let names: Vec<&str> = thread.locals.iter().map(|name| name.node.as_str()).collect();
                self.line(&format!("local {};", names.join(", ")));
            }
            self.indent -= 1;
            self.block(&thread.body);
            self.line("}");
        }
    }

    fn block(&mut self, block: &Block) {
        self.indent += 1;
        for stmt in block {
            self.statement(stmt, "");
        }
        self.indent -= 1;
    }

    /// Prints a statement; `before` comes before its first word on the same line.
    fn statement(&mut self, stmt: &Stmt, before: &str) {
        let head = format!("{before}{}", print_statement(stmt));
        match &stmt.node {
            StmtKind::Label(_) => self.line(&head),
            StmtKind::If(_, then, otherwise) => match (then.as_slice(), otherwise.as_slice()) {
                ([goto @ At { node: StmtKind::Goto(_), .. }], []) => {
                    self.line(&format!("{head} {};", print_statement(goto)));
                }
                (_, otherwise) => {
                    self.line(&format!("{head} {{"));
                    self.block(then);
                    match otherwise {
                        [] => self.line("}"),
                        [nested @ At { node: StmtKind::If(..), .. }] => self.statement(nested, "} else "),
                        _ => {
                            self.line("} else {");
                            self.indent += 1;
                            otherwise.iter().for_each(|stmt| self.statement(stmt, ""));
                            self.indent -= 1;
                            self.line("}");
                        }
                    }
                }
            },
            StmtKind::While(_, body) => {
                self.line(&format!("{head} {{"));
                self.block(body);
                self.line("}");
            }
            StmtKind::OneOf(branches) => {
                for (index, branch) in branches.iter().enumerate() {
                    self.line(if index == 0 { "oneof ({" } else { "} {" });
                    self.block(branch);
                }
                self.line("});");
            }
            _ => self.line(&format!("{head};")),
        }
    }
}
