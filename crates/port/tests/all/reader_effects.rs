//! What the front end sees in small pieces of LLVM IR: for every rule that leaves something out, a piece where it does, and a
//! sibling where it must not.

use crate::common::piece::{look_at, may_meet, seen};
use seqcst_port::ir::lower::{Assumptions, NOWHERE, Ported};
use seqcst_port::machine::Machine;
use seqcst_port::place::{Costs, place};
use seqcst_port::program::{Aliases, NodeKind};
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
        check(&ported.program, &ported.classes, Question::new(Machine::X86, Machine::ArmV8), &[])
            .expect("no limit")
            .is_robust()
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
        let found = nodes.filter_map(|node| match &node.kind {
            NodeKind::Access(access) => Some(&access.depends),
            _ => None,
        });
        found.flatten().filter(|d| format!("{:?}", d.kind) == "Address").count()
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
    assert!(may_meet(&piece("%p = call ptr @llvm.ptrmask.p0.i64(ptr @x, i64 -8)"), "*p0", "x"));
    assert!(may_meet(&piece("%p = call ptr asm \"\", \"=r,0\"(ptr @x)"), "*p0", "x"));
    assert!(may_meet(&piece("%p = call ptr @strchr(ptr @x, i32 0)"), "*p0", "x"));
    // A number says nothing of the address; and elsewhere nobody knows it.
    let apart = "%n = call i32 @puts(ptr @x)\n%p = load ptr, ptr @q";
    assert!(!may_meet(&piece(apart), "*p1", "x"));
}

/// A piece where a function of another file, declared like this, is called between a store and a load.
fn calls(declaration: &str, call: &str) -> String {
    format!(
        "{declaration}\n@x = global i32 0\n@y = global i32 0\n@z = global i32 0\n\
         define void @f() {{\nstore atomic i32 1, ptr @x monotonic, align 4\n{call}\n\
         %r = load atomic i32, ptr @y monotonic, align 4\nret void\n}}\n\
         attributes #0 = {{ nounwind memory(argmem: read) }}\n"
    )
}

#[test]
fn attributes_say_what_a_call_may_touch() {
    let call = "call void @ext(ptr @z, i64 8)";
    let ext = |attributes: &str| format!("declare void @ext(ptr, i64) {attributes}");
    for nothing in ["memory(none)", "readnone", "memory(inaccessiblemem: readwrite)", "inaccessiblememonly"] {
        let piece = calls(&ext(nothing), call);
        assert_eq!(seen(&piece), [STORE, LOAD], "{nothing}");
        assert!(look_at(&piece).notes.is_empty());
    }
    for read in ["#0", "memory(argmem: read, inaccessiblemem: readwrite)", "argmemonly readonly"] {
        assert_eq!(seen(&calls(&ext(read), call)), [STORE, "Relaxed Load z[…]", LOAD], "{read}");
    }
    assert_eq!(seen(&calls(&ext(""), &format!("{call} #0"))), [STORE, "Relaxed Load z[…]", LOAD]);
    for behind in ["memory(argmem: readwrite)", "argmemonly", "memory(argmem: write)"] {
        assert_eq!(seen(&calls(&ext(behind), call)), [STORE, "call of ext", LOAD], "{behind}");
    }
    assert_eq!(seen(&calls(&ext("memory(read)"), call)), [STORE, "Relaxed Load anything", LOAD]);
}

#[test]
fn other_attributes_say_nothing_of_that() {
    let call = "call void @ext(ptr @z, i64 8)";
    for any in
        ["", "nounwind", "noreturn", "memory(write)", "memory(readwrite, argmem: none)", "memory(new: read)"]
    {
        let piece = calls(&format!("declare void @ext(ptr, i64) {any}"), call);
        assert_eq!(seen(&piece), [STORE, "call of ext", LOAD], "{any}");
        assert_eq!(look_at(&piece).notes.len(), 1, "{any}");
    }
    // Behind its arguments is not only where they point to, and not in other memory.
    let piece = calls("declare void @ext(ptr, i64) memory(argmem: readwrite)", call);
    let ported = look_at(&piece);
    let places = places(&ported);
    assert!(ported.classes.may(places[1], places[1]) && !ported.classes.may(places[0], places[1]));
}

/// The places of accesses and calls, in order.
fn places(ported: &Ported) -> Vec<usize> {
    let nodes = ported.program.functions.iter().flat_map(|function| &function.nodes);
    let found = nodes.filter_map(|node| match &node.kind {
        NodeKind::Access(access) => Some(access.location),
        NodeKind::Opaque { location, .. } => Some(*location),
        _ => None,
    });
    found.collect()
}

#[test]
fn memory_that_a_call_has_made() {
    let piece = |declared: &str, call: &str| {
        format!(
            "declare {declared} ptr @make()\ndeclare void @keep(ptr)\n@g = global ptr null\n\
             define void @f() {{\n%p = call {call} ptr @make()\nstore i32 1, ptr %p\nret void\n}}\n"
        )
    };
    assert_eq!(seen(&piece("noalias", "")), ["call of make"]);
    assert_eq!(seen(&piece("", "noalias")), ["call of make"]);
    assert_eq!(seen(&piece("", "")), ["call of make", "NonAtomic Store *p0"]);
    assert_eq!(seen(&piece("nonnull", "noundef")).len(), 2);
    let kept = piece("noalias", "").replace("ret void", "call void @keep(ptr %p)\nret void");
    assert_eq!(seen(&kept), ["call of make", "NonAtomic Store memory of the thread", "call of keep"]);
}

#[test]
fn the_address_of_a_global_is_followed_into_functions() {
    let piece = |inner: &str| {
        format!(
            "@x = internal global i32 0\n@g = global ptr null\ndeclare void @keep(ptr)\n\
             define internal void @inner(ptr %a, ptr %b) {{\n%c = getelementptr i8, ptr %a, i64 0\n{inner}\nret void\n}}\n\
             define void @f() {{\ncall void @inner(ptr @x, ptr null)\n%p = load ptr, ptr @g\n\
             store i32 1, ptr %p\nstore i32 1, ptr @x\nret void\n}}\n"
        )
    };
    assert!(!may_meet(&piece("store i32 2, ptr %c"), "*p0", "x"));
    for leak in [
        "store ptr %c, ptr @g",
        "call void @keep(ptr %c)",
        "call void @inner(ptr null, ptr %c)\nstore ptr %b, ptr @g",
        "%d = select i1 true, ptr %c, ptr null\nstore ptr %d, ptr @g",
        "%d = ptrtoint ptr %c to i64\n%e = add i64 %d, 4\nstore i64 %e, ptr @g",
    ] {
        assert!(may_meet(&piece(leak), "*p0", "x"), "{leak}");
    }
}

#[test]
fn a_call_may_lead_back_to_functions_that_know_a_global() {
    let piece = "@x = internal global i32 0\ndeclare void @ext()\n\
        define void @f() {\ncall void @ext()\nstore i32 1, ptr @x\nret void\n}\n";
    let ported = look_at(piece);
    let places = places(&ported);
    assert!(ported.classes.may(places[0], places[1]));
}

#[test]
fn functions_that_a_global_may_point_at() {
    let piece = |more: &str| {
        format!(
            "@hook = internal global ptr @one\n@x = global i32 0\n@y = global i32 0\n\
             declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
             declare i32 @pthread_barrier_init(ptr, ptr, i32)\ndeclare i64 @read(i32, ptr, i64)\n\
             define internal void @one() {{\nstore i32 1, ptr @x\nret void\n}}\n\
             define internal void @two() {{\nstore i32 1, ptr @y\nret void\n}}\n\
             define void @f() {{\n{more}\n%h = load ptr, ptr @hook\ncall void %h()\nret void\n}}\n"
        )
    };
    let follows = |more: &str| !seen(&piece(more)).iter().any(|what| what.contains("call of a pointer"));
    assert!(follows("") && follows("store ptr @two, ptr @hook"));
    assert!(follows("%q = getelementptr i8, ptr @hook, i64 8\n%o = atomicrmw add ptr %q, i64 1 monotonic"));
    assert!(follows("call i32 @pthread_barrier_init(ptr @hook, ptr null, i32 2)"));
    assert!(!follows("call i64 @read(i32 0, ptr @hook, i64 8)"));
    assert!(!follows("%o = atomicrmw xchg ptr @hook, ptr @two monotonic"));
    assert!(!follows("call void @llvm.memcpy.p0.p0.i64(ptr @hook, ptr @x, i64 8, i1 false)"));
}

#[test]
fn a_library_may_call_back() {
    let piece = |callee: &str| {
        format!(
            "@x = global i32 0\n@c = global i32 0\ndeclare i32 @pthread_once(ptr, ptr)\ndeclare void @other()\n\
             define internal void @init() {{\nstore atomic i32 1, ptr @x monotonic, align 4\nret void\n}}\n\
             define void @f(ptr %p) {{\n%r = call i32 @pthread_once(ptr @c, ptr {callee})\nret void\n}}\n"
        )
    };
    assert_eq!(seen(&piece("@init")), ["Relaxed Store x"]);
    // Once or not at all: there is a way around.
    let ported = look_at(&piece("@init"));
    let nodes = &ported.program.functions[0].nodes;
    assert!(nodes.iter().any(|node| node.next.len() == 2));
    for unknown in ["@other", "%p"] {
        assert_eq!(seen(&piece(unknown)), ["call of pthread_once"], "{unknown}");
        assert_eq!(look_at(&piece(unknown)).notes.len(), 1, "{unknown}");
    }
}

#[test]
fn functions_of_the_program_with_names_like_the_librarys() {
    for own in ["stream_publish", "memory_store", "pthread_pool_push", "_ZdeR3Foo"] {
        let piece = calls(&format!("declare void @{own}()"), &format!("call void @{own}()"));
        assert_eq!(seen(&piece), [STORE, &format!("call of {own}"), LOAD], "{own}");
    }
    assert_eq!(seen(&calls("declare i32 @rand()", "call i32 @rand()")), [STORE, LOAD]);
}

#[test]
fn intrinsics_that_touch_memory() {
    let vp = "declare <2 x i32> @llvm.vp.load.v2i32.p0(ptr, <2 x i1>, i32)";
    let call = "%v = call <2 x i32> @llvm.vp.load.v2i32.p0(ptr @z, <2 x i1> <i1 1, i1 1>, i32 2)";
    assert_eq!(seen(&calls(vp, call)), [STORE, "call of llvm.vp.load.v2i32.p0", LOAD]);
    // If it is known what they touch, no more than that.
    assert_eq!(seen(&calls(&format!("{vp} #0"), call)), [STORE, "Relaxed Load z[…]", LOAD]);
    let mask = "declare void @llvm.x86.sse2.maskmov.dqu(<16 x i8>, <16 x i8>, ptr)";
    let call =
        "call void @llvm.x86.sse2.maskmov.dqu(<16 x i8> zeroinitializer, <16 x i8> zeroinitializer, ptr @z)";
    assert_eq!(seen(&calls(mask, call)), [STORE, "call of llvm.x86.sse2.maskmov.dqu", LOAD]);
    let add = "declare <4 x float> @llvm.x86.sse.add.ss(<4 x float>, <4 x float>)";
    let call = "%v = call <4 x float> @llvm.x86.sse.add.ss(<4 x float> undef, <4 x float> undef)";
    assert_eq!(seen(&calls(&format!("{add} memory(none)"), call)), [STORE, LOAD]);
    assert_eq!(
        seen(&calls("declare void @llvm.assume(i1)", "call void @llvm.assume(i1 true)")),
        [STORE, LOAD]
    );
}

#[test]
fn addresses_that_are_numbers() {
    let piece = |first: &str, second: &str| {
        format!(
            "@x = global i32 0\ndefine void @f() {{\nstore volatile i32 1, ptr {first}\n\
             store volatile i32 1, ptr {second}\nret void\n}}\n"
        )
    };
    let device = "inttoptr (i64 4096 to ptr)";
    let next = "getelementptr (i8, ptr inttoptr (i64 4096 to ptr), i64 4)";
    assert_eq!(seen(&piece(device, next)), ["NonAtomic Store 0x1000", "NonAtomic Store 0x1004"]);
    assert!(!may_meet(&piece(device, next), "0x1000", "0x1004"));
    assert!(may_meet(&piece(device, "@x"), "0x1000", "x"));
    assert!(seen(&piece("null", "null")).is_empty());
    assert_eq!(seen(&piece("getelementptr (i8, ptr null, i64 4096)", "@x"))[0], "NonAtomic Store 0x1000");
}

#[test]
fn aliases_of_data() {
    let piece = |alias: &str| {
        format!(
            "@x = internal global {{ i32, i32 }} zeroinitializer\n@xa = {alias}\n@xb = alias i32, ptr @xa\n\
             define void @f() {{\nstore i32 1, ptr @x\nstore i32 1, ptr @xb\nret void\n}}\n"
        )
    };
    assert_eq!(seen(&piece("alias i32, ptr @x")), ["NonAtomic Store x", "NonAtomic Store x"]);
    let field = "alias i32, getelementptr inbounds ({ i32, i32 }, ptr @x, i64 0, i32 1)";
    assert_eq!(seen(&piece(field)), ["NonAtomic Store x", "NonAtomic Store x+4"]);
    let cast = "alias i32, i32* bitcast ({ i32, i32 }* @x to i32*)";
    assert_eq!(seen(&piece(cast)), ["NonAtomic Store x", "NonAtomic Store x"]);
    let computed = "alias i32, inttoptr (i64 add (i64 ptrtoint (ptr @x to i64), i64 4) to ptr)";
    assert_eq!(seen(&piece(computed)), ["NonAtomic Store x", "NonAtomic Store x[…]"]);
    // Other files know the alias, and so the object.
    let known = piece("alias i32, ptr @x")
        .replace("ret void", "%p = load ptr, ptr @x\nstore i32 1, ptr %p\nret void");
    assert!(may_meet(&known, "*p0", "x"));
    // Functions, as they are written now and as they were.
    for alias in ["alias void (ptr, i32), ptr @one", "weak dso_local alias void (i8*), void (i8*)* @one"] {
        let piece = format!(
            "@x = global i32 0\n@two = {alias}\ndefine internal void @one(ptr %p) {{\nstore i32 1, ptr @x\nret void\n}}\n\
             define void @f() {{\ncall void @two(ptr null)\nret void\n}}\n"
        );
        assert_eq!(seen(&piece), ["NonAtomic Store x"], "{alias}");
    }
    // Which function an `ifunc` is, is found out when the program starts.
    let chosen = "@x = global i32 0\n@g = ifunc void (), ptr @choose\n\
        define internal ptr @choose() {\nstore i32 1, ptr @x\nret ptr null\n}\n\
        define void @f() {\ncall void @g()\nret void\n}\n";
    assert_eq!(seen(chosen), ["call of g"]);
}

#[test]
fn copies_are_made_in_pieces() {
    let piece = |length: u32| {
        format!(
            "@s = global [64 x i32] zeroinitializer\n@o = global [64 x i32] zeroinitializer\n\
             declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
             define void @writer() {{\nstore atomic i32 1, ptr getelementptr (i8, ptr @s, i64 4) monotonic, align 4\n\
             fence seq_cst\nstore atomic i32 1, ptr @s monotonic, align 4\nret void\n}}\n\
             define void @reader() {{\n\
             call void @llvm.memcpy.p0.p0.i64(ptr @o, ptr @s, i64 {length}, i1 false)\nret void\n}}\n"
        )
    };
    let question = Question::new(Machine::X86, Machine::ArmV8);
    let ask = |length: u32| {
        let ported = look_at(&piece(length));
        place(&ported.program, &ported.classes, question, &Costs::default()).expect("no limit")
    };
    // There is no place for a fence inside.
    let whole = ask(256);
    assert!(!whole.before.is_robust() && !whole.after.is_robust());
    assert!(ask(4).before.is_robust(), "one instruction");
}

#[test]
fn what_is_taken_for_granted() {
    let none = look_at(&calls("", "")).assumptions;
    assert_eq!(none, Assumptions::default());
    let call = |declaration: &str, call: &str| look_at(&calls(declaration, call)).assumptions;
    assert!(call("declare void @ext()", "call void @ext()").calls);
    assert!(call("declare i32 @ext() memory(read)", "%v = call i32 @ext()").calls);
    assert!(call("declare ptr @malloc(i64)", "%m = call ptr @malloc(i64 8)").allocators);
    let streams = call("declare i32 @fputc(i32, ptr)", "%v = call i32 @fputc(i32 7, ptr @z)");
    assert!(streams.streams && !streams.calls);
}

#[test]
fn read_modify_writes_that_are_loops() {
    let load_buffering = |operation: &str| {
        look_at(&format!(
            "@x = global i32 0\n@y = global i32 0\n\
             define void @left() {{\n%o = atomicrmw {operation} monotonic, align 4\n\
             store atomic i32 1, ptr @y monotonic, align 4\nret void\n}}\n\
             define void @right() {{\n%o = load atomic i32, ptr @y acquire, align 4\n\
             store atomic i32 1, ptr @x monotonic, align 4\nret void\n}}\n"
        ))
    };
    let faults = |ported: &Ported| {
        let question = Question::new(Machine::ArmV8, Machine::ArmV7);
        check(&ported.program, &ported.classes, question, &[]).expect("no limit").faults.len()
    };
    assert_eq!(faults(&load_buffering("add ptr @x, i32 1")), 0);
    for operation in ["fadd ptr @x, float 1.0", "nand ptr @x, i32 1"] {
        assert!(faults(&load_buffering(operation)) > 0, "{operation}");
    }
}

#[test]
fn what_is_passed_by_value_is_copied_by_the_call() {
    let piece = |how: &str| {
        format!(
            "%s = type {{ i32, i32 }}\n@x = global i32 0\n@g = global %s zeroinitializer\n\
             define internal i32 @callee(ptr {how} %p) {{\n%a = load atomic i32, ptr @x monotonic, align 4\n\
             %b = load i32, ptr %p\nstore i32 1, ptr %p\nret i32 %b\n}}\n\
             define void @f() {{\n%r = call i32 @callee(ptr {how} @g)\nret void\n}}\n"
        )
    };
    let (x, read, written) = ("Relaxed Load x", "NonAtomic Load g", "NonAtomic Store g");
    assert_eq!(seen(&piece("align 4")), [x, read, written]);
    assert_eq!(seen(&piece("byval(%s) align 4")), [read, x]);
    let twice = piece("byval(%s) align 4")
        .replace("%p) {", "%p, ptr byval([9 x i8]) %q) {")
        .replace("@g)", "@g, ptr byval([9 x i8]) @g)");
    assert_eq!(seen(&twice), [read, read, x]);
    // A fence stands in front of the call or in the callee: in front of what the call copies, or behind.
    let ported = look_at(&piece("byval(%s) align 4"));
    let nodes = &ported.program.functions[0].nodes;
    let copy = nodes.iter().position(|node| matches!(node.kind, NodeKind::Access(_))).expect("it copies");
    assert!(nodes[copy + 1..].iter().all(|node| node.tag != nodes[copy].tag), "{nodes:?}");
    assert!(
        nodes.iter().any(|node| node.tag == NOWHERE),
        "where the copy is made and the callee not entered: {nodes:?}"
    );
}
