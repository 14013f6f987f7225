//! Functions that a value can be: through copies, choices, tables, variables on the stack, and parameters of functions whose
//! callers are all known.

use super::code::{Code, FunctionId};
use super::module::{Callee, Function, Local, Offset, Op, Value};
use super::threads::main;
use rustc_hash::FxHashSet;

/// What a value can be.
pub struct Targets<'c> {
    code: &'c Code,
    seen: FxHashSet<(FunctionId, Local)>,
    /// Functions.
    pub functions: Vec<FunctionId>,
    /// Whether it is nothing else.
    pub all: bool,
}

/// How often the address of a function is used.
#[derive(Default)]
pub struct Uses {
    /// To call it.
    pub calls: usize,
    /// For something else.
    pub others: usize,
}

impl<'c> Targets<'c> {
    /// What a value of a function can be.
    pub fn new(code: &'c Code, by: FunctionId, value: &Value) -> Targets<'c> {
        let mut targets = Targets { code, seen: FxHashSet::default(), functions: Vec::new(), all: true };
        targets.value(by, value);
        targets.functions.sort_unstable();
        targets.functions.dedup();
        targets
    }

    fn value(&mut self, by: FunctionId, value: &Value) {
        match value {
            Value::Address(symbol, Offset::ZERO) => {
                let object = self.code.objects.get(self.code.object(by.file, *symbol) as usize);
                self.add(object.and_then(|object| object.body).map(|body| vec![body]));
            }
            Value::Local(local) if self.seen.insert((by, *local)) => self.local(by, *local),
            // One that is being looked at, and null.
            Value::Local(_) | Value::Int(0) => {}
            Value::Constant(symbols) if symbols.is_empty() => {}
            _ => self.all = false,
        }
    }

    fn add(&mut self, functions: Option<Vec<FunctionId>>) {
        self.all &= functions.is_some();
        self.functions.extend(functions.into_iter().flatten());
    }

    fn local(&mut self, by: FunctionId, local: Local) {
        let Some(function) = self.code.function(by) else { return };
        if (local as usize) < function.parameters.len() {
            return self.parameter(by, function, local as usize);
        }
        match def(function, local) {
            Some(Op::Copy(value)) => self.value(by, value),
            Some(Op::Phi(incoming)) => incoming.iter().for_each(|(value, _)| self.value(by, value)),
            Some(Op::Select(_, yes, no)) => [yes, no].into_iter().for_each(|value| self.value(by, value)),
            Some(Op::Load { pointer, size, .. }) => match base(function, pointer) {
                Some((Value::Address(symbol, at), more)) => {
                    let object = self.code.object(by.file, symbol);
                    self.add(self.code.functions_at(object, at.plus(more), *size));
                }
                Some((Value::Local(slot), Offset::ZERO)) => self.variable(by, function, slot),
                _ => self.all = false,
            },
            _ => self.all = false,
        }
    }

    /// What was given to a function by those who call it.
    fn parameter(&mut self, of: FunctionId, function: &Function, index: usize) {
        let code = self.code;
        // Whether others could call it: without a `main`, these files are not the whole program.
        let open = !function.internal && main(code).is_none();
        self.all &= !open && uses(code, of).others == 0;
        for by in code.functions() {
            let blocks = code.function(by).map_or(&[][..], |function| &function.blocks);
            let calls = blocks.iter().flat_map(|block| &block.body).filter_map(|i| i.op.call());
            for call in calls.filter(|call| code.body_of(by.file, call) == Some(of)) {
                match call.arguments.get(index) {
                    Some(argument) => self.value(by, argument),
                    None => self.all = false,
                }
            }
        }
    }

    /// What is in a variable on the stack that is only loaded and stored.
    fn variable(&mut self, by: FunctionId, function: &Function, slot: Local) {
        let itself = Value::Local(slot);
        self.all &= matches!(def(function, slot), Some(Op::Alloca));
        for instruction in function.blocks.iter().flat_map(|block| &block.body) {
            match &instruction.op {
                Op::Load { .. } => {}
                Op::Store { value, pointer, .. } if *pointer == itself => self.value(by, value),
                Op::Call(call) if self.code.callee(by.file, call).starts_with("llvm.lifetime.") => {}
                op => self.all &= !op.operands().contains(&&itself),
            }
        }
    }
}

/// What defines a value; `None` for parameters.
pub fn def(function: &Function, local: Local) -> Option<&Op> {
    let mut all = function.blocks.iter().flat_map(|block| &block.body);
    Some(&all.find(|instruction| instruction.result == Some(local))?.op)
}

/// The global or the value that a pointer is computed from, and how far behind it the pointer is.
fn base(function: &Function, pointer: &Value) -> Option<(Value, Offset)> {
    let (mut value, mut offset) = (pointer, Offset::ZERO);
    for _ in 0..32 {
        let Value::Local(local) = value else { break };
        match def(function, *local) {
            Some(Op::Copy(from)) => value = from,
            Some(Op::Gep { base, offset: more, .. }) => (value, offset) = (base, offset.plus(*more)),
            _ => break,
        }
    }
    matches!(value, Value::Local(_) | Value::Address(..)).then(|| (value.clone(), offset))
}

/// How often the address of a function is used.
pub fn uses(code: &Code, target: FunctionId) -> Uses {
    let is = |file: usize, symbol: &u32| {
        let object = code.objects.get(code.object(file as u32, *symbol) as usize);
        object.and_then(|object| object.body) == Some(target)
    };
    let mut uses = Uses::default();
    for (number, file) in code.files.iter().enumerate() {
        let globals = file.module.globals.values().flat_map(|global| &global.mentions);
        uses.others += globals.filter(|symbol| is(number, symbol)).count();
        for instruction in file.module.functions.iter().flat_map(|f| &f.blocks).flat_map(|block| &block.body)
        {
            if let Some(Callee::Direct(symbol)) = instruction.op.call().map(|call| &call.callee) {
                uses.calls += usize::from(is(number, symbol));
            }
            let used = instruction.op.operands().into_iter().filter(|value| match value {
                Value::Address(symbol, _) => is(number, symbol),
                Value::Constant(symbols) => symbols.iter().any(|symbol| is(number, symbol)),
                _ => false,
            });
            uses.others += used.count();
        }
    }
    uses
}
