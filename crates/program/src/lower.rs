//! Syntax tree to flat code: control flow becomes jumps, replicated threads become threads. What an access becomes
//! on each memory model is decided in `lower_access`.

use crate::ast::{
    Block, Expr as Source, ExprKind, Name, Program, Span, Stmt, StmtKind, Thread as SourceThread,
};
use crate::code::{Binary, Code, Expr, Instr, Location, Pc, Reg, Site, Thread, Unary};
use crate::print::{self, print_statement};
use crate::values::Values;
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
    let values = program.values();
    let locations: Vec<Location> = program
        .locations
        .iter()
        .map(|location| Location {
            name: location.name.node.clone(),
            initial: location.initial.as_ref().map_or(0, |initial| values.store(initial.node)),
            non_atomic: location.non_atomic,
            hidden: false,
        })
        .collect();
    let names = program.locations.iter().enumerate();
    let mut context = Context {
        model,
        values,
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
    let mut code = Code { model, values, locations, threads, sites: context.sites };
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
    pub values: Values,
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
    /// Registers that the source does not have.
    extra: usize,
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
            extra: 0,
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
        let extra = (0..self.extra).map(|number| format!("({number})"));
        Thread {
            name: match self.source.count {
                Some(_) => format!("{name}[{}]", self.number),
                None => name.clone(),
            },
            instrs: self.instrs,
            regs: self.source.locals.iter().map(|local| local.node.clone()).chain(extra).collect(),
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
                let value = self.checked(value);
                self.push(Instr::Assign(self.register(register), value));
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
                let condition = self.checked(condition);
                self.push(Instr::Assert(condition, site));
            }
            StmtKind::Assume(condition) => {
                let condition = self.checked(condition);
                self.push(Instr::Assume(condition));
            }
        }
    }

    fn if_statement(&mut self, condition: &Source, then: &'p Block, otherwise: &'p Block) {
        if let ([Stmt { node: StmtKind::Goto(label), .. }], []) = (then.as_slice(), otherwise.as_slice()) {
            let condition = self.checked(condition);
            let branch = self.push(Instr::Branch(condition, 0));
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
        match self.checked(condition) {
            Expr::Const(0) => Some(self.push(Instr::Jump(0))),
            Expr::Const(_) => None,
            condition => Some(self.push(Instr::Branch(Expr::Unary(Unary::Not, Box::new(condition)), 0))),
        }
    }

    fn site(&mut self, stmt: &Stmt) -> u32 {
        self.site_of(stmt.span, || print_statement(stmt))
    }

    fn site_of(&mut self, span: Span, text: impl Fn() -> String) -> u32 {
        if self.next_site == self.context.sites.len() {
            self.context.sites.push(Site { span: span.range(), text: text() });
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

    /// An expression that comes to be evaluated, after the test whether it has a value, where there is need of one.
    pub(crate) fn checked(&mut self, source: &Source) -> Expr {
        let expr = self.expr(source);
        self.must_fit(source, expr.clone());
        expr
    }

    /// The test whether an expression has a value.
    fn must_fit(&mut self, source: &Source, expr: Expr) {
        if self.context.values.is_exact() && can_overflow(&expr) {
            let site = self.site_of(source.span, || print::expr(source));
            self.push(Instr::Fits(expr, site));
        }
    }

    /// An addition, and then the test whether the sum has a value: memory has it by then, but the search ends there.
    pub(crate) fn fetch_add(
        &mut self,
        operand: &Source,
        dest: Option<Reg>,
        site: u32,
        emit: impl FnOnce(&mut Self, Expr, Option<Reg>),
    ) {
        let expr = self.expr(operand);
        if !self.context.values.is_exact() {
            return emit(self, expr, dest);
        }
        let found = Reg::try_from(self.source.locals.len() + self.extra).expect("checked count");
        self.extra += 1;
        // What is subtracted has a value, its opposite need not.
        let (operator, term) = match &expr {
            Expr::Unary(Unary::Neg, term) => (Binary::Sub, (**term).clone()),
            term => (Binary::Add, term.clone()),
        };
        self.must_fit(operand, term.clone());
        emit(self, expr, Some(found));
        let Site { span, text } = self.context.sites[site as usize].clone();
        let site = self.site_of(Span::new(span.start, span.end), || text.clone());
        self.push(Instr::Fits(Expr::Binary(operator, Box::new(Expr::Reg(found)), Box::new(term)), site));
        if let Some(dest) = dest {
            self.push(Instr::Assign(dest, Expr::Reg(found)));
        }
    }

    pub(crate) fn expr(&self, expr: &Source) -> Expr {
        let values = self.context.values;
        match &expr.node {
            ExprKind::Number(value) => Expr::Const(value % values.modulus()),
            ExprKind::Bool(value) => Expr::Const(Value::from(*value)),
            ExprKind::Name(name) => match self.registers.get(name.as_str()) {
                Some(register) => Expr::Reg(*register),
                // The only other name in an expression is the replicated thread's own.
                None => Expr::Const(self.number),
            },
            ExprKind::Unary(operator, operand) => match (operator, self.expr(operand)) {
                // Negative constants stay constants, for those who look for constants.
                (Unary::Neg, operand @ Expr::Const(_)) => {
                    self.folded(Expr::Unary(Unary::Neg, Box::new(operand)))
                }
                (operator, operand) => Expr::Unary(*operator, Box::new(operand)),
            },
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                match (operator, &left, &right) {
                    (Binary::Add | Binary::Sub, Expr::Const(_), Expr::Const(_)) => {
                        self.folded(Expr::Binary(*operator, Box::new(left), Box::new(right)))
                    }
                    _ => Expr::Binary(*operator, Box::new(left), Box::new(right)),
                }
            }
        }
    }
    /// An operator on constants, as a constant if it has a value.
    fn folded(&self, expr: Expr) -> Expr {
        let values = self.context.values;
        if values.fits(&expr, &[]) { Expr::Const(values.eval(&expr, &[])) } else { expr }
    }
}

/// Whether it is possible that an expression has no value though its registers have.
fn can_overflow(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Reg(_) => false,
        Expr::Unary(Unary::Not, operand) => can_overflow(operand),
        Expr::Unary(Unary::Neg | Unary::BitNot, _) => true,
        Expr::Binary(operator, left, right) => match operator {
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne => {
                can_overflow(left) || can_overflow(right)
            }
            Binary::And | Binary::Or => can_overflow(left) || can_overflow(right),
            _ => true,
        },
    }
}
