//! The table of `mapping.rs`, row by row, against what clang makes of each access and fence.

use crate::common::{scratch, tool};
use seqcst_model::Mode;
use seqcst_port::machine::{Acquire, Fence, Machine, Step};
use seqcst_port::mapping::{Features, old_steps, steps};
use seqcst_port::program::{Access, Kind, NodeKind};
use std::collections::HashMap;
use std::process::Command;

/// A row: its name as a C function, its source, what it is.
struct Row {
    name: String,
    source: String,
    what: NodeKind,
}

fn c_name(order: Mode) -> &'static str {
    match order {
        Mode::NonAtomic | Mode::Relaxed => "relaxed",
        Mode::Acquire => "acquire",
        Mode::Release => "release",
        Mode::AcqRel => "acq_rel",
        Mode::SeqCst => "seq_cst",
    }
}

fn access(kind: Kind, order: Mode, failure: Mode) -> NodeKind {
    NodeKind::Access(Access {
        kind,
        order,
        failure,
        location: 0,
        size: 4,
        volatile: false,
        depends: Vec::new(),
    })
}

/// Every order that C11 allows for every kind of access.
fn rows() -> Vec<Row> {
    use Mode::{AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};
    let mut out = Vec::new();
    let mut row = |name: String, parameters: &str, body: String, what: NodeKind| {
        let source = format!("int {name}({parameters}) {{ {body} }}\n");
        out.push(Row { name, source, what });
    };
    let o = c_name;
    row("load_plain".into(), "int *p", "return *p;".into(), access(Kind::Load, NonAtomic, Relaxed));
    row("store_plain".into(), "int *p", "*p = 7; return 0;".into(), access(Kind::Store, NonAtomic, Relaxed));
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
            for strength in ["weak", "strong"] {
                let (success, failed) = (number(order), number(failure));
                let call = format!("__c11_atomic_compare_exchange_{strength}(p, &e, 7, {success}, {failed})");
                let name = format!("cas_{strength}_{}_{}", o(order), o(failure));
                let body = format!("int e = 3; return {call};");
                row(name, "_Atomic(int) *p", body, access(Kind::Cas, order, failure));
            }
        }
    }
    for order in [Acquire, Release, AcqRel, SeqCst] {
        let body = format!("__c11_atomic_thread_fence({}); return 0;", number(order));
        row(format!("fence_{}", o(order)), "void", body, NodeKind::Fence(order));
    }
    out
}

/// The order's number in clang's builtins.
fn number(order: Mode) -> u32 {
    match order {
        Mode::NonAtomic | Mode::Relaxed => 0,
        Mode::Acquire => 2,
        Mode::Release => 3,
        Mode::AcqRel => 4,
        Mode::SeqCst => 5,
    }
}

/// The instructions and labels of every function.
fn assembly(rows: &[Row], flags: &[&str], name: &str) -> HashMap<String, Vec<String>> {
    let source = scratch(&format!("{name}.c"));
    std::fs::write(&source, rows.iter().map(|row| row.source.as_str()).collect::<String>())
        .expect("can be written");
    let quiet = ["-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-w"];
    let out = Command::new("clang-19")
        .args(["-O1", "-ffreestanding", "-S", "-o", "-"])
        .args(quiet)
        .args(flags)
        .arg(&source)
        .output()
        .expect("clang runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut functions: HashMap<String, Vec<String>> = HashMap::new();
    let mut current = String::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let label = line
            .split_once(':')
            .map(|(label, _)| label)
            .filter(|label| label.starts_with(|c: char| c == '.' || c.is_alphabetic()));
        match label {
            Some(label) if !label.starts_with('.') => current = label.to_owned(),
            Some(label) => functions.entry(current.clone()).or_default().push(format!("{label}:")),
            None if line.starts_with('\t') && !line.starts_with("\t.") => {
                let words: Vec<&str> = line.split_whitespace().collect();
                functions.entry(current.clone()).or_default().push(words.join(" "));
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

/// How a compare-and-swap goes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Course {
    /// It finds what it looks for, and its store is accepted.
    Success,
    /// It finds something else.
    Failure,
    /// Its first store is refused for no reason, the second accepted.
    Retried,
}

/// The instructions that are carried out, from the load on whose value is used to the end, and what comes before it.
///
/// A store is refused or not, and a comparison with 3, the value that all rows look for, is true or not; everything else is
/// a consequence. A weak compare-and-swap does not go round: refused, it fails.
fn run(instructions: &[String], course: Course) -> Vec<&str> {
    let is_store = |name: &str| matches!(name, "stxr" | "stlxr" | "strex");
    let is_load = |name: &str| matches!(name, "ldxr" | "ldaxr" | "ldrex");
    let (mut equal, mut refused, mut stores) = (false, String::new(), 0);
    let mut done: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(instruction) = instructions.get(at) {
        at += 1;
        assert!(done.len() < 100, "{instructions:#?}");
        let words: Vec<&str> = instruction.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let jump = |label: &str| {
            instructions.iter().position(|line| line.strip_suffix(':') == Some(label)).expect("a label")
        };
        let accepted = course != Course::Retried || stores > 1;
        match words[..] {
            [name, register, ..] if is_store(name) => {
                stores += 1;
                let accepted = course != Course::Retried || stores > 1;
                if accepted {
                    done.push(instruction);
                } else {
                    // What was read before is thrown away.
                    done.retain(|line| !is_load(line.split(' ').next().unwrap_or_default()));
                }
                register.clone_into(&mut refused);
            }
            ["cmp", _, "#3"] => equal = course != Course::Failure,
            ["cmp", register, "#0"] if register == refused => equal = accepted,
            ["cbnz", register, label] if register == refused && !accepted => at = jump(label),
            ["cbz", register, label] if register == refused && accepted => at = jump(label),
            ["b.ne" | "bne", label] if !equal => at = jump(label),
            ["b.eq" | "beq", label] if equal => at = jump(label),
            ["b", label] => at = jump(label),
            ["bx", "lr"] | ["ret"] | ["retq"] => break,
            ["bxeq", "lr"] if equal => break,
            ["bxne", "lr"] if !equal => break,
            _ => done.push(instruction),
        }
    }
    done
}

fn holds(machine: Machine, features: Features, flags: &[&str], name: &str) {
    if !tool("clang-19") {
        return;
    }
    let rows = rows();
    let functions = assembly(&rows, flags, name);
    for row in &rows {
        let kind = match &row.what {
            NodeKind::Access(access) => Some(access.kind),
            _ => None,
        };
        let instructions = &functions[&row.name];
        let emitted = |course: Course| -> Vec<Step> {
            let done = run(instructions, course);
            let steps = done.into_iter().flat_map(|instruction| meaning(machine, kind, instruction));
            // What fails writes nothing, also where one instruction does both.
            steps.filter(|step| course != Course::Failure || !matches!(step, Step::Write { .. })).collect()
        };
        let said = steps(machine, features, &row.what);
        let about = |course: Course| format!("{machine} {name} {} {course:?}: {instructions:#?}", row.name);
        assert_eq!(said.success, emitted(Course::Success), "{}", about(Course::Success));
        if kind == Some(Kind::Cas) {
            let failure = said.failure.expect("it may fail");
            assert_eq!(failure, emitted(Course::Failure), "{}", about(Course::Failure));
            if row.name.contains("strong") {
                let retried = said.retried.unwrap_or(said.success);
                assert_eq!(retried, emitted(Course::Retried), "{}", about(Course::Retried));
            }
        }
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

/// Loads and stores of 16 bytes: name, order, kind.
fn wide_rows() -> Vec<Row> {
    use Mode::{Acquire, Relaxed, Release, SeqCst};
    let wide = |kind: Kind, order: Mode| match access(kind, order, Relaxed) {
        NodeKind::Access(access) => NodeKind::Access(Access { size: 16, ..access }),
        other => other,
    };
    let load = |order: Mode| {
        let name = format!("load_{}", c_name(order));
        let body = format!("return __c11_atomic_load(p, {});", number(order));
        let source = format!("__int128 {name}(_Atomic(__int128) *p) {{ {body} }}\n");
        Row { name, source, what: wide(Kind::Load, order) }
    };
    let store = |order: Mode| {
        let name = format!("store_{}", c_name(order));
        let body = format!("__c11_atomic_store(p, 7, {});", number(order));
        let source = format!("void {name}(_Atomic(__int128) *p) {{ {body} }}\n");
        Row { name, source, what: wide(Kind::Store, order) }
    };
    let (loads, stores) = ([Relaxed, Acquire, SeqCst].map(load), [Relaxed, Release, SeqCst].map(store));
    loads.into_iter().chain(stores).collect()
}

/// What is locked on x86 is a fence there, and the machine that a program comes from is never taken for a weaker one.
#[test]
fn sixteen_bytes_on_x86() {
    let full = Step::Fence(Fence::Full);
    let rows = wide_rows();
    for row in &rows {
        for machine in [Machine::X86, Machine::ArmV8] {
            let old = old_steps(machine, Features::default(), &row.what).success;
            assert!(matches!(old[..], [a, .., b] if a == full && b == full), "{machine} {}", row.name);
        }
        assert_ne!(steps(Machine::X86, Features::default(), &row.what).success[0], full, "{}", row.name);
    }
    if tool("clang-19") {
        let functions = assembly(&rows, &["--target=x86_64-linux-gnu", "-mcx16"], "wide-x86");
        for row in &rows {
            let locked = functions[&row.name].iter().any(|line| line.contains("cmpxchg16b"));
            assert!(locked, "{:#?}", functions[&row.name]);
        }
    }
    let narrow = access(Kind::Load, Mode::Relaxed, Mode::Relaxed);
    assert_eq!(old_steps(Machine::X86, Features::default(), &narrow).success.len(), 1);
}

/// On ARMv8 there are three ways; what is said holds for each of them.
#[test]
fn sixteen_bytes_on_armv8() {
    let rows = wide_rows();
    let said = |row: &Row| steps(Machine::ArmV8, Features::default(), &row.what).success;
    let write = |release: bool| vec![Step::Write { release, exclusive: false }];
    let expected = [
        vec![Step::Read(Acquire::No)],
        vec![Step::Read(Acquire::Pc)],
        vec![Step::Read(Acquire::Pc)],
        write(false),
        write(false),
        write(true),
    ];
    assert_eq!(rows.iter().map(said).collect::<Vec<_>>(), expected);
    if !tool("clang-19") {
        return;
    }
    for march in ["armv8-a", "armv8-a+lse", "armv8.4-a"] {
        let flags = ["--target=aarch64-linux-gnu", "-mno-outline-atomics", &format!("-march={march}")];
        let functions = assembly(&rows, &flags, &format!("wide-{march}"));
        for row in &rows {
            let has = |names: &[&str]| {
                let lines = functions[&row.name].iter();
                lines.filter(|line| names.iter().any(|name| line.starts_with(name))).count()
            };
            let about = format!("{march} {}: {:#?}", row.name, functions[&row.name]);
            match said(row)[..] {
                [Step::Read(Acquire::Pc)] => assert!(has(&["ldaxp", "caspa", "dmb ish"]) > 0, "{about}"),
                // Behind everything earlier, and before a later `ldar`.
                [Step::Write { release: true, .. }] => {
                    assert!(has(&["stlxp", "caspal"]) > 0 || has(&["dmb ish"]) == 2, "{about}");
                }
                _ => assert!(has(&["ldxp", "ldp", "stp", "casp"]) > 0, "{about}"),
            }
        }
    }
}
