//! Functions that nobody calls by name, and where their addresses get.
//!
//! A function whose address is given away (to a function that is not in these files, into memory that others can get at) may be
//! called at any time by any thread: a signal handler, a job for a pool of threads, a destructor of a thread's own data. One
//! whose address only stands in tables and variables of the program is called by those who read these, through pointers. Both
//! run, though no thread is started with them.
//!
//! Left out are those that do nothing to other threads by what they are for, destructors and formatting functions in tables of
//! methods, and those that lead to `main` or to a thread of C++ or Rust: these are how the library starts it.

use super::code::{Code, FunctionId, Object};
use super::inline::Site;
use super::library::{self, Effect};
use super::module::{Call, Callee, Function, Local, Op, Terminator, Value};
use super::threads::{Thread, ThreadOrigin, main};
use rustc_hash::{FxHashMap, FxHashSet};

/// Functions that run without being called by name.
#[derive(Clone, Default, Debug)]
pub struct Given {
    /// Those whose address is given away, and where, if it is by an instruction.
    pub away: Vec<(FunctionId, Option<Site>)>,
    /// Those whose address is only kept in the program.
    pub kept: Vec<FunctionId>,
    /// Those that run when the program ends.
    pub at_exit: Vec<FunctionId>,
    /// Those that a thread runs when it ends; others of `away` and `kept` may be among them if it is not known which.
    pub at_thread_end: Vec<FunctionId>,
    /// Whether some may be called in the middle of a thread, by a signal.
    pub by_signals: bool,
    /// Whether destructors and formatting functions in tables of methods were left out.
    pub glue: bool,
}

/// Looks for them in a program with these threads.
pub fn given(code: &Code, threads: &[Thread]) -> Given {
    let mut search = Search::new(code);
    for function in code.functions() {
        search.function(function);
    }
    search.tables();
    search.settle(threads)
}

/// Functions that run before `main`.
pub fn constructors(code: &Code) -> Vec<FunctionId> {
    mentioned(code, "llvm.global_ctors")
}

/// The functions that a variable with a meaning for LLVM names.
fn mentioned(code: &Code, name: &str) -> Vec<FunctionId> {
    let mut out = Vec::new();
    for (number, file) in code.files.iter().enumerate() {
        let symbol = file.module.numbers.get(name);
        let mentions =
            symbol.and_then(|symbol| file.module.globals.get(symbol)).map(|global| &global.mentions);
        out.extend(mentions.into_iter().flatten().filter_map(|&symbol| body(code, number as u32, symbol)));
    }
    out
}

/// The functions that a function leads to by calls, itself included.
pub fn reached_from(code: &Code, from: FunctionId) -> FxHashSet<FunctionId> {
    let mut reached = FxHashSet::from_iter([from]);
    let mut work = vec![from];
    while let Some(function) = work.pop() {
        work.extend(called_by(code, function).filter(|&callee| reached.insert(callee)));
    }
    reached
}

/// The functions that a function calls by name.
pub fn called_by(code: &Code, id: FunctionId) -> impl Iterator<Item = FunctionId> {
    let blocks = code.function(id).map_or(&[][..], |function| &function.blocks);
    let calls = blocks.iter().flat_map(|block| &block.body).filter_map(|instruction| instruction.op.call());
    calls.filter_map(move |call| code.body_of(id.file, call))
}

fn body(code: &Code, file: u32, symbol: u32) -> Option<FunctionId> {
    code.objects.get(code.object(file, symbol) as usize)?.body
}

/// What is known so far.
struct Search<'c> {
    code: &'c Code,
    /// Functions whose address an instruction gives away.
    away: FxHashMap<FunctionId, Site>,
    /// Variables whose content gets away: what is loaded from them is more than called.
    read: FxHashSet<Object>,
    /// Functions whose addresses stand in variables.
    kept: FxHashMap<Object, FxHashSet<FunctionId>>,
    at_exit: FxHashSet<FunctionId>,
    at_thread_end: FxHashSet<FunctionId>,
    /// Any function may be run when a thread ends.
    any_at_thread_end: bool,
    by_signals: bool,
    /// What was read from who knows where is given away.
    any_away: bool,
}

impl<'c> Search<'c> {
    fn new(code: &'c Code) -> Search<'c> {
        Search {
            code,
            away: FxHashMap::default(),
            read: FxHashSet::default(),
            kept: FxHashMap::default(),
            at_exit: mentioned(code, "llvm.global_dtors").into_iter().collect(),
            at_thread_end: FxHashSet::default(),
            any_at_thread_end: false,
            by_signals: false,
            any_away: false,
        }
    }

    /// Looks where addresses of functions go in one function.
    fn function(&mut self, id: FunctionId) {
        let Some(function) = self.code.function(id) else { return };
        let holds = Holds::new(self.code, id, function);
        for (block, content) in function.blocks.iter().enumerate() {
            for (index, instruction) in content.body.iter().enumerate() {
                let site = Site::Before { function: id, block: block as u32, index: index as u32 };
                for value in given_by(self.code, id.file, &instruction.op) {
                    for target in holds.functions(value) {
                        self.away.entry(target).or_insert(site);
                    }
                    self.read.extend(holds.loaded(value));
                    self.any_away |= holds.is_from_elsewhere(value);
                }
                if let Op::Store { value, pointer, .. } = &instruction.op {
                    self.read.extend(holds.loaded(value));
                    self.any_away |= holds.is_from_elsewhere(value);
                    match holds.global(pointer) {
                        Some(object) => self.kept.entry(object).or_default().extend(holds.functions(value)),
                        None => holds.functions(value).into_iter().for_each(|target| {
                            self.away.entry(target).or_insert(site);
                        }),
                    }
                }
                let Some(call) = instruction.op.call() else { continue };
                if library::at_exit(self.code.callee(id.file, call)) {
                    let handler = call.arguments.first();
                    self.at_exit.extend(handler.into_iter().flat_map(|handler| holds.functions(handler)));
                }
                if self.code.body_of(id.file, call).is_none() {
                    self.at_the_end_of_threads(call, self.code.callee(id.file, call), &holds);
                }
                if self.code.effect(id.file, call) == Effect::Copies
                    && let Some(from) = call.arguments.get(1)
                {
                    self.read.extend(holds.global(from));
                    self.read.extend(holds.loaded(from));
                    self.any_away |= holds.is_elsewhere(from);
                }
            }
        }
    }

    /// Looks at a call of a function that is not known here: what it has called when threads end, or in the middle of one.
    fn at_the_end_of_threads(&mut self, call: &Call, name: &str, holds: &Holds) {
        self.by_signals |= library::on_signals(name);
        let Some(called) = library::at_thread_end(name).and_then(|i| call.arguments.get(i)) else { return };
        let functions = holds.functions(called);
        self.any_at_thread_end |= functions.is_empty() && matches!(called, Value::Local(_));
        self.at_thread_end.extend(functions);
    }

    /// Looks at what stands in variables from the beginning.
    fn tables(&mut self) {
        for (number, file) in self.code.files.iter().enumerate() {
            let number = number as u32;
            let own = |name: &str| name.starts_with("llvm.");
            for global in file.module.globals.values().filter(|global| !own(file.module.name(global.name))) {
                let functions = global.mentions.iter().filter_map(|&symbol| body(self.code, number, symbol));
                let object = self.code.object(number, global.name);
                self.kept.entry(object).or_default().extend(functions);
            }
        }
    }

    /// The variables that others can get at.
    fn shared(&self) -> FxHashSet<Object> {
        let code = self.code;
        let open = main(code).is_none() || calls_others(code);
        let known = code.objects.iter().enumerate().map(|(number, known)| (number as Object, known));
        let first = known
            .filter(|(number, known)| known.given || (open && !known.internal) || self.read.contains(number));
        let mut shared: FxHashSet<Object> = first.map(|(number, _)| number).collect();
        loop {
            let before = shared.len();
            for (number, file) in code.files.iter().enumerate() {
                for global in file.module.globals.values() {
                    if shared.contains(&code.object(number as u32, global.name)) {
                        shared
                            .extend(global.mentions.iter().map(|&symbol| code.object(number as u32, symbol)));
                    }
                }
            }
            if shared.len() == before {
                return shared;
            }
        }
    }

    fn settle(self, threads: &[Thread]) -> Given {
        let (code, shared) = (self.code, self.shared());
        let by_library =
            |thread: &&Thread| matches!(thread.origin, ThreadOrigin::StdThread | ThreadOrigin::Spawned);
        let launched: FxHashSet<FunctionId> =
            threads.iter().filter(by_library).map(|thread| thread.function).chain(main(code)).collect();
        let counts = |id: FunctionId| {
            !threads.iter().any(|thread| thread.function == id)
                && reached_from(code, id).is_disjoint(&launched)
        };
        let mut out = Given::default();
        let mut tables: Vec<FunctionId> = Vec::new();
        let mut kept: Vec<FunctionId> = Vec::new();
        for (object, functions) in &self.kept {
            let is_read = self.any_away || shared.contains(object);
            if is_read { tables.extend(functions) } else { kept.extend(functions) }
        }
        let mut away: Vec<(FunctionId, Option<Site>)> =
            self.away.iter().map(|(&id, &site)| (id, Some(site))).collect();
        away.sort();
        let mut seen: FxHashSet<FunctionId> = away.iter().map(|(id, _)| *id).collect();
        for (list, from) in [(true, &mut tables), (false, &mut kept)] {
            from.sort_unstable();
            for &id in from.iter() {
                if is_glue(code.name(id)) {
                    out.glue = true;
                } else if seen.insert(id) {
                    if list { away.push((id, None)) } else { out.kept.push(id) }
                }
            }
        }
        // Copies, and destroys, what a `std::function` holds.
        away.retain(|(id, _)| !code.name(*id).contains("_M_manager"));
        out.away = away.into_iter().filter(|(id, _)| counts(*id)).collect();
        out.kept.retain(|id| counts(*id));
        out.at_exit = self.at_exit.into_iter().filter(|id| counts(*id)).collect();
        out.at_exit.sort_unstable();
        let mut ending = self.at_thread_end;
        if self.any_at_thread_end {
            ending.extend(out.away.iter().map(|(id, _)| *id).chain(out.kept.iter().copied()));
        }
        out.at_thread_end = ending.into_iter().filter(|id| counts(*id)).collect();
        out.at_thread_end.sort_unstable();
        out.by_signals = self.by_signals;
        out
    }
}

/// Whether a program calls functions of other files, which know its variables by name. The libraries of the languages do not.
pub fn calls_others(code: &Code) -> bool {
    let of_library =
        |name: &str| ["_ZNSt", "_ZNKSt", "_ZSt", "_ZNS", "_R", "llvm."].iter().any(|p| name.starts_with(p));
    code.functions().any(|id| {
        let blocks = code.function(id).map_or(&[][..], |function| &function.blocks);
        blocks.iter().flat_map(|block| &block.body).filter_map(|instruction| instruction.op.call()).any(
            |call| {
                let name = code.callee(id.file, call);
                let unknown = !name.is_empty() && code.effect(id.file, call) == Effect::Unknown;
                unknown && code.body_of(id.file, call).is_none() && !of_library(name)
            },
        )
    })
}

/// The values that an instruction gives to those who are not known here: the callee of a call is none, nor is what is stored.
fn given_by<'o>(code: &Code, file: u32, op: &'o Op) -> Vec<&'o Value> {
    let Some(call) = op.call() else {
        return match op {
            Op::Store { .. } | Op::Load { .. } | Op::Gep { .. } | Op::Copy(_) | Op::Compare(..) => Vec::new(),
            Op::Phi(_) | Op::Select(..) | Op::Compute(_) | Op::Extract(..) => Vec::new(),
            Op::Terminator(Terminator::Branch(..) | Terminator::Switch(..)) => Vec::new(),
            op => op.operands(),
        };
    };
    let name = code.callee(file, call);
    let all = || call.arguments.iter().enumerate();
    let but = |skip: usize| all().filter(|(i, _)| *i != skip).map(|(_, value)| value).collect();
    if let Some(body) = code.body_of(file, call) {
        return all().filter(|(i, _)| code.parameter_leaks(body, *i)).map(|(_, value)| value).collect();
    }
    match code.effect(file, call) {
        Effect::Starts(function, _) | Effect::Calls(function) => but(function),
        // What comes out of it may be what went in.
        _ if matches!(call.callee, Callee::Assembly(..)) => call.arguments.iter().collect(),
        // One that is known for what it does to memory.
        Effect::None if library::at_thread_end(name).is_some() => call.arguments.iter().collect(),
        Effect::None | Effect::Orders | Effect::Returns | Effect::Ends | Effect::Access(..) => Vec::new(),
        Effect::Allocates | Effect::AllocatesFilled | Effect::Arguments | Effect::Sends => Vec::new(),
        _ if library::at_exit(name) => but(0),
        _ => match library::calls_meanwhile(name) {
            // What is not named right there is not followed.
            Some(function) if matches!(call.arguments.get(function), Some(Value::Address(..))) => {
                but(function)
            }
            _ => call.arguments.iter().collect(),
        },
    }
}

/// Which values of a function are addresses of functions, and which were loaded from variables.
struct Holds<'c> {
    code: &'c Code,
    file: u32,
    /// Bytes of a pointer.
    pointer: u64,
    functions: FxHashMap<Local, FxHashSet<FunctionId>>,
    globals: FxHashMap<Local, Object>,
    loaded: FxHashMap<Local, FxHashSet<Object>>,
    /// Addresses of the function's own variables.
    own: FxHashSet<Local>,
    /// Loaded from neither of them.
    elsewhere: FxHashSet<Local>,
}

impl<'c> Holds<'c> {
    fn new(code: &'c Code, id: FunctionId, function: &Function) -> Holds<'c> {
        let (functions, globals, loaded, own, elsewhere) = Default::default();
        let pointer = code.files.get(id.file as usize).map_or(8, |file| file.module.layout.pointer);
        let mut holds = Holds { code, file: id.file, pointer, functions, globals, loaded, own, elsewhere };
        // Blocks stand in any order.
        while holds.follow(function) {}
        holds
    }

    /// The functions that a value may be the address of.
    fn functions(&self, value: &Value) -> FxHashSet<FunctionId> {
        let named = |symbols: &[u32]| symbols.iter().filter_map(|&s| body(self.code, self.file, s)).collect();
        match value {
            Value::Address(symbol, _) => named(&[*symbol]),
            Value::Constant(symbols) => named(symbols),
            Value::Local(local) => self.functions.get(local).cloned().unwrap_or_default(),
            Value::Int(_) => FxHashSet::default(),
        }
    }

    /// The variables that a value may have been loaded from.
    fn loaded(&self, value: &Value) -> FxHashSet<Object> {
        match value {
            Value::Local(local) => self.loaded.get(local).cloned().unwrap_or_default(),
            _ => FxHashSet::default(),
        }
    }

    /// Whether a value may have been loaded from who knows where.
    fn is_from_elsewhere(&self, value: &Value) -> bool {
        matches!(value, Value::Local(local) if self.elsewhere.contains(local))
    }

    /// Whether a pointer goes who knows where: to no variable that is named.
    fn is_elsewhere(&self, pointer: &Value) -> bool {
        self.global(pointer).is_none() && matches!(pointer, Value::Local(local) if !self.own.contains(local))
    }

    /// The variable that a pointer goes to.
    fn global(&self, pointer: &Value) -> Option<Object> {
        match pointer {
            Value::Address(symbol, _) => Some(self.code.object(self.file, *symbol)),
            Value::Local(local) => self.globals.get(local).copied(),
            _ => None,
        }
    }

    fn follow(&mut self, function: &Function) -> bool {
        let mut changed = false;
        for instruction in function.blocks.iter().flat_map(|block| &block.body) {
            let Some(result) = instruction.result else { continue };
            if let Op::Gep { base, .. } | Op::Copy(base) = &instruction.op
                && let Some(object) = self.global(base)
            {
                changed |= self.globals.insert(result, object) != Some(object);
            }
            let own = match &instruction.op {
                Op::Alloca => true,
                Op::Gep { base: Value::Local(base), .. } | Op::Copy(Value::Local(base)) => {
                    self.own.contains(base)
                }
                _ => false,
            };
            changed |= own && self.own.insert(result);
            let from: Vec<&Value> = match &instruction.op {
                Op::Copy(_) | Op::Phi(_) | Op::Select(..) | Op::Gep { .. } => instruction.op.operands(),
                Op::Compute(_) | Op::Extract(..) => instruction.op.operands(),
                _ => Vec::new(),
            };
            let functions: Vec<FunctionId> = from.iter().flat_map(|value| self.functions(value)).collect();
            let mut loaded: Vec<Object> = from.iter().flat_map(|value| self.loaded(value)).collect();
            let mut elsewhere = from.iter().any(|value| self.is_from_elsewhere(value));
            match &instruction.op {
                Op::Load { pointer, size, .. } if *size >= self.pointer => {
                    loaded.extend(self.global(pointer));
                    // What is read through a pointer that stood in a variable may stand in another that this one leads to.
                    loaded.extend(self.loaded(pointer));
                    elsewhere |= self.is_elsewhere(pointer);
                }
                Op::Rmw { size, .. } | Op::CompareExchange { size, .. } => elsewhere |= *size >= self.pointer,
                _ => {}
            }
            changed |= elsewhere && self.elsewhere.insert(result);
            if !functions.is_empty() {
                let there = self.functions.entry(result).or_default();
                changed |= functions.into_iter().fold(false, |new, id| there.insert(id) | new);
            }
            if !loaded.is_empty() {
                let there = self.loaded.entry(result).or_default();
                changed |= loaded.into_iter().fold(false, |new, object| there.insert(object) | new);
            }
        }
        changed
    }
}

/// Whether a function in a table of methods is there for what values of all types have: an end, and a text to be printed.
fn is_glue(name: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let destructor = name.starts_with("_Z") && ["D0Ev", "D1Ev", "D2Ev"].iter().any(|end| name.ends_with(end));
    let formats = has(&["3fmt", "fmt.."]) && has(&["Debug", "Display", "Write"]);
    let ends = has(&["drop_in_place", "drop_glue", "_M_dispose", "_M_destroy", "_M_manager"]);
    destructor || formats || ends || has(&["type_id", "_M_get_deleter", "9panicking"])
}
