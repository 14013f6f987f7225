//! Addresses of globals: which get anywhere, and what is stored in the globals whose address does not.
//!
//! An address that is given to a function of the program is followed into it; it leaks if the function stores it, returns it, or
//! passes it to unknown code.

use super::code::{Code, FunctionId, Object};
use super::library::{Effect, keeps_locks};
use super::module::{Function, Local, Offset, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is stored in a global through its name: where, how many bytes, and which object's address if that is what it is.
pub type Stored = Vec<(Offset, u64, Option<Object>)>;

/// From here on to the end of whatever it is.
const FAR: u64 = 1 << 40;

/// What is known of globals and their addresses.
#[derive(Default)]
pub struct Leaks {
    /// Objects whose address an instruction puts anywhere but into the pointer of an access.
    pub leaks: FxHashSet<Object>,
    /// Objects whose address stands in a variable from the beginning.
    pub mentioned: FxHashSet<Object>,
    /// Objects that are written otherwise than by stores through their names.
    pub written: FxHashSet<Object>,
    /// What is stored through their names.
    pub stored: FxHashMap<Object, Stored>,
    /// Parameters of functions that leak what they are given.
    pub parameters: FxHashSet<(FunctionId, usize)>,
}

impl Leaks {
    /// Looks at a program.
    pub fn new(code: &Code) -> Leaks {
        let mut leaks = Leaks::default();
        for (number, file) in code.files.iter().enumerate() {
            for global in file.module.globals.values() {
                let mentions = global.mentions.iter();
                leaks.mentioned.extend(mentions.map(|&symbol| code.object(number as u32, symbol)));
            }
        }
        let looked_at: Vec<(FunctionId, FunctionValues)> = code
            .functions()
            .filter_map(|id| Some((id, FunctionValues::new(code, id, code.function(id)?))))
            .collect();
        looked_at.iter().for_each(|(_, function)| leaks.writes(code, function));
        // Parameters leak into parameters.
        loop {
            let before = leaks.parameters.len();
            for (id, function) in &looked_at {
                for (op, gives) in function.instructions() {
                    for (value, way) in leaks.uses(code, id.file, op, gives) {
                        leaks.mark(code, *id, function, value, way);
                    }
                }
            }
            if leaks.parameters.len() == before {
                return leaks;
            }
        }
    }

    /// Notes what a function writes to globals.
    fn writes(&mut self, code: &Code, function: &FunctionValues) {
        for (op, _) in function.instructions() {
            let mut store = |pointer: &Value, size: u64, value: Option<&Value>| {
                let Some((object, offset)) = function.object(code, pointer) else { return };
                let target = value.and_then(|value| function.object(code, value));
                let target = target.filter(|(_, at)| *at == Offset::ZERO).map(|(object, _)| object);
                // A null pointer is the address of no object.
                if value != Some(&Value::Int(0)) {
                    self.stored.entry(object).or_default().push((offset, size, target));
                }
            };
            match op {
                Op::Store { pointer, value, size, .. } => store(pointer, *size, Some(value)),
                // What else than its operand it may write is not followed.
                Op::Rmw { pointer, size, .. } => store(pointer, *size, None),
                Op::CompareExchange { pointer, new, size, .. } => store(pointer, *size, Some(new)),
                Op::Load { .. } | Op::Gep { .. } | Op::Copy(_) | Op::Compare(..) => {}
                Op::Call(call) => match code.effect(function.file, call) {
                    _ if code.body_of(function.file, call).is_some() => self.written_by(code, function, op),
                    Effect::None | Effect::Orders | Effect::Returns | Effect::Access(..) => {}
                    Effect::Arguments if keeps_locks(code.callee(function.file, call)) => {}
                    Effect::Copies | Effect::Fills | Effect::Arguments | Effect::Sends => {
                        call.arguments.iter().for_each(|value| store(value, FAR, None));
                    }
                    _ => self.written_by(code, function, op),
                },
                op => self.written_by(code, function, op),
            }
        }
    }

    fn written_by(&mut self, code: &Code, function: &FunctionValues, op: &Op) {
        let values = op.operands().into_iter();
        self.written.extend(values.filter_map(|value| Some(function.object(code, value)?.0)));
    }

    /// The values of an instruction whose way is not followed any further, or not for all.
    fn uses<'o>(&self, code: &Code, file: u32, op: &'o Op, gives: bool) -> Vec<(&'o Value, Destination)> {
        let all = |way: Destination| op.operands().into_iter().map(|value| (value, way)).collect();
        let Some(call) = op.call() else {
            return match op {
                Op::Load { .. } | Op::Gep { .. } | Op::Copy(_) | Op::Compare(..) => Vec::new(),
                Op::Store { value, .. } | Op::Rmw { value, .. } => vec![(value, Destination::Unknown)],
                Op::CompareExchange { expected, new, .. } => {
                    vec![(expected, Destination::Unknown), (new, Destination::Unknown)]
                }
                Op::Phi(_) | Op::Select(..) | Op::Compute(_) | Op::Extract(..) => all(Destination::Value),
                _ => all(Destination::Unknown),
            };
        };
        if let Some(body) = code.body_of(file, call) {
            let known = code.function(body).map_or(0, |function| function.parameters.len());
            let leaks = |i: usize| i >= known || self.parameters.contains(&(body, i));
            let arguments = call.arguments.iter().enumerate().filter(|(i, _)| leaks(*i));
            return arguments.map(|(_, value)| (value, Destination::Unknown)).collect();
        }
        match code.effect(file, call) {
            Effect::Access(..) | Effect::Copies | Effect::Fills | Effect::Returns => Vec::new(),
            // What it gives back may be what it got (`strchr`, `llvm.ptrmask`).
            Effect::None | Effect::Orders | Effect::Arguments | Effect::Sends
                if !gives || call.gives_number =>
            {
                Vec::new()
            }
            // Who is called gets nowhere by that.
            _ => call.arguments.iter().map(|value| (value, Destination::Unknown)).collect(),
        }
    }

    fn mark(
        &mut self,
        code: &Code,
        id: FunctionId,
        function: &FunctionValues,
        value: &Value,
        way: Destination,
    ) {
        if let Value::Constant(symbols) = value {
            self.leaks.extend(symbols.iter().map(|&symbol| code.object(id.file, symbol)));
        }
        self.leaks.extend(function.object(code, value).map(|(object, _)| object));
        if let (Value::Local(local), Destination::Unknown) = (value, way) {
            let from = function.parameters.get(local).into_iter().flatten();
            self.parameters.extend(from.map(|&parameter| (id, parameter)));
        }
    }
}

/// Where a value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Destination {
    /// Unknown: it escapes.
    Unknown,
    /// Into another value of the function: parameters are followed there, addresses of globals are not.
    Value,
}

/// A function, and where its values come from.
struct FunctionValues<'c> {
    file: u32,
    function: &'c Function,
    /// Locals that hold the address of an object, through addresses of fields and casts.
    objects: FxHashMap<Local, (Object, Offset)>,
    /// Locals that are computed from parameters.
    parameters: FxHashMap<Local, FxHashSet<usize>>,
}

impl<'c> FunctionValues<'c> {
    fn new(code: &Code, id: FunctionId, function: &'c Function) -> FunctionValues<'c> {
        let (objects, parameters) = (FxHashMap::default(), FxHashMap::default());
        let mut values = FunctionValues { file: id.file, function, objects, parameters };
        for parameter in 0..function.parameters.len() {
            values.parameters.entry(parameter as Local).or_default().insert(parameter);
        }
        // Blocks stand in any order.
        while values.follow(code) {}
        values
    }

    /// What instructions do, and whether they have a result.
    fn instructions(&self) -> impl Iterator<Item = (&'c Op, bool)> {
        let all = self.function.blocks.iter().flat_map(|block| &block.body);
        all.map(|instruction| (&instruction.op, instruction.result.is_some()))
    }

    /// The object that a value is the address of.
    fn object(&self, code: &Code, value: &Value) -> Option<(Object, Offset)> {
        match value {
            Value::Address(symbol, offset) => Some(code.address(self.file, *symbol, *offset)),
            Value::Local(local) => self.objects.get(local).copied(),
            _ => None,
        }
    }

    fn follow(&mut self, code: &Code) -> bool {
        let mut changed = false;
        for instruction in self.function.blocks.iter().flat_map(|block| &block.body) {
            let Some(result) = instruction.result else { continue };
            let base = match &instruction.op {
                Op::Gep { base, offset, .. } => Some((base, *offset)),
                Op::Copy(base) => Some((base, Offset::ZERO)),
                Op::Call(call) if code.effect(self.file, call) == Effect::Returns => {
                    call.arguments.first().map(|base| (base, Offset::ZERO))
                }
                _ => None,
            };
            let object = base.and_then(|(base, more)| {
                let (object, offset) = self.object(code, base)?;
                Some((object, offset.plus(more)))
            });
            if let Some(object) = object {
                changed |= self.objects.insert(result, object) != Some(object);
            }
            let passes = base.is_some()
                || matches!(instruction.op, Op::Phi(_) | Op::Select(..) | Op::Compute(_) | Op::Extract(..));
            let from: FxHashSet<usize> = match passes {
                true => instruction
                    .op
                    .operands()
                    .into_iter()
                    .flat_map(|value| self.computed_from(value))
                    .collect(),
                false => continue,
            };
            if !from.is_empty() {
                let there = self.parameters.entry(result).or_default();
                let before = there.len();
                there.extend(from);
                changed |= there.len() > before;
            }
        }
        changed
    }

    fn computed_from(&self, value: &Value) -> FxHashSet<usize> {
        match value {
            Value::Local(local) => self.parameters.get(local).cloned().unwrap_or_default(),
            _ => FxHashSet::default(),
        }
    }
}
