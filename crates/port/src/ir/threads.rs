//! Thread functions: what may run at the same time.

use super::code::{Code, FunctionId};
use super::library::Effect;
use super::module::{Callee, Local, Op, Value};
use rustc_hash::FxHashMap;

/// A function that threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The function.
    pub function: FunctionId,
    /// How it was found.
    pub how: How,
    /// Where threads are started with it, as far as that is all: function, block, instruction, argument.
    pub starts: Option<Vec<Start>>,
}

/// Where a thread is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// Who starts it.
    pub by: FunctionId,
    /// The block.
    pub block: u32,
    /// The instruction.
    pub index: u32,
    /// The argument that it gets.
    pub argument: Value,
}

/// How a thread function was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// Given to `pthread_create` or `thrd_create`.
    Started,
    /// The body of a `std::thread` in C++.
    StdThread,
    /// The body of a `thread::spawn` in Rust.
    Spawned,
    /// The user named it.
    Named,
}

/// Finds thread functions.
pub fn find(code: &Code) -> Vec<Thread> {
    let mut starts: Vec<(FunctionId, Vec<Start>)> = Vec::new();
    for by in code.functions() {
        let Some(function) = code.function(by) else { continue };
        let copies = copies(function);
        for (block, content) in function.blocks.iter().enumerate() {
            for (index, instruction) in content.body.iter().enumerate() {
                let Some(call) = instruction.op.call() else { continue };
                let Effect::Starts(what, with) = code.effect(by.file, call) else { continue };
                let target = call.arguments.get(what).and_then(|value| target(code, by, value, &copies));
                let (Some(target), Some(argument)) = (target, call.arguments.get(with)) else { continue };
                let start =
                    Start { by, block: block as u32, index: index as u32, argument: argument.clone() };
                match starts.iter_mut().find(|(function, _)| *function == target) {
                    Some((_, all)) => all.push(start),
                    None => starts.push((target, vec![start])),
                }
            }
        }
    }
    let mut out: Vec<Thread> = starts
        .into_iter()
        .map(|(function, all)| {
            // If its address goes elsewhere, it may be started or called elsewhere.
            let known = mentions(code, function) == all.len();
            Thread { function, how: How::Started, starts: known.then_some(all) }
        })
        .collect();
    for function in code.functions() {
        let name = code.name(function);
        let how = match name {
            _ if name.starts_with("_ZNSt6thread11_State_impl") && name.ends_with("6_M_runEv") => {
                How::StdThread
            }
            _ if name.contains("__rust_begin_short_backtrace") && !runs_main(code, function) => How::Spawned,
            _ => continue,
        };
        if !out.iter().any(|thread| thread.function == function) {
            out.push(Thread { function, how, starts: None });
        }
    }
    out
}

/// A function by the name that the user gives: as in the text, or as in the source.
pub fn named(code: &Code, name: &str) -> Vec<FunctionId> {
    let exact: Vec<FunctionId> = code.functions().filter(|id| code.name(*id) == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    let in_source = |id: &FunctionId| {
        let (Some(file), Some(function)) = (code.files.get(id.file as usize), code.function(*id)) else {
            return false;
        };
        let called = function.debug.and_then(|n| super::debug::function_name(&file.text, &file.module, n));
        called == Some(name)
    };
    code.functions().filter(in_source).collect()
}

/// Values that are copies of others.
fn copies(function: &super::module::Function) -> FxHashMap<Local, Value> {
    let all = function.blocks.iter().flat_map(|block| &block.body);
    all.filter_map(|instruction| match (&instruction.op, instruction.result) {
        (Op::Copy(value), Some(result)) => Some((result, value.clone())),
        _ => None,
    })
    .collect()
}

fn target(
    code: &Code,
    by: FunctionId,
    value: &Value,
    copies: &FxHashMap<Local, Value>,
) -> Option<FunctionId> {
    let value = match value {
        Value::Local(local) => copies.get(local)?,
        value => value,
    };
    match value {
        Value::Address(symbol, _) => code.objects.get(code.object(by.file, *symbol) as usize)?.body,
        _ => None,
    }
}

/// How often the address of a function is used for something else than to call it.
fn mentions(code: &Code, target: FunctionId) -> usize {
    let is = |file: usize, symbol: &u32| {
        let object = code.objects.get(code.object(file as u32, *symbol) as usize);
        object.and_then(|object| object.body) == Some(target)
    };
    let mut count = 0;
    for (number, file) in code.files.iter().enumerate() {
        let globals = file.module.globals.values().flat_map(|global| &global.mentions);
        count += globals.filter(|symbol| is(number, symbol)).count();
        for instruction in file.module.functions.iter().flat_map(|f| &f.blocks).flat_map(|block| &block.body)
        {
            let called = match instruction.op.call().map(|call| &call.callee) {
                Some(Callee::Direct(symbol)) => usize::from(is(number, symbol)) * 1000,
                _ => 0,
            };
            let used = instruction.op.operands().into_iter().filter(|value| match value {
                Value::Address(symbol, _) => is(number, symbol),
                Value::Constant(symbols) => symbols.iter().any(|symbol| is(number, symbol)),
                _ => false,
            });
            count += called + used.count();
        }
    }
    count
}

/// Whether this is what Rust's `main` runs in, and no thread.
fn runs_main(code: &Code, function: FunctionId) -> bool {
    code.functions().any(|caller| {
        code.name(caller).contains("lang_start")
            && code.function(caller).is_some_and(|body| {
                body.blocks.iter().flat_map(|block| &block.body).any(|instruction| {
                    matches!(
                        instruction.op.call().map(|call| &call.callee),
                        Some(Callee::Direct(symbol))
                            if code.objects.get(code.object(caller.file, *symbol) as usize)
                                .is_some_and(|object| object.body == Some(function))
                    )
                })
            })
    })
}
