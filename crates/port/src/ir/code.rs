//! Several files as one program: what each name means in all of them.

use super::barrier::{Barrier, barriers};
use super::leaks::{Leaks, Stored};
use super::library::{Effect, assembly_touches_memory, effect};
use super::limits::{Limits, Reach};
use super::module::{Call, Callee, Module, Offset, Symbol};
use crate::machine::Machine;
use rustc_hash::{FxHashMap, FxHashSet};

/// A file that was read.
#[derive(Debug)]
pub struct File {
    /// What it is called.
    pub name: String,
    /// What stands in it.
    pub text: String,
    /// What that means.
    pub module: Module,
}

impl File {
    /// The machine that it was compiled for, if it says so.
    pub fn machine(&self) -> Option<Machine> {
        Machine::of_triple(&self.module.triple)
    }

    /// Whether it may have `ldapr`: it is for an ARMv8 processor that has it, or for one that is not known here.
    pub fn has_rcpc(&self) -> bool {
        let attribute = |line: &str, name: &str| {
            let rest = line.split_once(&format!("\"{name}\"=\""))?.1;
            Some(rest.split('"').next().unwrap_or_default().to_owned())
        };
        let is_newer = |feature: &str| {
            ["+rcpc", "+v8r", "+v9"].iter().any(|newer| feature.starts_with(newer))
                || ("+v8.3a".."+v8a").contains(&feature)
        };
        self.machine() == Some(Machine::ArmV8)
            && self.text.lines().filter(|line| line.starts_with("attributes #")).any(|line| {
                let features = attribute(line, "target-features").unwrap_or_default();
                features.split(',').any(is_newer)
                    || attribute(line, "target-cpu").is_some_and(|processor| processor != "generic")
            })
    }
}

/// A function with a body: its file, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId {
    /// Index into [`Code::files`].
    pub file: u32,
    /// Index into [`Module::functions`].
    pub function: u32,
}

/// A global variable or a function, the same number in all files that mean the same one.
pub type Object = u32;

/// What is known of a global variable or a function.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// The function, if it has a body.
    pub body: Option<FunctionId>,
    /// It is never written.
    pub constant: bool,
    /// There is one for each thread.
    pub thread_local: bool,
    /// No other file can name it.
    pub internal: bool,
    /// A pointer to it may have got anywhere.
    pub leaks: bool,
    /// An instruction may have given a pointer to it to anybody.
    pub given: bool,
}

/// A program in several files.
#[derive(Debug)]
pub struct Code {
    /// The files, by their number in [`FunctionId::file`].
    pub files: Vec<File>,
    /// Globals and functions.
    pub objects: Vec<Known>,
    /// What each symbol of each file means: an object, and how far into it if the symbol is an alias.
    numbers: Vec<Vec<(Object, Offset)>>,
    /// What is stored into globals through their names.
    stored: FxHashMap<Object, Stored>,
    /// Globals that are written in other ways, too.
    written: FxHashSet<Object>,
    /// The function that copies what is passed by value.
    pub copies: Object,
    /// Parameters that get anywhere.
    parameters: FxHashSet<(FunctionId, usize)>,
}

/// What compilers call to copy memory.
const COPIES: &str = "llvm.memcpy.";

impl Code {
    /// Puts files together.
    pub fn new(files: Vec<File>) -> Code {
        let mut code = Code {
            files: Vec::new(),
            objects: Vec::new(),
            numbers: Vec::new(),
            stored: FxHashMap::default(),
            written: FxHashSet::default(),
            parameters: FxHashSet::default(),
            copies: 0,
        };
        let mut by_name: FxHashMap<String, Object> = FxHashMap::default();
        for (number, file) in files.into_iter().enumerate() {
            code.join(number as u32, &file.module, &mut by_name);
            code.files.push(file);
        }
        code.aliases(&by_name);
        code.copies = code.objects.len() as Object;
        let name = COPIES.to_owned();
        code.objects.push(Known { name, internal: true, constant: true, ..Known::default() });
        code.find_leaks();
        code
    }

    fn join(&mut self, file: u32, module: &Module, by_name: &mut FxHashMap<String, Object>) {
        let mut numbers = Vec::with_capacity(module.symbols.len());
        for (symbol, name) in module.symbols.iter().enumerate() {
            let symbol = symbol as Symbol;
            let global = module.globals.get(&symbol);
            let body =
                module.bodies.get(&symbol).map(|&function| FunctionId { file, function: function as u32 });
            let internal = global.is_some_and(|g| g.internal)
                || module.aliases.get(&symbol).is_some_and(|alias| alias.internal)
                || body
                    .is_some_and(|id| module.functions.get(id.function as usize).is_some_and(|f| f.internal));
            let known = match by_name.get(name) {
                Some(&number) if !internal => number,
                _ => {
                    let number = self.objects.len() as Object;
                    self.objects.push(Known {
                        name: name.clone(),
                        internal,
                        constant: true,
                        ..Known::default()
                    });
                    if !internal {
                        by_name.insert(name.clone(), number);
                    }
                    number
                }
            };
            let object = &mut self.objects[known as usize];
            object.body = object.body.or(body);
            object.constant &= match global {
                // Streams of the C library: it locks what is behind them itself.
                Some(global) => global.constant || is_stream(name),
                // Code.
                None => body.is_some() || module.declared.contains_key(&symbol),
            };
            object.thread_local |= global.is_some_and(|global| global.thread_local);
            numbers.push((known, Offset::ZERO));
        }
        self.numbers.push(numbers);
    }

    /// Gives aliases the numbers of what they stand for, also in files that know no more than the name.
    fn aliases(&mut self, by_name: &FxHashMap<String, Object>) {
        let mut means: FxHashMap<Object, (Object, Offset)> = FxHashMap::default();
        for (numbers, file) in self.numbers.iter().zip(&self.files) {
            for (&symbol, alias) in &file.module.aliases {
                let (own, of) = (numbers[symbol as usize].0, numbers[alias.of as usize].0);
                // A function of that name in another file goes before a weak alias.
                if self.objects[own as usize].body.is_none() {
                    means.insert(own, (of, alias.offset));
                }
            }
        }
        let resolve = |mut object: Object| {
            let mut offset = Offset::ZERO;
            for _ in 0..means.len() {
                let Some(&(next, more)) = means.get(&object) else { break };
                (object, offset) = (next, offset.plus(more));
            }
            (object, offset)
        };
        self.numbers.iter_mut().flatten().for_each(|number| *number = resolve(number.0));
        for &alias in by_name.values().filter(|alias| means.contains_key(alias)) {
            // Other files can name it, by the name of the alias.
            self.objects[resolve(alias).0 as usize].internal = false;
        }
    }

    /// The object behind a symbol of a file.
    pub fn object(&self, file: u32, symbol: Symbol) -> Object {
        self.address(file, symbol, Offset::ZERO).0
    }

    /// The object behind a symbol of a file, and how far into it an address is that is so far behind the symbol.
    pub fn address(&self, file: u32, symbol: Symbol, offset: Offset) -> (Object, Offset) {
        let known = self.numbers.get(file as usize).and_then(|n| n.get(symbol as usize)).copied();
        let (object, at) = known.unwrap_or((0, Offset::ANY));
        (object, at.plus(offset))
    }

    /// Whether a symbol of a file is a function with a body.
    pub fn has_body(&self, file: u32, symbol: Symbol) -> bool {
        self.objects.get(self.object(file, symbol) as usize).is_some_and(|object| object.body.is_some())
    }

    /// The function with a body that a call in a file names.
    pub fn body_of(&self, file: u32, call: &Call) -> Option<FunctionId> {
        match &call.callee {
            Callee::Direct(symbol) => self.objects.get(self.object(file, *symbol) as usize)?.body,
            _ => None,
        }
    }

    /// What a call in a thread does that was not followed: its callee is an [`Object`].
    pub fn effect_of(&self, call: &Call) -> Effect {
        if self.barriers_of(call).is_some() {
            return Effect::Orders;
        }
        match &call.callee {
            Callee::Direct(object) => match self.objects.get(*object as usize) {
                Some(known) if known.body.is_none() => match by_name(&known.name, call.limits) {
                    // Its argument may be any function.
                    Effect::Calls(_) => Effect::Unknown,
                    known => known,
                },
                _ => Effect::Unknown,
            },
            _ => Effect::within(call.limits),
        }
    }

    /// Whether what such a call returns is the address of memory that has not escaped.
    pub fn allocates(&self, call: &Call) -> bool {
        call.fresh || self.effect_of(call).allocates()
    }

    /// The fences that such a call is, if it is nothing else.
    pub fn barriers_of(&self, call: &Call) -> Option<Vec<Barrier>> {
        let name = match &call.callee {
            Callee::Direct(object) => self.objects.get(*object as usize).map_or("", |known| &known.name),
            _ => "",
        };
        barriers(&call.callee, name, &call.arguments)
    }

    /// An object by its name.
    pub fn find(&self, name: &str) -> Option<Object> {
        self.objects.iter().position(|object| object.name == name).map(|number| number as Object)
    }

    /// The function behind an id.
    pub fn function(&self, id: FunctionId) -> Option<&super::module::Function> {
        self.files.get(id.file as usize)?.module.functions.get(id.function as usize)
    }

    /// The name of a function in the text.
    pub fn name(&self, id: FunctionId) -> &str {
        match (self.files.get(id.file as usize), self.function(id)) {
            (Some(file), Some(function)) => file.module.name(function.name),
            _ => "",
        }
    }

    /// All functions with bodies.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + '_ {
        self.files.iter().enumerate().flat_map(|(file, f)| {
            (0..f.module.functions.len() as u32)
                .map(move |function| FunctionId { file: file as u32, function })
        })
    }

    /// The name of the function that a call in a file names.
    pub fn callee(&self, file: u32, call: &Call) -> &str {
        match (&call.callee, self.files.get(file as usize)) {
            (Callee::Direct(symbol), Some(file)) => file.module.name(*symbol),
            _ => "",
        }
    }

    /// What a call does, if it is to a function without a body here.
    pub fn effect(&self, file: u32, call: &Call) -> Effect {
        if barriers(&call.callee, self.callee(file, call), &call.arguments).is_some() {
            return Effect::Orders;
        }
        match &call.callee {
            Callee::Direct(symbol) => {
                let module = &self.files[file as usize].module;
                let declared = module.declared.get(symbol).copied().unwrap_or_default();
                by_name(module.name(*symbol), call.limits.and(declared.limits))
            }
            Callee::Assembly(text, constraints) if !assembly_touches_memory(text, constraints) => {
                Effect::None
            }
            Callee::Assembly(..) | Callee::Indirect(_) => Effect::within(call.limits),
        }
    }

    /// Marks the objects whose address goes anywhere but into the pointer of an access.
    fn find_leaks(&mut self) {
        let Leaks { leaks, mentioned, written, stored, parameters } = Leaks::new(self);
        for (number, object) in self.objects.iter_mut().enumerate() {
            let number = number as Object;
            object.given = leaks.contains(&number);
            object.leaks = !object.internal || object.given || mentioned.contains(&number);
        }
        (self.written, self.stored, self.parameters) = (written, stored, parameters);
    }

    /// Whether a function gives away what it gets as this argument.
    pub fn parameter_leaks(&self, function: FunctionId, index: usize) -> bool {
        let known = self.function(function).map_or(0, |function| function.parameters.len());
        index >= known || self.parameters.contains(&(function, index))
    }

    /// The functions that a pointer loaded from here can be, if all stores to it are known.
    pub fn functions_at(&self, object: Object, offset: Offset, size: u64) -> Option<Vec<FunctionId>> {
        let known = self.objects.get(object as usize)?;
        if known.leaks || self.written.contains(&object) {
            return None;
        }
        let mut out = Vec::new();
        for (at, length, target) in self.stored.get(&object).into_iter().flatten() {
            if at.overlaps(*length, offset, size) {
                out.push(self.objects.get((*target)? as usize)?.body?);
            }
        }
        let initial = self.files.iter().enumerate().flat_map(|(number, file)| {
            file.module.globals.values().map(move |global| (number as u32, global))
        });
        for (file, global) in initial.filter(|(file, global)| self.object(*file, global.name) == object) {
            let declared = &self.files[file as usize].module.declared;
            let elsewhere = |symbol: &Symbol| declared.contains_key(symbol) && !self.has_body(file, *symbol);
            if global.mentions.iter().any(elsewhere) {
                return None;
            }
            let functions = global.mentions.iter().map(|&symbol| self.object(file, symbol));
            out.extend(functions.filter_map(|object| self.objects.get(object as usize)?.body));
        }
        out.sort_unstable();
        out.dedup();
        Some(out)
    }
}

/// The variables of the C library that name streams.
pub fn is_stream(name: &str) -> bool {
    matches!(name, "stdin" | "stdout" | "stderr")
}

/// What a function does by its name, or else by what attributes say.
fn by_name(name: &str, limits: Limits) -> Effect {
    match effect(name) {
        known if known == Effect::Returns || known.allocates() => known,
        _ if limits.reach == Reach::Nothing => Effect::None,
        Effect::Unknown => Effect::within(limits),
        known => known,
    }
}
