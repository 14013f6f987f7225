//! Syntax tree to flat code: control flow becomes jumps, replicated threads become threads. What an access becomes
//! on each memory model is decided in `lower_access`.

use crate::ast::{Block, Expr as Source, ExprKind, Name, Program, Stmt, StmtKind, Thread as SourceThread};
use crate::code::{Binary, Code, Expr, Instr, Location, Pc, Reg, Site, Thread, Unary};
use crate::print::print_statement;
use rustc_hash::FxHashMap;
use seqcst_model::{Loc, Model, Value};
use std::fmt;

/// A memory model that programs can't be lowered for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported(pub Model);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let supported = Model::WATCHED.map(Model::name).join(", ");
        write!(f, "no program is checked against {} (but against {supported})", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// Lowers a program for one memory model.
///
/// # Panics
/// If the program does not pass [`crate::check()`].
pub fn lower(program: &Program, model: Model) -> Result<Code, Unsupported> {
    if !Model::WATCHED.contains(&model) {
        return Err(Unsupported(model));
    }
    let modulus = program.max_value() + 1;
    let locations: Vec<Location> = program
        .locations
        .iter()
        .map(|location| Location {
            name: location.name.node.clone(),
            initial: location.initial.as_ref().map_or(0, |v| Value::try_from(v.node).expect("checked value")),
            non_atomic: location.non_atomic,
            hidden: false,
        })
        .collect();
    let names = program.locations.iter().enumerate();
    let mut context = Context {
        model,
        modulus,
        names: names
            .map(|(i, l)| (l.name.node.as_str(), Loc(u8::try_from(i).expect("checked count"))))
            .collect(),
        fence: Loc(u8::try_from(locations.len()).expect("checked count")),
        fence_used: false,
        sites: Vec::new(),
    };
    let mut threads = Vec::new();
    for thread in &program.threads {
        let first_site = context.sites.len();
        for number in 0..thread.count.as_ref().map_or(1, |c| c.node) {
            threads.push(ThreadLowering::new(&mut context, thread, number, first_site).run());
        }
    }
    let mut code = Code { model, modulus, locations, threads, sites: context.sites };
    if context.fence_used {
        code.locations.push(Location {
            name: "(fence)".to_string(),
            initial: 0,
            non_atomic: false,
            hidden: true,
        });
    }
    Ok(code)
}

/// What all threads share.
pub(crate) struct Context<'p> {
    pub model: Model,
    modulus: Value,
    names: FxHashMap<&'p str, Loc>,
    /// The hidden location behind SC fences, after the user's.
    pub fence: Loc,
    pub fence_used: bool,
    sites: Vec<Site>,
}

pub(crate) struct ThreadLowering<'c, 'p> {
    pub context: &'c mut Context<'p>,
    source: &'p SourceThread,
    number: Value,
    registers: FxHashMap<&'p str, Reg>,
    pub instrs: Vec<Instr>,
    labels: FxHashMap<&'p str, Pc>,
    /// Jumps to labels, by the index of the instruction.
    gotos: Vec<(usize, &'p Name)>,
    next_site: usize,
}

impl<'c, 'p> ThreadLowering<'c, 'p> {
    /// All instances of a replicated thread share their sites, so each starts counting at the first one's.
    fn new(context: &'c mut Context<'p>, source: &'p SourceThread, number: Value, first_site: usize) -> Self {
        let registers = source.locals.iter().enumerate();
        ThreadLowering {
            context,
            source,
            number,
            registers: registers
                .map(|(i, name)| (name.node.as_str(), Reg::try_from(i).expect("checked count")))
                .collect(),
            instrs: Vec::new(),
            labels: FxHashMap::default(),
            gotos: Vec::new(),
            next_site: first_site,
        }
    }

    fn run(mut self) -> Thread {
        self.block(&self.source.body);
        self.instrs.push(Instr::End);
        for (index, label) in std::mem::take(&mut self.gotos) {
            let target = *self.labels.get(label.node.as_str()).expect("checked label");
            self.patch(index, target);
        }
        let name = &self.source.name.node;
        Thread {
            name: match self.source.count {
                Some(_) => format!("{name}[{}]", self.number),
                None => name.clone(),
            },
            instrs: self.instrs,
            regs: self.source.locals.iter().map(|local| local.node.clone()).collect(),
        }
    }

    fn here(&self) -> Pc {
        Pc::try_from(self.instrs.len()).expect("programs are smaller than that")
    }

    fn push(&mut self, instr: Instr) -> usize {
        self.instrs.push(instr);
        self.instrs.len() - 1
    }

    /// Sets the target of the jump or branch at `index`.
    fn patch(&mut self, index: usize, target: Pc) {
        match &mut self.instrs[index] {
            Instr::Jump(pc) | Instr::Branch(_, pc) => *pc = target,
            other => unreachable!("only jumps are patched, not {other:?}"),
        }
    }

    fn block(&mut self, block: &'p Block) {
        for stmt in block {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &'p Stmt) {
        match &stmt.node {
            StmtKind::Skip | StmtKind::Verify(_) => {}
            StmtKind::Label(label) => {
                self.labels.insert(&label.node, self.here());
            }
            StmtKind::Goto(label) => {
                let jump = self.push(Instr::Jump(0));
                self.gotos.push((jump, label));
            }
            StmtKind::Assign(register, value) => {
                let instr = Instr::Assign(self.register(register), self.expr(value));
                self.push(instr);
            }
            StmtKind::Access(dest, access) => {
                let site = self.site(stmt);
                let dest = dest.as_ref().map(|register| self.register(register));
                self.access(access, dest, site);
            }
            StmtKind::If(condition, then, otherwise) => self.if_statement(condition, then, otherwise),
            StmtKind::While(condition, body) => {
                let head = self.here();
                let exit = self.jump_unless(condition);
                self.block(body);
                self.push(Instr::Jump(head));
                if let Some(exit) = exit {
                    self.patch(exit, self.here());
                }
            }
            StmtKind::OneOf(branches) => self.one_of(branches),
            StmtKind::Assert(condition) => {
                let site = self.site(stmt);
                let instr = Instr::Assert(self.expr(condition), site);
                self.push(instr);
            }
            StmtKind::Assume(condition) => {
                let instr = Instr::Assume(self.expr(condition));
                self.push(instr);
            }
        }
    }

    fn if_statement(&mut self, condition: &Source, then: &'p Block, otherwise: &'p Block) {
        if let ([Stmt { node: StmtKind::Goto(label), .. }], []) = (then.as_slice(), otherwise.as_slice()) {
            let instr = Instr::Branch(self.expr(condition), 0);
            let branch = self.push(instr);
            self.gotos.push((branch, label));
            return;
        }
        let skip = self.jump_unless(condition);
        self.block(then);
        // Without `else` there is nothing to jump over.
        let end = (!otherwise.is_empty()).then(|| self.push(Instr::Jump(0)));
        if let Some(skip) = skip {
            self.patch(skip, self.here());
        }
        self.block(otherwise);
        if let Some(end) = end {
            self.patch(end, self.here());
        }
    }

    fn one_of(&mut self, branches: &'p [Block]) {
        let choose = self.push(Instr::Choose(Vec::new()));
        let mut starts = Vec::with_capacity(branches.len());
        let mut ends = Vec::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            starts.push(self.here());
            self.block(branch);
            if index + 1 < branches.len() {
                ends.push(self.push(Instr::Jump(0)));
            }
        }
        let end = self.here();
        ends.into_iter().for_each(|jump| self.patch(jump, end));
        self.instrs[choose] = Instr::Choose(starts);
    }

    /// A jump, still without target, that is taken if the condition is 0; none if it never is.
    fn jump_unless(&mut self, condition: &Source) -> Option<usize> {
        match self.expr(condition) {
            Expr::Const(0) => Some(self.push(Instr::Jump(0))),
            Expr::Const(_) => None,
            condition => Some(self.push(Instr::Branch(Expr::Unary(Unary::Not, Box::new(condition)), 0))),
        }
    }

    fn site(&mut self, stmt: &Stmt) -> u32 {
        if self.next_site == self.context.sites.len() {
            self.context.sites.push(Site { span: stmt.span.range(), text: print_statement(stmt) });
        }
        self.next_site += 1;
        u32::try_from(self.next_site - 1).expect("programs are smaller than that")
    }

    fn register(&self, name: &Name) -> Reg {
        *self.registers.get(name.node.as_str()).expect("checked register")
    }

    pub(crate) fn location(&self, name: &Name) -> Loc {
        *self.context.names.get(name.node.as_str()).expect("checked location")
    }

    pub(crate) fn expr(&self, expr: &Source) -> Expr {
        let modulus = self.context.modulus;
        match &expr.node {
            ExprKind::Number(value) => Expr::Const(value % modulus),
            ExprKind::Bool(value) => Expr::Const(Value::from(*value)),
            ExprKind::Name(name) => match self.registers.get(name.as_str()) {
                Some(register) => Expr::Reg(*register),
                // The only other name in an expression is the replicated thread's own.
                None => Expr::Const(self.number),
            },
            ExprKind::Unary(operator, operand) => match (operator, self.expr(operand)) {
                // Negative constants stay constants, for those who look for constants.
                (Unary::Neg, Expr::Const(value)) => Expr::Const((modulus - value) % modulus),
                (operator, operand) => Expr::Unary(*operator, Box::new(operand)),
            },
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                match (operator, &left, &right) {
                    (Binary::Add, Expr::Const(a), Expr::Const(b)) => Expr::Const((a + b) % modulus),
                    (Binary::Sub, Expr::Const(a), Expr::Const(b)) => Expr::Const((a + modulus - b) % modulus),
                    _ => Expr::Binary(*operator, Box::new(left), Box::new(right)),
                }
            }
        }
    }
}
