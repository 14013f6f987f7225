//! Fence instructions that stand in the text as they are: intrinsics of a target, and inline assembly that is nothing else.
//!
//! Assembly is known by its words alone. What is not known here stays what it was: it may touch whatever threads share.

use super::module::{Callee, Value};
use crate::machine::Fence;

/// An instruction that touches no memory, and what it orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier {
    /// Accesses before it and after it.
    Fence(Fence),
    /// Nothing by itself; on ARM a branch before it and reads after it (`isb`).
    Instructions,
}

/// What a call of an intrinsic does, if it is a fence.
pub fn intrinsic(name: &str, arguments: &[Value]) -> Option<Barrier> {
    match name {
        "llvm.x86.sse2.mfence" => Some(Barrier::Fence(Fence::Full)),
        "llvm.aarch64.isb" | "llvm.arm.isb" => Some(Barrier::Instructions),
        "llvm.aarch64.dmb" | "llvm.aarch64.dsb" | "llvm.arm.dmb" | "llvm.arm.dsb" => match arguments {
            [Value::Int(option)] => numbered(*option).map(Barrier::Fence),
            _ => None,
        },
        _ => None,
    }
}

/// What assembly does, if it is only fences, one behind the other; there may be none. The compiler must have been told that it
/// touches memory: else accesses may have been moved across it.
pub fn assembly(text: &str, constraints: &str) -> Option<Vec<Barrier>> {
    let text = text.replace("\\0A", "\n").replace("\\09", " ").to_lowercase();
    let mut out = Vec::new();
    let mut prefix = "";
    for statement in text.split(['\n', ';']) {
        let mut words: Vec<&str> = statement.split_whitespace().collect();
        // `lock; addl` is one instruction in two statements.
        if let [name @ ("lock" | "rep")] = words[..] {
            prefix = name;
            continue;
        }
        let before = std::mem::take(&mut prefix);
        if !before.is_empty() {
            words.insert(0, before);
        }
        match words[..] {
            [] | ["nop" | "pause" | "yield"] | ["rep", "nop"] => {}
            // Loads, and stores, are in order there anyway.
            ["lfence" | "sfence"] => {}
            ["mfence"] => out.push(Barrier::Fence(Fence::Full)),
            ["lock", name, ..] if is_neutral(name, &words[2..].concat()) => {
                out.push(Barrier::Fence(Fence::Full));
            }
            ["isb"] | ["isb", "sy"] => out.push(Barrier::Instructions),
            ["dmb" | "dsb", option] => out.push(Barrier::Fence(named(option)?)),
            ["dmb" | "dsb"] => out.push(Barrier::Fence(Fence::Full)),
            _ => return None,
        }
    }
    if !prefix.is_empty() {
        return None;
    }
    let told = out.is_empty() || constraints.split(',').any(|part| part == "~{memory}");
    told.then_some(out)
}

/// The fences of a call, if it is nothing else.
pub fn barriers(callee: &Callee, name: &str, arguments: &[Value]) -> Option<Vec<Barrier>> {
    match callee {
        Callee::Direct(_) => intrinsic(name, arguments).map(|barrier| vec![barrier]),
        Callee::Assembly(text, constraints) => assembly(text, constraints),
        Callee::Indirect(_) => None,
    }
}

/// A locked instruction on the thread's own stack that changes nothing there: `lock addl $0, (%rsp)`, `lock or dword ptr
/// [rsp], 0`.
fn is_neutral(name: &str, operands: &str) -> bool {
    let nothing = |operand: &str| matches!(operand, "$$0" | "$$0x0" | "0");
    let stack =
        |operand: &str| ["(%rsp)", "(%esp)", "[rsp", "[esp"].iter().any(|part| operand.contains(part));
    let Some((a, b)) = operands.split_once(',') else { return false };
    let width = |rest: &str| matches!(rest, "" | "b" | "w" | "l" | "q");
    let known = ["add", "or", "xor", "sub"].iter().any(|known| name.strip_prefix(known).is_some_and(width));
    known && (nothing(a) && stack(b) || stack(a) && nothing(b))
}

/// `dmb ish` by the name of its option. What reaches no other core (`nsh`) is none.
fn named(option: &str) -> Option<Fence> {
    match option {
        "sy" | "ish" | "osh" => Some(Fence::Full),
        "ld" | "ishld" | "oshld" => Some(Fence::Load),
        "st" | "ishst" | "oshst" => Some(Fence::Store),
        _ => None,
    }
}

/// The same by number.
fn numbered(option: i64) -> Option<Fence> {
    match option {
        15 | 11 | 3 => Some(Fence::Full),
        13 | 9 | 1 => Some(Fence::Load),
        14 | 10 | 2 => Some(Fence::Store),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "~{memory},~{dirflag},~{fpsr},~{flags}";

    fn fences(text: &str) -> Option<Vec<Barrier>> {
        assembly(text, TOLD)
    }

    #[test]
    fn assembly_that_is_a_fence() {
        let full = Some(vec![Barrier::Fence(Fence::Full)]);
        for text in [
            "mfence",
            "\\09mfence\\0A",
            "lock; addl $$0,0(%rsp)",
            "lock ; addl $$0, -4(%rsp)",
            "lock addq $$0, (%rsp)",
            "lock; orl $$0x0, (%esp)",
            "lock subl $$0, (%rsp)",
            "lock or dword ptr [rsp], 0",
            "dmb ish",
            "DMB ISH",
            "dmb sy",
            "dsb ish",
            "dmb",
        ] {
            assert_eq!(fences(text), full, "{text}");
        }
        assert_eq!(fences("dmb ishld"), Some(vec![Barrier::Fence(Fence::Load)]));
        assert_eq!(fences("dsb ishst"), Some(vec![Barrier::Fence(Fence::Store)]));
        let both = Some(vec![Barrier::Fence(Fence::Load), Barrier::Fence(Fence::Store)]);
        assert_eq!(fences("dmb ishld\\0Admb ishst"), both);
        assert_eq!(fences("isb"), Some(vec![Barrier::Instructions]));
        for text in ["", " \\0A", "pause", "rep; nop", "yield", "lfence"] {
            assert_eq!(fences(text), Some(Vec::new()), "{text}");
        }
    }

    #[test]
    fn assembly_that_is_more_or_less_than_a_fence() {
        for text in [
            "lock; addl $$1,0(%rsp)",
            "lock; addl $$0,0(%rdi)",
            "lock; addl $$0,$0",
            "lock; incl (%rsp)",
            "lock; addl (%rsp), $$0, $$0",
            "xchgl %eax, (%rdi)",
            "mfence; movl $$1, (%rdi)",
            "lock",
            "dmb nsh",
            "dmb #6",
            "dmb $0",
            "ldar w0, [x0]",
            "mfencex",
        ] {
            assert_eq!(fences(text), None, "{text}");
        }
        assert_eq!(
            assembly("mfence", "~{dirflag},~{fpsr},~{flags}"),
            None,
            "accesses may be moved across it"
        );
    }

    #[test]
    fn intrinsics() {
        let dmb = |option| intrinsic("llvm.aarch64.dmb", &[Value::Int(option)]);
        assert_eq!(dmb(10), Some(Barrier::Fence(Fence::Store)));
        assert_eq!(dmb(9), Some(Barrier::Fence(Fence::Load)));
        assert_eq!(dmb(11), Some(Barrier::Fence(Fence::Full)));
        assert_eq!(dmb(7), None, "this core only");
        assert_eq!(intrinsic("llvm.aarch64.ldxr.p0", &[]), None);
    }
}
