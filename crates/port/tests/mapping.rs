//! The table of `mapping.rs`, row by row, against what clang makes of each access and fence.

mod common;

use common::{scratch, tool};
use seqcst_port::machine::{Acquire, Fence, Machine, Step};
use seqcst_port::mapping::{Features, steps};
use seqcst_port::program::{Access, Kind, Order, What};
use std::collections::HashMap;
use std::process::Command;

/// A row: its name as a C function, its source, what it is.
struct Row {
    name: String,
    source: String,
    what: What,
}

fn c_name(order: Order) -> &'static str {
    match order {
        Order::Plain | Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

fn access(kind: Kind, order: Order, failure: Order) -> What {
    What::Access(Access { kind, order, failure, location: 0, size: 4, volatile: false, depends: Vec::new() })
}

/// Every order that C11 allows for every kind of access.
fn rows() -> Vec<Row> {
    use Order::{AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};
    let mut out = Vec::new();
    let mut row = |name: String, parameters: &str, body: String, what: What| {
        let source = format!("int {name}({parameters}) {{ {body} }}\n");
        out.push(Row { name, source, what });
    };
    let o = c_name;
    row("load_plain".into(), "int *p", "return *p;".into(), access(Kind::Load, Plain, Relaxed));
    row("store_plain".into(), "int *p", "*p = 7; return 0;".into(), access(Kind::Store, Plain, Relaxed));
    for order in [Relaxed, Acquire, SeqCst] {
        let body = format!("return __c11_atomic_load(p, {});", number(order));
        row(format!("load_{}", o(order)), "_Atomic(int) *p", body, access(Kind::Load, order, Relaxed));
    }
    for order in [Relaxed, Release, SeqCst] {
        let body = format!("__c11_atomic_store(p, 7, {}); return 0;", number(order));
        row(format!("store_{}", o(order)), "_Atomic(int) *p", body, access(Kind::Store, order, Relaxed));
    }
    for order in [Relaxed, Acquire, Release, AcqRel, SeqCst] {
        let body = format!("return __c11_atomic_exchange(p, 7, {});", number(order));
        row(format!("exchange_{}", o(order)), "_Atomic(int) *p", body, access(Kind::Rmw, order, Relaxed));
        let body = format!("return __c11_atomic_fetch_add(p, 7, {});", number(order));
        row(format!("add_{}", o(order)), "_Atomic(int) *p", body, access(Kind::Rmw, order, Relaxed));
        for failure in [Relaxed, Acquire, SeqCst] {
            let stronger = failure == SeqCst && order != SeqCst || failure == Acquire && !order.is_acquire();
            if stronger {
                continue;
            }
            let body = format!(
                "int e = 3; return __c11_atomic_compare_exchange_weak(p, &e, 7, {}, {});",
                number(order),
                number(failure)
            );
            let name = format!("cas_{}_{}", o(order), o(failure));
            row(name, "_Atomic(int) *p", body, access(Kind::Cas, order, failure));
        }
    }
    for order in [Acquire, Release, AcqRel, SeqCst] {
        let body = format!("__c11_atomic_thread_fence({}); return 0;", number(order));
        row(format!("fence_{}", o(order)), "void", body, What::Fence(order));
    }
    out
}

/// The order's number in clang's builtins.
fn number(order: Order) -> u32 {
    match order {
        Order::Plain | Order::Relaxed => 0,
        Order::Acquire => 2,
        Order::Release => 3,
        Order::AcqRel => 4,
        Order::SeqCst => 5,
    }
}

/// The instructions of every function.
fn assembly(rows: &[Row], flags: &[&str], name: &str) -> HashMap<String, Vec<String>> {
    let source = scratch(&format!("{name}.c"));
    std::fs::write(&source, rows.iter().map(|row| row.source.as_str()).collect::<String>())
        .expect("can be written");
    let out = Command::new("clang-19")
        .args([
            "-O1",
            "-ffreestanding",
            "-fomit-frame-pointer",
            "-fno-asynchronous-unwind-tables",
            "-w",
            "-S",
            "-o",
            "-",
        ])
        .args(flags)
        .arg(&source)
        .output()
        .expect("clang runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut functions: HashMap<String, Vec<String>> = HashMap::new();
    let mut current = String::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let label = line
            .split(':')
            .next()
            .filter(|_| line.contains(':') && line.starts_with(|c: char| c.is_ascii_alphabetic()));
        match label {
            Some(label) => current = label.to_owned(),
            None if line.starts_with('\t') && !line.starts_with("\t.") => {
                functions
                    .entry(current.clone())
                    .or_default()
                    .push(line.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            None => {}
        }
    }
    functions
}

/// What an instruction does to memory, if anything.
fn meaning(machine: Machine, kind: Option<Kind>, instruction: &str) -> Vec<Step> {
    let name = instruction.split(' ').next().unwrap_or_default();
    let full = Step::Fence(Fence::Full);
    let read = |acquire: bool| Step::Read(if acquire { Acquire::Yes } else { Acquire::No });
    let write = |release: bool, exclusive: bool| Step::Write { release, exclusive };
    match machine {
        Machine::Sc => Vec::new(),
        Machine::X86 => match name {
            "mfence" => vec![full],
            // What it reads, nobody looks at.
            "xchgl" if kind == Some(Kind::Store) => vec![write(false, false), full],
            "xchgl" | "lock" => vec![full, read(false), write(false, true), full],
            "movl" if instruction.ends_with(')') => vec![write(false, false)],
            "movl" if instruction.contains('(') => vec![read(false)],
            _ => Vec::new(),
        },
        Machine::ArmV8 => match name {
            "dmb" => vec![Step::Fence(match instruction {
                "dmb ishld" => Fence::Load,
                "dmb ishst" => Fence::Store,
                _ => Fence::Full,
            })],
            "ldr" | "ldxr" => vec![read(false)],
            "ldar" | "ldaxr" => vec![read(true)],
            "ldapr" => vec![Step::Read(Acquire::Pc)],
            "str" => vec![write(false, false)],
            "stlr" => vec![write(true, false)],
            "stxr" => vec![write(false, true)],
            "stlxr" => vec![write(true, true)],
            _ => match name.strip_prefix("swp").or(name.strip_prefix("ldadd")).or(name.strip_prefix("cas")) {
                Some(suffix) => vec![read(suffix.contains('a')), write(suffix.contains('l'), true)],
                None => Vec::new(),
            },
        },
        Machine::ArmV7 => match name {
            "dmb" => vec![full],
            "ldr" | "ldrex" => vec![read(false)],
            "str" => vec![write(false, false)],
            "strex" => vec![write(false, true)],
            _ => Vec::new(),
        },
    }
}

fn holds(machine: Machine, features: Features, flags: &[&str], name: &str) {
    if !tool("clang-19") {
        return;
    }
    let rows = rows();
    let functions = assembly(&rows, flags, name);
    for row in &rows {
        let kind = match &row.what {
            What::Access(access) => Some(access.kind),
            _ => None,
        };
        let instructions = &functions[&row.name];
        let mut emitted: Vec<Step> = instructions.iter().flat_map(|i| meaning(machine, kind, i)).collect();
        // Success and failure each end in their own fence; locals of the function are no part of the row.
        let swap = emitted.iter().rposition(|step| matches!(step, Step::Write { exclusive: true, .. }));
        if let (Some(Kind::Cas), Some(swap)) = (kind, swap) {
            let tail = emitted.split_off(swap + 1);
            emitted.extend(tail.into_iter().find(|step| matches!(step, Step::Fence(_))));
        }
        let said = steps(machine, features, &row.what).success;
        assert_eq!(said, emitted, "{machine} {name} {}: {instructions:#?}", row.name);
    }
}

#[test]
fn x86() {
    holds(Machine::X86, Features::default(), &["--target=x86_64-linux-gnu"], "x86");
}

#[test]
fn armv8() {
    let flags = ["--target=aarch64-linux-gnu", "-mno-outline-atomics", "-march=armv8-a"];
    holds(Machine::ArmV8, Features::default(), &flags, "armv8");
}

#[test]
fn armv8_with_large_system_extensions() {
    let flags = ["--target=aarch64-linux-gnu", "-march=armv8-a+lse"];
    holds(Machine::ArmV8, Features::default(), &flags, "lse");
}

#[test]
fn armv8_with_rcpc_loads() {
    let flags = ["--target=aarch64-linux-gnu", "-mno-outline-atomics", "-march=armv8-a+rcpc"];
    holds(Machine::ArmV8, Features { rcpc: true }, &flags, "rcpc");
}

#[test]
fn armv7() {
    let flags = ["--target=armv7-linux-gnueabihf", "-march=armv7-a"];
    holds(Machine::ArmV7, Features::default(), &flags, "armv7");
}
