//! Memory of a thread's own in small pieces of LLVM IR: what leaves the thread and what does not, what is kept in there, and what
//! nobody sees before its address is given away.

use crate::common::piece::{look_at, may_meet, seen};
use seqcst_port::ir::lower::Ported;
use seqcst_port::machine::Machine;
use seqcst_port::robust::{Question, check};

const HEAD: &str = "@g = global ptr null\n@x = global i32 0\ndeclare noalias ptr @malloc(i64)\n\
    declare noalias ptr @calloc(i64, i64)\ndeclare noalias ptr @realloc(ptr, i64)\n\
    declare void @keep(ptr)\ndeclare void @borrow(ptr captures(none))\n\
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";

/// A function `f` with this body.
fn f(body: &str) -> String {
    format!("{HEAD}define void @f() {{\n{body}\nret void\n}}\n")
}

/// How many pairs are at fault.
fn faults(ported: &Ported, from: Machine, to: Machine) -> usize {
    check(&ported.program, &ported.classes, Question::new(from, to), &[]).expect("no limit").faults.len()
}

#[test]
fn an_address_kept_in_memory_of_the_threads_own_goes_nowhere() {
    let piece = |last: &str| {
        f(&format!(
            "%a = alloca i32\n%box = alloca ptr\nstore ptr %a, ptr %box\nstore i32 1, ptr %a\n\
             %p = load ptr, ptr %box\nstore i32 2, ptr %p\n{last}"
        ))
    };
    assert!(seen(&piece("")).is_empty(), "{:?}", seen(&piece("")));
    // Who gets the box gets what is in it, in whichever way.
    for given in [
        "store ptr %box, ptr @g",
        "call void @keep(ptr %box)",
        "call void @borrow(ptr %box)",
        "call void @llvm.memcpy.p0.p0.i64(ptr @g, ptr %box, i64 8, i1 false)",
        "%q = load ptr, ptr %box\nstore ptr %q, ptr @g",
    ] {
        let stores = seen(&piece(given)).iter().filter(|what| what.contains("Store memory")).count();
        assert!(stores >= 1, "{given}: {:?}", seen(&piece(given)));
    }
}

#[test]
fn what_is_written_to_a_pipe_leaves_the_thread() {
    let piece = |name: &str| {
        let text = f(&format!(
            "%a = call ptr @malloc(i64 8)\n%box = alloca ptr\nstore ptr %a, ptr %box\n\
             %n = call i64 @{name}(i32 1, ptr %box, i64 8)\nstore i32 1, ptr %a"
        ));
        text + &format!("declare i64 @{name}(i32, ptr captures(none), i64)\n")
    };
    for name in ["write", "syscall"] {
        // The memory whose address is in the box, and not the box.
        assert_eq!(seen(&piece(name)), ["NonAtomic Store memory of the thread"], "{name}");
    }
    assert!(seen(&piece("read")).is_empty(), "{:?}", seen(&piece("read")));
}

#[test]
fn what_is_loaded_from_there_is_what_was_stored() {
    let piece = |between: &str| {
        f(&format!(
            "%box = alloca ptr\n%old = load ptr, ptr @g\nstore ptr @x, ptr %box\n{between}\n\
             %p = load ptr, ptr %box\nstore i32 1, ptr %p\nstore i32 1, ptr %old"
        ))
    };
    let last = |text: &str| seen(text).into_iter().rev().nth(1).unwrap_or_default();
    assert_eq!(last(&piece("")), "NonAtomic Store x");
    // Another value, half of one, or anybody else's hand: it may be another address.
    assert_eq!(last(&piece("store ptr %old, ptr %box")), "NonAtomic Store anything");
    for change in [
        "store i16 7, ptr %box",
        "call void @borrow(ptr %box)",
        "call void @llvm.memcpy.p0.p0.i64(ptr %box, ptr @g, i64 8, i1 false)",
        "%i = load i64, ptr @x\n%q = getelementptr i8, ptr %box, i64 %i\nstore ptr %old, ptr %q",
        "%r = atomicrmw xchg ptr %box, ptr %old monotonic",
    ] {
        assert!(last(&piece(change)).contains("*p"), "{change}: {:?}", seen(&piece(change)));
    }
}

/// A piece of memory is made, written, and its address stored with this order; a reader follows it.
fn published(make: &str, init: &str, order: &str) -> Ported {
    look_at(&format!(
        "{HEAD}define void @writer() {{\n{make}\n{init}\n\
         store atomic ptr %p, ptr @g {order}, align 8\nret void\n}}\n\
         define void @reader() {{\n%p = load atomic ptr, ptr @g acquire, align 8\n%q = getelementptr i8, ptr %p, i64 4\n\
         %b = load atomic i32, ptr %q acquire, align 4\n%a = load atomic i32, ptr %p monotonic, align 4\nret void\n}}\n"
    ))
}

const MALLOC: &str = "%p = call ptr @malloc(i64 8)";
const TWO_STORES: &str = "store i32 1, ptr %p\n%q = getelementptr i8, ptr %p, i64 4\nstore i32 2, ptr %q";

#[test]
fn before_it_is_given_away_nobody_sees_in_which_order() {
    let (x86, armv8) = (Machine::X86, Machine::ArmV8);
    assert_eq!(faults(&published(MALLOC, TWO_STORES, "release"), x86, armv8), 0);
    // But each store comes before the address.
    assert_eq!(faults(&published(MALLOC, TWO_STORES, "monotonic"), x86, armv8), 2);
    assert_eq!(faults(&published("%p = call ptr @calloc(i64 8, i64 1)", "", "release"), x86, armv8), 0);
    assert_eq!(faults(&published("%p = call ptr @calloc(i64 8, i64 1)", "", "monotonic"), x86, armv8), 1);
}

#[test]
fn behind_that_it_is_like_all_other_memory() {
    let (x86, armv8) = (Machine::X86, Machine::ArmV8);
    let given = "store atomic ptr %p, ptr @g release, align 8";
    let late = format!("{given}\n{TWO_STORES}");
    assert!(faults(&published(MALLOC, &late, "release"), x86, armv8) > 0);
    // Memory that was there before, and memory that a call may have passed on.
    assert!(faults(&published("%p = load ptr, ptr @x", TWO_STORES, "release"), x86, armv8) > 0);
    // A stack is used again without asking anybody.
    assert!(faults(&published("%p = alloca [2 x i32]", TWO_STORES, "release"), x86, armv8) > 0);
    let passed = format!("call void @keep(ptr %p)\n{TWO_STORES}");
    assert!(faults(&published(MALLOC, &passed, "release"), x86, armv8) > 0);
    let boxed = "%box = call ptr @malloc(i64 8)\nstore ptr %box, ptr @g\nstore ptr %p, ptr %box";
    let boxed = format!("{boxed}\n{TWO_STORES}");
    assert!(faults(&published(MALLOC, &boxed, "release"), x86, armv8) > 0);
}

#[test]
fn memory_of_the_last_time_round_is_not_new() {
    // What is written is what the loop made, and gave away, the time before.
    let piece = |which: &str| {
        look_at(&format!(
            "{HEAD}define void @writer() {{\nbr label %loop\nloop:\n%old = phi ptr [ @x, %0 ], [ %new, %loop ]\n\
             %new = call ptr @malloc(i64 8)\nstore i32 1, ptr %{which}\n%q = getelementptr i8, ptr %{which}, i64 4\n\
             store i32 2, ptr %q\nstore atomic ptr %new, ptr @g release, align 8\nbr label %loop\n}}\n\
             define void @reader() {{\n%p = load atomic ptr, ptr @g acquire, align 8\n\
             %q = getelementptr i8, ptr %p, i64 4\n%b = load atomic i32, ptr %q acquire, align 4\n\
             %a = load atomic i32, ptr %p monotonic, align 4\nret void\n}}\n"
        ))
    };
    assert_eq!(faults(&piece("new"), Machine::X86, Machine::ArmV8), 0);
    assert!(faults(&piece("old"), Machine::X86, Machine::ArmV8) > 0);
}

#[test]
fn memory_that_has_moved() {
    // What was copied into the new memory is written before its address is given away.
    let grown = "%o = load ptr, ptr @x\n%p = call ptr @realloc(ptr %o, i64 8)";
    assert_eq!(faults(&published(grown, "", "release"), Machine::X86, Machine::ArmV8), 0);
    assert!(faults(&published(grown, "", "monotonic"), Machine::X86, Machine::ArmV8) > 0);
    // It is new: what is written there can't be met elsewhere, what is given away can.
    let piece = |last: &str| {
        f(&format!(
            "%o = load ptr, ptr @g\n%p = call ptr @realloc(ptr %o, i64 8)\nstore i32 1, ptr %p\n{last}"
        ))
    };
    assert_eq!(seen(&piece("")), ["NonAtomic Load g", "NonAtomic Load *p0[…]"]);
    assert_eq!(seen(&piece("store ptr %p, ptr @g")).len(), 5);
    assert!(may_meet(&f("%o = load ptr, ptr @g\nstore i32 1, ptr %o"), "g", "*p0"));
}

#[test]
fn what_a_library_keeps() {
    let piece = |name: &str, call: &str| {
        let text = f(&format!("%p = call ptr @malloc(i64 8)\n{call}\nstore i32 1, ptr %p"));
        seen(&format!("declare i32 @{name}(i32, ptr)\n{text}"))
    };
    for keeps in ["pthread_setspecific", "tss_set"] {
        let seen = piece(keeps, &format!("call i32 @{keeps}(i32 0, ptr %p)"));
        assert!(seen.contains(&"NonAtomic Store memory of the thread".to_owned()), "{keeps}: {seen:?}");
    }
    let lent = piece("pthread_getname_np", "call i32 @pthread_getname_np(i32 0, ptr %p)");
    assert!(lent.is_empty(), "{lent:?}");
}

#[test]
fn a_copy_of_a_string_reads_it() {
    let text = f("%o = load ptr, ptr @g\n%p = call ptr @strdup(ptr %o)");
    let text = format!("declare noalias ptr @strdup(ptr)\n{text}");
    assert_eq!(seen(&text), ["NonAtomic Load g", "NonAtomic Load *p0[…]"]);
}

/// Store buffering, with something between the store and the load of each thread that the other knows nothing of.
fn store_buffering(what: &str) -> Ported {
    let function = |name: &str, mine: &str, other: &str| {
        format!(
            "define void @{name}() {{\n%l = alloca i32\n%m = alloca [64 x i8]\n%w = alloca i128\n\
             store atomic i32 1, ptr @{mine} monotonic, align 4\n{what}\n\
             %r = load atomic i32, ptr @{other} monotonic, align 4\nret void\n}}\n"
        )
    };
    look_at(&format!(
        "@x = global i32 0\n@y = global i32 0\n@tls = internal thread_local global i32 0\n\
         declare noalias ptr @malloc(i64)\ndeclare i32 @pthread_mutex_lock(ptr)\n\
         declare i32 @pthread_mutex_trylock(ptr)\ndeclare i32 @pthread_mutex_unlock(ptr)\n\
         declare i32 @pthread_cond_signal(ptr)\ndeclare i32 @pthread_join(i64, ptr)\n\
         declare i32 @pthread_detach(i64)\n{}{}",
        function("left", "x", "y"),
        function("right", "y", "x")
    ))
}

#[test]
fn what_is_locked_is_a_fence_on_x86_wherever_it_goes() {
    for what in [
        "%o = atomicrmw add ptr %l, i32 1 monotonic, align 4",
        "%o = cmpxchg ptr %l, i32 5, i32 1 monotonic monotonic, align 4",
        "store atomic i32 1, ptr %l seq_cst, align 4",
        "store atomic i128 1, ptr %w monotonic, align 16",
        "%o = atomicrmw add ptr @tls, i32 1 monotonic, align 4",
        "%h = call ptr @malloc(i64 4)\n%o = atomicrmw add ptr %h, i32 1 monotonic, align 4",
        "%o = call i32 @pthread_mutex_lock(ptr %m)",
        "%o = call i32 @pthread_mutex_trylock(ptr %m)",
        "%o = call i32 @pthread_mutex_unlock(ptr %m)",
        "%o = call i32 @pthread_cond_signal(ptr %m)",
        "%o = call i32 @pthread_join(i64 0, ptr null)",
        "%o = call i32 @pthread_detach(i64 0)",
    ] {
        assert!(faults(&store_buffering(what), Machine::X86, Machine::ArmV8) > 0, "{what}");
        // ARMv7 has a whole fence for every order but this one.
        if what.contains("monotonic") {
            assert!(faults(&store_buffering(what), Machine::X86, Machine::ArmV7) > 0, "{what}");
        }
    }
    for what in [
        "",
        "store i32 1, ptr %l",
        "store atomic i32 1, ptr %l release, align 4",
        "%o = load atomic i32, ptr %l seq_cst, align 4",
        "%h = call ptr @malloc(i64 4)\nstore i32 1, ptr %h",
    ] {
        assert_eq!(faults(&store_buffering(what), Machine::X86, Machine::ArmV8), 0, "{what}");
    }
}

#[test]
fn what_orders_others_does_so_wherever_it_goes() {
    let both = "store atomic i32 1, ptr %l release, align 4\n%o = load atomic i32, ptr %l acquire, align 4";
    assert_eq!(faults(&store_buffering(both), Machine::Sc, Machine::ArmV8), 0, "stlr; ldar");
    let relaxed = both.replace("release", "monotonic");
    assert!(faults(&store_buffering(&relaxed), Machine::Sc, Machine::ArmV8) > 0, "str; ldar");
    assert!(seen(&f("%l = alloca i32\n%o = load atomic i32, ptr %l monotonic, align 4")).is_empty());
    let swap = "%l = alloca i32\n%o = atomicrmw xchg ptr %l, i32 1 monotonic, align 4";
    assert_eq!(seen(&f(swap)), ["Relaxed Rmw memory of the thread alone"]);
}
