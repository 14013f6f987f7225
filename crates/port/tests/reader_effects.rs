//! What the front end sees in small pieces of LLVM IR: for every rule that leaves something out, a piece where it does, and a
//! sibling where it must not.

mod common;

use common::piece::{look_at, may_meet, seen};
use seqcst_port::machine::Machine;
use seqcst_port::program::What;
use seqcst_port::robust::{Question, check};

/// A piece with two globals and a function that stores to the one and loads from the other, with something between.
fn between(what: &str) -> String {
    format!(
        "@x = global i32 0\n@y = global i32 0\n\
         declare void @llvm.aarch64.dmb(i32)\ndeclare void @llvm.aarch64.isb(i32)\n\
         define void @f() {{\n\
         store atomic i32 1, ptr @x monotonic, align 4\n{what}\n\
         %r = load atomic i32, ptr @y monotonic, align 4\nret void\n}}\n"
    )
}

fn assembly(text: &str, clobbers: &str) -> String {
    between(&format!("call void asm sideeffect \"{text}\", \"{clobbers}\"()"))
}

const CLOBBERS: &str = "~{memory},~{dirflag},~{fpsr},~{flags}";
const STORE: &str = "Relaxed Store x";
const LOAD: &str = "Relaxed Load y";

#[test]
fn assembly_that_is_a_fence() {
    for text in ["mfence", "lock; addl $$0,0(%rsp)", "dmb ish", "\\09dsb sy\\0A"] {
        assert_eq!(seen(&assembly(text, CLOBBERS)), [STORE, "SeqCst fence", LOAD], "{text}");
    }
    assert_eq!(seen(&assembly("dmb ishld", CLOBBERS)), [STORE, "Acquire fence", LOAD]);
    assert_eq!(seen(&assembly("dmb ishst", CLOBBERS)), [STORE, "store fence", LOAD]);
    for nothing in ["", "pause", "isb"] {
        assert_eq!(seen(&assembly(nothing, CLOBBERS)), [STORE, LOAD], "{nothing}");
        assert!(look_at(&assembly(nothing, CLOBBERS)).notes.is_empty());
    }
}

#[test]
fn other_assembly_may_do_anything() {
    for text in ["movl $$1, (%rdi)", "mfence; incl (%rdi)", "lock; addl $$0, (%rdi)", "dmb nsh"] {
        let piece = assembly(text, CLOBBERS);
        assert_eq!(seen(&piece), [STORE, "call of assembly", LOAD], "{text}");
        assert_eq!(look_at(&piece).notes.len(), 1, "{text}");
    }
    let unknown_to_the_compiler = assembly("mfence", "~{dirflag},~{fpsr},~{flags}");
    assert_eq!(seen(&unknown_to_the_compiler), [STORE, "call of assembly", LOAD]);
}

#[test]
fn store_fences_of_repaired_files_are_read() {
    let dmb = |option: u32| between(&format!("call void @llvm.aarch64.dmb(i32 {option})"));
    assert_eq!(seen(&dmb(10)), [STORE, "store fence", LOAD]);
    assert_eq!(seen(&dmb(11)), [STORE, "SeqCst fence", LOAD]);
    assert_eq!(seen(&dmb(6)), [STORE, "call of llvm.aarch64.dmb", LOAD], "other cores don't see it");
    // Message passing: the writer is put in order by `dmb ishst`, but not by `dmb ishld`.
    let passing = |option: u32| {
        format!(
            "@x = global i32 0\n@y = global i32 0\ndeclare void @llvm.aarch64.dmb(i32)\n\
             define void @writer() {{\nstore atomic i32 1, ptr @x monotonic, align 4\n\
             call void @llvm.aarch64.dmb(i32 {option})\n\
             store atomic i32 1, ptr @y monotonic, align 4\nret void\n}}\n\
             define void @reader() {{\n%a = load atomic i32, ptr @y acquire, align 4\n\
             %b = load atomic i32, ptr @x monotonic, align 4\nret void\n}}\n"
        )
    };
    let robust = |option| {
        let ported = look_at(&passing(option));
        check(&ported.program, &ported.classes, Question::new(Machine::X86, Machine::ArmV8), &[]).is_robust()
    };
    assert!(robust(10) && robust(11) && !robust(9));
}

#[test]
fn behind_an_isb_branches_may_order_reads() {
    let piece = |isb: &str| {
        format!(
            "@x = global i32 0\n@y = global i32 0\ndeclare void @llvm.aarch64.isb(i32)\n\
             define void @f() {{\n%r = load atomic i32, ptr @x monotonic, align 4\n\
             %c = icmp eq i32 %r, 0\nbr i1 %c, label %yes, label %no\nyes:\n{isb}\n\
             %s = load atomic i32, ptr @y monotonic, align 4\nret void\nno:\nret void\n}}\n"
        )
    };
    let by_address = |isb: &str| {
        let ported = look_at(&piece(isb));
        let nodes = ported.program.functions[0].nodes.iter();
        let found = nodes.filter_map(|node| match &node.what {
            What::Access(access) => Some(&access.depends),
            _ => None,
        });
        found.flatten().filter(|d| format!("{:?}", d.by) == "Address").count()
    };
    assert_eq!(by_address(""), 0);
    assert!(by_address("call void @llvm.aarch64.isb(i32 15)") > 0);
    assert!(by_address("call void asm sideeffect \"isb\", \"~{memory}\"()") > 0);
}

#[test]
fn what_a_call_gives_back_may_be_what_it_got() {
    let piece = |call: &str| {
        format!(
            "@x = internal global i32 0\ndeclare ptr @strchr(ptr, i32)\ndeclare ptr @llvm.ptrmask.p0.i64(ptr, i64)\n\
             declare i32 @puts(ptr)\n@q = global ptr null\n\
             define void @f() {{\n{call}\nstore i32 1, ptr %p\nstore i32 1, ptr @x\nret void\n}}\n"
        )
    };
    assert!(may_meet(&piece("%p = call ptr @llvm.ptrmask.p0.i64(ptr @x, i64 -8)")));
    assert!(may_meet(&piece("%p = call ptr asm \"\", \"=r,0\"(ptr @x)")));
    assert!(may_meet(&piece("%p = call ptr @strchr(ptr @x, i32 0)")));
    // A number says nothing of the address; and elsewhere nobody knows it.
    let apart = "%n = call i32 @puts(ptr @x)\n%p = load ptr, ptr @q";
    assert!(!may_meet(&piece(apart)));
}
