//! From a lowered program to what a monitor must know of it in advance.

use seqcst_model::Value;
use seqcst_monitor::finite::{Summary, Usage, Use};
use seqcst_program::code::{AccessKind, Code, Expr, Instr, Reg, Thread};
use seqcst_program::semantics::assigned_before_use;

/// Everything the program can do to each location.
pub fn summarise(code: &Code) -> Summary {
    let mut uses = Vec::new();
    let mut fences = Vec::new();
    for (index, thread) in code.threads.iter().enumerate() {
        let constants = Constants::of(thread);
        for instr in &thread.instrs {
            let Instr::Access(access) = instr else { continue };
            let mut add = |what| {
                let read_mode = access.failure.unwrap_or(access.mode.read_part());
                uses.push(Usage { thread: index, loc: access.loc, what, mode: access.mode, read_mode });
            };
            match &access.kind {
                AccessKind::Load => add(Use::Load),
                AccessKind::Wait(values) => {
                    add(Use::Wait(values.iter().flat_map(|e| constants.values(e)).collect()));
                }
                AccessKind::Store(_) => add(Use::Store),
                AccessKind::FetchAdd(_) | AccessKind::Exchange(_) => add(Use::Update),
                AccessKind::Cas { expected, .. } => {
                    constants.values(expected).into_iter().for_each(|e| add(Use::Cas(e)));
                }
                AccessKind::WeakCas { expected, .. } => {
                    constants.values(expected).into_iter().for_each(|e| add(Use::WeakCas(e)));
                }
                AccessKind::BlockingCas { expected, .. } => {
                    constants.values(expected).into_iter().for_each(|e| add(Use::BlockingCas(e)));
                }
                AccessKind::Fence => fences.push((index, access.mode)),
            }
        }
    }
    Summary {
        threads: code.threads.len(),
        locations: code.locations.len(),
        modulus: code.modulus(),
        uses,
        fences,
    }
}

/// The few values of registers that are only ever assigned constants.
struct Constants(Vec<Option<Vec<Value>>>);

impl Constants {
    fn of(thread: &Thread) -> Constants {
        let zero_first = |reg: usize| !assigned_before_use(thread, reg as Reg);
        let mut values: Vec<Option<Vec<Value>>> =
            (0..thread.regs.len()).map(|reg| Some(if zero_first(reg) { vec![0] } else { vec![] })).collect();
        for instr in &thread.instrs {
            match instr {
                Instr::Assign(reg, Expr::Const(value)) => {
                    if let Some(known) = &mut values[usize::from(*reg)]
                        && !known.contains(value)
                    {
                        known.push(*value);
                    }
                }
                Instr::Assign(reg, _) => values[usize::from(*reg)] = None,
                Instr::Access(access) => {
                    if let Some(reg) = access.dest {
                        values[usize::from(reg)] = None;
                    }
                }
                _ => {}
            }
        }
        Constants(values)
    }

    /// The values that an expression can have; `[None]` if they are not known.
    fn values(&self, expr: &Expr) -> Vec<Option<Value>> {
        match expr {
            Expr::Const(value) => vec![Some(*value)],
            Expr::Reg(reg) => match &self.0[usize::from(*reg)] {
                Some(values) => values.iter().copied().map(Some).collect(),
                None => vec![None],
            },
            _ => vec![None],
        }
    }
}
