//! Calls: which functions they lead to, and what becomes of those that stay calls.

use super::{Back, DEEPEST, Frame, Inliner, LARGEST, NO_BLOCK, Reason, Site, Step};
use crate::ir::code::FunctionId;
use crate::ir::library::{self, Effect};
use crate::ir::limits::Limits;
use crate::ir::module::{Call, Callee, Local, Op, Positions, Terminator, Value};

impl Inliner<'_> {
    /// A call: followed if possible. The block where control goes on behind it.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call(
        &mut self,
        frame: &mut Frame,
        at: usize,
        result: Option<Local>,
        call: &Call,
        site: Site,
        next: Site,
        exception: Option<usize>,
    ) -> usize {
        let exception = exception.or(frame.back.and_then(|back| back.exception));
        let arguments: Vec<Value> = call.arguments.iter().map(|value| self.value(frame, value)).collect();
        let Some(targets) = self.targets(frame, call, site) else {
            let at = self.opaque(frame, at, result, call, arguments.clone(), site, exception);
            return self.meanwhile(frame, at, call, arguments, site, exception);
        };
        self.push(at, Step { result: None, op: Op::Compute(Vec::new()), site, mark: true });
        let behind = self.new_block();
        let back = Back { normal: behind, exception };
        // A library function that may call, or not; what it gives back is its own.
        let perhaps = self.calls_back(frame, call).is_some();
        let arguments = if perhaps { Vec::new() } else { arguments };
        let (arguments, begins) = self.by_value(frame, at, &targets, arguments, site);
        let mut entries = if perhaps { vec![behind] } else { Vec::new() };
        let mut returned = Vec::new();
        for target in targets {
            let Some(function) = self.code.function(target) else { continue };
            let (entry, values) = self.copy(target, function, Some(&arguments), Some(back));
            entries.push(entry);
            returned.extend(values.into_iter().filter(|_| !perhaps));
        }
        let end = match entries[..] {
            [only] => Terminator::Jump(only),
            [] => Terminator::Jump(behind),
            _ => Terminator::Any(entries),
        };
        self.terminate(at, end, begins);
        if let Some(result) = result {
            let op = match perhaps {
                true => Op::Compute(Vec::new()),
                false => Op::Phi(returned.into_iter().map(|value| (value, 0)).collect()),
            };
            self.push(behind, Step { result: Some(result), op, site: next, mark: false });
        }
        self.push(behind, Step { result: None, op: Op::Compute(Vec::new()), site: next, mark: true });
        behind
    }

    /// Copies what is passed by value (`byval`): the call does, and the callee sees its copy only. Gives the arguments that it
    /// sees, and the place where it begins.
    fn by_value(
        &mut self,
        frame: &Frame,
        at: usize,
        targets: &[FunctionId],
        mut arguments: Vec<Value>,
        mut site: Site,
    ) -> (Vec<Value>, Site) {
        let code = self.code;
        for (i, argument) in arguments.iter_mut().enumerate() {
            let mut functions = targets.iter().filter_map(|&target| code.function(target));
            let copied = functions.find_map(|function| function.parameters.get(i)?.copied);
            let Some(size) = copied.and_then(|size| i64::try_from(size).ok()) else { continue };
            let copy = self.body.values;
            self.body.values += 1;
            self.push(at, Step { result: Some(copy), op: Op::Alloca, site, mark: false });
            let from = std::mem::replace(argument, Value::Local(copy));
            let call = Call {
                callee: Callee::Direct(code.copies),
                arguments: vec![Value::Local(copy), from, Value::Int(size)],
                limits: Limits::default(),
                fresh: false,
                nounwind: true,
                lent: Positions::default(),
                numbers: Positions::default(),
                gives_number: true,
            };
            self.push(at, Step { result: None, op: Op::Call(Box::new(call)), site, mark: false });
            // Nothing can be put in between what one call does.
            site = Site::Before { function: frame.id, block: NO_BLOCK, index: 0 };
        }
        (arguments, site)
    }

    /// The function that a library calls again and again while it runs, with addresses that it finds in its arguments: `qsort`.
    fn meanwhile(
        &mut self,
        frame: &Frame,
        at: usize,
        call: &Call,
        arguments: Vec<Value>,
        site: Site,
        exception: Option<usize>,
    ) -> usize {
        let name = self.code.callee(frame.id.file, call);
        let value = library::calls_meanwhile(name).and_then(|index| arguments.get(index));
        let found = value.and_then(|value| self.pointed_at(value)).unwrap_or_default();
        let fits = |id: &FunctionId| !self.stack.contains(id) && self.steps <= LARGEST;
        let Some(target) = found.into_iter().find(fits) else { return at };
        let Some(function) = self.code.function(target) else { return at };
        let found = self.body.values;
        self.body.values += 1;
        let given = vec![Value::Local(found); function.parameters.len()];
        self.push(at, Step { result: Some(found), op: Op::Compute(arguments), site, mark: false });
        let (again, behind) = (self.new_block(), self.new_block());
        self.terminate(at, Terminator::Jump(again), site);
        let (entry, _) = self.copy(target, function, Some(&given), Some(Back { normal: again, exception }));
        self.terminate(again, Terminator::Any(vec![behind, entry]), site);
        behind
    }

    /// The functions to follow at a call; `None` if it stays a call.
    fn targets(&mut self, frame: &Frame, call: &Call, site: Site) -> Option<Vec<FunctionId>> {
        let found = match &call.callee {
            Callee::Direct(symbol) => {
                let object = self.code.object(frame.id.file, *symbol);
                match self.code.objects.get(object as usize).and_then(|object| object.body) {
                    Some(body) => vec![body],
                    None => self.pointed_at(&self.value(frame, self.calls_back(frame, call)?))?,
                }
            }
            Callee::Indirect(value) => {
                let value = self.value(frame, value);
                self.pointed_at(&value)?
            }
            Callee::Assembly(..) => return None,
        };
        let name = found.first().map(|id| self.code.name(*id).to_owned()).unwrap_or_default();
        if found.iter().any(|id| self.stack.contains(id)) {
            self.note(site, Reason::Recursion, name);
            return None;
        }
        if !found.is_empty() && (self.steps > LARGEST || self.stack.len() > DEEPEST) {
            self.note(site, Reason::Size, name);
            return None;
        }
        Some(found)
    }

    /// The function that a function of a library may call: the argument that is its address.
    fn calls_back<'a>(&self, frame: &Frame, call: &'a Call) -> Option<&'a Value> {
        let Callee::Direct(symbol) = &call.callee else { return None };
        match self.code.effect(frame.id.file, call) {
            Effect::Calls(argument) if !self.code.has_body(frame.id.file, *symbol) => {
                call.arguments.get(argument)
            }
            _ => None,
        }
    }

    /// The functions that a value can be, if that is known. There may be none: a pointer that is always null.
    fn pointed_at(&self, value: &Value) -> Option<Vec<FunctionId>> {
        let mut value = value;
        for _ in 0..DEEPEST {
            match value {
                Value::Address(object, _) => {
                    return Some(vec![self.code.objects.get(*object as usize)?.body?]);
                }
                Value::Local(local) => match self.defs.get(local) {
                    Some(from) => value = from,
                    None => return self.loaded(*local),
                },
                _ => break,
            }
        }
        None
    }

    /// The same for a value that was loaded from a global.
    fn loaded(&self, local: Local) -> Option<Vec<FunctionId>> {
        let mut steps = self.body.blocks.iter().flat_map(|block| &block.steps);
        match &steps.find(|step| step.result == Some(local))?.op {
            Op::Load { pointer: Value::Address(object, offset), size, .. } => {
                self.code.functions_at(*object, *offset, *size)
            }
            _ => None,
        }
    }

    /// A call that is not followed.
    #[allow(clippy::too_many_arguments)]
    fn opaque(
        &mut self,
        frame: &Frame,
        at: usize,
        result: Option<Local>,
        call: &Call,
        arguments: Vec<Value>,
        site: Site,
        exception: Option<usize>,
    ) -> usize {
        let effect = match &call.callee {
            // A body that is not followed, whatever the name says.
            Callee::Direct(symbol) if self.code.has_body(frame.id.file, *symbol) => Effect::Unknown,
            _ => self.code.effect(frame.id.file, call),
        };
        let module = &self.code.files[frame.id.file as usize].module;
        let declared = match &call.callee {
            Callee::Direct(symbol) => module.declared.get(symbol).copied().unwrap_or_default(),
            _ => Default::default(),
        };
        let callee = match &call.callee {
            Callee::Direct(symbol) => Callee::Direct(self.code.object(frame.id.file, *symbol)),
            Callee::Indirect(value) => Callee::Indirect(self.value(frame, value)),
            assembly => assembly.clone(),
        };
        let noted = self.body.notes.last().is_some_and(|note| note.site == site);
        if matches!(effect, Effect::Unknown | Effect::Calls(_)) && !noted {
            let (reason, name) = match &call.callee {
                Callee::Direct(symbol) => (Reason::External, module.name(*symbol).to_owned()),
                Callee::Indirect(_) => (Reason::Indirect, String::new()),
                Callee::Assembly(text, _) => (Reason::Assembly, text.clone()),
            };
            self.note(site, reason, name);
        }
        let limits = match effect {
            Effect::None => Limits::NOTHING,
            _ => call.limits.and(declared.limits),
        };
        let fresh = call.fresh || declared.fresh;
        let nounwind = call.nounwind || declared.nounwind || !effect.may_throw();
        let lent = call.lent.or(declared.lent);
        let op = Op::Call(Box::new(Call { callee, arguments, limits, fresh, nounwind, lent, ..*call }));
        self.push(at, Step { result, op, site, mark: false });
        let Some(exception) = exception.filter(|_| !nounwind) else { return at };
        let next = self.new_block();
        self.terminate(at, Terminator::Any(vec![next, exception]), site);
        next
    }
}
