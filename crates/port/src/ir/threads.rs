//! Thread functions: what may run at the same time.

use super::code::{Code, FunctionId};
use super::given::given;
use super::inline::Site;
use super::library::Effect;
use super::module::{Call, Callee, Op, Value};
use super::targets::{Targets, def, uses};

/// A function that threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The function.
    pub function: FunctionId,
    /// How it was found.
    pub origin: ThreadOrigin,
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
pub enum ThreadOrigin {
    /// Given to `pthread_create` or `thrd_create`.
    Started,
    /// The body of a `std::thread` in C++.
    StdThread,
    /// The body of a `thread::spawn` in Rust.
    Spawned,
    /// The user named it.
    Named,
    /// Its address is given to others.
    Given,
}

/// The threads of a program: the functions that the user names; of a library (`client`), all functions that other files can
/// call; else those that [`find`] finds. A message if there is none, or not all are known.
pub fn select(code: &Code, names: &[String], client: bool) -> Result<Vec<Thread>, String> {
    let thread = |function: FunctionId| Thread { function, origin: ThreadOrigin::Named, starts: None };
    if !names.is_empty() {
        let mut threads = Vec::new();
        for name in names {
            let found = named(code, name);
            if found.is_empty() {
                return Err(format!("there is no function `{name}` in it"));
            }
            threads.extend(found.into_iter().map(thread));
        }
        return Ok(threads);
    }
    if let Some(&site) = unknown(code).first() {
        let place = super::source::place(code, site);
        let place = place.map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
        return Err(format!(
            "a thread is started with a function that is not known here{place}; name all thread functions with --threads f,g"
        ));
    }
    let found = find(code);
    if !client {
        return if found.is_empty() { Err(none(code)) } else { Ok(found) };
    }
    let is_open =
        |id: &FunctionId| code.function(*id).is_some_and(|f| !f.internal) && code.name(*id) != "main";
    let mut threads: Vec<Thread> = code.functions().filter(is_open).map(thread).collect();
    if threads.is_empty() {
        return Err(
            "there is no function in it that other files can call; name some with --threads".to_owned()
        );
    }
    // Threads that the library starts itself run at any time, too.
    let given = given(code, &found);
    threads.extend(found.into_iter().filter(|thread| !is_open(&thread.function)));
    // And so do functions that others are told of.
    let told = given.away.into_iter().map(|(id, _)| id).chain(given.kept).filter(|id| !is_open(id));
    threads.extend(told.map(|id| Thread { origin: ThreadOrigin::Given, ..thread(id) }));
    Ok(threads)
}

/// What to say where nobody starts a thread.
fn none(code: &Code) -> String {
    let told = given(code, &[]).away;
    let names: Vec<String> = told.iter().take(3).map(|(id, _)| format!("`{}`", code.name(*id))).collect();
    let given = match names.len() {
        0 => String::new(),
        _ => format!(" (the address of {} is given to code that is not known)", names.join(", ")),
    };
    format!(
        "no thread function was found in it{given}; name some with --threads f,g, or use --client for a library"
    )
}

/// Finds thread functions.
pub fn find(code: &Code) -> Vec<Thread> {
    let mut starts: Vec<(FunctionId, Vec<Start>, bool)> = Vec::new();
    for (start, targets) in started(code) {
        // A function that comes some other way has other uses of its address, which are not looked at.
        let direct = targets.all && targets.functions.len() == 1 && is_address(code, &start);
        for target in targets.functions {
            match starts.iter_mut().find(|(function, ..)| *function == target) {
                Some((_, all, known)) => {
                    all.push(start.clone());
                    *known &= direct;
                }
                None => starts.push((target, vec![start.clone()], direct)),
            }
        }
    }
    let mut out: Vec<Thread> = starts
        .into_iter()
        .map(|(function, all, direct)| {
            // If its address goes elsewhere, it may be started or called elsewhere.
            let uses = uses(code, function);
            let known = direct && uses.others == all.len() && uses.calls == 0;
            Thread { function, origin: ThreadOrigin::Started, starts: known.then_some(all) }
        })
        .collect();
    for function in code.functions() {
        let name = code.name(function);
        let origin = match name {
            _ if name.starts_with("_ZNSt6thread11_State_impl") && name.ends_with("6_M_runEv") => {
                ThreadOrigin::StdThread
            }
            _ if name.contains("__rust_begin_short_backtrace") && !runs_main(code, function) => {
                ThreadOrigin::Spawned
            }
            _ => continue,
        };
        if !out.iter().any(|thread| thread.function == function) {
            out.push(Thread { function, origin, starts: None });
        }
    }
    out
}

/// Where threads are started with functions that are not known.
pub fn unknown(code: &Code) -> Vec<Site> {
    let all = started(code).into_iter().filter(|(_, targets)| !targets.all);
    all.map(|(start, _)| Site::Before { function: start.by, block: start.block, index: start.index })
        .collect()
}

/// Where threads are started with a function that is an argument, and which functions that can be.
fn started(code: &Code) -> Vec<(Start, Targets<'_>)> {
    let mut out = Vec::new();
    for site in starts(code) {
        let Site::Before { function: by, block, index } = site else { continue };
        let Some(call) = call_at(code, site) else { continue };
        let Effect::Starts(what, with) = code.effect(by.file, call) else { continue };
        let (Some(function), Some(argument)) = (call.arguments.get(what), call.arguments.get(with)) else {
            continue;
        };
        let start = Start { by, block, index, argument: argument.clone() };
        out.push((start, Targets::new(code, by, function)));
    }
    out
}

/// Where threads are started.
pub fn starts(code: &Code) -> Vec<Site> {
    let mut out = Vec::new();
    for by in code.functions() {
        let blocks = code.function(by).map_or(&[][..], |function| &function.blocks);
        for (block, content) in blocks.iter().enumerate() {
            for (index, instruction) in content.body.iter().enumerate() {
                let Some(call) = instruction.op.call() else { continue };
                if code.body_of(by.file, call).is_none() && code.effect(by.file, call).starts() {
                    out.push(Site::Before { function: by, block: block as u32, index: index as u32 });
                }
            }
        }
    }
    out
}

fn call_at(code: &Code, site: Site) -> Option<&Call> {
    let Site::Before { function, block, index } = site else { return None };
    code.function(function)?.blocks.get(block as usize)?.body.get(index as usize)?.op.call()
}

/// `main`; in Rust the function that the user calls so, which the other one hands to the library.
pub fn main(code: &Code) -> Option<FunctionId> {
    let main = code.functions().find(|id| code.name(*id) == "main")?;
    let all = || code.function(main).into_iter().flat_map(|f| &f.blocks).flat_map(|block| &block.body);
    let mut calls = all().filter_map(|instruction| instruction.op.call());
    if !calls.any(|call| code.callee(main.file, call).contains("lang_start")) {
        return Some(main);
    }
    let body = |value: &Value| match value {
        Value::Address(symbol, _) => code.objects.get(code.object(main.file, *symbol) as usize)?.body,
        _ => None,
    };
    all().flat_map(|instruction| instruction.op.operands()).find_map(body).or(Some(main))
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

/// Whether the function of a start is named right there.
fn is_address(code: &Code, start: &Start) -> bool {
    let site = Site::Before { function: start.by, block: start.block, index: start.index };
    let Some(call) = call_at(code, site) else { return false };
    let Effect::Starts(what, _) = code.effect(start.by.file, call) else { return false };
    match (call.arguments.get(what), code.function(start.by)) {
        (Some(Value::Local(local)), Some(function)) => {
            matches!(def(function, *local), Some(Op::Copy(Value::Address(..))))
        }
        (value, _) => matches!(value, Some(Value::Address(..))),
    }
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
